import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from errno import EIO, ENOSPC
from pathlib import Path
from zlib import crc32

import pytest

from neardup.engines import journal as module
from neardup.engines.files import sealed
from neardup.engines.journal import Journal, OtherTerms, check_own, read_header
from neardup.model.errors import DataError, RunComplete, StorageBusy, StorageDamaged, StorageFailed, StorageRefused

TERMS = {"scheme": {"name": "minhash", "permutations": 112}, "inputs": [{"path": "a", "size": 5}]}


def everything(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


class Work:
    """A function of tasks that writes a file for each, and remembers which tasks it did."""

    def __init__(self, journal, fails=()):
        self.journal, self.fails, self.did = journal, fails, []

    def __call__(self, task):
        with self.journal.output(f"signed/{task}.bin") as file:
            file.write(bytes([task]) * (task + 1))
            if task in self.fails:
                raise DataError(f"task {task}", "is wrong")
        self.did.append(task)
        return {"square": task * task, "files": self.journal.files(f"signed/{task}.bin")}


def done(tasks):
    files = [{f"signed/{task}.bin": [task + 1, crc32(bytes([task]) * (task + 1))]} for task in range(tasks)]
    return [{"square": task * task, "files": own} for task, own in enumerate(files)]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "work"


def test_tasks_are_done_recorded_and_removed_in_the_end(folder):
    with Journal.open(folder, TERMS) as journal:
        assert (journal.folder, journal.terms, journal.continued) == (folder, TERMS, False)
        work = Work(journal)
        assert journal.run("sign", 4, work, map=map) == done(4)
        assert work.did == [0, 1, 2, 3]
        assert journal.records("sign") == done(4)
        assert journal.path("signed", "2.bin").read_bytes() == b"\2\2\2"
        assert journal.run("rank", 1, lambda _: {}, map=map) == [{}]
        assert journal.run("nothing", 0, work, map=map) == []
        journal.finish()
    assert not folder.exists()


def test_some_tasks_of_a_stage_may_be_done_first(folder):
    with Journal.open(folder, TERMS) as journal:
        work, seen = Work(journal), []
        some = journal.run("sign", 4, work, map=map, only=[0, 2], progress=lambda *now: seen.append(now))
        assert some == [done(4)[0], done(4)[2]]
        assert seen[-1] == ("sign", 2, 4)
        assert journal.stage().tasks == 4  # workers may do the others
        assert journal.run("sign", 4, work, map=map) == done(4)
        assert work.did == [0, 2, 1, 3]


def test_a_run_continues_with_what_is_not_recorded(folder):
    with Journal.open(folder, TERMS) as journal, pytest.raises(DataError, match="task 2"):
        journal.run("sign", 5, Work(journal, fails=[2]), map=map)
    with Journal.open(folder, TERMS) as journal:
        assert journal.continued
        work = Work(journal)
        assert journal.run("sign", 5, work, map=map) == done(5)
        assert work.did == [2, 3, 4]
    assert not [name for name in everything(folder) if "partial/" in name or "claims/" in name or "workers/" in name]


def test_any_order_of_completion(folder):
    def backwards(function, items):
        with ThreadPoolExecutor(3) as pool:
            yield from reversed([*pool.map(function, reversed([*items]))])

    with Journal.open(folder, TERMS) as journal:
        assert journal.run("sign", 9, Work(journal), map=backwards) == done(9)


def test_progress_begins_with_what_was_done(folder):
    sizes, seen = [10, 20, 30], []
    with Journal.open(folder, TERMS) as journal:
        with pytest.raises(DataError):
            journal.run("sign", 3, Work(journal, fails=[1]), map=map)
        journal.run("sign", 3, Work(journal), map=map, sizes=sizes, progress=lambda *now: seen.append(now))
    assert seen == [("sign", 10, 60), ("sign", 60, 60)]


def test_progress_is_reported_while_tasks_end(folder, monkeypatch):
    monkeypatch.setattr(module, "_LOOK", 0)
    seen = []
    with Journal.open(folder, TERMS) as journal:
        journal.run("sign", 3, Work(journal), map=map, progress=lambda *now: seen.append(now[1]))
    assert seen == [0, 1, 2, 3, 3]


@pytest.mark.parametrize(
    "damage", ["missing", "longer", "changed", "record", "another", "value", "digest", "no folder"]
)
def test_a_task_whose_files_are_not_intact_is_done_again(folder, damage):
    with Journal.open(folder, TERMS) as journal:
        journal.run("sign", 3, Work(journal), map=map)
        path = journal.path("signed", "1.bin")
        if damage == "missing":
            path.unlink()
        elif damage == "longer":
            path.write_bytes(b"too long")
        elif damage == "changed":
            path.write_bytes(b"\1\3")
        elif damage == "another":  # task's record, in place of this one
            shutil.copy(journal.path("done", "sign-2.json"), journal.path("done", "sign-1.json"))
        elif damage == "record":
            journal.path("done", "sign-1.json").write_bytes(b'{"squ')
        elif damage in {"value", "digest"}:
            record = journal.path("done", "sign-1.json")
            known = record.read_bytes()
            changes = {"value": (b'"square": 1', b'"square": 2'), "digest": (b'"digest": "', b'"digest": "0')}
            record.write_bytes(known.replace(*changes[damage]))
            assert record.read_bytes() != known
        else:
            for file in path.parent.iterdir():
                file.unlink()
            path.parent.rmdir()
            path.parent.write_bytes(b"")
            path.parent.unlink()
    with Journal.open(folder, TERMS) as journal:
        work = Work(journal)
        assert journal.run("sign", 3, work, map=map) == done(3)
        assert work.did == ([0, 1, 2] if damage == "no folder" else [1])


def test_other_terms_are_refused(folder):
    Journal.open(folder, TERMS).close()
    with pytest.raises(OtherTerms) as caught:
        Journal.open(folder, {**TERMS, "new": None})
    assert caught.value.code == "other terms"
    assert caught.value.earlier.terms == TERMS
    assert caught.value.wanted == {**TERMS, "new": None}
    assert pickle.loads(pickle.dumps(caught.value)).wanted == caught.value.wanted  # noqa: S301 - its own


def test_terms_that_are_nested_too_deeply_are_refused(folder):
    Journal.open(folder, TERMS).close()
    (folder / "terms.json").write_text("[" * 100_000)
    with pytest.raises(StorageDamaged, match=r"terms\.json: it is damaged"):
        Journal.open(folder, TERMS)


def test_damaged_terms_are_refused_until_the_run_begins_again(folder):
    Journal.open(folder, TERMS).close()
    content = (folder / "terms.json").read_bytes()
    for damaged in (b"", content[:-1], content.replace(b"token", b"tokem")):
        (folder / "terms.json").write_bytes(damaged)
        for use in (lambda: Journal.open(folder, TERMS), lambda: module.read_header(folder)):
            with pytest.raises(StorageDamaged, match="remove the work folder, and run again"):
                use()
    Journal.open(folder, TERMS, restart=True).close()
    assert module.read_header(folder).terms == TERMS
    shutil.rmtree(next(folder.glob("run-*")))
    (folder / "terms.json").write_text("{}")
    for way in ({}, {"restart": True}):
        with pytest.raises(StorageRefused, match=r"its terms\.json is of another kind"):
            Journal.open(folder, TERMS, **way)


def test_the_version_is_a_term(folder, monkeypatch):
    Journal.open(folder, TERMS).close()
    monkeypatch.setattr(module, "__version__", "99.0")
    with pytest.raises(OtherTerms):
        Journal.open(folder, TERMS)


@pytest.mark.parametrize("name", ["no/run", "file/run", "file/no/run", "file", "others"])
def test_a_folder_that_cannot_be_a_work_folder_is_refused(tmp_path, name):
    (tmp_path / "file").write_text("")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "news.jsonl").write_text("")
    reasons = {
        "no/run": "its folder does not exist",
        "file/run": "file is a file",
        "file/no/run": "/file is a file",
        "file": "it is a file; name a new folder",
        "others": "it contains 'news.jsonl'",
    }
    with pytest.raises(StorageRefused, match=reasons[name]):
        check_own(tmp_path / name)
    check_own(tmp_path / "new")


