import sys
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import dedup_files
from neardup.model.errors import DataError, InputRefused, OutputError, ParameterError
from neardup.sources import remote
from neardup.sources.formats import display
from neardup.sources.inputs import require_once
from neardup.sources.output import write_table
from neardup.sources.read import read

LINES = b'{"text": "one two three", "n": 1}\n{"text": "one two three", "n": 2}\nbroken\n{"text": "four", "n": 3}\n'


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pipe("/in/a.jsonl", LINES)
    system.pipe("/in/b.jsonl", LINES.replace(b"four", b"five"))
    system.pipe("/in/note.txt", b"no table")
    yield system
    system.store.clear()


def test_urls_are_files_patterns_and_folders(memory):
    assert remote.found("memory://in/a.jsonl") == ["memory://in/a.jsonl"]
    both = ["memory:///in/a.jsonl", "memory:///in/b.jsonl"]
    assert remote.found("memory://in/*.jsonl") == remote.found("memory://in") == both
    for url, reason in (("none.jsonl", "there is no such file"), ("in/*.csv", "no file of a known format")):
        with pytest.raises(InputRefused, match=reason):
            remote.found(f"memory://{url}")


def test_hidden_files_at_urls_need_a_pattern_with_their_mark(memory):
    for name in ("_temporary/a.jsonl", "_b.jsonl", ".c.jsonl", "sub/d.jsonl", "_e.txt"):
        memory.pipe(f"/ds/{name}", LINES)
    assert remote.found("memory://ds") == remote.found("memory://ds/**/*.jsonl") == ["memory:///ds/sub/d.jsonl"]
    assert remote.found("memory://ds/_*/*.jsonl") == ["memory:///ds/_temporary/a.jsonl"]
    assert remote.found("memory://ds/_temporary/*") == remote.found("memory://ds/_temporary")
    assert remote.found("memory://ds/.*") == ["memory:///ds/.c.jsonl"]
    assert remote.found("memory://ds/*.txt") == ["memory:///ds/_e.txt"]


def test_an_identity_changes_with_the_file(memory):
    before = remote.identity("memory://in/a.jsonl")
    assert before == remote.identity("memory://in/a.jsonl")
    memory.pipe("/in/a.jsonl", LINES + b"\n")
    assert remote.identity("memory://in/a.jsonl") != before


def test_a_copy_is_shown_as_its_url():
    assert display(f"/x/{remote.place('s3://bucket/a b/c.jsonl.gz')}") == "s3://bucket/a b/c.jsonl.gz"
    with pytest.raises(InputRefused, match=r"must not contain '\.\.'"):
        remote.place("memory://a/../../b.jsonl")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:sesame@127.0.0.1:1/a.jsonl", "https://me:***@127.0.0.1:1/a.jsonl"),
        ("FTP://:se:s@me@127.0.0.1:1/a:b@c.jsonl", "FTP://:***@127.0.0.1:1/a:b@c.jsonl"),
        ("github://neardup:repo@main/a:b@c.csv", "github://neardup:repo@main/a:b@c.csv"),
        ("sftp://me@a.example/a:b@c.csv", "sftp://me@a.example/a:b@c.csv"),
    ],
)
def test_a_password_is_not_shown(url, shown):
    assert display(url) == display(f"/x/{remote.place(url)}") == shown
    with pytest.raises(InputRefused) as refused:
        require_once((url, url))
    assert str(refused.value).startswith(f"{shown} is given twice")


def test_a_password_is_not_shown_in_errors_of_a_file_system(monkeypatch):
    def refuse(url):
        raise FileNotFoundError(f"{url} and no other")

    monkeypatch.setattr(fsspec, "url_to_fs", refuse)
    with pytest.raises(InputRefused) as refused:
        remote.found("https://me:sesame@a.example/b.csv")
    shown = "https://me:***@a.example/b.csv"
    assert str(refused.value) == f"{shown}: it cannot be reached: {shown} and no other"


