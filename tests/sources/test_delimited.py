import csv
import gzip
import io
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import dedup_files
from neardup.model.errors import DataError
from neardup.sources import delimited
from neardup.sources.compression import load
from neardup.sources.formats import COMPRESSIONS
from neardup.sources.read import read
from neardup.sources.record_faults import QuotedLines


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
    got = collection(b"text\tid\na, b\t1\n c\t2\n", "x.tsv")
    assert got.texts.to_pylist() == ["a, b", " c"]
    assert written(got, [1], "out.tsv") == b"text\tid\n c\t2\n"


HEADLINES = (
    b'text\tid\n"Yes" of the people\t1\n"It is done\t2\nThe only copy\t3\nShe said "come home"\t4\n"All of it"\t5\n'
)


def test_quotes_of_tsv_are_letters_unless_asked_for(collection, written):
    got = collection(HEADLINES, "x.tsv")
    assert got.ids.to_pylist() == ["1", "2", "3", "4", "5"]
    assert got.texts.to_pylist()[1::3] == ['"It is done', '"All of it"']
    assert (got.rejected, got.quoted_lines) == ([], None)
    assert written(got, [0, 1, 2, 3, 4], "out.tsv") == HEADLINES


def test_a_quote_that_swallows_rows_is_rejected_with_its_lines(collection):
    got = collection(HEADLINES, "x.tsv", quoting="minimal")
    assert got.ids.to_pylist() == ["1", "5"]
    assert broken(got) == [(3, "a quoted field in it continues to line 5 and is closed there in the middle of a field")]
    assert got.rejected[0].code == "torn quotes"
    with pytest.raises(DataError, match=r"x\.tsv:3: a quoted field in it continues to line 5"):
        collection(HEADLINES, "x.tsv", quoting="minimal", strict=True)


@pytest.mark.parametrize("header", [b'"text"\tid\n', b'text\t"id"\r\n', b'\xef\xbb\xbf"text"\t"id"\n'])
def test_tsv_whose_header_is_quoted_has_quoted_fields(collection, header):
    got = collection(header + b'"a\tb"\t1\n"c\nd"\t2\n', "x.tsv")
    assert got.texts.to_pylist() == ["a\tb", "c\nd"]
    assert got.quoted_lines == QuotedLines(1, got.names[0], 3, 4)


def test_records_that_quoting_might_mend_are_marked(collection):
    got = collection(b'text\tid\na\t0\n"a\tb"\t1\nshort\n', "x.tsv")
    assert [(one.position, one.code) for one in got.rejected] == [(3, "quotes are text"), (4, "fields")]
    assert collection(b'text\tid\n"a\tb"\t1\n', "x.tsv", quoting="minimal").texts.to_pylist() == ["a\tb"]


def test_csv_without_quoting_is_cut_at_every_comma(collection):
    got = collection(b'text,id\n"a,1\n"b",2\n', quoting="none")
    assert (got.texts.to_pylist(), got.ids.to_pylist()) == (['"a', '"b"'], ["1", "2"])


def test_records_that_span_lines_are_counted_unless_quoting_was_asked_for(collection):
    data = b'text,id\n"a\nb",1\nc,2\n"d\n\ne",3\n'
    assert collection(data).quoted_lines == QuotedLines(2, collection(data).names[0], 2, 3)
    assert collection(data, quoting="minimal").quoted_lines is None
    assert collection(data.replace(b"\n\n", b" ").replace(b"a\n", b"a ")).quoted_lines is None


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
        (7, "it has 3 fields, the header has 2; a field that contains a comma must be in quotation marks"),
        (8, "it has 1 field, the header has 2"),
    ]
    assert written(got, [0, 1, 2]) == b'text,id\n"a\nb",1\nc,2\ne,5\n'


def test_lines_are_right_across_the_parsers_blocks(collection, monkeypatch):
    monkeypatch.setattr(delimited, "_PARSED", 16)
    got = collection(b"text,id\n" + b'a,1\nshort\n"b\nb",2\n' * 50)
    assert [record.position for record in got.rejected] == list(range(3, 203, 4))
    assert got.texts.to_pylist() == ["a", "b\nb"] * 50


