# ruff: noqa: RUF001 - letters that look like others are the point
import itertools
import unicodedata

import numpy as np
import pytest
from batches import lists, ragged, text_batch
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import lines, sentences, words

from neardup.kernels import segments
from neardup.text.segmentation import ABBREVIATIONS, BEFORE_NUMBERS, ENDINGS, abbreviations
from neardup.text.unicode import unicode_tables

LINE = st.tuples(st.integers(0, 12), st.integers(0, 2), st.binary(min_size=1, max_size=4))  # hash, words, content
SMALL = st.text(alphabet=' .!?\n"aB1。é', max_size=30)
WIDE = st.text(alphabet=" .!?…\n\r\t\x85\u2028\u2029\u3000\"'’”)]aBéÉ1。」！你", max_size=30)
ABROAD = st.text(alphabet=" ..!\n“«‘›aB1가한ሰ１．．។།", max_size=30)
BEFORE = [
    "Dr",
    "No",
    "fig",
    "etc",
    "J",
    "é",
    "5",
    "don't",
    "'t",
    "est\xe1",
    "drü",
    "U.S",
    "a",
    "end",
    "\u0663",
    "해",
    "１",
    "e\u00adnd",
    "",
]
STOPS = [".", ".", ".", "!", "?", "...", '."', ".)", "", "。", ".“", ".«"]
AFTER = ["Then", "then", "COM", "com,", "It's", "so-so", "\u200bSo", "5", "J.", '"So', "é", "É", "你", ""]
PIECES = st.lists(
    st.tuples(
        st.sampled_from(BEFORE),
        st.sampled_from(STOPS),
        st.sampled_from([" ", " ", "  ", "\n", "\n\n", "\r\n", "\r\n\r\n", "", "\u2029", "\ufffd"]),
        st.sampled_from(AFTER),
        st.sampled_from([" ", ""]),
    ).map("".join),
    max_size=6,
).map("".join)
needs_unicode_14 = pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="the oracle is this Python's Unicode, the tables are 14.0"
)


def cut(texts, *, kernel):
    data, offsets = text_batch(texts)
    cuts = np.full(int(offsets[-1]) + 1, -1, np.int64)
    parts = np.empty(len(texts) + 1, np.int64)
    if kernel is segments.lines:
        count = kernel(data, offsets, cuts, parts)
    else:
        tables = unicode_tables()
        count = kernel(data, offsets, *tables.analysis, *abbreviations(), cuts, parts)
    assert parts[-1] == count
    assert cuts[0] == 0
    assert (np.diff(cuts[: count + 1]) > 0).all()
    assert cuts[parts].tolist() == offsets.tolist()  # every document begins and ends with a cut
    return [
        [data[cuts[part] : cuts[part + 1]].tobytes().decode("utf-8", "replace") for part in range(begin, end)]
        for begin, end in itertools.pairwise(parts)
    ]


def worded(parts):
    """The words of the parts that have any: where white space and quotes go says nothing."""
    return [found for found in map(words, parts) if found]


def defined(text):
    return sentences(text, {*ABBREVIATIONS.split()}, {*BEFORE_NUMBERS.split()}, {*ENDINGS.split()})


@needs_unicode_14
@given(st.lists(st.one_of(PIECES, SMALL, WIDE, ABROAD, PIECES), max_size=4))
@example(["I can't. He can.", "Aqu\xed est\xe1. Luego.", "J'. X"])
@example(["밥을 해. 집에 가. 일찍 자.", "３．１４ です．次", "„Ja.“ Sie ging. »Nein.« Er kam.", "។ ភាសា។ ខ្មែរ"])
def test_sentences_equal_their_definition(texts):
    found = cut(texts, kernel=segments.sentences)
    assert ["".join(parts) for parts in found] == texts
    assert [worded(parts) for parts in found] == [worded(defined(text)) for text in texts]


@given(st.lists(st.text(alphabet="ab \n\r\v\f\x85\u2028\u2029é", max_size=20), max_size=4))
def test_lines_equal_their_definition(texts):
    found = cut(texts, kernel=segments.lines)
    assert ["".join(parts) for parts in found] == texts
    assert [worded(parts) for parts in found] == [worded(lines(text)) for text in texts]


@given(st.lists(st.binary(max_size=30), max_size=4))
def test_bytes_that_are_no_utf8_are_cut_too(texts):
    for kernel in (segments.lines, segments.sentences):
        found = cut(texts, kernel=kernel)
        assert len(found) == len(texts)


@pytest.mark.parametrize("turn", [str.lower, str.upper], ids=["lower", "upper"])
@given(PIECES)
@example("The ferry left early. The market closed.It was noon, said J. Smith of example.com. See No. 5.txt now")
def test_case_changes_nothing(turn, text):
    def sizes(text):
        return [len(part) for part in cut([text], kernel=segments.sentences)[0]]

    assert sizes(turn(text)) == sizes(text)


def test_no_documents():
    assert cut([], kernel=segments.sentences) == []
    assert cut(["", ""], kernel=segments.lines) == [[], []]


@given(
    documents=st.lists(st.tuples(st.integers(-1, 2), st.lists(LINE, max_size=6)), max_size=5),
    listed=st.lists(st.sets(st.integers(0, 12)), min_size=3, max_size=3),
)
def test_listed_lines_and_documents_without_them_equal_their_definition(documents, listed):
    terms, begins = ragged([sorted(one) for one in listed])
    every = [line for _, own in documents for line in own]
    hashes, words = (np.array([line[i] for line in every], kind) for i, kind in ((0, np.uint64), (1, np.int64)))
    _, parts = ragged([own for _, own in documents], object)
    content, cuts = ragged([line[2] for line in every], np.uint8)
    content.setflags(write=False)
    chosen = np.array([number for number, _ in documents], np.int64)

    flags = np.empty(len(every), np.bool_)
    segments.listed_lines(parts, hashes, words, chosen, terms, begins, flags)
    out, bounds = np.empty(len(content), np.uint8), np.empty(len(documents) + 1, np.int64)
    segments.copy_other_lines(content, cuts, parts, flags, out, bounds)

    def is_listed(number, line):
        return number >= 0 and line[1] > 0 and line[0] in listed[number]

    assert flags.tolist() == [is_listed(number, line) for number, own in documents for line in own]
    expected = [b"".join(line[2] for line in own if not is_listed(number, line)) for number, own in documents]
    assert [bytes(one) for one in lists(out, bounds)] == expected