def test_remote_records_are_read_and_written(memory, tmp_path):
    got = read(["memory://in/a.jsonl", "memory://in/b.jsonl"])
    assert got.texts.to_pylist() == ["one two three", "one two three", "four", "one two three", "one two three", "five"]
    assert [str(one).partition(": ")[0] for one in got.rejected] == ["memory://in/a.jsonl:3", "memory://in/b.jsonl:3"]
    got.write("memory://new/folder/out.jsonl", np.array([2]))
    assert memory.cat("/new/folder/out.jsonl") == b'{"text": "four", "n": 3}\n'
    with pytest.raises(OutputError, match=r"memory://new/folder/out.jsonl: it exists already"):
        got.write("memory://new/folder/out.jsonl", np.array([2]))
    got.write(f"file://{tmp_path}/out.jsonl", np.array([2]))
    assert (tmp_path / "out.jsonl").read_bytes() == b'{"text": "four", "n": 3}\n'
    assert len(read([f"file://{tmp_path}/out.jsonl"])) == 1
    copy = Path(got.inputs[0])
    assert copy.exists()
    del got
    assert not copy.exists()
    write_table("memory://why.parquet", pa.table({"a": [1]}))
    assert pq.read_table(memory.open("/why.parquet")).to_pylist() == [{"a": 1}]


@pytest.mark.parametrize("work", [False, True])
def test_runs_read_and_write_urls(memory, tmp_path, work):
    options = {"work": tmp_path / "w"} if work else {}
    done = dedup_files(
        ["memory://in/*.jsonl"],
        "memory://kept.parquet",
        report="memory://why.jsonl",
        dropped="memory://no.jsonl",
        **options,
    )
    assert done.documents.names == ("memory://in/a.jsonl", "memory://in/b.jsonl")
    assert pq.read_table(memory.open("/kept.parquet")).to_pydict() == {
        "text": ["one two three", "four", "five"],
        "n": [1, 3, 3],
    }
    assert memory.cat("/no.jsonl").count(b"\n") == 3
    assert b'"id":"memory://in/a.jsonl:1"' in memory.cat("/why.jsonl")
    with pytest.raises(OutputError, match="it is one of the inputs"):
        dedup_files(["memory://in/a.jsonl"], "memory://in/a.jsonl", force=True, **options)
    assert [path.name for path in tmp_path.iterdir()] == []


def test_parts_and_files_of_a_remote_folder(memory, tmp_path):
    options = {"work": tmp_path / "w"}
    dedup_files(["memory://in"], "memory://out", part_size=5, **options)
    assert memory.glob("/out/*") == [f"/out/part-0000{number}.jsonl" for number in range(3)]
    with pytest.raises(OutputError, match=r"part-00000\.jsonl: it exists already"):
        dedup_files(["memory://in"], "memory://out", part_size=5, **options)
    dedup_files(["memory://in"], "memory://out", part_size=1 << 20, force=True, **options)
    assert memory.glob("/out/*") == ["/out/part-00000.jsonl"]
    dedup_files(["memory://in"], "memory://each", **options)
    assert memory.glob("/each/*") == ["/each/a.jsonl", "/each/b.jsonl"]
    with pytest.raises(ParameterError, match="cannot be standard input or a URL, because later runs with the state"):
        dedup_files(["memory://in/a.jsonl"], state=tmp_path / "s")


def test_an_interrupted_run_does_not_copy_again(memory, tmp_path, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("neardup.pipeline.spilled.run.rank", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            dedup_files(["memory://in"], "memory://out.jsonl", work=tmp_path / "w")
    monkeypatch.setattr("neardup.pipeline.spilled.files.fetch", lambda *_: pytest.fail("copied again"))
    assert dedup_files(["memory://in"], "memory://out.jsonl", work=tmp_path / "w").result.summary.kept == 3


def test_what_cannot_be_reached_is_an_error(monkeypatch, tmp_path):
    with pytest.raises(InputRefused, match=r"nothing://x.jsonl: nothing:// is not known; URLs begin with s3://"):
        read(["nothing://x.jsonl"])
    for scheme, package in (("s3", "s3fs"), ("sftp", "paramiko")):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, package, None)
            with pytest.raises(
                InputRefused, match=rf"{scheme}://x/y.jsonl: it needs a package that cannot be loaded: .*{package}"
            ):
                read([f"{scheme}://x/y.jsonl"])
    monkeypatch.setattr("fsspec.url_to_fs", lambda _: open("x" * 999))  # noqa: SIM115, PTH123 - too long a name
    with pytest.raises(DataError, match=r"it cannot be reached: .{300}\.\.\.$"):
        read(["memory://x.jsonl"])
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputRefused, match=r"a URL needs the extra remote: pip install 'neardup\[remote\]'"):
        read(["memory://x.jsonl"])
    with pytest.raises(InputRefused, match="a URL needs the extra remote"):
        dedup_files(["memory://x.jsonl"], tmp_path / "out.jsonl", work=tmp_path / "w")