def test_strict_stops_at_the_first(collection):
    with pytest.raises(DataError, match=r"x\.csv:3: it has 1 field, the header has 2") as caught:
        collection(b"text,id\na,1\nshort\n\xff,2\n", strict=True)
    assert caught.value.code == collection(b"text,id\na,1\nshort\n").rejected[0].code


def test_invalid_utf8_is_rejected(collection, written):
    got = collection(b"text,id\na,1\n\xff,2\nb,3\nonly\n")
    assert got.texts.to_pylist() == ["a", "b"]
    assert broken(got) == [(3, "it is not valid UTF-8"), (5, "it has 1 field, the header has 2")]
    assert written(got, [0, 1]) == b"text,id\na,1\nb,3\n"


@pytest.mark.parametrize("data", [b'text,id\na,1\n"b,2\nc,3\n', b'text,id\na,1\n"b,2', b'text,id\na,1\n"'])
def test_a_quote_that_is_never_closed_is_an_error_with_its_line(collection, data):
    with pytest.raises(
        DataError, match=r"x\.csv:3: the quotation mark that opens a field here is never closed"
    ) as caught:
        collection(data)
    assert caught.value.code == "open quote"
    assert len(collection(data, quoting="none")) >= 1


def test_files_of_other_headers_are_not_written_together(collection, written):
    collection(b"text,id\na,1\n", "y.csv")
    got = collection(b"id,text\n1,a\n")
    both = read([got.inputs[0], got.inputs[0].replace("x.csv", "y.csv")])
    with pytest.raises(DataError, match=r"y\.csv: its header differs from that of the inputs before it"):
        written(both, [0, 1])


def test_columns_of_one_name_are_not_converted(collection, written):
    with pytest.raises(DataError, match="it has two columns named 'n'; rename one"):
        written(collection(b"text,n,n\na,1,2\n"), [0], "out.jsonl")


def test_nul_is_text(collection):
    assert collection(b"text\na\0b\n").texts.to_pylist() == ["a\0b"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end(collection, written, end):
    got = collection(f"text,id{end}a,1{end}{end}b,2".encode())
    assert (got.texts.to_pylist(), got.rejected) == (["a", "b"], [])
    assert written(got, [1]) == f"text,id{end}b,2\n".encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_marked_last_record_ends_with_a_line_feed(collection, tmp_path, end):
    got = collection(f"text{end}a".encode())
    got.write(tmp_path / "marked.csv", slice(None), pa.table({"mark": [1]}))
    assert (tmp_path / "marked.csv").read_bytes() == f"text,mark{end}a,1\n".encode()


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".bz2", ".xz"])
@pytest.mark.parametrize("name", ["marked.csv", "marked.tsv"])
def test_marked_records_may_be_compressed(collection, tmp_path, name, ending):
    delimiter = "," if name.endswith("csv") else "\t"
    lines = [f"text{delimiter}id", f"a{delimiter}1", f"b{delimiter}2"]
    got = collection("".join(f"{line}\n" for line in lines).encode(), name)
    got.write(tmp_path / f"other-{name}{ending}", slice(None), pa.table({"mark": ["x", "y"]}))
    marked = load(str(tmp_path / f"other-{name}{ending}"), COMPRESSIONS.get(ending), 1 << 20).data
    assert bytes(marked).decode().splitlines() == [
        f"{line}{delimiter}{mark}" for line, mark in zip(lines, ["mark", "x", "y"], strict=True)
    ]


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
    with pytest.raises(DataError, match=r"there is no field 'text'; the fields are: a, b c"):
        collection(b"a,b c\n1,2\n")
    with pytest.raises(DataError, match=r"there is no field 'key'; the fields are: text, id"):
        collection(b"text,id\n1,2\n", id="key")
    with pytest.raises(DataError, match=r"there is no field 'n'; the fields are: text, id"):
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
    ("values", "expected"),
    [(["1", "", "-7"], ["1", None, "-7"]), (["1", "2.50"], ["1", "2.50"]), ([" b", "007"], [" b", "007"])],
)
def test_a_column_holds_strings_and_no_empty_ones(collection, named, values, expected):
    data = "text,f\n" + "".join(f"a,{value}\n" for value in values)
    got = collection(data.encode(), columns=("f",) if named else ())
    column = got.column("f")
    assert (column.to_pylist(), column.type) == (expected, pa.large_string())
    assert got.column("f", literal=True).to_pylist() == [value or None for value in values]


