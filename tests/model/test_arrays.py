import pickle
from copy import copy, deepcopy

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import Checksum, Field, MinHash, SimHash, Trials
from neardup.model.arrays import Features, Signatures, TextBatch, not_utf8, positions_in, require_same_recipe
from neardup.model.errors import DataError, ParameterError, RecipeMismatch


def test_a_text_batch_may_begin_anywhere_in_its_data():
    batch = TextBatch(np.frombuffer("xxé你".encode(), np.uint8), np.array([2, 4, 4, 7]))
    assert [batch.bytes_at(document).decode() for document in range(len(batch))] == ["é", "", "你"]


def test_a_batch_without_texts_is_empty():
    assert len(TextBatch(np.empty(0, np.uint8), np.zeros(1, np.int64))) == 0


def test_the_data_of_texts_are_read_only_and_what_they_come_from_is_not():
    data = np.zeros(3, np.uint8)
    batch = TextBatch(data, np.array([0, 3]))
    assert np.shares_memory(batch.data, data)
    assert not batch.data.flags.writeable
    assert data.flags.writeable
    assert len(Features(np.empty(0, np.uint64), np.zeros(4, np.int64))) == 3


def test_signatures_are_chosen_with_what_belongs_to_them():
    rows, present = np.arange(8, dtype=np.uint32).reshape(4, 2), np.array([True, False, True, True])
    signatures = Signatures(rows, present, "recipe")
    assert len(signatures) == 4
    for chosen in (slice(1, 3), np.array([2, 0, 0]), np.array([True, False, False, True])):
        part = signatures[chosen]
        assert part.rows.tolist() == rows[chosen].tolist()
        assert part.present.tolist() == present[chosen].tolist()
        assert part.recipe == "recipe"


@pytest.mark.parametrize("copied", [copy, deepcopy, lambda given: pickle.loads(pickle.dumps(given))])  # noqa: S301
def test_the_rows_of_copied_signatures_are_read_only(copied):
    signatures = MinHash().sign(["a rose is a rose", ""])
    found = copied(signatures)
    assert not found.rows.flags.writeable
    assert (found.rows == signatures.rows).all()
    assert (found.present.tolist(), found.recipe) == ([True, False], signatures.recipe)


def test_recipes_must_be_the_same():
    require_same_recipe("a", "a")
    with pytest.raises(RecipeMismatch) as caught:
        require_same_recipe("a", "b")
    assert (caught.value.left, caught.value.right) == ("a", "b")


@pytest.mark.parametrize("scheme", [MinHash(), Trials(), SimHash(bits=128), Checksum(fields=[Field(name="title")])])
def test_signatures_go_to_arrow_and_back_with_their_recipe(tmp_path, scheme):
    texts = ["one two three four", "", "one two three five", "six"]
    signed = scheme.sign(pa.table({"title": texts}) if scheme.columns else texts)
    table = signed.to_arrow()
    assert table.column_names == ["signature", "present"]
    pq.write_table(table, tmp_path / "signatures.parquet")
    with pa.ipc.new_file(tmp_path / "signatures.arrow", table.schema) as file:
        file.write_table(table)
    halves = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    named = table.append_column("id", pa.array(["a", "b", "c", "d"]))
    read = pq.read_table(tmp_path / "signatures.parquet"), pa.ipc.open_file(tmp_path / "signatures.arrow").read_all()
    for other in (table, halves, named, *read):
        found = Signatures.from_arrow(other)
        assert (found.recipe, found.rows.dtype) == (scheme.recipe, signed.rows.dtype)
        assert (found.rows == signed.rows).all()
        assert (found.present == signed.present).all()
        assert scheme.matches(found, signed).tolist() == signed.present.tolist()
    assert (Signatures.from_arrow(table.slice(1, 2)).rows == signed.rows[1:3]).all()
    assert len(Signatures.from_arrow(table.slice(0, 0))) == 0


