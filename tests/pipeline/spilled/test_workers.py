import os
import threading
import time

import pytest

from neardup import CommonShingles, MinHash, SimHash, TermWeights, dedup_files, pair_files, work_on
from neardup.engines.journal import read_header
from neardup.model.errors import StorageRefused
from neardup.pipeline.files import pairs
from neardup.pipeline.spilled import run
from neardup.pipeline.spilled.workers import tasks_of


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a worker goes to the folder of its run


def shared(tmp_path, sources, monkeypatch, worker, **options):
    """Run with a worker that does all gathering, and as much of the rest as it gets."""
    started, waiting = threading.Event(), threading.Event()
    gather = run.gather

    def patient(*given):
        started.set()
        assert waiting.wait(120)
        return gather(*given)

    monkeypatch.setattr(run, "gather", patient)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(dedup_files(sources, work=tmp_path / "w", threads=1, **options)), daemon=True
    )
    thread.start()
    assert started.wait(120)
    try:
        done = worker(waiting)
    finally:
        waiting.set()
        thread.join(120)
    return found[0], done


def busy(work):
    """Give a worker that lets the run go on when it has done a few tasks."""

    def done():
        return len([*work.glob("run-*/done/*")])

    def worker(waiting):
        before = done()

        def wait():
            while done() <= before + 5:
                time.sleep(0.01)
            waiting.set()

        threading.Thread(target=wait, daemon=True).start()
        return work_on(work, idle=120)

    return worker


def interrupted(work, inputs, interrupted_at, **options):
    """Interrupt a run that has read its inputs; return its token."""
    with interrupted_at(run, "rank"):
        dedup_files(inputs, work=work, scheme=MinHash(), **options)
    return read_header(work).token


def do_nothing(work, token):
    """Open the tasks of a run, as an executor does."""
    with tasks_of(str(work), token, MinHash(), "sign-0"):
        pass


def test_a_worker_shares_the_tasks_of_a_run(tmp_path, sources, small_parts, monkeypatch):
    small_parts(1000)
    names = [os.path.relpath(path) for path in sources]
    (tmp_path / "elsewhere").mkdir()

    def worker(waiting):
        os.chdir("elsewhere")
        return busy(tmp_path / "w")(waiting)

    found, done = shared(tmp_path, names, monkeypatch, worker, out="out")
    assert done.tasks > 5
    assert done.ended == "finished"
    expected = dedup_files(names).result
    assert repr(found.result.decisions.to_pylist()) == repr(expected.decisions.to_pylist())
    assert len((tmp_path / "out" / names[0]).read_text().splitlines()) == int(expected.mask[:87].sum())


def test_a_worker_does_not_need_the_folder_in_which_a_run_of_absolute_paths_was_started(
    tmp_path, sources, small_parts, monkeypatch
):
    small_parts(1000)
    folder = tmp_path / "start"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def worker(waiting):
        os.chdir(tmp_path)
        folder.rmdir()
        return busy(tmp_path / "w")(waiting)

    found, done = shared(tmp_path, sources, monkeypatch, worker, out=tmp_path / "out")
    assert done.tasks > 5
    assert found.result.decisions.equals(dedup_files(sources).result.decisions)


@pytest.mark.parametrize("relative", ["input", "output"])
def test_relative_paths_need_the_folder_in_which_the_run_was_started(
    tmp_path, sources, interrupted_at, monkeypatch, relative
):
    folder = tmp_path / "start"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = [os.path.relpath(path) if relative == "input" else path for path in sources]
    token = interrupted(tmp_path / "w", names, interrupted_at, out="out" if relative == "output" else tmp_path / "out")
    folder.rename(tmp_path / "moved")
    with pytest.raises(StorageRefused, match="start, which is not here; start it with absolute paths"):
        do_nothing(tmp_path / "w", token)


def test_a_worker_extracts_pages_with_the_same_library(tmp_path, interrupted_at, monkeypatch):
    (tmp_path / "pages").mkdir()
    for number in range(3):
        (tmp_path / "pages" / f"{number}.html").write_text(f"<p>page {number}")
    token = interrupted(tmp_path / "w", [tmp_path / "pages"], interrupted_at)
    for own, words in (("resiliparse 0", "resiliparse 0"), (None, "no such library")):
        monkeypatch.setattr("neardup.text.extraction.installed", lambda own=own: own)
        with pytest.raises(StorageRefused, match=f"here by {words}; install the same version"):
            do_nothing(tmp_path / "w", token)


