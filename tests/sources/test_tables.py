import datetime as dt
import io
import re
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.model.errors import DataError
from neardup.sources import tables
from neardup.sources.formats import Kind
from neardup.sources.tables import check_representable, conformed, slices, table_of, table_writer, united

RECORDS = [{"n": 1, "o": {"a": 1}}, {"n": 2.5, "new": "x", "o": {"b": [1]}}, {}]


def written(form, table, compression=None):
    file = io.BytesIO()
    with table_writer(file, Kind(form, compression), table.schema) as (write, _):
        for part in slices(table):
            write(part)
    return file.getvalue()


def test_the_types_of_decoded_records_hold_all_values():
    table = table_of("x:{}".format, RECORDS)
    assert table.to_pylist() == [
        {"n": 1.0, "o": {"a": 1, "b": None}, "new": None},
        {"n": 2.5, "o": {"a": None, "b": [1]}, "new": "x"},
        {"n": None, "o": None, "new": None},
    ]
    assert table_of("x:{}".format, []).num_columns == 0


@pytest.mark.parametrize(
    ("values", "misfit"),
    [
        ([1, None, "a", 2], '"a"'),
        ([True, 1], "1"),
        ([1, True], "true"),
        ([0.5, None, True], "true"),  # Arrow alone makes it 1.0
        ([{"a": 1.5}, {"a": True}], '{"a": true}'),
        ([{"a": [None, {"b": 1.5}]}, None, {"a": [{"b": False}]}], '{"a": [{"b": false}]}'),
        ([[1.5], None, [True]], "[true]"),
        ([[1.5, True]], "[1.5, true]"),
        ([[1, "é"]], '[1, "é"]'),
        ([{"a": 1}, 2], "2"),
        ([1 << 70], "1180591620717411303424"),
        ([[1 << 70]], "[1180591620717411303424]"),
        ([0.5, None, (1 << 53) + 1], "9007199254740993"),
        ([(1 << 53) + 1, 0.5], "0.5"),
        ([{"a": 0.5}, {"a": (1 << 53) + 1}], '{"a": 9007199254740993}'),
    ],
)
def test_values_without_a_common_type_are_refused(values, misfit):
    first = next(row for row, value in enumerate(values) if row == len(values) - 1 or value == "a")
    rule = f"its 'f', {misfit}, and the values before it cannot be one column: their types differ"
    with pytest.raises(DataError, match=re.escape(f"x:{first}: {rule}")):
        table_of("x:{}".format, [{"f": value} for value in values])


@pytest.mark.parametrize(
    "inside",
    [
        lambda record: record,
        lambda record: {"n": record},
        lambda record: {"n": [[record], [{}]]},
        lambda record: {"a": {"b": {"c": record}}},
        lambda record: {**record, "n": record},
    ],
)
def test_records_with_very_many_different_fields_are_refused(inside):
    """A file of 2 MB would otherwise be a table of a billion values."""
    records = [inside({f"{row} {number}": 1 for number in range(6)}) for row in range(2_000)]
    with pytest.raises(
        DataError, match=r"x:\d+: the records up to this one have more than 10,000 different fields; only"
    ):
        table_of("x:{}".format, records)
    for part in (records[:800], records[:1] * 20_000):
        table_of("x:{}".format, part)


def test_fields_of_all_levels_count():
    records = [{f"{row} {number}": 1 for number in range(540)} for row in range(10)]
    with pytest.raises(DataError, match="x:9: the records up to this one have more than 10,000 different fields"):
        table_of("x:{}".format, [{**record, "n": record} for record in records])


def test_fields_are_counted_before_their_values_are_columns(monkeypatch):
    """Objects with fields of their own would otherwise take a value for each field and record."""
    monkeypatch.setattr(tables, "_column", None)
    for inside in (lambda record: record, lambda record: [record], lambda record: [{"a": record}]):
        with pytest.raises(DataError, match="x:299: the records up to this one have more than 10,000 different fields"):
            table_of("x:{}".format, [{"n": inside({f"{row} {n}": 1 for n in range(50)})} for row in range(300)])


def test_schemas_with_very_many_different_fields_are_refused():
    half = [pa.schema([(f"{first + number}", pa.int64()) for number in range(6_000)]) for first in (0, 6_000)]
    nested = [pa.schema([("n", pa.struct([*one]))]) for one in half]
    for schemas in (half, nested):
        with pytest.raises(DataError, match="a: its records have more than 10,000 different fields"):
            united(zip("aa", schemas, strict=True))
        assert len(united(zip("ab", half, strict=True))) == 12_000
        whole = united(zip("aa", [schemas[0], schemas[0]], strict=True))
        assert whole.equals(schemas[0])


