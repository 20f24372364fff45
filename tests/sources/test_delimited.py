import csv
import gzip
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.model.errors import DataError
from neardup.sources import delimited
from neardup.sources.read import read


@pytest.fixture
def collection(tmp_path):
    def collection(data, name="x.csv", **options):
        (tmp_path / name).write_bytes(data)
        return read([tmp_path / name], **options)

    return collection


@pytest.fixture
def written(tmp_path):
    """Write the chosen records and return the file."""

    def written(got, rows, name="out.csv"):
        got.write(tmp_path / name, np.array(rows, np.int64))
        return (tmp_path / name).read_bytes()

    return written


def broken(got):
    return [(record.position, record.reason) for record in got.rejected]


def test_fields_are_strings(collection):
    got = collection(b"id,text,n\n007,one,1\nb,NA,\n")
    assert got.texts.to_pylist() == ["one", "NA"]
    assert got.ids.to_pylist() == ["007", "b"]
    assert got.rejected == []


def test_tabs_delimit_tsv(collection, written):
    got = collection(b'text\tid\na, b\t1\n"a\tb"\t2\n', "x.tsv")
    assert got.texts.to_pylist() == ["a, b", "a\tb"]
    assert written(got, [1], "out.tsv") == b'text\tid\n"a\tb"\t2\n'


def test_quoted_fields_hold_delimiters_quotes_and_line_ends(collection, written):
    data = b'text,id\n"a, ""b""\nc\r\n\nd",1\nplain,2\n'
    got = collection(data)
    assert got.texts.to_pylist() == ['a, "b"\nc\r\n\nd', "plain"]
    assert written(got, [0, 1]) == data


def test_a_quote_inside_a_field_is_a_letter(collection, written):
    data = b'text,id\n5" disk,1\n"so" said,2\nlast,3\n'
    got = collection(data)
    assert got.texts.to_pylist() == ['5" disk', "so said", "last"]
    assert written(got, [0, 2]) == b'text,id\n5" disk,1\nlast,3\n'


def test_records_of_the_wrong_length_are_rejected_with_their_line(collection, written):
    got = collection(b'text,id\n"a\nb",1\nshort\n\nc,2\nd,3,4\n"x\n\ny"\ne,5\n')
    assert got.texts.to_pylist() == ["a\nb", "c", "e"]
    assert broken(got) == [
        (4, "it has 1 field, the header has 2"),
        (7, "it has 3 fields, the header has 2"),
        (8, "it has 1 field, the header has 2"),
    ]
    assert written(got, [0, 1, 2]) == b'text,id\n"a\nb",1\nc,2\ne,5\n'


def test_lines_are_right_across_the_parsers_blocks(collection, monkeypatch):
    monkeypatch.setattr(delimited, "_PARSED", 16)
    got = collection(b"text,id\n" + b'a,1\nshort\n"b\nb",2\n' * 50)
    assert [record.position for record in got.rejected] == list(range(3, 203, 4))
    assert got.texts.to_pylist() == ["a", "b\nb"] * 50


def test_strict_stops_at_the_first(collection):
    with pytest.raises(DataError, match=r"x\.csv:3: it has 1 field, the header has 2"):
        collection(b"text,id\na,1\nshort\n\xff,2\n", strict=True)


def test_invalid_utf8_is_rejected(collection, written):
    got = collection(b"text,id\na,1\n\xff,2\nb,3\nonly\n")
    assert got.texts.to_pylist() == ["a", "b"]
    assert broken(got) == [(3, "it is not valid UTF-8"), (5, "it has 1 field, the header has 2")]
    assert written(got, [0, 1]) == b"text,id\na,1\nb,3\n"


def test_a_quote_that_is_never_closed_takes_in_the_rest(collection):
    got = collection(b'text,id\na,1\n"b,2\nc,3\n')
    assert got.texts.to_pylist() == ["a"]
    assert broken(got) == [(3, "a quoted field in it is never closed: it takes in the rest of the file")]


