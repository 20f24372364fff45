import datetime as dt
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arrow_streams import OnlyStream
from hypothesis import given
from hypothesis import strategies as st
from oracles import SPREAD, siphash13

import neardup
from neardup import Checksum, Field
from neardup.errors import DataError, ParameterError
from neardup.model.recipe import Hashing

KEY = bytes(range(16))


def cut(text, limit):
    """The longest run of whole characters of at most *limit* bytes."""
    raw = b""
    for letter in text or "":
        if limit is not None and len(raw) + len(letter.encode()) > limit:
            break
        raw += letter.encode()
    return raw


def expected(rows, scheme):
    derived = Hashing(seed=scheme.seed, key=scheme.key).derive("checksum", 16)
    key = [int.from_bytes(derived[at : at + 8], "little") for at in (0, 8)]
    sums = []
    for row in rows:
        total = 0
        for part in scheme.fields:
            total = (total * SPREAD + siphash13(cut(row.get(part.name), part.limit), *key)) % 2**64
        if scheme.contribution:
            total = (total * SPREAD + siphash13(cut(row.get(scheme.contribution), None), *key)) % 2**64
        sums.append(total)
    return sums


def table(rows, names):
    return pa.table({name: pa.array([row.get(name) for row in rows], pa.string()) for name in names})


VALUES = st.none() | st.text(alphabet="aé你😀\0 ", max_size=8)
ROWS = st.lists(st.fixed_dictionaries({"title": VALUES, "body": VALUES, "site": VALUES}), max_size=6)
SCHEMES = [
    Checksum(),
    Checksum(seed=9),
    Checksum(key=KEY),
    Checksum(fields=(Field(name="body", limit=5), Field(name="title", limit=1, required=False))),
    Checksum(fields=(Field(name="body"),), contribution="site"),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=range(len(SCHEMES)))
@given(rows=ROWS)
def test_sums_equal_their_definition(scheme, rows):
    signatures = scheme.sign(table(rows, ("site", "title", "body")))
    assert signatures.rows.dtype == np.uint64
    assert signatures.rows.ravel().tolist() == expected(rows, scheme)
    required = [part for part in scheme.fields if part.required]
    assert signatures.present.tolist() == [all(cut(row[part.name], part.limit) for part in required) for row in rows]


@pytest.mark.parametrize("scheme", SCHEMES, ids=range(len(SCHEMES)))
@given(rows=ROWS)
def test_same_content_equals_its_definition(scheme, rows):
    parts = [*scheme.fields, *([Field(name=scheme.contribution)] if scheme.contribution else [])]
    contents = [[cut(row[part.name], part.limit) for part in parts] for row in rows]
    left, right = (found.ravel() for found in np.indices((len(rows), len(rows))))
    same = scheme.same_content(table(rows, ("site", "title", "body")), left, right)
    assert same.tolist() == [contents[a] == contents[b] for a, b in zip(left, right, strict=True)]


def test_a_contribution_tells_documents_apart_and_may_be_missing():
    scheme = Checksum(contribution="site")
    pages = pa.table({"title": ["t"] * 4, "body": ["b"] * 4, "site": ["x", "y", None, ""]})
    signatures = scheme.sign(pages)
    assert signatures.present.all()
    assert len({*signatures.rows.ravel().tolist()}) == 3
    without = scheme.sign(pages.drop_columns("site"))
    assert (without.rows == signatures.rows[2]).all()
    assert scheme.columns == ("title", "body", "site")


def test_a_missing_required_column_is_a_data_error_that_lists_the_others():
    with pytest.raises(DataError, match=r"'title'.*are: body, x"):
        Checksum().sign(pa.table({"body": ["b"], "x": ["y"]}))


@pytest.mark.parametrize("make", [lambda t: t, lambda t: t.to_batches()[0], lambda t: t.to_reader(), OnlyStream])
def test_tables_of_every_kind(make):
    pages = pa.table({"title": ["a", "b"], "body": ["c", "d"]})
    signatures = Checksum().sign(make(pages))
    assert (signatures.rows == Checksum().sign(pages).rows).all()
    assert signatures.present.all()


def test_a_plain_column_is_the_only_field():
    scheme = Checksum(fields=[Field(name="text")])
    table = pa.table({"text": ["a", "b"]})
    assert scheme.sign(["a", "b"]).rows.tolist() == scheme.sign(table).rows.tolist()
    assert neardup.explain("a b", "a b", scheme).matches


def test_a_plain_column_is_the_body():
    scheme = Checksum(fields=(Field(name="title", required=False), Field(name="body")))
    by_column = scheme.sign(["one", "", None, "one"])
    by_table = scheme.sign(pa.table({"body": ["one", "", None, "one"]}))
    assert (by_column.rows == by_table.rows).all()
    assert by_column.present.tolist() == by_table.present.tolist() == [True, False, False, True]
    assert not Checksum().sign(["one"]).present.any()  # its title is missing


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        (pa.array([1506, 2**64 - 1], pa.uint64()), ["1506", "18446744073709551615"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([1.5, 0.25]), ["1.5", "0.25"]),
        (pa.array([dt.date(2024, 2, 29), None]), ["2024-02-29", None]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
        (pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([5, 0]), pa.array(["", "5"])]), ["5", "5"]),
        (pa.array(["a", "b"], pa.string_view()), ["a", "b"]),
    ],
    ids=lambda values: str(values.type) if isinstance(values, pa.Array) else "",
)
def test_fields_of_other_types_are_taken_as_they_print(values, printed):
    scheme = Checksum(fields=(Field(name="n", required=False),))
    found, same = scheme.sign(pa.table({"n": values})), scheme.sign(pa.table({"n": printed}))
    assert (found.rows == same.rows).all()


