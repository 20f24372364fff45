import gzip
import json

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.model.errors import DataError, ParameterError
from neardup.sources import jsonl
from neardup.sources.read import read

HALF = "it has half a surrogate pair at byte {}; write both halves, such as \\ud83d\\ude00"
DEEP = 200_000


@pytest.fixture
def collection(tmp_path):
    """Read the given lines as ``x.jsonl``."""

    def collection(*lines, end=b"\n", **options):
        path = tmp_path / "x.jsonl"
        path.write_bytes(b"".join(line + end for line in lines))
        return read([path], **options)

    return collection


@pytest.fixture
def reason(collection):
    """Read one line between two good ones: why is it rejected?"""

    def reason(line, **options):
        good = b'{"id": "good", "text": "good"}'
        got = collection(good, line, good, **options)
        assert got.texts.to_pylist() == ["good", "good"]
        assert [(record.position, record.source.endswith("x.jsonl")) for record in got.rejected] == [(2, True)]
        told = got.rejected[0].reason
        kind = "type" if told.startswith(("it must be", "its ")) else "json"
        assert got.rejected[0].code == ("encoding" if "UTF-8" in told else kind)
        return told

    return reason


def test_texts_and_ids_are_those_of_the_lines(collection):
    got = collection(b'{"id": "a", "text": "one"}', b'{"text": "tw\\u00f6", "id": "b", "other": [1, {"x": null}]}')
    assert got.texts.to_pylist() == ["one", "twö"]
    assert got.ids.to_pylist() == ["a", "b"]
    assert (len(got), got.rejected, got.ignored) == (2, [], 0)


def test_other_names_for_the_fields(collection):
    got = collection(b'{"the key": "a", "class": "one"}', text="class", id="the key")
    assert (got.texts.to_pylist(), got.ids.to_pylist()) == (["one"], ["a"])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (b'"a\\u00e9\\n"', "aé\n"),
        (b'""', None),
        (b"null", None),
        (b"7", "7"),
        (b"-0", "-0"),
        (b"123456789012345678901234567890", "123456789012345678901234567890"),
        (b"1.50", "1.50"),
        (b"1e400", "1e400"),
    ],
)
def test_an_id_is_what_is_written(collection, written, expected):
    got = collection(b'{"text": "a", "id": ' + written + b" }")
    assert got.ids.to_pylist() == [expected or f"{got.names[0]}:1"]


def test_a_record_without_an_id_is_named_by_its_line(collection):
    got = collection(b"", b'{"text": "a"}', b"oops", b'{"text": "b"}')
    assert got.ids.to_pylist() == [f"{got.names[0]}:2", f"{got.names[0]}:4"]


def test_duplicate_ids_stay(collection):
    assert collection(*[b'{"text": "a", "id": 1}'] * 2).ids.to_pylist() == ["1", "1"]


def test_a_text_that_is_missing_or_null_is_a_document_without_text(collection):
    got = collection(b'{"text": null}', b'{"other": 1}', b'{"text": ""}')
    assert got.texts.to_pylist() == [None, None, ""]
    assert got.rejected == []
    assert collection(b'{"text": null}').texts.to_pylist() == [None]


def test_a_text_field_that_no_record_has_is_an_error_that_lists_the_fields(collection):
    with pytest.raises(DataError, match=r"there is no field 'text'; the fields are: content, url"):
        collection(b'{"content": "a"}', b'{"content": "b", "url": 1}')


