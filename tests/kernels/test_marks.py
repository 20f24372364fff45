"""Marks of what was looked for, against their definition in plain Python and against SQLite's own."""

import sqlite3
from contextlib import closing
from itertools import pairwise

import numpy as np
from batches import text_batch
from hypothesis import example, given
from hypothesis import strategies as st
from search_oracle import words_of

from neardup.index.disk.columns import encoded
from neardup.index.fulltext import TOKENIZER
from neardup.kernels import marks
from neardup.kernels.search_words import ROOM
from neardup.text.search_words import search_words
from neardup.text.unicode import unicode_tables

SEARCHED = unicode_tables().search


def folded(terms):
    data, offsets = text_batch(terms)
    letters, bounds = np.zeros(ROOM * len(data), np.uint32), np.zeros(ROOM * len(data) + 1, np.int64)
    places = np.zeros(len(terms) + 1, np.int64)
    marks.fold_terms(data, offsets, *SEARCHED, letters, bounds, places)
    return letters, bounds, places


def marked(texts, terms, most):
    """Return, for each text, the bytes to show, and its spans."""
    data, offsets = text_batch(texts)
    begins = np.array([begins for _, begins in terms], np.bool_)
    windows, counts = np.full((len(texts), 2), -1), np.full(len(texts), -1)
    spans = np.full((len(texts), most, 2), -1)
    own = folded([text for text, _ in terms])
    marks.mark(data, offsets, *SEARCHED, *own, begins, most, windows, spans, counts)
    within = windows - offsets[:-1, None]
    return [
        (tuple(window), [tuple(span) for span in spans[row, : counts[row]].tolist()])
        for row, window in enumerate(within.tolist())
    ]


# The definition


def same(word, wanted, begins):
    return word.startswith(wanted) if begins else word == wanted


def found(words, terms):
    """Return the term, the first word and the one behind the last of each place where a term stands."""
    for number, (text, begins) in enumerate(terms):
        wanted = [word for _, _, word in words_of(text)]
        for first in range(len(words) - len(wanted) + 1 if wanted else 0):
            own = [word for _, _, word in words[first : first + len(wanted)]]
            ending = [False] * (len(wanted) - 1) + [begins]
            if all(map(same, own, wanted, ending)):
                yield number, first, first + len(wanted)


def defined(text, terms, most):
    words = words_of(text)
    places = [*found(words, terms)]
    best, behind, score = 0, 0, (0, 0)
    within = [(number, first, min(end, first + most)) for number, first, end in places]  # as much as can be shown
    for begin in sorted({first for _, first, _ in within}):
        inside = [place for place in within if begin <= place[1] and place[2] <= begin + most]
        own = len({number for number, _, _ in inside}), len(inside)
        if own > score:
            score, best = own, begin
            behind = max(end for _, _, end in within if end <= begin + most)
    end = min(len(words), max(0, best - (most - (behind - best)) // 2) + most)
    begin = max(0, end - most)
    shown = (words[begin][0] if begin else 0, words[end - 1][1] if end < len(words) else len(text))
    spans = []
    for word in range(begin, end):
        if not any(first <= word < last for _, first, last in places):
            continue
        joined = any(first < word < last for _, first, last in places)
        beside = spans and spans[-1][2] == word - 1 and (joined or words[word - 1][1] >= words[word][0])
        if beside or (spans and words[word][0] < spans[-1][1]):
            spans[-1][1:] = [words[word][1], word]
        else:
            spans.append([words[word][0], words[word][1], word])

    def in_bytes(place):
        return len(text[:place].encode())

    origin = in_bytes(shown[0])
    return (origin, in_bytes(shown[1])), [(in_bytes(a) - origin, in_bytes(b) - origin) for a, b, _ in spans]


LETTERS = st.text(alphabet="ab B. !\n。é京都e\u0301\u0e31ก-ﬁ¼㍿각\u1100\u1161\xad", max_size=40)
TERMS = st.lists(
    st.tuples(st.text(alphabet="abBf 1e京都株会-\u0301가", min_size=1, max_size=5), st.booleans()),
    max_size=4,
    unique=True,
)


@given(texts=st.lists(LETTERS, max_size=4), terms=TERMS, most=st.integers(1, 6))
@example(texts=["a b a b", ""], terms=[("a b a", False), ("b", False)], most=2)
def test_marks_are_as_defined(texts, terms, most):
    assert marked(texts, terms, most) == [defined(text, terms, most) for text in texts]


def test_golden():
    text = "Nobody was hurt. The storm broke over the harbour at dawn, and the harbour was empty for a day."
    terms = [("STORM", False), ("harbour at daw", True)]
    assert marked([text, "", "- -"], terms, 9) == [((17, 62), [(4, 9), (25, 40)]), ((0, 0), []), ((0, 3), [])]


def test_terms_are_taken_apart():
    letters, bounds, terms = folded(["E-Mail", "", "京都", "Café"])
    words = ["".join(map(chr, letters[a:b])) for a, b in pairwise(bounds.tolist()) if b > a]
    assert terms.tolist() == [0, 2, 2, 4, 5]
    assert words == ["e", "mail", "京", "都", "cafe"]


@given(data=st.binary(max_size=200), terms=TERMS)
def test_whatever_the_bytes_are_spans_are_within_what_is_shown(data, terms):
    (((begin, end), spans),) = marked([data], terms, 5)
    assert 0 <= begin <= end <= len(data)
    places = [place for span in spans for place in span]
    assert places == sorted(places)
    assert all(first < last for first, last in spans)
    assert not places or places[-1] <= end - begin


def test_of_a_long_text_only_so_much_is_looked_at():
    text = b"x " * (marks.REACH // 2 - 4) + b"storm storm storm"
    (((begin, end), spans),) = marked([text], [("storm", False)], 4)
    assert text[begin:end] == b"x x x storm"
    assert (end, spans) == (marks.REACH - 3, [(6, 11)])
    (((begin, end), spans),) = marked([text], [("st", False)], 4)
    assert spans == []  # the word is cut there


# SQLite's own


def test_hostile_repeats_are_not_compared_for_ever():
    text = b"a " * (marks.REACH // 2)
    phrase = " ".join(["a"] * 1_000)
    (((begin, end), spans),) = marked([text], [(phrase, False)], 32)
    assert (begin, end) == (0, 63)
    assert spans == [(0, 63)]


SCRIPTS = "aAéÉzß Æøİıſñ\u0301\u0308\u0330.,_-'٣عἌ\u0391Бёй5½₂ⅷक\u094dषि京カﾊ\uff9e한\u1112\u1161ั\xadﬁ㍿"


@given(
    text=st.text(alphabet=SCRIPTS, max_size=30),
    term=st.text(alphabet=SCRIPTS, min_size=1, max_size=3),
    begins=st.booleans(),
)
def test_something_is_marked_if_sqlite_finds_the_text(text, term, begins):
    own, wanted = search_words(encoded([text, term]))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5(body, tokenize = '{TOKENIZER}')")
        connection.execute("INSERT INTO texts VALUES (?)", (own,))
        query = f'"{wanted}"{"*" if begins else ""}'
        found = connection.execute("SELECT * FROM texts WHERE texts MATCH ?", (query,)).fetchall() if wanted else []
    (((begin, end), spans),) = marked([text], [(term, begins)], 100)
    assert (begin, end) == (0, len(text.encode()))
    assert bool(spans) == bool(found)