@pytest.mark.parametrize("common", [0.1, CommonShingles.fitted(["a b c d"] * 3, MinHash().shingling, 0.5)])
def test_a_worker_knows_the_common_shingles(tmp_path, sources, small_parts, monkeypatch, common):
    small_parts(1000)
    found, done = shared(tmp_path, sources, monkeypatch, busy(tmp_path / "w"), ignore_common=common)
    assert done.tasks > 5
    expected = dedup_files(sources, ignore_common=common).result
    assert repr(found.result.decisions.to_pylist()) == repr(expected.decisions.to_pylist())


class InThisProcess:
    """Executors with no other process."""

    def each(self, opened, tasks):
        with opened() as do:
            yield from (do(task) and None for task in tasks)


@pytest.mark.parametrize("common", [0.1, CommonShingles.fitted(["a b c d"] * 3, MinHash().shingling, 0.5)])
def test_executors_know_the_common_shingles(tmp_path, sources, small_parts, common):
    small_parts(1000)
    ways = {"ignore_common": common, "executors": InThisProcess()}
    found = dedup_files(sources, tmp_path / "out.jsonl", work=tmp_path / "w", **ways).result
    expected = dedup_files(sources, tmp_path / "memory.jsonl", ignore_common=common).result
    assert repr(found.decisions.to_pylist()) == repr(expected.decisions.to_pylist())
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "memory.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("key", "other", "code"),
    [(bytes(16), None, "key needed"), (bytes(16), b"1" * 16, "other key"), (None, bytes(16), "no key")],
)
def test_a_worker_needs_the_key_of_the_run(tmp_path, sources, small_parts, monkeypatch, key, other, code):  # noqa: PLR0917 - fixtures and cases
    small_parts(1000)

    def worker(_):
        with pytest.raises(StorageRefused, match="was created with") as caught:
            work_on(tmp_path / "w", key=other, idle=120)
        assert caught.value.code == code

    shared(tmp_path, sources, monkeypatch, worker, scheme=MinHash(key=key))


def test_a_worker_does_not_share_a_run_with_a_table_of_weights(tmp_path, sources, small_parts, monkeypatch):
    small_parts(1000)

    def worker(_):
        with pytest.raises(StorageRefused, match="has a scheme with a table of weights"):
            work_on(tmp_path / "w", idle=120)

    scheme = SimHash(rule="cosine", weights=TermWeights.fitted(["w1 w2 w3", "w1"]), distance=4)
    shared(tmp_path, sources, monkeypatch, worker, scheme=scheme)


def test_a_worker_does_not_share_a_run_of_all_pairs(tmp_path, sources, monkeypatch):
    refused = []

    def working(*given):
        with pytest.raises(StorageRefused, match="its run finds all pairs; only the process that started it"):
            work_on(tmp_path / "w", idle=120)
        refused.append(given[-1])
        return shingle(*given)

    shingle = pairs.shingle
    monkeypatch.setattr(pairs, "shingle", working)
    pair_files(sources[:1], out=tmp_path / "pairs.jsonl", work=tmp_path / "w")
    assert refused


def test_the_folder_of_a_run_is_not_a_file(sources):
    with pytest.raises(StorageRefused, match="it is a file; name a new folder"):
        work_on(sources[0])


def test_an_executor_does_tasks_of_its_run_and_its_terms_only(tmp_path, sources, interrupted_at):
    token = interrupted(tmp_path / "w", sources, interrupted_at)
    for own, stage, rule in ((token[::-1], "sign-", "its run is not here"), (token, "sign-0", "has other terms than")):
        with pytest.raises(StorageRefused, match=rule), tasks_of(str(tmp_path / "w"), own, MinHash(), stage):
            pass


def test_without_a_run_a_worker_ends(tmp_path):
    waiting = []
    (tmp_path / "w").mkdir()
    assert work_on(tmp_path / "w", idle=0.01, waiting=waiting.append) == (0, "absent")
    assert waiting == ["absent"]


def test_a_worker_reports_that_the_run_was_interrupted(tmp_path, sources, interrupted_at):
    interrupted(tmp_path / "w", sources, interrupted_at)
    waiting = []
    assert work_on(tmp_path / "w", idle=0.1, threads=3, waiting=waiting.append) == (0, "stopped")
    assert waiting == ["stopped"]
