from decimal import Decimal
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines

import neardup
from neardup.model.written_values import written_times, written_values

LONG = 1234567890123456  # as the ids of posts are


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.float16()], ids=str)
def test_whole_numbers_have_no_exponent(kind):
    values = [0.0, -0.0, 2.0, -7.0, 0.5, None, float("nan"), float("inf")]
    numbers = pa.array(
        [value if value is None else np.float64(value).astype(kind.to_pandas_dtype()) for value in values]
    )
    found = written_values(pa.chunked_array([numbers.cast(kind)])).to_pylist()
    assert found == ["0", "0", "2", "-7", "0.5", None, None, "inf"]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (pa.timestamp("ns", "+02:00"), 10, "1970-01-01 02:00:00.00000001+0200"),
        (pa.timestamp("us"), 10_000_000, "1970-01-01 00:00:10"),
        (pa.timestamp("us", "UTC"), 10_010_000, "1970-01-01 00:00:10.01Z"),
        (pa.time64("us"), 100_100, "00:00:00.1001"),
        (pa.date32(), 10, "1970-01-11"),
        (pa.duration("s"), 100, "100"),
    ],
)
def test_times_end_with_a_digit_that_counts(kind, value, expected):
    assert written_times(pa.array([value, None], kind)).to_pylist() == [expected, None]


def test_only_numbers_that_are_exact_are_written_in_full():
    found = written_values(pa.chunked_array([[2.0**53 - 1], [2.0**53, 1e300]])).to_pylist()
    assert found == [str(2**53 - 1), "9.007199254740992e+15", "1e+300"]


@pytest.mark.parametrize("number", [1.0, -0.0, 0.5, -7.25, 1e15, float(2**53 - 1), 123456789.0])
def test_numbers_are_the_same_ids_in_every_container(tmp_path, number):
    rows = [{"id": number, "text": "a b c"}, {"id": None, "text": "d e f"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    write_lines(tmp_path / "in.jsonl", rows)
    files = [neardup.dedup_files([path], dropped=tmp_path / f"out{path.suffix}") for path in tmp_path.glob("in.*")]
    found = [*(done.result for done in files), neardup.dedup(rows), neardup.dedup(pa.Table.from_pylist(rows))]
    assert len(found) == 4
    expected = str(int(number)) if number.is_integer() else str(number)
    assert {result.decisions["id"][0].as_py() for result in found} == {expected}


def test_ids_that_a_missing_value_has_turned_into_floats_are_the_same_in_tables_and_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [LONG, None], "text": ["a b c", "a b d"]})
    assert neardup.dedup(frame).decisions["id"].to_pylist() == [str(LONG), "#1"]
    frame.to_parquet(tmp_path / "in.parquet")
    done = neardup.dedup_files([tmp_path / "in.parquet"], tmp_path / "out.parquet")
    assert done.result.decisions["id"].to_pylist() == [str(LONG), f"{tmp_path}/in.parquet:2"]


def test_uuids_are_ids_in_their_text_form_in_files_too(tmp_path):
    names = [UUID(int=number) for number in (0, 2**127)]
    ids = pa.array([name.bytes for name in names], pa.uuid())
    pq.write_table(pa.table({"text": ["a", "b"], "id": ids}), tmp_path / "in.parquet")
    done = neardup.dedup_files([tmp_path / "in.parquet"], tmp_path / "out.parquet")
    assert done.result.decisions["id"].to_pylist() == [*map(str, names)]
    assert pq.read_table(tmp_path / "out.parquet")["id"].type == pa.uuid()


def test_whole_decimals_have_neither_point_nor_exponent():
    for numbers, expected in (
        (["1", "1.5", "1180591620717411303424"], ["1", "1.5", "1180591620717411303424"]),
        (["1E+5", "0.01"], ["100000", "0.01"]),
        (["0.0000000001", "-2.00"], ["0.0000000001", "-2"]),
    ):
        column = pa.chunked_array([pa.array([*map(Decimal, numbers), None])])
        assert written_values(column).to_pylist() == [*expected, None]
        assert written_values(column.dictionary_encode()).to_pylist() == [*expected, None]
    whole = pa.chunked_array([pa.array([Decimal("1E+5"), Decimal(7), None], pa.decimal128(20, 0))])
    assert written_values(whole).to_pylist() == ["100000", "7", None]
    records = [{"text": "one two", "id": own} for own in (1, Decimal("1.5"), 2**70)]
    assert neardup.dedup(records).decisions["id"].to_pylist() == ["1", "1.5", str(2**70)]
