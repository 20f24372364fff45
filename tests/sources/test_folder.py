import gzip
import os
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from json_lines import read_lines

from neardup import dedup_files
from neardup.model.errors import DataError, OutputError, ParameterError
from neardup.pipeline.spilled import output_records
from neardup.sources import folder
from neardup.sources.inputs import inputs_of
from neardup.sources.read import read
from neardup.sources.request import Request
from neardup.sources.shards import Shards
from neardup.text import html
from neardup.text.extraction import Extraction


@pytest.fixture
def made(tmp_path):
    """Make a folder of files."""

    def made(files, name="in"):
        for path, data in files.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        return tmp_path / name

    return made


def contents(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def test_documents_are_found_recursively_and_sorted_by_path(made):
    got = read(
        [made({"b.txt": b"B", "a/z.md": b"Z", "a/B.TEXT": b"BT", "a.txt": b"A", "c/pic.png": b"", "LICENSE": b""})]
    )
    assert got.ids.to_pylist() == ["a.txt", "a/B.TEXT", "a/z.md", "b.txt"]
    assert got.texts.to_pylist() == ["A", "BT", "Z", "B"]
    assert got.ignored == 2


def test_of_html_the_visible_text_counts(made):
    page = b"<html><head><script>no()</script></head><body><p>One &amp; two</p></body></html>"
    got = read([made({"a.html": page, "b.htm": page, "c.XHTML": page})])
    assert [text.strip() for text in got.texts.to_pylist()] == ["One & two"] * 3


def test_marks_empty_files_and_nul(made):
    got = read([made({"a.txt": b"\xef\xbb\xbfa", "b.txt": b"", "c.txt": b"\0\r\n"})])
    assert got.texts.to_pylist() == ["a", "", "\0\r\n"]


def test_invalid_utf8_is_rejected_with_its_line(made):
    got = read([made({"a.txt": b"one\ntw\xf6\n", "b.txt": b"good", "c.txt": "mark".encode("utf-16")})])
    assert got.ids.to_pylist() == ["b.txt"]
    assert [(Path(record.source).name, record.position, record.reason) for record in got.rejected] == [
        ("a.txt", 2, "it is not valid UTF-8"),
        ("c.txt", 1, "it is UTF-16 text, not UTF-8"),
    ]
    with pytest.raises(DataError, match=r"a\.txt:2: it is not valid UTF-8"):
        read([Path(got.inputs[0])], strict=True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be"])
def test_text_in_another_encoding_of_unicode_is_rejected_by_its_name(made, encoding):
    got = read([made({"a.txt": "Without a mark, this is UTF-8 with NULs.".encode(encoding), "b.txt": b"good"})])
    assert got.ids.to_pylist() == ["b.txt"]
    [record] = got.rejected
    name = f"UTF-{encoding[4:].upper()}"
    assert (record.reason, record.code) == (f"it is {name} text, not UTF-8", name.lower())


def test_compressed_texts_and_pages_are_rejected_by_their_format(made):
    packed = gzip.compress(b"<p>One page")
    got = read([made({"a.txt": packed, "b.html": packed, "c.txt": b"BZh is the beginning of a text, too"})])
    assert got.ids.to_pylist() == ["c.txt"]
    assert [(record.reason, record.code) for record in got.rejected] == [("it is gzip, not UTF-8", "encoding")] * 2


@pytest.mark.parametrize("encoding", ["utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be"])
def test_of_pages_only_utf16_with_a_mark_is_read(made, encoding):
    page = "<p>One page"
    got = read([made({"a.html": page.encode(encoding), "b.html": page.encode("utf-16")})])
    assert (got.ids.to_pylist(), got.texts.to_pylist()) == (["b.html"], ["One page"])
    assert [record.code for record in got.rejected] == [f"utf-{encoding[4:]}"]


def test_what_is_too_large_or_gone_is_rejected(made):
    place = made({"a.txt": b"12345", "b.txt": b"1234"})
    (place / "c.txt").symlink_to(place / "nowhere.txt")
    got = read([place], max_bytes=4)
    assert got.ids.to_pylist() == ["b.txt"]
    assert [record.reason for record in got.rejected] == [
        "it is larger than 4 bytes",
        "it cannot be read: No such file or directory",
    ]


def test_a_link_to_itself_is_rejected_like_one_to_nowhere(made):
    place = made({"a.txt": b"A"})
    for name in ("loop.txt", "loop"):
        (place / name).symlink_to(name)
    got = read([place])
    assert got.ids.to_pylist() == ["a.txt"]
    assert [record.reason for record in got.rejected] == ["it cannot be read: Too many levels of symbolic links"]
    assert got.ignored == 1


def test_the_name_of_a_hidden_file_is_no_ending(made):
    place = made({".html": b"<p>Page", "a.HTML": b"<p>Page"})
    assert read([place], glob=[".html", "a.*"]).texts.to_pylist() == ["<p>Page", "Page"]


def test_links_out_of_the_folder_are_not_followed(made):
    place = made({"a.txt": b"A", "sub/b.txt": b"B"})
    outside = made({"secret.txt": b"S"}, "outside")
    (place / "inside.txt").symlink_to(place / "a.txt")
    (place / "leak.txt").symlink_to(outside / "secret.txt")
    (place / "leaks").symlink_to(outside)
    (place / "loop").symlink_to(place)
    os.mkfifo(place / "pipe.txt")
    got = read([place])
    assert got.ids.to_pylist() == ["a.txt", "inside.txt", "sub/b.txt"]
    assert got.ignored == 4


def test_links_that_are_not_followed_are_named_if_there_are_no_documents(made):
    outside, place = made({"secret.txt": b"S"}, "outside"), made({}, "inside")
    place.mkdir(exist_ok=True)
    (place / "leaks").symlink_to(outside)
    with pytest.raises(DataError, match=r"xhtml\); links to folders, .* are not followed \(1 here\): name what they"):
        read([place])
    (place / "leak.txt").symlink_to(outside / "secret.txt")
    (place / "a.py").touch()
    with pytest.raises(
        DataError, match=r"; its files are: 1 \.py; links to folders, or to files elsewhere, .* \(2 here"
    ):
        read([place])


def test_a_folder_without_documents_is_an_error(made):
    with pytest.raises(DataError, match=r"contains no text or HTML files \(.*\.txt.*\); its files are: 1 \.py"):
        read([made({"x.py": b""})])


def test_a_folder_that_cannot_be_entered_is_an_error(made, monkeypatch):
    place = made({"a.txt": b"A", "locked/b.txt": b"B"})
    scan = os.scandir

    def scandir(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(DataError, match="locked: this folder cannot be read: Permission denied"):
        read([place])


def test_names_that_are_not_utf8_are_escaped_in_ids_and_kept_on_disk(made, tmp_path):
    place = made({"a.txt": b"A"})
    (place / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"C")
    got = read([place])
    assert got.ids.to_pylist() == ["a.txt", "caf\\xe9.txt"]
    got.write(tmp_path / "out", np.array([1]))
    assert [os.fsencode(path.name) for path in (tmp_path / "out").iterdir()] == [b"caf\xe9.txt"]


def test_the_kept_files_are_copied_to_the_same_places(made, tmp_path):
    place = made({"a.txt": b"A\r\n", "sub/deep/b.html": b"<p>B", "c.txt": b"C"})
    (place / "a.txt").chmod(0o640)
    os.utime(place / "a.txt", ns=(1, 10**18))
    read([place]).write(tmp_path / "out", np.array([True, False, True]))
    assert contents(tmp_path / "out") == {"a.txt": b"A\r\n", "sub/deep/b.html": b"<p>B"}
    about = (tmp_path / "out" / "a.txt").stat()
    assert (about.st_mode & 0o777, about.st_mtime_ns) == (0o640, 10**18)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_no_kept_files_are_an_empty_folder(made, tmp_path):
    read([made({"a.txt": b"A"})]).write(tmp_path / "out", np.array([False]))
    assert list((tmp_path / "out").iterdir()) == []


def test_several_folders_keep_their_names(made, tmp_path):
    places = [made({"x.txt": b"1"}, "one"), made({"x.txt": b"2"}, "two")]
    got = read(places)
    assert got.ids.to_pylist() == ["one/x.txt", "two/x.txt"]
    got.write(tmp_path / "out", np.array([0, 1]))
    assert contents(tmp_path / "out") == {"one/x.txt": b"1", "two/x.txt": b"2"}
    other = made({"x.txt": b"3"}, "deeper/one")
    with pytest.raises(ParameterError, match="folders of different names"):
        read([places[0], other])


@pytest.mark.parametrize("content", [b"changed", b"b", None], ids=["changed", "of the same size", "removed"])
def test_a_file_changed_or_gone_since_is_an_error_and_nothing_is_written(made, tmp_path, content):
    place = made({"a.txt": b"A", "b.txt": b"B"})
    got = read([place])
    (place / "b.txt").unlink()
    if content:
        (place / "b.txt").write_bytes(content)
        os.utime(place / "b.txt", ns=(1, 10**18))
    with pytest.raises(DataError, match=r"b\.txt: it was changed or removed"):
        got.write(tmp_path / "out", np.array([0, 1]))
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_trouble_while_writing_leaves_nothing_new(made, tmp_path, monkeypatch, trouble):
    got = read([made({"a.txt": b"A", "b.txt": b"B"})])
    copy, copied = folder.shutil.copy2, []

    def interrupted(source, target):
        if copied:
            raise trouble
        copied.append(copy(source, target))

    monkeypatch.setattr(folder.shutil, "copy2", interrupted)
    with pytest.raises(KeyboardInterrupt if trouble is KeyboardInterrupt else OutputError):
        got.write(tmp_path / "out", np.array([0, 1]))
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("force", [False, True])
def test_an_existing_folder_is_never_replaced(made, tmp_path, force):
    got, old = read([made({"a.txt": b"A"})]), made({"old.txt": b"old"}, "out")
    with pytest.raises(OutputError, match="it exists already, and a folder of documents is never written over"):
        got.write(old, np.array([0]), force=force)
    assert contents(old) == {"old.txt": b"old"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_a_folder_that_was_made_during_the_run_stays(made, tmp_path):
    got = read([made({"a.txt": b"A"})])
    with ExitStack() as stack:
        append = stack.enter_context(folder.Folder.writer(str(tmp_path / "out")))
        append(got.pieces[0], np.array([True]), None)
        made({"other.txt": b"other"}, "out")
        with pytest.raises(OutputError, match="it was made during this run"):
            stack.pop_all().close()
    assert contents(tmp_path / "out") == {"other.txt": b"other"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_a_run_in_pieces_writes_a_folder_again_that_it_did_not_note(made, tmp_path, interrupted_at):
    place, work = made({"a.txt": b"one text", "b.txt": b"one text"}), tmp_path / "w"
    out = tmp_path / "out"
    with interrupted_at(output_records, "_size_of"):
        dedup_files([place], out, work=work)
    assert contents(out) == {"a.txt": b"one text"}
    dedup_files([place], out, work=work)
    assert contents(out) == {"a.txt": b"one text"}


def test_the_output_must_lie_apart_from_the_input(made, tmp_path):
    place = made({"a.txt": b"A"}, "outer/in")
    got = read([place])
    for path, reason in [
        (place, "is one of the inputs"),
        (place / "kept", "it is inside the input folder"),
        (place.parent, "it exists already"),
    ]:
        with pytest.raises(OutputError, match=reason):
            got.write(path, np.array([0]), force=True)
    with pytest.raises(ParameterError, match="must be the name of a folder"):
        got.write(Path("/dev/null"), np.array([0]))
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="it exists already"):
        got.write(tmp_path / "file", np.array([0]), force=True)


def test_a_page_that_is_too_long_is_counted(made, monkeypatch):
    for module in (folder, html):
        monkeypatch.setattr(module, "LARGEST_PAGE", 8)
    got = read([made({"a.html": b"12345678", "b.html": b"123456789"})])
    assert (got.texts.to_pylist(), got.body_faults) == (["12345678"] * 2, {html.TOO_LONG: 1})


def test_columns_are_size_and_time(made):
    place = made({"a.txt": b"123"})
    os.utime(place / "a.txt", ns=(1, 10**18))
    got = read([place])
    assert got.column("size").to_pylist() == [3]
    assert got.column("modified").cast(pa.int64()).to_pylist() == [10**18]
    assert got.column("size", literal=True).to_pylist() == ["3"]
    with pytest.raises(DataError, match="there is no field 'title'; the fields are: size, modified"):
        got.column("title")


def test_many_texts_are_gathered_in_batches(made, monkeypatch):
    monkeypatch.setattr(folder, "BATCH", 4)
    files = {f"{number}.txt": b"abc" for number in range(9)}
    assert read([made(files)]).texts.to_pylist() == ["abc"] * 9


def test_pages_have_titles_addresses_and_languages_and_other_files_none(made):
    page = b"<html lang=en><head><title>One\n &amp; two</title><link rel=canonical href=/one></head>text</html>"
    place = made({"a.html": page, "b.html": b"<p>no title", "c.txt": page})
    for options in ({}, {"columns": ["title", "canonical", "lang"]}):
        got = read([place], **options)
        for name, value in (("title", "One & two"), ("canonical", "/one"), ("lang", "en")):
            assert got.column(name).to_pylist() == got.column(name, literal=True).to_pylist() == [value, None, None]


def test_the_text_of_pages_is_that_of_the_view(made):
    menu = b"<nav>" + b"<a href=/>One entry of a menu</a> " * 3 + b"</nav>"
    page = menu + b"<article><p>" + b"This is a sentence of an article, and it is long enough. " * 5 + b"</article>"
    place = made({"a.html": page, "b.txt": b"<nav>text</nav>"})
    main, plain = read([place]).texts.to_pylist()
    whole, _ = read([place], extraction=Extraction(view="visible")).texts.to_pylist()
    assert plain == "<nav>text</nav>"
    assert "menu" in whole
    assert main in whole
    assert "menu" not in main


def test_patterns_choose_the_files(made):
    place = made(
        {"a.py": b"a", "sub/b.py": b"b", "sub/c.PY": b"c", "d.txt": b"d", "e.html": b"<p>e</p>", "LICENSE": b"l"}
    )
    assert read([place], glob=["*.py"]).ids.to_pylist() == ["a.py", "sub/b.py"]
    assert read([place], glob=["sub/*", "LICENSE"]).ids.to_pylist() == ["LICENSE", "sub/b.py", "sub/c.PY"]
    assert read([place], glob=["*.html"]).texts.to_pylist() == ["e"]
    assert read([place], glob=["**/*.py"]).ids.to_pylist() == ["a.py", "sub/b.py"]
    assert read([place], glob=["*.py"]).ignored == 4
    got = read([place], glob=["*.py"])
    got.write(place.with_name("out"), np.array([1]))
    assert contents(place.with_name("out")) == {"sub/b.py": b"b"}


def test_documents_may_be_written_as_records(made, tmp_path):
    place = made({"a.txt": b"A", "b.html": b"<title>T</title><p>B", "c.txt": b"C"})
    read([place]).write(tmp_path / "out.jsonl", np.array([0, 1]))
    found = read_lines(tmp_path / "out.jsonl")
    assert [(one["id"], one["title"], one["text"], one["size"]) for one in found] == [
        ("a.txt", None, "A", 1),
        ("b.html", "T", "T\n\nB", 20),
    ]


def test_records_have_the_ids_of_the_report(made, tmp_path):
    words = b"one two three four five six"
    place = made({"a.txt": words, "b.txt": words})
    dedup_files([place], mark=tmp_path / "marked.jsonl", report=tmp_path / "report.jsonl", state=tmp_path / "state")
    marked, report = (read_lines(tmp_path / f"{name}.jsonl") for name in ("marked", "report"))
    assert (
        [one["id"] for one in marked] == [one["id"] for one in report] == [str(place / f"{name}.txt") for name in "ab"]
    )
    assert [one["neardup_representative"] for one in marked] == [marked[0]["id"]] * 2


def test_a_data_set_with_a_text_about_it_is_not_read_as_one_text(tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("README.md", "LICENSE", "data/part-0.parquet", "data/part-1.jsonl.gz"):
        (tmp_path / name).write_text("a text about the data")
    with pytest.raises(
        DataError, match=r"1 text \(README\.md\) and 2 tables \(data/part-0\.parquet, \.\.\.\), so it is unclear"
    ) as refused:
        read([tmp_path])
    assert refused.value.code == "mixed folder"
    assert len(read([tmp_path], glob=["*.md"])) == 1
    (tmp_path / "0.txt").write_text("a document of its own")
    with pytest.raises(DataError, match=r"contains 2 texts \(0\.txt, \.\.\.\) and 2 tables"):
        read([tmp_path])
    (tmp_path / "1.txt").write_text("a document of its own")
    assert read([tmp_path]).ignored == 3


def test_tables_are_not_read_as_texts_even_if_a_pattern_chooses_them(tmp_path):
    for name in ("a.jsonl", "b.py"):
        (tmp_path / name).write_text('{"text": "one"}\n')
    assert read([tmp_path], glob=["*.jsonl"]).texts.to_pylist() == ["one"]
    assert read([tmp_path], glob=["*"]).ids.to_pylist() == ["a.jsonl", "b.py"]


def test_hidden_tables_next_to_texts_do_not_count(made):
    place = made({"a.txt": b"a", "_temporary/b.csv": b"text\n", "_c.csv": b"text\n"})
    assert read([place]).ids.to_pylist() == ["a.txt"]


def test_hidden_files_are_read_only_if_a_pattern_has_their_dot(tmp_path):
    """The rule is the same among tables, in runs in pieces."""
    for name in ("a.txt", ".b.txt", ".git/c.txt"):
        put = tmp_path / "texts" / name
        put.parent.mkdir(parents=True, exist_ok=True)
        put.write_text("one")
        table = tmp_path / "tables" / name.replace(".txt", ".jsonl")
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text('{"text": "one"}\n')
    patterns = {(): ["a"], ("*.{}",): ["a"], (".*",): [".b"], (".git/*", "[!.]*.{}"): [".git/c", "a"]}
    for globs, expected in patterns.items():
        for place, ending in (("texts", "txt"), ("tables", "jsonl")):
            given = {"glob": [pattern.format(ending) for pattern in globs]}
            request = Request(**given)
            shards = Shards.opened(inputs_of([tmp_path / place], request), request).cut(1 << 20)
            found = [piece for shard in shards.shards for piece in shards.pieces(shard)]
            names = [name for piece in found for name in piece.ids.to_pylist()]
            names = [name.removeprefix(f"{tmp_path}/tables/").removesuffix(":1") for name in names]
            assert (names, shards.ignored) == ([f"{name}.{ending}" for name in expected], 3 - len(expected))
