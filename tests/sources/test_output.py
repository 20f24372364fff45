import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.model.errors import DataError, OutputError, OutputRefused, ParameterError, StorageBusy
from neardup.sources import output
from neardup.sources.formats import FOLDER
from neardup.sources.inputs import inputs_of
from neardup.sources.output import (
    PAGES,
    atomic,
    check_table,
    check_target,
    is_page,
    is_special,
    temporary_folder,
    write_file,
    write_table,
)
from neardup.sources.output_places import InputPaths
from neardup.sources.patterns import expand
from neardup.sources.read import read
from neardup.sources.request import Request


def check_output(path, inputs, *, force):
    """Check an output before its inputs are read."""
    found = inputs_of(inputs, Request())
    check_target(path, InputPaths(found.paths), found.formats, force=force)


NAMELESS = pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "named"])


@pytest.fixture
def how(monkeypatch):
    """Write with or without nameless files."""

    def how(nameless):
        if not nameless:
            monkeypatch.setattr(output, "_nameless", lambda _folder: None)

    return how


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "b"}\n')
    return path


def names(path):
    return sorted(entry.name for entry in path.iterdir())


@NAMELESS
def test_a_file_appears_when_it_is_complete(tmp_path, how, nameless):
    how(nameless)
    path = tmp_path / "out"
    with atomic(path) as file:
        file.write(b"all")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"all"
    assert names(tmp_path) == ["out"]


@NAMELESS
@pytest.mark.parametrize("trouble", [KeyboardInterrupt, ValueError, SystemExit])
def test_on_any_exception_nothing_is_left_and_the_old_file_stays(tmp_path, how, nameless, trouble):
    how(nameless)
    path = tmp_path / "out"
    path.write_bytes(b"old")

    def write():
        with atomic(path) as file:
            file.write(b"half")
            file.flush()
            raise trouble

    with pytest.raises(trouble):
        write()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["out"]


@NAMELESS
def test_trouble_at_the_last_moment_leaves_nothing(tmp_path, how, nameless, monkeypatch):
    how(nameless)

    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(5, "Input/output error")))
    with pytest.raises(OutputError, match=r"out: it cannot be written: Input/output error"), atomic(tmp_path / "out"):
        pass
    assert names(tmp_path) == []


def test_an_error_that_names_another_file_is_raised_unchanged(tmp_path):
    with pytest.raises(StorageBusy, match="work: another process"), atomic(tmp_path / "out"):
        raise StorageBusy("work", "another process has it")
    assert not [*tmp_path.iterdir()]


@NAMELESS
def test_permissions_are_the_usual_ones_or_those_of_the_old_file(tmp_path, how, nameless):
    how(nameless)
    path = tmp_path / "out"
    umask = os.umask(0o027)
    try:
        with atomic(path):
            pass
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        with atomic(path):
            pass
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(umask)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "out")
    with atomic(tmp_path / "link") as file:
        file.write(b"all")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "out").read_bytes() == b"all"


KILLED = """
import sys
import tempfile
from neardup.sources.output import atomic
with atomic(sys.argv[1]) as file:
    file.write(b"x" * (1 << 22))
    file.flush()
    print("half", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="there are no files without names")
@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda death: death.name)
def test_a_killed_process_leaves_nothing(tmp_path, death):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "out")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == b"half\n"
        process.send_signal(death)
        process.wait(120)
    assert names(tmp_path) == []


def test_a_full_disk_is_an_output_error(source):
    for path in ("/dev/full", source.parent / "link"):
        if path != "/dev/full":
            path.symlink_to("/dev/full")
        with pytest.raises(OutputError, match="cannot be written: No space left on device"):
            read([source]).write(path, np.array([0]))


def test_a_full_disk_is_an_output_error_for_parquet(tmp_path):
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "in.parquet")
    with pytest.raises(OutputError, match="No space left on device"):
        read([tmp_path / "in.parquet"]).write("/dev/full", np.array([0]))


def test_a_disk_that_fills_up_leaves_nothing(tmp_path):
    """A limit on the size of files stands for the disk; it needs a process of its own."""
    script = f"""