def test_some_terms_may_change(folder):
    with Journal.open(folder, {**TERMS, "changeable": {"threads": 1}}) as journal:
        journal.run("sign", 2, Work(journal), map=map)
    for terms in ({**TERMS, "changeable": {"threads": 2}}, TERMS):
        with Journal.open(folder, terms) as journal:
            assert journal.terms == module.read_header(folder).terms == terms
            assert len(journal.records("sign")) == 2


def test_a_restart_removes_the_earlier_run(folder):
    with Journal.open(folder, TERMS) as journal:
        journal.run("sign", 3, Work(journal), map=map)
    with Journal.open(folder, {}, restart=True) as journal:
        work = Work(journal)
        assert not journal.path("signed").exists()
        assert journal.run("sign", 2, work, map=map) == done(2)
        assert work.did == [0, 1]
        assert len([*folder.glob("run-*")]) == 1
        journal.finish()
    assert not folder.exists()


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("name", ["thesis.tex", "run-1", "terms.json", "terms.json.old"])
def test_a_folder_of_others_is_left_alone(folder, name, restart):
    folder.mkdir()
    (folder / name).write_text("{}")
    with pytest.raises(StorageRefused, match="it is not a work folder"):
        Journal.open(folder, TERMS, restart=restart)
    assert {*everything(folder)} <= {name, "coordinator.lock"}
    assert (folder / name).read_text() == "{}"


