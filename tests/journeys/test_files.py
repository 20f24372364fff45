"""Whole uses of the program, from files to files, as real processes."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from json_lines import read_lines, write_lines

import neardup
from neardup.interfaces.cli import main

PACKAGE = Path(neardup.__file__).parent
COLLECTION = PACKAGE / "samples" / "collection.jsonl"
PROGRAM = [sys.executable, "-m", "neardup"]
NOBODY = 65534
MAIN_KERNEL = "minhash.sketch-"  # the first start of `dedup` is one without its machine code
PATIENCE = 120  # seconds until a process counts as stuck


def environment(**changes):
    plain = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    return {**plain, "TERM": "xterm-256color", **changes}


def run(*arguments, code=0, **options):
    """Run the program; it may fail, but not fall."""
    chosen = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": PATIENCE, "env": environment(), **options}
    if "input" in chosen:
        del chosen["stdin"]
    done = subprocess.run([*PROGRAM, *map(str, arguments)], check=False, **chosen)
    assert b"Traceback" not in (done.stdout or b"") + (done.stderr or b""), done.stderr
    assert done.returncode == code, done.stderr
    return done


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def big(tmp_path):
    """Enough documents for a run that is still at work when it is stopped."""
    path = tmp_path / "big.jsonl"
    return written(path, 20_000)


def written(path, number):
    words = [f"word{place * 7919 % 10_007}" for place in range(number + 200)]
    with path.open("w") as file:
        file.writelines(json.dumps({"text": " ".join(words[start : start + 200])}) + "\n" for start in range(number))
    return path


# A first afternoon


def test_from_the_demo_to_files_of_ones_own(tmp_path, monkeypatch, capsys):
    assert b"neardup dedup FILE.jsonl --out kept.jsonl --report why.jsonl" in run("demo").stdout
    shutil.copy(COLLECTION, tmp_path / "FILE.jsonl")
    run("dedup", "FILE.jsonl", "--out", "kept.jsonl", "--report", "why.jsonl", cwd=tmp_path)
    kept = [row["id"] for row in read_lines(tmp_path / "why.jsonl") if row["kept"]]
    assert [row["id"] for row in read_lines(tmp_path / "kept.jsonl")] == kept
    monkeypatch.chdir(tmp_path)
    assert main(["dedup", "FILE.jsonl", "--out", "kept.jsonl"]) == 2
    assert capsys.readouterr().err == "neardup: kept.jsonl: it exists already; --force replaces it\n"
    assert main(["dedup", "kept.jsonl", "--out", "once-more.jsonl", "--json"]) == 0
    twice = json.loads(capsys.readouterr().out)
    assert twice["near"] == twice["exact"] == 0
    assert (tmp_path / "once-more.jsonl").read_bytes() == (tmp_path / "kept.jsonl").read_bytes()
    assert names(tmp_path) == ["FILE.jsonl", "kept.jsonl", "once-more.jsonl", "why.jsonl"]


def test_the_same_documents_in_every_format_get_the_same_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": row["id"], "text": row["text"] or ""} for row in read_lines(COLLECTION)]  # a folder knows no null
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, tmp_path / "in.parquet")
    write_lines(tmp_path / "in.ndjson", rows)
    (tmp_path / "folder").mkdir()
    for row in rows:
        (tmp_path / "folder" / f"{row['id']}.txt").write_bytes(row["text"].encode())
    kept = {}
    for source, keep in (("in.parquet", "min:id"), ("in.ndjson", "min:id"), ("folder", "first")):
        assert main(["dedup", source, "--keep", keep, "--report", f"{source}.why.jsonl", "--dry-run"]) == 0
        decided = read_lines(tmp_path / f"{source}.why.jsonl")
        kept[source] = {row["id"].removesuffix(".txt") for row in decided if row["kept"]}
    assert kept["in.parquet"] == kept["in.ndjson"] == kept["folder"]


# Pipes


def test_in_a_pipeline():
    done = run("dedup", "-", "--out", "-", "--json", input=COLLECTION.read_bytes())
    assert len(done.stdout.splitlines()) == json.loads(done.stderr)["kept"] == 224
    broken = run("dedup", "-", "--out", "-", input=b'{"text": "a"}\nbroken\n', code=1)
    assert broken.stdout == b'{"text": "a"}\n'
    assert b"<stdin>:2: it is not valid JSON" in broken.stderr


def test_a_reader_that_leaves_early_is_not_an_error():
    for arguments in (["demo"], ["dedup", COLLECTION, "--out", "-"], ["pairs", COLLECTION, "--out", "/dev/stdout"]):
        reading, writing = os.pipe()
        os.close(reading)  # as `| head` once it has seen enough
        done = run(*arguments, code=1, stdout=writing, stderr=subprocess.PIPE, capture_output=False)
        os.close(writing)
        assert done.stderr == b""


def test_what_others_write_to_the_same_file_stays(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "a"}\n')
    with (tmp_path / "log").open("wb") as log:
        log.write(b"before\n")
        log.flush()
        run("dedup", source, "--out", "-", stdout=log, stderr=log, capture_output=False)
        log.write(b"after\n")
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[:3] == ["before", '{"text": "a"}', "1  document"]
    assert lines[-1] == "after"


def test_standard_output_may_be_a_socket():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        run(
            "dedup",
            "-",
            "--out",
            "-",
            input=b'{"text": "a"}\n',
            stdout=theirs,
            stderr=subprocess.PIPE,
            capture_output=False,
        )
        assert ours.recv(99) == b'{"text": "a"}\n'


def test_an_input_cannot_be_appended_to(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "a"}\n')
    with source.open("ab") as file:
        done = run(
            "dedup", source, "--out", "-", "--force", code=2, stdout=file, stderr=subprocess.PIPE, capture_output=False
        )
    assert b"it is one of the inputs" in done.stderr
    assert source.read_text() == '{"text": "a"}\n'


def test_closed_and_full_streams(tmp_path):
    def shell(command):
        quoted = command.replace("neardup", f"{shlex.quote(sys.executable)} -m neardup")
        done = subprocess.run(
            ["sh", "-c", quoted], check=False, capture_output=True, cwd=tmp_path, timeout=PATIENCE, env=environment()
        )
        assert b"Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n')
    full = b"neardup: standard output cannot be written: No space left on device\n"
    for asked in ("--help", "demo"):
        assert shell(f"neardup {asked} > /dev/full") == (1, b"", full)
    assert shell("neardup dedup in.jsonl --dry-run --json > /dev/full") == (1, b"", full)
    assert shell("neardup dedup in.jsonl --out a.jsonl >&-") == (0, b"", b"")
    assert shell("neardup dedup in.jsonl --out b.jsonl 2>&-")[0] == 0
    assert shell("neardup dedup in.jsonl --out - >&-") == (2, b"", b"neardup: /dev/stdout: it is closed\n")
    assert shell("neardup dedup - --dry-run <&-") == (1, b"", b"neardup: <stdin>: it is closed\n")
    assert shell("neardup dedup none.jsonl --dry-run 2>&-") == (2, b"", b"")
    assert names(tmp_path) == ["a.jsonl", "b.jsonl", "in.jsonl"]


# Terminals


def on_a_terminal(*arguments, **variables):
    """Run the program with a terminal as standard output and error; return what that showed."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment(COLUMNS="80", **variables),
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                shown += chunk
        except OSError:  # how a terminal says that its other end is closed
            pass
        assert process.wait(PATIENCE) == 0
    os.close(ours)
    return shown.decode()