def test_columns_leave_out_what_was_rejected(collection):
    got = collection(b"text,f\na,1\nshort\n\xff,2\nb,3\n")
    assert got.column("f").to_pylist() == ["1", "3"]


def test_compressed_files_and_several(tmp_path, written):
    (tmp_path / "a.csv").write_bytes(b"text,id\na,1")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"text,id\nb,\nc\n"))
    got = read([tmp_path / "a.csv", tmp_path / "b.csv.gz"])
    assert got.texts.to_pylist() == ["a", "b"]
    assert got.ids.to_pylist() == ["1", f"{got.names[1]}:2"]
    assert [(record.source, record.position) for record in got.rejected] == [(got.names[1], 3)]
    assert gzip.decompress(written(got, [0, 1], "out.csv.gz")) == b"text,id\na,1\nb,\n"


def test_files_of_different_headers_are_an_error(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,id\na,1\n")
    (tmp_path / "b.csv").write_bytes(b"id,text\n2,b\n")
    with pytest.raises(DataError, match=r"b\.csv: its header differs from that of .*a\.csv"):
        dedup_files([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "c.csv")


@pytest.mark.parametrize("work", [None, "w"])
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_files_whose_quotation_marks_have_another_meaning_are_not_written_to_one_file(tmp_path, order, work):
    (tmp_path / "a.tsv").write_bytes(b'text\tid\n"Opened, never closed\t1\n')
    (tmp_path / "b.tsv").write_bytes(b'"text"\t"id"\n"tab\t and\nline end"\t2\n')
    inputs = [tmp_path / f"{name}.tsv" for name in order]
    work = work and tmp_path / work
    with pytest.raises(DataError, match="quotation marks have another meaning in it than in"):
        dedup_files(inputs, tmp_path / "out.tsv", work=work)
    assert not (tmp_path / "out.tsv").exists()
    dedup_files(inputs, tmp_path / "out.csv", work=work)
    assert sorted(read([tmp_path / "out.csv"]).texts.to_pylist()) == ['"Opened, never closed', "tab\t and\nline end"]


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


def test_a_file_of_several_quotings_is_read_as_python_reads_it(tmp_path):
    """Whatever Python's reader accepts strictly is read alike; the rest is rejected, an error, or read leniently."""
    random = Random(1)  # noqa: S311 - no secret
    path = tmp_path / "x"
    for number in range(600):
        quoting = random.choice(["none", "minimal"])
        delimiter = random.choice(",\t")
        body = "".join(random.choices(f'ab{delimiter}{delimiter}""\n\n', k=random.randrange(30)))
        path.write_text(f"text{delimiter}b\n{body}", newline="")
        try:
            got = read([path], format="csv" if delimiter == "," else "tsv", quoting=quoting)
        except DataError as error:
            assert error.code == "all rejected" or (error.code, quoting) == ("open quote", "minimal")  # noqa: PT017
            continue
        ways = {"delimiter": delimiter, "quoting": csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL}
        rows = [row for row in csv.reader(io.StringIO(body, newline=""), **ways) if row]
        if any(one.code == "torn quotes" for one in got.rejected):
            continue
        assert got.texts.to_pylist() == [row[0] for row in rows if len(row) == 2], (number, quoting, body)
        assert len(got.rejected) == sum(len(row) != 2 for row in rows)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='a",\n\r', max_size=40))
def test_the_parser_never_disagrees_about_where_records_end(tmp_path_factory, body):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(b"text,b\nlast,one\n" + body.encode())
    try:
        got = read([path])
    except DataError as error:
        assert error.code == "open quote"  # noqa: PT017 - one way of several
        return
    got.write(path.with_name("out.csv"), np.ones(len(got), np.bool_))
    again = read([path.with_name("out.csv")])
    assert again.texts.to_pylist() == got.texts.to_pylist()
    assert again.rejected == []


def test_a_byte_order_mark_in_the_first_field_is_kept(collection):
    assert collection("text,id\n\ufeffone,1\ntwo,2\n".encode()).texts.to_pylist() == ["\ufeffone", "two"]
    assert collection("text\n\ufeff\ntwo\n".encode()).texts.to_pylist() == ["\ufeff", "two"]