def test_an_id_field_that_was_asked_for_must_exist(collection):
    with pytest.raises(DataError, match=r"there is no field 'key'; the fields are: text, id"):
        collection(b'{"text": "a", "id": 1}', id="key")
    assert len(collection(b'{"text": "a", "key": null}', id="key")) == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"text": "a\xff"}', "it is not valid UTF-8"),
        (b'{"text": "a", "other": "\xc3"}', "it is not valid UTF-8"),
        (b'{"text": "\xed\xa0\x80"}', "it is not valid UTF-8"),
        (b'{"text": "\\ud800"}', HALF.format(11)),
        (b'{"text": "\\ude00 a"}', HALF.format(11)),
        (b'{"text": "a", "other": "\\uD800 b"}', HALF.format(25)),
        (b'{"text": "a\x00"}', "it is not valid JSON at byte 12: invalid character"),
        (b'{"text": "a", "x": NaN}', "it has NaN at byte 20, which JSON does not have; write null"),
        (b'{"text": "a", "x": [1, -Infinity]}', "it has -Infinity at byte 24, which JSON does not have; write null"),
        (b'{"text": "a", "id": NaN, }', "it has NaN at byte 21, which JSON does not have; write null"),
        (b'{"text": "a"', "it is incomplete JSON: it ends too early"),
        (b'{"text": "a"} {}', "it is not valid JSON at byte 15: trailing characters"),
        (b"{'text': 'a'}", "it is not valid JSON at byte 2: object keys must be strings"),
        (b"oops", "it is not valid JSON at byte 1: invalid character"),
        (b'{{"text": "a"}}', "it is not valid JSON at byte 2: object keys must be strings"),
        (b'{"text": "a"}, ', "it is not valid JSON at byte 14: trailing characters"),
        (b"{\"text\": 'a'}", "it is not valid JSON at byte 10: invalid character"),
        (b'["text"]', "it must be an object, not a list"),
        (b'"text"', "it must be an object, not a string"),
        (b"3.5", "it must be an object, not a number"),
        (b"[" * DEEP, "it must be an object, not a list"),
        (b'{"text": "a", "x": ' + b"[" * DEEP + b"]" * DEEP + b"}", "it is nested too deeply"),
        (b'{"text": "a", "id": ' + b'{"x":' * DEEP, "it is nested too deeply"),
        (b'{"text": 3}', "its 'text' must be a string, not an integer"),
        (b'{"text": 3.5}', "its 'text' must be a string, not a number"),
        (b'{"text": 1e400}', "its 'text' must be a string, not a number"),
        (b"1e400", "it must be an object, not a number"),
        (b'{"text": true}', "its 'text' must be a string, not true or false"),
        (b'{"text": ["a"]}', "its 'text' must be a string, not a list"),
        (b'{"text": {"a": 1}}', "its 'text' must be a string, not an object"),
        (b'{"text": "a", "text": 3}', "its 'text' must be a string, not an integer"),
        (b'{"text": "a", "id": [1]}', "its 'id' must be a string or a number, not a list"),
        (b'{"text": "a", "id": {"$oid": 1}}', "its 'id' must be a string or a number, not an object"),
        (b'{"text": "a", "id": false}', "its 'id' must be a string or a number, not true or false"),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_a_broken_line_is_rejected_and_the_others_are_read(reason, line, expected):
    assert reason(line) == expected


@pytest.mark.parametrize(("value", "kind"), [(["a"], "a list"), ({"href": "a"}, "an object"), (True, "true or false")])
def test_an_address_of_another_kind_is_rejected_where_addresses_are_used(collection, value, kind):
    lines = [json.dumps({"text": "a", "url": url}).encode() for url in ("http://a.example/", value, 7, None)]
    found = collection(*lines, url="url", columns=("url",))
    assert [(one.position, one.reason, one.code) for one in found.rejected] == [
        (2, f"its 'url' must be a string or a number, not {kind}", "type")
    ]
    assert found.column("url", literal=True).to_pylist() == ["http://a.example/", "7", None]
    assert not collection(*lines).rejected


def test_strict_stops_at_the_first_broken_line(collection):
    good = b'{"text": "a"}'
    with pytest.raises(DataError, match=r"x\.jsonl:3: it is not valid JSON"):
        collection(good, good, b"oops", b'{"text": 3}', strict=True)
    assert len(collection(good, b"", good, strict=True)) == 2


def test_the_last_of_equal_keys_counts(collection):
    got = collection(b'{"text": "a", "id": 1, "text": "b", "id": 2}')
    assert (got.texts.to_pylist(), got.ids.to_pylist()) == (["b"], ["2"])


def test_nul_bidi_controls_and_pairs_are_text(collection):
    got = collection('{"text": "a\\u0000b\u202e\\ud83d\\ude00"}'.encode())
    assert got.texts.to_pylist() == ["a\0b\u202e😀"]


def test_a_byte_order_mark_is_skipped_and_not_written_back(collection, tmp_path):
    got = collection(b'\xef\xbb\xbf{"text": "a"}', b'{"text": "b"}')
    assert (got.texts.to_pylist(), got.rejected) == (["a", "b"], [])
    got.write(tmp_path / "out.jsonl", np.array([0]))
    assert (tmp_path / "out.jsonl").read_bytes() == b'{"text": "a"}\n'


