import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup import dedup_files
from neardup.pipeline.spilled.held_texts import HeldTexts


class Piece:
    def __init__(self, size):
        self.texts = pa.chunked_array([np.zeros(size, np.uint8)])


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6), st.integers(0, 40))
def test_shards_are_held_while_all_of_their_texts_fit(shards, room):
    held = HeldTexts(room)
    for shard, sizes in enumerate(shards):
        for _ in range(2):  # reading a shard again changes nothing
            pieces = [Piece(size) for size in sizes]
            assert list(held.holding(shard, iter(pieces))) == pieces
        fits = sum(sizes) <= room
        assert (held.of(shard) is not None) == fits
        if fits:
            assert [len(texts) for texts in held.of(shard)] == sizes
            room -= sum(sizes)


def test_the_answer_is_the_same_without_held_texts(tmp_path, sources, small_parts, no_held_texts):
    small_parts(2000)
    held = dedup_files(sources, work=tmp_path / "w").result
    no_held_texts()
    again = dedup_files(sources, work=tmp_path / "w").result
    assert again.decisions.equals(held.decisions)
    assert again.summary == held.summary