import random, resource, signal
import pyarrow as pa
from neardup.model.errors import OutputError
from neardup.sources import output
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
numbers, nameless = random.Random(1), output._nameless
table = pa.table({{"x": [numbers.random() for _ in range(50_000)]}})
for ending, named in (("jsonl", False), ("jsonl.gz", False), ("jsonl.zst", True), ("parquet", True)):
    output._nameless = (lambda folder: None) if named else nameless
    try:
        output.write_table({str(tmp_path / "out")!r} + "." + ending, table)
    except OutputError as error:
        assert "File too large" in str(error), (ending, error)
    else:
        raise SystemExit(ending + ": no error")
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], check=False, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert names(tmp_path) == []


def test_devices_need_no_force(source):
    read([source]).write("/dev/null", np.array([0]))
    assert is_special("/dev/null")
    assert not is_special(str(source))
    assert not is_special(str(source.parent))


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no folder in memory")  # noqa: S108
def test_files_in_memory_are_replaced_like_others(source):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        target = Path(folder, "kept.jsonl")
        target.write_text("before\n")
        with pytest.raises(OutputError, match="it exists already"):
            read([source]).write(target, np.array([1]))
        read([source]).write(target, np.array([1]), force=True)
        assert target.read_text() == '{"text": "b"}\n'


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_pipe_gets_the_inputs_format(tmp_path, source, form):
    if form == "parquet":
        source = tmp_path / "in.parquet"
        pq.write_table(pa.table({"text": ["a", "b"]}), source)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    read([source]).write(pipe, np.array([1]))
    reader.join()
    if form == "jsonl":
        assert got == [b'{"text": "b"}\n']
    else:
        assert pq.read_table(pa.BufferReader(got[0])).to_pydict() == {"text": ["b"]}


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_standard_output_may_be_a_file(tmp_path, source, mode):
    target = tmp_path / "out"
    target.write_bytes(b"before\n")
    before = os.dup(1)
    with target.open(mode) as file:
        os.dup2(file.fileno(), 1)
        try:
            read([source]).write("/dev/stdout", np.array([1]))
        finally:
            os.dup2(before, 1)
            os.close(before)
    assert target.read_bytes() == (b"before\n" if mode == "ab" else b"") + b'{"text": "b"}\n'


def test_an_output_is_refused_early_for_what_would_fail_late(tmp_path, source):
    old = tmp_path / "old.jsonl"
    old.touch()
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to(source)
    os.link(source, tmp_path / "hard.jsonl")
    for path, force, reason in [
        (old, False, "exists already"),
        (source, False, "is one of the inputs"),
        (source, True, "is one of the inputs"),
        (tmp_path / "link.jsonl", True, "is one of the inputs"),
        (tmp_path / "hard.jsonl", True, "is one of the inputs"),
        (tmp_path / "x" / ".." / "in.jsonl", True, "is one of the inputs"),
        (tmp_path / "nowhere" / "out.jsonl", True, "its folder does not exist"),
        (old / "out.jsonl", True, "old.jsonl is a file"),
        (tmp_path / "folder.jsonl", True, "it is a folder"),
    ]:
        with pytest.raises(OutputError, match=reason):
            check_output(path, [source], force=force)
        with pytest.raises(OutputError, match=reason):
            read([source]).write(path, np.array([0]), force=force)
    for path in ("out.txt", "out", "out.jsonl.lz4"):
        with pytest.raises(ParameterError, match=r"must end in a known format: \.jsonl, \.ndjson, \.csv"):
            check_output(tmp_path / path, [source], force=False)
    check_output(old, [source], force=True)
    check_output(tmp_path / "new.ndjson.gz", [tmp_path / "i*.jsonl", "-"], force=False)


def test_an_empty_path_is_refused():
    for check in (
        lambda: output.check_file("", [".json"], force=True),
        lambda: output.check_separate({"output": "", "report": "a.html"}),
    ):
        with pytest.raises(OutputError, match="output: the path is empty"):
            check()


def test_standard_input_is_no_output():
    """It may be a file, which would be overwritten."""
    with pytest.raises(OutputError, match="it is the standard input"):
        output.check_file("/dev/stdin", [".svg"], force=False)


def test_a_folder_without_permission_is_refused(tmp_path, source, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="its folder is not writable"):
        check_output(tmp_path / "out.jsonl", [source], force=False)