@pytest.mark.parametrize("fraction", ["", ".5", ".001"])
def test_times_are_the_same_fields_in_every_container(tmp_path, fraction):
    written = f"2026-01-31 12:00:00{fraction}Z"
    scheme = Checksum(fields=(Field(name="x"),))
    expected = scheme.sign(pa.table({"x": [written]})).rows.tolist()
    at = dt.datetime.fromisoformat(written)
    found = []
    for unit in ("s", "ms", "us", "ns")[fraction != "" :]:
        table = pa.table({"id": ["a"], "text": [""], "x": pa.array([at], pa.timestamp(unit, "UTC"))})
        pq.write_table(table, tmp_path / f"{unit}.parquet")
        neardup.dedup_files([tmp_path / f"{unit}.parquet"], tmp_path / f"{unit}.jsonl", scheme=scheme)
        found += [table, pq.read_table(tmp_path / f"{unit}.parquet"), table.to_pandas()]
        found += [pa.Table.from_pylist([json.loads((tmp_path / f"{unit}.jsonl").read_text())])]
    assert [scheme.sign(one).rows.tolist() for one in found] == [expected] * len(found)
    with neardup.Index.create(scheme=scheme) as index:
        index.admit(["a"], [""], {"x": [at]})
        assert index.signatures(["a"]).rows.tolist() == expected
    hits = [{"id": 1, "x": at}, {"id": 2, "x": written}]
    assert neardup.collapse(hits, neardup.NearDuplicates(scheme=scheme)).kept == [1]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_numbers_are_the_same_fields_in_files_and_tables(tmp_path, ending):
    numbers = [1e15, 1.0, None, math.nan, 2.5, math.nan]
    rows = pa.table({"id": [*map(str, range(6))], "text": [""] * 6, "x": numbers})
    path = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pq.write_table(rows, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()).replace("NaN", "null"))
    scheme = Checksum(fields=(Field(name="x"),))
    (tmp_path / "earlier.csv").write_text("x\n1000000000000000\n1\n2.5\n")
    done = neardup.dedup_files([path], scheme=scheme, against=tmp_path / "earlier.csv")
    assert done.result.mask.tolist() == [False, False, True, True, False, True]
    assert neardup.dedup(rows, scheme=scheme).mask.all()


def test_a_field_of_lists_is_a_data_error():
    with pytest.raises(DataError, match="'title'"):
        Checksum().sign(pa.table({"title": [["a"]], "body": ["b"]}))


def test_chunks_slices_and_nulls():
    titles = pa.chunked_array([["x", "a"], [None], ["b", "y"]])[1:4]
    pages = pa.table({"title": titles, "body": ["1", "2", "3"]})
    signatures = Checksum().sign(pages)
    assert signatures.present.tolist() == [True, False, True]
    assert (Checksum().sign(pages.combine_chunks()).rows == signatures.rows).all()
    assert len(Checksum().sign(pages[:0])) == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Checksum(fields=()),
        lambda: Checksum(fields=("title",)),
        lambda: Checksum(fields=(Field(name="a"), Field(name="a"))),
        lambda: Checksum(fields=(Field(name="a"),), contribution="a"),
    ],
)
def test_fields_have_rules(make):
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.name == "fields"


def test_the_error_for_names_shows_how_fields_are_written():
    with pytest.raises(
        ParameterError, match=r"must be a list of at least one Field, such as \[Field\(name='title'\)\]"
    ):
        Checksum(fields=["title"])


@pytest.mark.parametrize(
    ("name", "value"), [("name", ""), ("name", 5), ("limit", 0), ("limit", -1), ("limit", 1.5), ("limit", "9")]
)
def test_a_field_has_rules(name, value):
    with pytest.raises(ParameterError) as caught:
        Field(**{"name": "title", name: value})
    assert (caught.value.name, caught.value.value) == (name, value)


@pytest.mark.parametrize(("name", "value"), [("seed", -1), ("seed", 2**64), ("key", b"short")])
def test_hashing_has_rules(name, value):
    with pytest.raises(ParameterError) as caught:
        Checksum(**{name: value})
    assert caught.value.name == name


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"key": KEY},
        {"contribution": "site"},
        {"fields": (Field(name="title"), Field(name="body", limit=1000))},
        {"fields": (Field(name="title", required=False), Field(name="body", limit=1024))},
        {"fields": (Field(name="body", limit=1024), Field(name="title"))},
    ],
    ids=str,
)
def test_everything_is_part_of_the_recipe(change):
    assert Checksum(**change).recipe != Checksum().recipe