def test_schemas_are_united_as_their_records_are():
    parts = [table_of("x:{}".format, [record]) for record in RECORDS]
    schema = united(("x", part.schema) for part in parts)
    assert schema.equals(table_of("x:{}".format, RECORDS).select(schema.names).schema)
    joined = pa.concat_tables([conformed("x", part, schema) for part in parts[:2]])
    assert joined.to_pylist() == table_of("x:{}".format, RECORDS[:2]).select(schema.names).to_pylist()
    many = pa.schema([(f"{number}", pa.int64()) for number in range(20_000)])
    assert united([("x", many)] * 2).equals(many)  # in a second, as each column is united with its own
    with pytest.raises(DataError, match="its 'n' has values of several types"):
        united([("x", schema), ("x", pa.schema([("n", pa.string())]))])
    with pytest.raises(DataError, match="c: its 'n' is int64, but that of b is string"):  # a has no values
        united((name, pa.schema([("n", kind)])) for name, kind in {"a": pa.null(), "b": "str", "c": "int64"}.items())
    with pytest.raises(
        DataError, match=r"x: its 'n' has a value that double, the type of this field in other records, cannot"
    ):
        conformed("x", pa.table({"n": [2**60 + 1]}), schema)


def test_what_a_format_does_not_have_is_refused():
    nested = pa.schema([("a", pa.string()), ("m", pa.list_(pa.int64()))])
    for form in ("csv", "tsv"):
        with pytest.raises(DataError, match=f"^x: its 'm' has objects or lists, which {form.upper()} cannot represent"):
            check_representable("x", nested, form)
    check_representable("x", nested, "parquet")
    with pytest.raises(DataError, match="its 'e' has only empty objects, which Parquet cannot represent"):
        check_representable("x", table_of("x:{}".format, [{"e": {}}]).schema, "parquet")
    with pytest.raises(DataError, match=r"its 'a.e' has only empty objects, which Parquet cannot represent"):
        check_representable("x", table_of("x:{}".format, [{"a": {"e": {}}}]).schema, "parquet")
    for inner, most in (
        (pa.list_, 49),
        (lambda kind: pa.struct([("a", kind)]), 98),
        (lambda kind: pa.map_(pa.string(), kind), 49),
    ):
        kind = pa.int8()
        for _ in range(most):
            kind = inner(kind)
        file = io.BytesIO()
        pq.write_table(pa.schema([("d", kind)]).empty_table(), file)
        pq.read_schema(pa.BufferReader(file.getvalue()))
        check_representable("x", pa.schema([("d", kind)]), "parquet")
    kind = pa.map_(pa.string(), pa.struct([("a", pa.int8())]))
    for _ in range(48):
        kind = pa.list_(kind)
    with pytest.raises(DataError, match="its 'd' has more than 98 levels of objects and lists"):
        check_representable("x", pa.schema([("d", kind)]), "parquet")
    tensor = pa.schema([("t", pa.fixed_shape_tensor(pa.int32(), [2]))])
    with pytest.raises(DataError, match="its 't' has objects or lists, which CSV cannot represent"):
        check_representable("x", tensor, "csv")
    with pytest.raises(DataError, match=r"field 'b'.* has binary values that are not UTF-8"):
        written("jsonl", pa.table({"b": [b"\xff"]}))


def test_no_row_of_a_single_column_is_an_empty_line():
    """Readers skip empty lines."""
    for kind, value, said in ((pa.string(), "a", '"a"'), (pa.int64(), 5, '"5"')):
        table = pa.table({"x": pa.array([None, value], kind)})
        assert written("csv", table).decode().splitlines() == ['"x"', '""', said]


def test_values_are_written_as_each_format_has_them():
    table = pa.table(
        {
            "s": pa.array(["a,b", 'say "x"', None]).dictionary_encode(),
            "b": [b"bytes", b"", None],
            "t": pa.array([dt.datetime(2024, 5, 31, 12)] * 3, pa.timestamp("ns")),  # noqa: DTZ001 - without a zone
            "d": [Decimal("1.50"), None, Decimal("-2.00")],
            "f": [1.5, float("nan"), None],
        }
    )
    at = "2024-05-31 12:00:00"
    assert written("jsonl", table).decode().splitlines() == [
        f'{{"s":"a,b","b":"bytes","t":"{at}","d":"1.50","f":1.5}}',
        f'{{"s":"say \\"x\\"","b":"","t":"{at}","d":null,"f":null}}',
        f'{{"s":null,"b":null,"t":"{at}","d":"-2.00","f":null}}',
    ]
    assert written("csv", table).decode().splitlines() == [
        '"s","b","t","d","f"',
        f'"a,b","bytes","{at}","1.50",1.5',
        f'"say ""x""","","{at}",,nan',
        f',,"{at}","-2.00",',
    ]
    assert written("tsv", table).startswith(b'"s"\t"b"')
    found = pq.read_table(io.BytesIO(written("parquet", table)))
    assert (found.schema, str(found.to_pylist())) == (table.schema, str(table.to_pylist()))


def test_groups_of_rows_do_not_depend_on_the_tables(monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 3)
    whole = pa.table({"n": range(100)})
    assert [len(part) for part in slices(whole)] == [3] * 33 + [1]
    assert [len(part) for part in slices(whole[:0])] == [0]
    found = pq.ParquetFile(io.BytesIO(written("parquet", whole)))
    assert (found.num_row_groups, found.read().equals(whole)) == (1, True)
