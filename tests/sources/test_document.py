import gzip

import pytest

from neardup.model.errors import DataError, InputRefused
from neardup.sources.document import NamedText, read_document
from neardup.text.extraction import Extraction


@pytest.mark.parametrize(
    ("name", "content", "text", "replaced"),
    [
        ("a.txt", b"\xef\xbb\xbfone\r\n", "one\r\n", 0),
        ("a.txt", "one \ufffd".encode() + b"\xff \xff", "one \ufffd\ufffd \ufffd", 2),
        ("a.HTML", b"<p>one <b>two</b><script>x</script>", "one two", 0),
        ("a.htm.gz", gzip.compress(b"<p>one", mtime=0), "one", 0),
        ("a.html.txt", b"<p>one", "<p>one", 0),
        ("a.html", "<p>one".encode("utf-16"), "one", 0),
        ("a.html.gz", gzip.compress("<p>one".encode("utf-16"), mtime=0), "one", 0),
        ("a", b"", "", 0),
    ],
)
def test_a_file_is_a_text(tmp_path, name, content, text, replaced):
    path = tmp_path / name
    path.write_bytes(content)
    assert read_document(str(path), 100, Extraction()) == NamedText(str(path), text, replaced)


@pytest.mark.parametrize(("name", "encoding"), [("a.txt", "utf-16"), ("a.html", "utf-16le"), ("a.html", "utf-32")])
def test_other_encodings_of_unicode_are_refused(tmp_path, name, encoding):
    (tmp_path / name).write_bytes("<p>one".encode(encoding))
    with pytest.raises(DataError, match=f"its first bytes are those of UTF-{encoding[4:].upper()} text"):
        read_document(str(tmp_path / name), 100, Extraction())


@pytest.mark.parametrize("name", ["", "gone.txt", "x" * 10_000, "a\0b"])
def test_a_path_that_is_not_that_of_a_file(name):
    with pytest.raises(InputRefused) as caught:
        read_document(name, 100, Extraction())
    assert caught.value.code == ("no such file" if name == "gone.txt" else "not a file")
    assert len(caught.value.where) <= 60


def test_folders_and_large_files_are_refused(tmp_path):
    with pytest.raises(InputRefused, match="it is a folder, not a file"):
        read_document(str(tmp_path), 100, Extraction())
    (tmp_path / "a.txt").write_bytes(b"x" * 101)
    with pytest.raises(DataError, match="it is larger than 100 bytes"):
        read_document(str(tmp_path / "a.txt"), 100, Extraction())
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"x" * 101))
    with pytest.raises(DataError, match="it expands to more than 100 bytes"):
        read_document(str(tmp_path / "a.txt.gz"), 100, Extraction())
