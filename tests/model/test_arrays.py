import numpy as np
import pytest

from neardup.model.arrays import Features, Signatures, TextBatch, require_same_recipe
from neardup.model.errors import RecipeMismatch


def test_a_text_batch_may_begin_anywhere_in_its_data():
    batch = TextBatch(np.frombuffer("xxé你".encode(), np.uint8), np.array([2, 4, 4, 7]))
    assert [batch.bytes_at(document).decode() for document in range(len(batch))] == ["é", "", "你"]


def test_lengths():
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


def test_recipes_must_be_the_same():
    require_same_recipe("a", "a")
    with pytest.raises(RecipeMismatch) as caught:
        require_same_recipe("a", "b")
    assert (caught.value.left, caught.value.right) == ("a", "b")