@pytest.mark.usefixtures("permissions")
def test_a_folder_that_may_not_be_entered_is_named(tmp_path, source):
    (tmp_path / "locked").mkdir(mode=0)
    with pytest.raises(OutputError, match=r"out\.jsonl: its folder is not writable") as caught:
        check_output(tmp_path / "locked" / "out.jsonl", [source], force=False)
    assert caught.value.code == "permission"
    with pytest.raises(DataError, match=r"in\.jsonl: it cannot be read: Permission denied"):
        expand([tmp_path / "locked" / "in.jsonl"])


def test_force_replaces_the_old_output(tmp_path, source):
    old = tmp_path / "old.jsonl"
    old.write_bytes(b"old")
    read([source]).write(old, np.array([0]), force=True)
    assert old.read_bytes() == b'{"text": "a"}\n'


TABLE = pa.table(
    {
        "id": ["a", None],
        "resemblance": [0.5, float("nan")],
        "exact": [True, False],
        "rule": pa.array(["x", "y"]).dictionary_encode(),
    }
)


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz", "r.ndjson.zst"])
def test_a_table_as_json_lines(tmp_path, name):
    write_table(tmp_path / name, TABLE)
    back = read([tmp_path / name], text="rule")
    assert back.texts.to_pylist() == ["x", "y"]
    if name == "r.jsonl":
        lines = (tmp_path / name).read_text().splitlines()
        assert json.loads(lines[0]) == {"id": "a", "resemblance": 0.5, "exact": True, "rule": "x"}
        assert json.loads(lines[1]) == {"id": None, "resemblance": None, "exact": False, "rule": "y"}


def test_a_table_as_parquet(tmp_path):
    write_table(tmp_path / "r.parquet", TABLE)
    assert pq.read_table(tmp_path / "r.parquet").column_names == TABLE.column_names


def test_an_empty_table(tmp_path):
    write_table(tmp_path / "r.jsonl", TABLE.slice(0, 0))
    assert (tmp_path / "r.jsonl").read_bytes() == b""


def test_a_table_is_refused_like_any_output(tmp_path, source):
    with pytest.raises(ParameterError, match=r"must end in \.parquet, or in \.jsonl or \.ndjson, which"):
        write_table(tmp_path / "r.csv", TABLE)
    with pytest.raises(OutputError, match="exists already"):
        write_table(source, TABLE)
    with pytest.raises(OutputError, match="is one of the inputs"):
        check_table(source, [source], force=True)
    with pytest.raises(OutputError, match="its folder does not exist"):
        check_table(tmp_path / "x" / "r.jsonl", force=False)
    with pytest.raises(OutputError, match="No space left"):
        write_table("/dev/full", TABLE)
    write_table("/dev/null", TABLE)
    write_table(source, TABLE, force=True)
    assert source.read_bytes().startswith(b'{"id"')


def test_a_page_is_written_once_unless_it_is_replaced(tmp_path):
    place = tmp_path / "page.HTML"
    write_file(place, b"<p>one", PAGES)
    with pytest.raises(OutputError, match="exists already"):
        write_file(place, b"<p>two", PAGES)
    write_file(place, b"<p>two", PAGES, force=True)
    assert place.read_bytes() == b"<p>two"
    with pytest.raises(ParameterError, match="must end in"):
        write_file(tmp_path / "page.txt", b"", PAGES)
    with pytest.raises(OutputError, match="one of the inputs"):
        check_table(place, [place], force=True, or_page=True)
    with pytest.raises(ParameterError, match="parquet"):
        check_table(place, force=True)
    assert [is_page(name) for name in ("a.html", "b.HTM", "html", "c.html.gz", "d.jsonl")] == [True, True] + [False] * 3


LEFT = ".neardup-0123456789abcdef.partial"


def test_leftovers_of_killed_runs_are_removed_and_what_a_run_holds_is_not(tmp_path):
    (tmp_path / LEFT).mkdir()
    (tmp_path / LEFT / "page.txt").touch()
    (tmp_path / LEFT.replace("f.", "e.")).touch()
    held, others = tmp_path / LEFT.replace("f.", "0."), [".neardup-short.partial", "mine.partial"]
    held.mkdir()
    for name in others:
        (tmp_path / name).touch()
    with output.locked(held), atomic(tmp_path / "out") as file:
        file.write(b"new")
    assert names(tmp_path) == sorted([held.name, *others, "out"])
    with atomic(tmp_path / "out") as file:
        file.write(b"newer")
    assert names(tmp_path) == sorted([*others, "out"])


