import numpy as np
from batches import folded, lists, ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import vocabulary
from neardup.text.unicode import unicode_tables

TOKENS = st.integers(1, 40)


def table_of(entries, size=64):
    keys, values = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    new_keys, new_values = np.array(list(entries), np.uint64), np.array(list(entries.values()), np.uint64)
    vocabulary.insert(keys, values, new_keys, new_values)
    return keys, values


@given(st.lists(TOKENS, max_size=30), st.dictionaries(TOKENS, TOKENS, max_size=20))
def test_translate_replaces_what_the_table_knows(tokens, entries):
    found = np.array(tokens, np.uint64)
    vocabulary.translate(found, *table_of(entries))
    assert found.tolist() == [entries.get(token, token) for token in tokens]


@given(st.lists(st.just(0) | TOKENS, max_size=30), st.dictionaries(TOKENS, TOKENS, max_size=20))
def test_meet_adds_what_it_does_not_and_lists_it_once(tokens, entries):
    keys, values = table_of(entries)
    found, places = np.empty((2, len(tokens)), np.int64)
    count = vocabulary.meet(np.array(tokens, np.uint64), keys, values, found, places)
    new = [place for place, token in enumerate(tokens) if token and token not in {*entries, *tokens[:place]}]
    assert found[:count].tolist() == new
    assert keys[places[:count]].tolist() == [tokens[place] for place in new]
    known = dict(zip(keys.tolist(), values.tolist(), strict=True))
    known.pop(0, None)
    assert known == entries | {tokens[place]: tokens[place] for place in new}


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
    vocabulary.drop_short(tokens, starts, target, 3, tables.analysis_index, tables.analysis_data)
    assert tokens.tolist() == [0, 0, 3, 4, 5]