def test_a_table_that_is_not_of_signatures_is_refused():
    table = MinHash().sign(["one two three four"] * 2).to_arrow()
    assert len(Signatures.from_arrow(table.to_batches()[0])) == 2
    null = pa.array([None, [1] * 128], table["signature"].type)
    inside = pa.array([[None] * 128, [1] * 128], table["signature"].type)
    narrow = pa.array([[1], [2]], pa.list_(pa.uint32(), 1))
    small = pa.array([[1] * 128, [2] * 128], pa.list_(pa.uint8(), 128))
    ragged = table.set_column(0, "signature", pa.array([[1], [2, 3]], pa.list_(pa.uint32())))
    for wrong in (
        None,
        [1],
        pa.array([1]),
        table.append_column("present", table["present"]),
        table.replace_schema_metadata(None),
        table.replace_schema_metadata({**table.schema.metadata, b"neardup.recipe": b""}),
        *(
            each.replace_schema_metadata({**table.schema.metadata, b"neardup.row": row})
            for row in (b"128 text", b"128 object", b"99999999999999 uint32", b"-1 uint32")
            for each in (table, ragged)
        ),
        table.drop_columns(["present"]),
        table.set_column(0, "signature", pa.array([[1], [2]])),
        table.set_column(0, "signature", narrow),
        table.set_column(0, "signature", small),
        table.set_column(0, "signature", null),
        table.set_column(0, "signature", inside),
        table.set_column(1, "present", pa.array([True, None])),
    ):
        with pytest.raises(DataError, match=r"signatures must be an Arrow table that Signatures\.to_arrow made"):
            Signatures.from_arrow(wrong)


@pytest.mark.parametrize("scheme", [MinHash(), SimHash(), Trials()], ids=lambda scheme: scheme.name)
def test_only_signatures_are_compared(scheme):
    signed = scheme.sign(["one two three four"])
    for left, right in ((signed, signed.rows), (1, signed), (None, None)):
        with pytest.raises(ParameterError, match="must be Signatures"):
            scheme.estimate(left, right)


def test_a_single_position_selects_no_rows():
    signed = MinHash().sign(["one two three four", "five six seven"])
    with pytest.raises(ParameterError, match="must be a two-dimensional array; select rows by a slice"):
        signed[0]


def test_every_row_has_a_flag():
    rows, recipe = np.zeros((2, 3), np.uint32), MinHash().recipe
    for present in (np.ones(1, np.bool_), np.ones((2, 1), np.bool_), np.ones(2, np.int64), True):
        with pytest.raises(ParameterError, match="must have 2 flags, one per row"):
            Signatures(rows, present, recipe)


def test_the_places_of_values_that_are_not_utf8():
    assert list(not_utf8(["é".encode(), None, b"\xe9", b"", "é".encode()[:1]])) == [2, 4]
    with pytest.raises(TypeError):
        list(not_utf8(["é"]))


@pytest.mark.parametrize("ordered", [[], [3], [1, 3, 3, 7]])
def test_sorted_values_are_found(ordered):
    wanted = [7, 0, 3, 8, 1]
    found = positions_in(np.array(ordered, np.uint64), np.array(wanted, np.uint64))
    assert found.tolist() == [ordered.index(value) if value in ordered else -1 for value in wanted]
    assert (found.dtype, positions_in(found, found[:0]).tolist()) == (np.int64, [])


@pytest.mark.parametrize("scheme", [MinHash(), SimHash()])
def test_positions_of_another_byte_order_are_refused(scheme):
    signed, foreign = scheme.sign(["a b c d", "a b c e"]), np.array([0], np.dtype(np.int64).newbyteorder())
    for question in (scheme.match_pairs, scheme.estimate_pairs):
        with pytest.raises(ParameterError, match="must be an array in the byte order of this machine") as caught:
            question(signed, np.array([0]), foreign)
        assert caught.value.name == "right"
