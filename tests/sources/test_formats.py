import pytest

from neardup.model.errors import DataError, ParameterError, StorageRefused
from neardup.sources.formats import Kind, display, display_all, input_kind, is_read_once, kind, local_folder


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", Kind("jsonl")),
        ("a.ndjson.gz", Kind("jsonl", "gzip")),
        ("A.JSONL.ZST", Kind("jsonl", "zstd")),
        ("a.b.csv", Kind("csv")),
        ("a.tsv.gz", Kind("tsv", "gzip")),
        ("a.parquet", Kind("parquet")),
        ("a.parquet.gz", None),
        ("a.json", None),
        ("a.gz", None),
        ("jsonl", None),
        (".jsonl", None),
        ("", None),
    ],
)
def test_a_name_promises_a_format(name, expected):
    assert kind(name) == expected


def test_an_unknown_ending_lists_the_known_ones(tmp_path):
    (tmp_path / "a.docx").touch()
    with pytest.raises(DataError, match=r"a\.docx: its name does not end in a known format: \.jsonl, \.ndjson, \.csv"):
        input_kind(str(tmp_path / "a.docx"))


def test_a_name_that_is_not_utf8_can_be_shown():
    assert display("caf\udce9.txt") == "caf\\xe9.txt"
    assert display("-") == "<stdin>"


@pytest.mark.parametrize("name", ["a.neardup-inputs-b.txt", ".neardup-inputs", "n.neardup-pipes.txt", ".neardup-pipes"])
def test_a_file_whose_name_is_like_that_of_a_folder_of_copies_has_its_own_name(tmp_path, name):
    (tmp_path / name).write_text("text")
    assert display(str(tmp_path / name)) == str(tmp_path / name)
    assert not is_read_once(str(tmp_path / name))


def test_a_folder_is_on_this_machine(tmp_path):
    assert local_folder("work", f"file://{tmp_path}") == local_folder("work", tmp_path) == tmp_path
    with pytest.raises(StorageRefused, match=r"^s3://bucket/folder is a URL"):
        local_folder("work", "s3://bucket/folder")
    with pytest.raises(ParameterError, match="work"):
        local_folder("work", "")


def test_a_message_names_only_the_first_of_many_inputs():
    assert display_all(["a"]) == "a"
    assert display_all("abcde") == "a, b, c, d, e"
    assert display_all(map(str, range(1007))) == "0, 1, 2, 3, 4 and 1,002 more"