def test_a_new_folder_that_another_run_removes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    locked, removed = output.locked, []

    def late(path):
        if not removed:
            output.remove_leftovers(tmp_path)
            removed.append(path)
        return locked(path)

    monkeypatch.setattr(output, "locked", late)
    with output.new_folder(tmp_path / "made") as made:
        output.remove_leftovers(tmp_path)
        assert [*tmp_path.iterdir()] == [made] == removed
    assert not [*tmp_path.iterdir()]


def test_leftovers_are_neither_of_other_users_nor_anything_but_files_and_folders(tmp_path, monkeypatch):
    folder, pipe, link, target = (tmp_path / LEFT.replace("f.", f"{digit}.") for digit in "0123")
    folder.mkdir()
    os.mkfifo(pipe)  # which would wait for a writer
    target.mkdir()
    link.symlink_to(target)
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
        output.remove_leftovers(tmp_path)
        assert len(names(tmp_path)) == 4
    output.remove_leftovers(tmp_path)
    assert names(tmp_path) == [link.name]


@pytest.mark.usefixtures("permissions")
def test_a_folder_that_cannot_be_listed_can_have_outputs(tmp_path):
    (folder := tmp_path / "inbox").mkdir(mode=0o300)
    with atomic(folder / "out") as file:
        file.write(b"1")
    assert (folder / "out").read_bytes() == b"1"


def test_a_run_does_not_remove_what_another_is_writing(tmp_path, how):
    how(False)
    with atomic(tmp_path / "one") as file:
        file.write(b"1")
        with atomic(tmp_path / "two") as other:
            other.write(b"2")
    assert (names(tmp_path), (tmp_path / "one").read_bytes()) == (["one", "two"], b"1")


def test_names_may_be_as_long_as_the_file_system_allows(tmp_path, source):
    most = os.pathconf(tmp_path, "PC_NAME_MAX")
    check_output(tmp_path / f"{'x' * (most - 6)}.jsonl", [source], force=False)
    for name in (f"{'x' * (most - 5)}.jsonl", f"{'é' * (most // 2)}.jsonl"):
        with pytest.raises(OutputRefused, match=f"it has a name of more than {most} bytes; choose a shorter one"):
            check_output(tmp_path / name, [source], force=False)


def test_threads_that_write_into_one_folder_do_not_remove_each_others_files(tmp_path):
    def write(number):
        for _ in range(5):
            with atomic(tmp_path / f"{number}.txt") as file:
                file.write(b"whole")

    with ThreadPoolExecutor(8) as threads:
        for _ in threads.map(write, range(8)):
            pass
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"whole"] * 8


def test_a_folder_of_texts_is_not_written_to_a_url():
    with pytest.raises(ParameterError, match="must be a local folder, or end in a known format"):
        check_target("memory://out", InputPaths(()), {FOLDER}, force=False)


def test_many_files_of_a_folder_do_not_list_it_again_for_each(tmp_path, monkeypatch):
    listed = []
    monkeypatch.setattr(output, "remove_leftovers", listed.append)
    for number in range(100):
        with output.atomic(tmp_path / f"{number}.txt") as file:
            file.write(b"1")
    assert listed == [tmp_path] * 7


def test_the_temporary_folder_of_a_killed_process_is_removed_by_the_next(tmp_path, monkeypatch):
    program = """
import os, signal
from neardup.sources.output import temporary_folder
with temporary_folder() as folder:
    (folder / "large").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    assert [path.name for path in left.iterdir()] == ["large"]
    elsewhere = left.with_name(f".neardup-{'0' * 16}.partial")  # of another host that shares this place
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = os.umask(0)
    try:
        with temporary_folder() as folder:
            assert {*tmp_path.iterdir()} == {folder, elsewhere}
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        os.umask(before)
    assert [*tmp_path.iterdir()] == [elsewhere]


def test_a_long_output_reaches_the_disk_while_it_is_written(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(os, "posix_fadvise", lambda _, begin, size, __: begun.append((begin, size)), raising=False)
    content = b"0123456789abcdef" * (1 << 16)
    with atomic(tmp_path / "out") as file:
        for _ in range(20):
            file.write(content)
    assert (tmp_path / "out").read_bytes() == content * 20
    assert [begin for begin, _ in begun] == [0, 8 << 20]
    assert sum(size for _, size in begun) == 16 << 20