@pytest.mark.parametrize("written", [b"1e400", b"1" * 5000, b'{"y": [-1e999]}'], ids=lambda written: repr(written[:9]))
def test_a_number_that_no_table_can_have_is_an_error(collection, written):
    got = collection(b'{"text": "a", "x": 1}', b'{"text": "b", "x": ' + written + b"}")
    with pytest.raises(DataError, match=r"x\.jsonl:2: it has a number beyond 64 bits; only JSON lines can"):
        list(got.rows())


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b" \r\n\t\n"])
def test_an_empty_file_holds_no_documents(tmp_path, data):
    (tmp_path / "x.jsonl").write_bytes(data)
    got = read([tmp_path / "x.jsonl"])
    assert (len(got), got.texts.to_pylist(), got.ids.to_pylist(), got.rejected) == (0, [], [], [])
    got.write(tmp_path / "out.jsonl", np.zeros(0, np.bool_))
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_a_truncated_last_line_is_rejected(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(b'{"text": "a"}\n{"text": "b')
    got = read([tmp_path / "x.jsonl"])
    assert got.texts.to_pylist() == ["a"]
    assert [(record.position, record.reason) for record in got.rejected] == [
        (2, "it is incomplete JSON: it ends too early")
    ]


@pytest.mark.parametrize("cut", [b"", b"\r"])
def test_a_last_line_without_a_newline_is_a_line_and_gets_one(tmp_path, cut):
    (tmp_path / "x.jsonl").write_bytes(b'{"text": "a"}\r\n{"text": "b"}' + cut)
    got = read([tmp_path / "x.jsonl"])
    got.write(tmp_path / "out.jsonl", np.array([1]))
    assert (tmp_path / "out.jsonl").read_bytes() == b'{"text": "b"}' + cut + b"\n"


def test_lines_are_written_back_byte_by_byte(collection, tmp_path):
    lines = [b'{ "text":"a\\u00e9" , "x": 1.0 }', b"", b'{"text": "b"}', b"broken", b'\t{"text": "c", "y": [ ]}  ']
    got = collection(*lines, end=b"\r\n")
    got.write(tmp_path / "out.jsonl", np.ones(3, np.bool_))
    kept = [lines[0], lines[2], lines[4]]
    assert (tmp_path / "out.jsonl").read_bytes() == b"".join(line + b"\r\n" for line in kept)


def test_marks_follow_the_fields_of_any_line(collection, tmp_path):
    collection(b"{ }", b' {"text": "a" } ').write(tmp_path / "marked.jsonl", slice(None), pa.table({"m": [1, 2]}))
    lines = (tmp_path / "marked.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"m": 1}, {"text": "a", "m": 2}]


@pytest.mark.parametrize("cut", [b"", b"\r"])
def test_marked_lines_keep_their_ends(tmp_path, cut):
    (tmp_path / "x.jsonl").write_bytes(b'{"text": "a"}\r\n{"text": "b"} \n{"text": "c"}' + cut)
    read([tmp_path / "x.jsonl"]).write(tmp_path / "out.jsonl", slice(None), pa.table({"m": [1, 2, 3]}))
    marked = b'{"text": "a","m":1}\r\n{"text": "b","m":2} \n{"text": "c","m":3}' + cut + b"\n"
    assert (tmp_path / "out.jsonl").read_bytes() == marked


@pytest.mark.parametrize(("name", "expand"), [("out.jsonl.gz", gzip.decompress), ("out.ndjson.zst", None)])
def test_the_name_decides_the_compression(collection, tmp_path, name, expand):
    expand = expand or (lambda packed: zstandard.ZstdDecompressor().stream_reader(packed).read())
    collection(b'{"text": "a"}', b'{"text": "b"}').write(tmp_path / name, np.array([1]))
    assert expand((tmp_path / name).read_bytes()) == b'{"text": "b"}\n'
    assert read([tmp_path / name]).texts.to_pylist() == ["b"]


def test_several_files_are_one_collection(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\noops\n{"text": "b"}')
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"text": "c", "id": 9}\n'))
    got = read([tmp_path / "*.jsonl*"])
    assert got.texts.to_pylist() == ["a", "b", "c"]
    assert got.ids.to_pylist() == [f"{got.names[0]}:1", f"{got.names[0]}:3", "9"]
    assert [(record.source, record.position) for record in got.rejected] == [(got.names[0], 2)]
    got.write(tmp_path / "out.jsonl", np.array([1, 2]))
    assert (tmp_path / "out.jsonl").read_bytes() == b'{"text": "b"}\n{"text": "c", "id": 9}\n'


def test_standard_input_is_json_lines(piped, tmp_path):
    piped(b'{"text": "a"}\n{"text": "b"}\n3\n')
    got = read(["-"])
    assert (got.names, got.ids.to_pylist()) == (("<stdin>",), ["<stdin>:1", "<stdin>:2"])
    assert str(got.rejected[0]) == "<stdin>:3: it must be an object, not an integer"
    got.write(tmp_path / "out.jsonl", np.array([1]))
    assert (tmp_path / "out.jsonl").read_bytes() == b'{"text": "b"}\n'


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("values", "expected", "literal"),
    [
        ([b"1", b"null", b"-7"], pa.array([1, None, -7]), ["1", None, "-7"]),
        ([b"1", b"2.50"], pa.array(["1", "2.50"], pa.large_string()), ["1", "2.50"]),
        (
            [b"1", b"12345678901234567890123"],
            pa.array(["1", "12345678901234567890123"], pa.large_string()),
            ["1", "12345678901234567890123"],
        ),
        (
            [b"1", b"9223372036854775808"],
            pa.array(["1", "9223372036854775808"], pa.large_string()),
            ["1", "9223372036854775808"],
        ),
        ([b'"a\\n"', b'""'], pa.array(["a\n", ""], pa.large_string()), ["a\n", ""]),
        ([b"true", b"null"], pa.array([True, None]), None),
        ([b"null", b"null"], pa.array([None, None], pa.int64()), [None, None]),
    ],
)
def test_a_column_has_the_type_of_its_values(collection, named, values, expected, literal):
    lines = [b'{"text": "a", "f": ' + value + b"}" for value in values]
    got = collection(*lines, b'{"text": "a"}', columns=("f",) if named else ())
    assert got.column("f").equals(pa.concat_arrays([expected, pa.nulls(1, expected.type)]))
    if literal:
        assert got.column("f", literal=True).to_pylist() == [*literal, None]


@pytest.mark.parametrize("named", [True, False])
def test_a_column_of_several_kinds_is_an_error_unless_taken_literally(collection, named):
    got = collection(b'{"text": "a", "f": 1}', b'{"text": "a", "f": "b"}', columns=("f",) if named else ())
    with pytest.raises(
        DataError, match=r"x\.jsonl:2: its 'f' is a string \(\"b\"\), but earlier records have a number"
    ):
        got.column("f")
    assert got.column("f", literal=True).to_pylist() == ["1", "b"]


def test_true_and_false_are_written_as_tables_have_them(collection):
    got = collection(b'{"text": "a", "f": true}', b'{"text": "a", "f": false}', b'{"text": "a"}')
    assert got.column("f", literal=True).to_pylist() == ["true", "false", None]
    assert got.column("f", literal=True) == got.column("f").cast(pa.large_string())


def test_an_address_is_not_true_or_false(collection):
    got = collection(b'{"text": "a", "canonical": true}')
    with pytest.raises(DataError, match=r"1: its 'canonical' must be a string or a number, not true or false"):
        got.column("canonical", literal=True)


def test_a_column_of_lists_is_an_error(collection):
    got = collection(b'{"text": "a", "f": [1]}')
    with pytest.raises(DataError, match=r"x\.jsonl:1: its 'f' must be a number or a string, not a list"):
        got.column("f")
    with pytest.raises(DataError, match="must be a string or a number, not a list"):
        got.column("f", literal=True)


def test_a_column_that_no_record_has_lists_those_that_exist(collection):
    got = collection(b'{"text": "a", "f": 1}', b'{"text": "a", "g": 1}', columns=("h",))
    with pytest.raises(DataError, match=r"there is no field 'h'; the fields are: text, f, g$"):
        got.column("h")


def test_the_text_and_the_id_are_columns_too(collection):
    got = collection(b'{"text": "a", "id": 7}', columns=("text", "id"))
    assert got.column("text").to_pylist() == ["a"]
    assert got.column("id").to_pylist() == [7]
    assert got.column("text", literal=True).to_pylist() == ["a"]


def test_columns_leave_out_what_was_rejected(collection):
    got = collection(b'{"text": "a", "f": 1}', b'{"text": 1, "f": 2}', b'{"text": "c", "f": 3}', columns=("f",))
    assert got.column("f").to_pylist() == [1, 3]


def test_names_that_json_would_escape_are_refused(collection):
    for options in ({"text": 'a"b'}, {"id": "a\\b"}, {"columns": ("a\nb",)}):
        with pytest.raises(ParameterError, match="must be valid UTF-8, without quotation marks"):
            collection(b'{"text": "a"}', **options)


def test_the_id_cannot_be_the_text(collection):
    with pytest.raises(ParameterError, match="another field than the text"):
        collection(b'{"text": "a"}', id="text")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'[{"text": "a"}, {"text": "b"}]\n', "json array"),
        (b'\n [ {"text": "a"},\n{"text": "b"}]', "json array"),
        (b'\xef\xbb\xbf[\r\n{"text": "a"},\r\n{"text": "b"}\r\n]', "json array"),
        (b'[{"text": "' + b"a" * 100_000 + b'"}]', "json array"),
        (b'{\n  "text": "a"\n}\n{\n  "text": "b"\n}\n', "json over lines"),
        (b'["a", "b"]\n["c", "d"]\n', "all rejected"),
        (b"junk\n" * 1000, "all rejected"),
        (b'{"text": 1}\n', "all rejected"),
    ],
)
def test_what_holds_no_record_at_all_is_an_error(tmp_path, data, code):
    (tmp_path / "x.jsonl").write_bytes(data)
    with pytest.raises(DataError) as caught:
        read([tmp_path / "x.jsonl"])
    assert caught.value.code == code


