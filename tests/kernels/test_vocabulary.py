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


@given(st.lists(TOKENS, max_size=30), st.dictionaries(TOKENS, TOKENS, max_size=20))
def test_missing_lists_what_it_does_not(tokens, entries):
    found = np.empty(len(tokens), np.int64)
    count = vocabulary.missing(np.array(tokens, np.uint64), table_of(entries)[0], found)
    assert found[:count].tolist() == [place for place, token in enumerate(tokens) if token not in entries]


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