def test_a_terminal_sees_progress_and_colours():
    shown = on_a_terminal("dedup", COLLECTION, "--dry-run")
    for word in ("Reading", "Shingling", "Signing", "Comparing", "100%", "224\x1b[0m  kept"):
        assert word in shown
    assert "\x1b[1m224" in shown
    assert "\x1b[1;31m" in on_a_terminal("demo")


def test_no_color_means_none_and_the_demo_fits_any_terminal_encoding():
    shown = on_a_terminal("demo", NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert "*" in shown
    assert "\x1b[1;31m" not in shown
    assert "\x1b[36m" not in shown


def test_elsewhere_there_is_neither(capfd):
    assert main(["dedup", str(COLLECTION), "--dry-run"]) == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    assert "\x1b" not in shown.out
    assert "\r" not in shown.out


def test_names_beyond_ascii_are_read_in_every_locale(tmp_path):
    (tmp_path / "bär.jsonl").write_text('{"text": "Seven herons left the weir at dawn."}\n')
    (tmp_path / "schäl.jsonl").write_text("broken\n")
    options = {"cwd": tmp_path, "env": environment(LC_ALL="C", PYTHONUTF8="0")}
    assert b"1  kept" in run("dedup", "bär.jsonl", "--dry-run", "--report", "why.parquet", **options).stdout
    run("audit", "bär.jsonl", "--of", "why.parquet", **options)
    for verb in (["dedup", "--dry-run"], ["contamination", "--against", "bär.jsonl"]):
        assert b"its only record" in run(*verb, "schäl.jsonl", code=1, **options).stderr


# Interruptions


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_stopped_at_work_it_leaves_everything_as_it_was(tmp_path, number, code):
    written(tmp_path / "in.jsonl", 4_000)
    old = tmp_path / "old.jsonl"
    old.write_text("as it was")
    os.mkfifo(tmp_path / "report")  # it has no reader: the run cannot end before it is stopped
    before = names(tmp_path)
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*PROGRAM, "dedup", "in.jsonl", "--force", "--out", old, "--dropped", "gone.jsonl", "--report", "report"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment(),
    ) as process:
        os.close(theirs)
        shown = b""
        while b"Shingling" not in shown:
            shown += os.read(ours, 1 << 16)
        process.send_signal(number)
        try:
            while chunk := os.read(ours, 1 << 16):
                shown += chunk
        except OSError:
            pass
        assert process.wait(PATIENCE) == code, shown.decode()
    os.close(ours)
    assert b"Traceback" not in shown
    if number == signal.SIGINT:
        assert b"neardup: interrupted; no partial output is left" in shown
    assert old.read_text() == "as it was"
    assert names(tmp_path) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_while_writing_it_leaves_nothing(tmp_path, number):
    """The pipe of the kept documents has no reader, so writing cannot end."""
    source = write_lines(tmp_path / "in.jsonl", [{"text": f"document {n} " * 50} for n in range(1_000)])
    before = names(tmp_path)
    with subprocess.Popen(
        [*PROGRAM, "dedup", source, "--out", "-"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout.read(1) == b"{"
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert b"Traceback" not in errors
    assert names(tmp_path) == before


def test_stopped_while_waiting_for_more_input(tmp_path):
    with subprocess.Popen(
        [*PROGRAM, "dedup", "-", "--out", "kept.jsonl"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        process.stdin.write(b'{"text": "a"}\n' * 100_000)  # more than a pipe holds: it has begun to read
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read().startswith(b"neardup: interrupted; no partial output is left")
    assert names(tmp_path) == []


def opened_without_waiting(process, name):
    """Return whether a process has a file open without waiting; a new process may still have those it inherits."""
    for one in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed by now
            flags = Path(f"/proc/{process}/fdinfo/{one.name}").read_text().split("flags:")[1].split()[0]
            if str(one.readlink()) == name and int(flags, 8) & os.O_NONBLOCK:
                return True
    return False


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_it_while_its_terminal_is_stopped(tmp_path, number):
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n')
    os.mkfifo(tmp_path / "report")  # it has no reader
    ours, theirs = os.openpty()
    os.set_blocking(theirs, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(theirs, b"full")
    os.set_blocking(theirs, True)
    name = os.ttyname(theirs)
    with subprocess.Popen(
        [*PROGRAM, "dedup", "in.jsonl", "--out", "kept.jsonl", "--report", "report"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment(),
    ) as process:
        while not opened_without_waiting(process.pid, name):  # until bars are about to be shown
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
    os.close(ours)
    os.close(theirs)
    assert names(tmp_path) == ["in.jsonl", "report"]


LOADING = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Interrupted(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "neardup.interfaces":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupted())
from neardup.__main__ import main
main()
"""


def test_interrupted_while_it_is_loading_it_says_nothing():
    done = subprocess.run([sys.executable, "-c", LOADING], check=False, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


MAKING_CLASSES = """
import os, signal, sys
from neardup.interfaces.cli import check, main

def run(arguments):
    exec("os.kill(os.getpid(), signal.SIGINT)\\nfor _ in range(1 << 20): pass")

check.run = run
sys.exit(main(["check", "seen"]))
"""


def test_interrupted_while_code_is_made_from_a_string_it_has_its_exit_code(tmp_path):
    """As libraries make data classes while they are loaded."""
    (tmp_path / "classes.py").write_text(MAKING_CLASSES)
    program = [sys.executable, "-m", "classes"]
    done = subprocess.run(program, cwd=tmp_path, check=False, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (
        130,
        b"neardup: interrupted; no partial output is left; run the same command again\n",
    )


CALLED_BY_C = """
import ctypes, os, signal, sys, time
from neardup.interfaces.cli import check, main

def run(arguments):
    ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))()
    time.sleep(100)

check.run = run
sys.exit(main(["check", "seen"]))
"""


def test_stopped_while_c_calls_python_it_ends():
    """As the compiler does for each function that it adds to memory; Python ignores exceptions there."""
    done = subprocess.run([sys.executable, "-c", CALLED_BY_C], check=False, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (143, b"", b"")


STUCK = """
import os, signal, sys, threading
from neardup.interfaces.cli import check, interruption, main

def run(arguments):
    locked = threading.Lock()
    locked.acquire()
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        locked.acquire()

check.run, interruption._LONGEST = run, 0.5
sys.exit(main(["check", "seen"]))
"""


def test_stopped_it_ends_even_if_cleaning_up_does_not():
    """As where a thread waits for a lock of the compiler, which a signal has left locked."""
    done = subprocess.run([sys.executable, "-c", STUCK], check=False, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (143, b"", b"")


# Installations that cannot be written to


@pytest.fixture
def installed():
    """Copy the package, without its machine code, to a folder that all users can read and none can write."""
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may write anywhere, and there is no setpriv to become somebody else")
    place = Path(tempfile.mkdtemp(prefix="neardup-test-"))
    place.chmod(0o755)
    shutil.copytree(PACKAGE, place / "site" / "neardup", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("home", "tmp"):
        (place / name).mkdir()
        (place / name).chmod(0o777)
    (place / "in.jsonl").write_text('{"text": "one two three four"}\n' * 3)
    set_writable(place / "site", yes=False)
    if trouble := nobodys_trouble(place):
        pytest.skip(f"another user cannot run this Python with another copy: {trouble}")
    yield place
    set_writable(place / "site", yes=True)
    shutil.rmtree(place)


def nobodys_trouble(place, known=[]):  # noqa: B006 - it is the same for each copy
    """Return what prevents a user without rights from running a copy, and from reading what it needs."""
    if not known:
        where = "import neardup.pipeline; print(neardup.__file__)"
        done = started_as_nobody(place, place / "home", "-c", where)
        known.append("" if done.stdout.decode().startswith(str(place)) else done.stderr.decode()[-200:] or "no output")
    return known[0]


def set_writable(top, *, yes):
    for path in (top, *top.rglob("*")):
        if path.is_dir():
            path.chmod(0o755 if yes else 0o555)


def warmed(place, folder):
    """Put the machine code of the kernels into a folder, as `neardup warm` of another user does."""
    code = machine_code()
    if not any(path.name.startswith(MAIN_KERNEL) for path in code):
        pytest.skip("the machine code of the kernels is not beside them: `neardup warm` makes it")
    put(place, folder, code)


def machine_code():
    return [path for path in (PACKAGE / "kernels" / "__pycache__").glob("*.nb[ic]") if path.is_file()]


def put(place, folder, code):
    """Copy machine code into a folder, which no user can then write to."""
    set_writable(place / "site", yes=True)
    folder.mkdir(parents=True)
    for path in code:
        shutil.copy2(path, folder)
        (folder / path.name).chmod(0o444)
    set_writable(place / "site", yes=False)
    folder.chmod(0o555)


def as_nobody(place, home, **changes):
    """Run a small job from the copy, as a user without rights; return its standard error."""
    done = started_as_nobody(
        place, home, "-m", "neardup", "dedup", place / "in.jsonl", "--dry-run", "--json", **changes
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept"] == 1
    return done.stderr.decode()


def started_as_nobody(place, home, *command, **changes):
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
    variables = environment(
        HOME=str(home), PYTHONPATH=str(place / "site"), PYTHONSAFEPATH="1", TMPDIR=str(place / "tmp")
    )
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        variables.pop(name, None)
    return subprocess.run(
        [*become, sys.executable, *map(str, command)],
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        cwd="/",
        env=variables | changes,
        timeout=5 * PATIENCE,  # it may compile
    )


def test_the_first_start_says_that_it_compiles_and_the_next_need_not(installed):
    """The machine code of the other kernels is there, which takes half a minute to make."""
    others = [path for path in machine_code() if not path.name.startswith(MAIN_KERNEL)]
    put(installed, installed / "site" / "neardup" / "kernels" / "__pycache__", others)
    assert as_nobody(installed, "/nonexistent").startswith("First use on this machine: compiling the kernels")
    assert sorted(path.name for path in (installed / "site").rglob("*.nb[ic]")) == sorted(path.name for path in others)
    assert list((installed / "tmp").rglob(f"{MAIN_KERNEL}*.nbc"))
    assert as_nobody(installed, "/nonexistent") == ""


def test_machine_code_that_another_user_left_next_to_the_kernels_is_used(installed):
    warmed(installed, installed / "site" / "neardup" / "kernels" / "__pycache__")
    assert as_nobody(installed, installed / "home") == ""
    assert list((installed / "home").rglob(f"{MAIN_KERNEL}*.nbi"))
    assert not list((installed / "tmp").rglob("*.nbi"))


def test_a_cache_folder_that_is_read_only_is_used(installed):
    home, named = installed / "home", installed / "named"
    folder = subprocess.run(
        [sys.executable, "-c", "from neardup.kernels import minhash; print(minhash.sketch.stats.cache_path)"],
        check=True,
        capture_output=True,
        text=True,
        env=environment(NUMBA_CACHE_DIR=str(named), PYTHONPATH=str(installed / "site"), PYTHONSAFEPATH="1"),
    ).stdout.strip()
    Path(folder).rmdir()
    warmed(installed, Path(folder))
    named.chmod(0o555)
    assert as_nobody(installed, home, NUMBA_CACHE_DIR=str(named)) == ""
    assert not list(home.rglob("*.nbi"))
    assert list((installed / "tmp").rglob(f"{MAIN_KERNEL}*.nbi"))
    named.chmod(0o755)
    Path(folder).chmod(0o755)


# Long runs


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("step", range(12))
def test_stopped_at_any_moment_nothing_partial_is_left(tmp_path, big, number, step):
    old = tmp_path / "old.jsonl.zst"
    old.write_text("as it was")
    kept = json.loads(run("dedup", big, "--dry-run", "--json").stdout)["kept"]
    with subprocess.Popen(
        [*PROGRAM, "dedup", big, "--force", "--out", old, "--report", "why.jsonl"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        time.sleep(0.25 * step)
        process.send_signal(number)
        ended = process.wait(PATIENCE)
    assert set(names(tmp_path)) <= {"big.jsonl", "old.jsonl.zst", "why.jsonl"}
    if not ended or old.read_bytes() != b"as it was":  # replaced, in one step, just before the end
        whole = zstandard.ZstdDecompressor().decompressobj().decompress(old.read_bytes())
        assert len(whole.splitlines()) == kept
    if (tmp_path / "why.jsonl").exists():
        assert len(read_lines(tmp_path / "why.jsonl")) == 20_000