def test_a_line_that_only_looks_like_an_array_is_rejected_alone(collection):
    got = collection(b"[2024-01-01] started", b'{"text": "a"}', b"[1]", b"[")
    assert (got.texts.to_pylist(), [one.position for one in got.rejected]) == (["a"], [1, 3, 4])


def test_an_error_of_all_records_shows_the_first(collection):
    with pytest.raises(
        DataError, match=r"x\.jsonl: all 2 records were rejected; the first is at .*:1: it must be an object"
    ):
        collection(b"1", b"2")
    with pytest.raises(DataError, match=r"x\.jsonl: its only record, .*:2, was rejected: it must be an object"):
        collection(b"", b"2")


def test_a_file_without_records_has_every_field(collection):
    assert len(collection().column("f")) == 0
    assert len(collection(columns=("f",)).column("f")) == 0


LINE = st.one_of(
    st.fixed_dictionaries({}, optional={"text": st.none() | st.text(max_size=5), "id": st.integers()}).map(json.dumps),
    st.sampled_from(["", "oops", '{"text": 1}', '{"text": "\\ud800"}']),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(LINE, max_size=12), st.sampled_from([1, 30, 1 << 23]))
def test_equals_pythons_json_line_by_line_whatever_the_blocks(tmp_path_factory, lines, block):
    expected, broken = [], []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        if line in ("oops", '{"text": 1}') or (line == '{"text": "\\ud800"}'):
            broken.append(number)
            continue
        expected.append(json.loads(line).get("text"))
    path = tmp_path_factory.mktemp("lines") / "x.jsonl"
    # One record always has a text, so that the field exists.
    path.write_text("\n".join([*lines, '{"text": "last"}']))
    whole, jsonl._BLOCK = jsonl._BLOCK, block
    try:
        got = read([path])
    finally:
        jsonl._BLOCK = whole
    assert [record.position for record in got.rejected] == broken
    assert got.texts.to_pylist() == [*expected, "last"]