def test_nul_is_text(collection):
    assert collection(b"text\na\0b\n").texts.to_pylist() == ["a\0b"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end(collection, written, end):
    got = collection(f"text,id{end}a,1{end}{end}b,2".encode())
    assert (got.texts.to_pylist(), got.rejected) == (["a", "b"], [])
    assert written(got, [1]) == f"text,id{end}b,2{end if end != chr(13) else chr(10)}".encode()


def test_a_byte_order_mark_is_skipped_and_written_back(collection, written):
    got = collection('\ufeff"text",id\na,1\n'.encode())
    assert got.texts.to_pylist() == ["a"]
    assert written(got, [0]) == '\ufeff"text",id\na,1\n'.encode()


def test_empty_fields_stay_empty_and_name_no_record(collection):
    got = collection(b'text,id\n,""\n"",2\n')
    assert got.texts.to_pylist() == ["", ""]
    assert got.ids.to_pylist() == [f"{got.names[0]}:2", "2"]


def test_without_an_id_column_records_are_named_by_their_line(collection):
    got = collection(b'text\n"a\nb"\n\nc\n')
    assert got.ids.to_pylist() == [f"{got.names[0]}:2", f"{got.names[0]}:5"]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_has_no_header(collection, data):
    with pytest.raises(DataError, match="it is empty: it must start with a header"):
        collection(data)


@pytest.mark.parametrize("data", [b"text,id", b"text,id\n"])
def test_a_header_alone_holds_no_documents(collection, written, data):
    got = collection(data)
    assert (len(got), got.texts.to_pylist(), got.ids.to_pylist()) == (0, [], [])
    assert written(got, []) == b"text,id\n"


def test_a_missing_column_lists_those_that_exist(collection):
    with pytest.raises(DataError, match=r"there is no field 'text'; there are: a, b c"):
        collection(b"a,b c\n1,2\n")
    with pytest.raises(DataError, match=r"there is no field 'key'; there are: text, id"):
        collection(b"text,id\n1,2\n", id="key")
    with pytest.raises(DataError, match=r"there is no field 'n'; there are: text, id"):
        collection(b"text,id\n1,2\n").column("n")


def test_two_columns_of_one_name_matter_only_if_wanted(collection):
    assert collection(b"text,x,x,,\na,1,2,3,4\n").texts.to_pylist() == ["a"]
    with pytest.raises(DataError, match="two columns named 'text'"):
        collection(b"text,text\na,b\n")
    with pytest.raises(DataError, match="two columns named 'x'"):
        collection(b"text,x,x\na,b,c\n").column("x")


def test_a_header_that_is_not_utf8_is_an_error(collection):
    with pytest.raises(DataError, match="its header is not valid UTF-8"):
        collection(b"text,\xff\na,b\n")


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("values", "expected", "kind"),
    [
        (["1", "", "-7"], [1, None, -7], pa.int64()),
        (["1", "2.50"], [1.0, 2.5], pa.float64()),
        (["1", "b"], ["1", "b"], pa.large_string()),
        (["2024-01-01", ""], ["2024-01-01", None], pa.large_string()),
    ],
)
def test_a_column_has_the_type_of_its_values(collection, named, values, expected, kind):
    data = "text,f\n" + "".join(f"a,{value}\n" for value in values)
    got = collection(data.encode(), columns=("f",) if named else ())
    column = got.column("f")
    assert (column.to_pylist(), column.type) == (expected, kind)
    assert got.column("f", literal=True).to_pylist() == [value or None for value in values]


def test_columns_leave_out_what_was_rejected(collection):
    got = collection(b"text,f\na,1\nshort\n\xff,2\nb,3\n")
    assert got.column("f").to_pylist() == [1, 3]


def test_compressed_files_and_several(tmp_path, written):
    (tmp_path / "a.csv").write_bytes(b"text,id\na,1")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"text,id\nb,\nc\n"))
    got = read([tmp_path / "a.csv", tmp_path / "b.csv.gz"])
    assert got.texts.to_pylist() == ["a", "b"]
    assert got.ids.to_pylist() == ["1", f"{got.names[1]}:2"]
    assert [(record.source, record.position) for record in got.rejected] == [(got.names[1], 3)]
    assert gzip.decompress(written(got, [0, 1], "out.csv.gz")) == b"text,id\na,1\nb,\n"


def test_files_of_different_headers_are_an_error(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,id\n")
    (tmp_path / "b.csv").write_bytes(b"id,text\n")
    with pytest.raises(DataError, match=r"b\.csv: its header is not that of .*a\.csv"):
        read([tmp_path / "a.csv", tmp_path / "b.csv"])


FIELD = st.text(alphabet='a",\n\rü ', max_size=6)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(FIELD, FIELD), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_what_pythons_writer_writes_is_read(tmp_path_factory, rows, end):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("text", "other"), *rows])
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(out.getvalue().encode())
    got = read([path])
    assert got.texts.to_pylist() == [text for text, _ in rows]
    assert got.column("other", literal=True).to_pylist() == [other or None for _, other in rows]
    got.write(path.with_name("out.csv"), np.ones(len(rows), np.bool_))
    assert path.with_name("out.csv").read_bytes() == path.read_bytes()


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='a",\n\r', max_size=40))
def test_the_parser_never_disagrees_about_where_records_end(tmp_path_factory, body):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(b"text,b\n" + body.encode())
    got = read([path])
    got.write(path.with_name("out.csv"), np.ones(len(got), np.bool_))
    again = read([path.with_name("out.csv")])
    assert again.texts.to_pylist() == got.texts.to_pylist()
    assert again.rejected == []
