import numpy as np
from batches import folded, lists, ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import vocabulary
from neardup.text.unicode import unicode_tables

TOKENS = st.integers(1, 40)


@given(st.lists(TOKENS, max_size=30), st.lists(TOKENS, max_size=20))
def test_listed_tokens_are_dropped(tokens, listed):
    found, table = np.array(tokens, np.uint64), np.zeros(64, np.uint64)
    vocabulary.insert(table, np.array(listed, np.uint64))
    vocabulary.drop_listed(found, table)
    assert found.tolist() == [0 if token in listed else token for token in tokens]


@given(st.lists(st.lists(st.just(0) | TOKENS, max_size=12), max_size=6), st.sampled_from([1, 4, 64]), st.data())
def test_a_cache_replaces_the_tokens_that_it_knows_and_lists_the_others(batches, rows, data):
    cache = np.zeros((rows, 4), np.uint64)
    entered = set()
    for batch in batches:
        chosen = sorted(data.draw(st.sets(st.integers(0, len(batch) - 1)))) if batch else []
        tokens, positions = np.array(batch, np.uint64), np.array(chosen, np.int64)
        unknown = positions[: vocabulary.recall(tokens, positions, cache)]
        others = unknown.tolist()
        known = [place for place in chosen if place not in others]
        assert {batch[place] for place in known} <= {0, *entered}
        assert all(batch[place] for place in others)
        replaced = {place: batch[place] and batch[place] + 1000 for place in known}
        assert tokens.tolist() == [replaced.get(place, token) for place, token in enumerate(batch)]
        vocabulary.remember(tokens, unknown, tokens[unknown] + np.uint64(1000), cache)
        entered |= {batch[place] for place in others}
        replaced = {place: batch[place] and batch[place] + 1000 for place in chosen}
        assert tokens.tolist() == [replaced.get(place, token) for place, token in enumerate(batch)]


def test_a_cache_remembers_the_last_two_tokens_of_a_row():
    cache = np.zeros((1, 4), np.uint64)
    for token in (1, 2, 3, 3):
        vocabulary.remember(np.array([token], np.uint64), np.array([0]), np.array([token + 10], np.uint64), cache)
    tokens, positions = np.array([1, 2, 3], np.uint64), np.arange(3)
    assert positions[: vocabulary.recall(tokens, positions, cache)].tolist() == [0]
    assert tokens.tolist() == [1, 12, 13]


def without_runs(tokens, runs):
    place = 0
    while place < len(tokens):
        run = max((run for run in runs if tokens[place : place + len(run)] == run), key=len, default=[])
        tokens = [*tokens[:place], *[0] * len(run), *tokens[place + len(run) :]]
        place += max(1, len(run))
    return tokens


@given(
    st.lists(st.lists(st.integers(1, 3), max_size=9), max_size=4),
    st.lists(st.lists(st.integers(1, 3), min_size=2, max_size=4), max_size=4),
)
def test_runs_are_dropped_from_the_left_the_longest_first(documents, runs):
    tokens, offsets = ragged(documents)
    flat, bounds = ragged(sorted(runs, key=lambda run: (run[0], -len(run))))
    vocabulary.drop_runs(tokens, offsets, flat, bounds)
    assert lists(tokens, offsets) == [without_runs(document, runs) for document in documents]


@given(st.lists(st.text(alphabet="abé你", min_size=1, max_size=20), max_size=9))
def test_words_are_gathered_with_their_zeros(words):
    target, bounds = folded([" ".join(words)])
    filled = np.concatenate([[False], target[: bounds[-1]] != 0])
    starts = np.flatnonzero(filled[1:] & ~filled[:-1])[::-1].copy()
    gathered = np.empty(len(target), np.uint8)
    size = vocabulary.gather(target, starts, gathered)
    expected = [target[start:].tobytes().split(b"\0")[0] for start in starts]
    assert gathered[:size].tobytes() == b"".join(word + b"\0" for word in expected)


@given(st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=5))
def test_dropped_tokens_leave_no_gap(documents):
    tokens, offsets = ragged(documents)
    count = vocabulary.remove_dropped(tokens, offsets)
    assert lists(tokens[:count], offsets) == [[token for token in document if token] for document in documents]


def test_short_words_are_dropped_but_never_unspaced_ones():
    target, _ = folded(["a éé 你 abc ก"])
    starts = np.array([place for place in range(20) if target[place] and (place == 0 or not target[place - 1])])
    tokens = np.arange(1, len(starts) + 1).astype(np.uint64)
    tables = unicode_tables()
    vocabulary.drop_short(tokens, starts, target, 3, *tables.analysis)
    assert tokens.tolist() == [0, 0, 3, 4, 5]