def test_a_name_with_dots_is_a_field_of_an_object(collection, tmp_path):
    lines = (
        b'{"body": {"content": "one", "id": 1}, "meta": {"a": {"n": 3}}}',
        b'{"body": {"content": "two"}, "body.content": "exactly", "meta": {"a.n": 4}}',
        b'{"body": "no object", "meta": [1]}',
        b'{"body": {"content": null}, "body.content": "", "meta": {"a": {"n": null}}}',
    )
    got = collection(*lines, text="body.content", id="body.id", columns=["meta.a.n"])
    assert got.texts.to_pylist() == ["one", "exactly", None, ""]
    assert got.ids.to_pylist() == ["1", *(f"{got.names[0]}:{line}" for line in (2, 3, 4))]
    assert got.column("meta.a.n").to_pylist() == [3, 4, None, None]
    got.write(tmp_path / "out.jsonl", np.array([0, 1]))
    assert (tmp_path / "out.jsonl").read_bytes() == b"\n".join(lines[:2]) + b"\n"


def test_a_nested_value_of_another_type_is_rejected(collection):
    got = collection(
        b'{"a": {"b": 3}}', b'{"a": {"b": "x", "c": {}}}', b'{"a": {"b": "y", "c": 1}}', text="a.b", id="a.c"
    )
    assert [str(one).partition("x.jsonl:")[2] for one in got.rejected] == [
        "1: its 'a.b' must be a string, not an integer",
        "2: its 'a.c' must be a string or a number, not an object",
    ]


def test_a_missing_nested_field_names_those_that_there_are(collection):
    with pytest.raises(DataError, match=r"there is no field 'a\.x'; the fields are: id, a\.b, a\.c\.d, e$"):
        collection(b'{"id": 1, "a": {"b": "x", "c": {"d": 1}}, "e": {}}', text="a.x")