def test_a_path_that_cannot_be_a_folder(folder):
    with pytest.raises(StorageRefused, match="its folder does not exist"):
        Journal.open(folder / "deeper", TERMS)
    folder.write_text("")
    with pytest.raises(StorageRefused, match="it is a file; name a new folder"):
        Journal.open(folder, TERMS)


def test_a_run_that_was_killed_before_its_terms_were_written(folder):
    folder.mkdir()
    for name in ("coordinator.lock", "terms.json.partial"):
        (folder / name).write_text("")
    for name in ("run-0123456789abcdef", "removed-0123456789abcdef"):
        (folder / name / "done").mkdir(parents=True)
    with Journal.open(folder, TERMS) as journal:
        assert len([*folder.glob("re*-*"), *folder.glob("run-*")]) == 1
        journal.finish()
    assert not folder.exists()


def test_files_of_others_stay_when_the_run_finishes(folder):
    with Journal.open(folder, TERMS) as journal:
        (folder / "notes.txt").write_text("mine")
        journal.finish()
    assert everything(folder) == ["notes.txt"]


def test_files_that_cannot_be_removed_yet_are_removed_by_the_next_run(folder, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_WAIT", 0)
    with Journal.open(folder, TERMS) as journal:
        journal.run("sign", 1, Work(journal), map=map)
        with monkeypatch.context() as patch:
            patch.setattr(module.shutil, "rmtree", lambda *_, **__: None)
            journal.finish()
    assert [path.name[:8] for path in folder.iterdir()] == ["removed-"]
    with Journal.open(folder, TERMS) as journal:
        assert not [*folder.glob("removed-*")]
        assert journal.run("sign", 1, Work(journal), map=map) == done(1)


def test_a_folder_is_locked_until_its_files_are_removed(folder, monkeypatch):
    remove = module.shutil.rmtree

    def busy(*arguments, **options):
        with pytest.raises(StorageBusy):
            Journal.open(folder, TERMS)
        remove(*arguments, **options)

    with Journal.open(folder, TERMS) as journal:
        monkeypatch.setattr(module.shutil, "rmtree", busy)
        journal.finish()
    assert not folder.exists()


def test_a_finished_run_may_be_kept(folder):
    for did in ([0, 1, 2], []):
        with Journal.open(folder, TERMS) as journal:
            work = Work(journal)
            assert journal.run("sign", 3, work, map=map) == done(3)
            assert work.did == did
            assert not module.read_header(folder).finished
            journal.finish(keep=True)
        assert module.read_header(folder).finished


def test_a_kept_run_stays_if_the_next_one_is_abandoned(folder):
    with Journal.open(folder, TERMS) as journal:
        journal.finish(keep=True)
    kept = module.read_header(folder)
    with Journal.open(folder, TERMS) as journal:
        journal.abandon()
    assert module.read_header(folder) == kept


def test_a_stage_that_is_forgotten_is_repeated(folder):
    for forgotten, did in (("sign", [0, 1]), ("sig", [])):
        with Journal.open(folder, TERMS) as journal:
            for stage in ("sign-a", "signed-a"):
                journal.run(stage, 2, Work(journal), map=map)
            journal.forget(forgotten)
            work, other = Work(journal), Work(journal)
            assert journal.run("sign-a", 2, work, map=map) == journal.run("signed-a", 2, other, map=map) == done(2)
            assert (work.did, other.did) == (did, [])


def test_a_run_is_reserved_while_it_is_read(folder):
    assert not module.is_work(folder)
    with Journal.open(folder, TERMS) as journal:
        journal.run("sign", 2, Work(journal), map=map)
        header = module.read_header(folder)
        with pytest.raises(StorageBusy), module.reserved(folder, header):
            pass
    assert module.is_work(folder)
    before = everything(folder)
    with module.reserved(folder, header) as work:
        assert work.records("sign") == done(2)
        with pytest.raises(StorageBusy):
            Journal.open(folder, TERMS)
    assert everything(folder) == before
    with Journal.open(folder, TERMS) as journal:
        journal.finish()
    with pytest.raises(StorageFailed), module.reserved(folder, header):
        pass
    assert not folder.exists()


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_run_that_is_killed_while_its_folder_is_removed_is_complete(folder, monkeypatch, moment):
    class Killed(BaseException):
        pass

    left = [moment]

    def mortal(function):
        def call(*given, **options):
            left[0] -= 1
            if not left[0]:
                raise Killed
            return function(*given, **options)

        return call

    journal = Journal.open(folder, TERMS)
    journal.run("sign", 1, Work(journal), map=map)
    with monkeypatch.context() as patch, suppress(Killed):
        for name in ("replace", "rename", "unlink", "rmdir"):
            patch.setattr(Path, name, mortal(getattr(Path, name)))
        patch.setattr(module.shutil, "rmtree", mortal(module.shutil.rmtree))
        journal.finish(rejected=2)
    os.close(journal._lock) if journal._lock is not None else None
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if "complete.json" in names:
        with pytest.raises(RunComplete, match="the outputs are written, without 2 rejected records") as caught:
            Journal.open(folder, TERMS)
        assert caught.value.rejected == 2
        assert not folder.exists()
    else:
        assert "terms.json" in names or not names  # it continues, or nothing is left
    with Journal.open(folder, {"other": 1} if not names else TERMS) as again:
        assert again.done("sign") == ({0} if "terms.json" in names else set())


def test_a_link_to_a_missing_folder_is_refused(folder):
    folder.symlink_to("nowhere")
    with pytest.raises(StorageRefused, match="it is a link to 'nowhere', which does not exist"):
        Journal.open(folder, TERMS)


def test_another_run_may_follow_one_that_was_killed_while_its_folder_was_removed(folder, monkeypatch):
    monkeypatch.setattr(module, "_remove", lambda _: None)
    for terms in (TERMS, {"other": 1}):
        with Journal.open(folder, terms) as journal:
            assert journal.run("sign", 1, lambda _: {}, map=map) == [{}]
            journal.finish()
    with Journal.open(folder, {"other": 1}, restart=True) as journal:
        assert journal.done("sign") == set()
    assert sorted(path.name for path in folder.iterdir()) == ["coordinator.lock", f"run-{journal.token}", "terms.json"]


def test_links_to_files_outside_are_never_followed_to_write_or_remove_there(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious")
    folder.mkdir()
    (folder / "coordinator.lock").symlink_to(outside / "file")
    with pytest.raises(StorageRefused, match=r"coordinator\.lock: it is a link, and a lock must be a file"):
        Journal.open(folder, TERMS)
    (folder / "coordinator.lock").unlink()
    (folder / "run-0123456789abcdef").symlink_to(outside)
    (folder / "terms.json.partial").symlink_to(outside / "file")
    with Journal.open(folder, TERMS) as journal:
        with journal.output("first") as file:
            first = Path(file.name)
        for number in range(9):
            first.with_name(f"{first.name.partition('-')[0]}-{number}").symlink_to(outside / "file")
        with journal.output("second") as file:
            file.write(b"own")
        assert journal.path("second").read_bytes() == b"own"
        journal.finish()
    assert not folder.exists()
    assert (outside / "file").read_text() == "precious"


def test_the_token_of_a_run_is_not_a_path(folder):
    Journal.open(folder, TERMS).close()
    path = folder / "terms.json"
    terms = json.loads(path.read_bytes())["values"]
    for token in ("x/../..", "x/../../outside", "..", "", "0123456789ABCDEF", f"{terms['token']}\n"):
        path.write_bytes(sealed(terms | {"token": token}))
        with pytest.raises(StorageDamaged, match=r"terms\.json: it is damaged"):
            read_header(folder)


def test_one_coordinator_per_folder(folder):
    with Journal.open(folder, TERMS), pytest.raises(StorageBusy, match=f"process {os.getpid()} on .* is using it"):
        Journal.open(folder, TERMS, restart=True)
    Journal.open(folder, TERMS).close()


@pytest.mark.parametrize("number", [ENOSPC, EIO])
def test_a_disk_that_refuses(folder, number):
    def failing(task):
        with journal.output("out.bin") as file:
            file.write(b"x")
            raise OSError(number, os.strerror(number))

    with Journal.open(folder, TERMS) as journal:
        journal.run("sign", 2, Work(journal), map=map)
        with pytest.raises(StorageFailed, match=os.strerror(number)) as caught:
            journal.run("rank", 1, failing, map=map)
        assert caught.value.where == str(journal.path("out.bin"))
        assert not [*journal.path("partial").iterdir(), *journal.path("claims").iterdir()]
        assert len(journal.records("sign")) == 2
        assert journal.run("rank", 1, lambda _: {"fine": True}, map=map) == [{"fine": True}]


@pytest.mark.parametrize("sync", [False, True])
def test_files_are_on_the_disk_if_that_is_wanted(folder, monkeypatch, sync):
    synced = []
    with Journal.open(folder, TERMS) as journal:
        monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
        with journal.output("out.bin", sync=sync) as file:
            file.write(b"x")
        assert synced == [journal.path("out.bin").stat().st_ino] * sync


def test_a_record_that_cannot_be_written(folder, monkeypatch):
    def refuse(*_):
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    with Journal.open(folder, TERMS) as journal:
        monkeypatch.setattr(os, "fsync", refuse)
        with pytest.raises(StorageFailed, match=r"done/sign-0.json cannot be written: No space"):
            journal.run("sign", 1, lambda _: {}, map=map)
        assert journal.done("sign") == set()


def test_errors_of_other_files_stay_as_they_are(folder, tmp_path):
    with Journal.open(folder, TERMS) as journal:
        for read in (lambda _: (tmp_path / "absent").read_bytes(), lambda _: os.read(99999, 1)):
            with pytest.raises(OSError, match=r"No such file|Bad file") as caught:
                journal.run("sign", 1, read, map=map)
            assert not isinstance(caught.value, StorageFailed)


KILLED = """
import os, signal, sys
from pathlib import Path
from neardup.engines.journal import Journal, OtherTerms, check_own, read_header

def work(task):
    with journal.output(f"{task}.bin") as file:
        file.write(b"x" * 100_000)
        if task == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    return {"task": task, "files": journal.files(f"{task}.bin")}

journal = Journal.open(Path(sys.argv[1]), {})
print(journal.run("sign", 4, work, map=map))
"""


def test_a_killed_run_continues_at_once_and_leaves_nothing(folder):
    killed = subprocess.run([sys.executable, "-c", KILLED, folder], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert len([name for name in everything(folder) if "/claims/" in name or "/partial/" in name]) == 2
    did = []

    def work(task):
        did.append(task)
        return {"task": task}

    with Journal.open(folder, {}) as journal:
        assert not [*journal.path("partial").iterdir(), *journal.path("claims").iterdir()]
        assert [record["task"] for record in journal.run("sign", 4, work, map=map)] == [0, 1, 2, 3]
        journal.finish()
    assert did == [2, 3]
    assert not folder.exists()


def test_no_thread_is_left(folder):
    before = {*threading.enumerate()}
    with Journal.open(folder, TERMS):
        [beat] = {*threading.enumerate()} - before
    beat.join(120)
    assert not beat.is_alive()
