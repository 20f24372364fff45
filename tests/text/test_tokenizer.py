# ruff: noqa: RUF001 - letters that look like others are the point
import threading
import unicodedata
from functools import partial

import pyarrow as pa
import pytest
import Stemmer
from batches import lists, text_batch
from hypothesis import given
from hypothesis import strategies as st
from oracles import is_unspaced, letters_of, lines, public_hash, sentences, sequence_hash, siphash13, words

from neardup.model.arrays import TextBatch
from neardup.model.errors import ParameterError
from neardup.model.recipe import Hashing
from neardup.text import vocabulary
from neardup.text.analysis import Analysis
from neardup.text.columns import batches
from neardup.text.segmentation import ABBREVIATIONS, BEFORE_NUMBERS, ENDINGS
from neardup.text.tokenizer import Tokenizer, tokenizer

KEY = bytes(range(16))
needs_unicode_14 = pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="the oracle is this Python's Unicode, the tables are 14.0"
)
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.text(alphabet="aAbßÉe\u0301你ก.!?\n 1", max_size=40),
        st.lists(
            st.sampled_from(["The", "houses", "running.", "No.", "5", "\n", "ﬁsh", "e\u0301t\xe9", "你好。", "of"]),
            max_size=15,
        ).map(" ".join),
    ),
    max_size=4,
)


def hasher(hashing):
    numbers = [int.from_bytes(hashing.derive("tokens", 16)[at : at + 8], "little") for at in (0, 8)]
    return lambda word: siphash13(word.encode(), *numbers) if hashing.keyed else public_hash(word.encode(), numbers[0])


def is_symbol(letter):
    return unicodedata.category(letter).startswith("S")


def chosen_words(text, analysis):
    """Words by the rules of an analysis, in plain Python."""
    found = words(text, fold_case=analysis.fold_case)
    stop = {one for word in analysis.stop_words for one in words(word, fold_case=analysis.fold_case)}
    found = [word for word in found if word not in stop]
    stays = [
        letters_of(word) >= analysis.min_length or (is_unspaced(word[0]) and not is_symbol(word[0])) for word in found
    ]
    found = [word for word, holds in zip(found, stays, strict=True) if holds]
    if analysis.stem:
        stemmer = Stemmer.Stemmer(analysis.stem)
        found = [word if ":" in word else stemmer.stemWord(word) or word for word in found]
    return found


def expected_tokens(text, analysis, hashing):
    hashed = hasher(hashing)
    if analysis.normalization:
        text = unicodedata.normalize(analysis.normalization, text)
    if analysis.unit == "letter":
        return [hashed(letter) for letter in " ".join(words(text, fold_case=analysis.fold_case))]
    if analysis.unit == "word":
        return [hashed(word) for word in chosen_words(text, analysis)]
    cut = (
        lines
        if analysis.unit == "line"
        else partial(
            sentences,
            abbreviations={*ABBREVIATIONS.split()},
            before_numbers={*BEFORE_NUMBERS.split()},
            endings={*ENDINGS.split()},
        )
    )
    parts = [chosen_words(part, analysis) for part in cut(text)]
    return [sequence_hash([hashed(word) for word in part]) for part in parts if part]


def tokens_of(texts, analysis, hashing=None):
    found = Tokenizer(analysis, hashing or Hashing())(TextBatch(*text_batch(texts)))
    return lists(found.values, found.offsets)


CHOICES = [
    {},
    {"fold_case": False},
    {"normalization": None},
    {"normalization": "NFKC"},
    {"min_length": 3},
    {"stop_words": ("the", "of", "5", "É", "你")},
    {"stem": "english"},
    {"stem": "english", "stop_words": ("The", "running"), "min_length": 4, "fold_case": False},
]


@needs_unicode_14
@pytest.mark.parametrize("hashing", [Hashing(seed=3), Hashing(key=KEY)], ids=["public", "keyed"])
@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("unit", ["word", "line", "sentence"])
@given(texts=TEXTS)
def test_tokens_equal_their_definition(unit, choice, hashing, texts):
    analysis = Analysis(unit=unit, **choice)
    assert tokens_of(texts, analysis, hashing) == [expected_tokens(text, analysis, hashing) for text in texts]


@needs_unicode_14
@pytest.mark.parametrize("choice", CHOICES[:4], ids=str)
@given(texts=TEXTS, keyed=st.booleans())
def test_letters_equal_their_definition(choice, texts, keyed):
    analysis, hashing = Analysis(unit="letter", **choice), Hashing(key=KEY if keyed else None)
    assert tokens_of(texts, analysis, hashing) == [expected_tokens(text, analysis, hashing) for text in texts]


def test_composed_and_decomposed_are_equal_unless_told_otherwise():
    composed = unicodedata.normalize("NFC", "Åse på café, 가")
    decomposed = unicodedata.normalize("NFD", composed)
    assert composed != decomposed
    one, other = tokens_of([composed, decomposed], Analysis())
    assert one == other
    one, other = tokens_of([composed, decomposed], Analysis(normalization=None))
    assert one != other


def test_compatibility_forms_are_equal_on_request():
    texts = ["ﬁne Ｆull ①", "fine Full 1"]
    one, other = tokens_of(texts, Analysis())
    assert one != other
    one, other = tokens_of(texts, Analysis(normalization="NFKC"))
    assert one == other


def test_case_is_folded_fully_unless_told_otherwise():
    texts = ["STRASSE ΌΣΟΣ İ", "straße όσος i\u0307"]
    one, other = tokens_of(texts, Analysis())
    assert one == other
    greek = "Μαΐου, πραΰνω"
    one, other = tokens_of([greek, greek.upper()], Analysis())
    assert one == other
    one, other = tokens_of(texts, Analysis(fold_case=False))
    assert len({*one} & {*other}) == 0


@pytest.mark.parametrize("word", ["", " ", "...", "\u200b", "\ud800"], ids=ascii)
def test_a_stop_word_has_a_word(word):
    with pytest.raises(ParameterError, match="stop_words"):
        Tokenizer(Analysis(stop_words=(word,)), Hashing())


@pytest.mark.parametrize("symbol", ["+", "*", "-", ">", "/", "#", "$", "%", "&", "<", "=", "@", "^", "~", "!=", "||"])
def test_a_symbol_may_be_a_stop_word(symbol):
    one, other = tokens_of([f"3 {symbol} 4", "3 4"], Analysis(stop_words=(symbol,)))
    assert one == other
    one, other = tokens_of(["x = a|b if !c", "x = a b if c"], Analysis(stop_words=("|", "!")))
    assert one == other
    with pytest.raises(ParameterError, match="must contain a letter, a digit or a symbol that counts"):
        Tokenizer(Analysis(stop_words=(symbol,), symbols=False), Hashing())


def test_stop_words_with_an_apostrophe_go_as_a_whole():
    analysis = Analysis(stop_words=("don't", "you'll", "'d", "is", "你好"))
    one, other = tokens_of(["Don\u2019t t you'd don, you'll win; 你好你 is", "t you don win 你"], analysis)
    assert one == other


def test_words_of_earlier_batches_are_not_stemmed_again(monkeypatch):
    looked_up = []
    original = vocabulary.stems

    def stems(folded, starts, language):
        looked_up.append({folded[start:].tobytes().split(b"\0")[0] for start in starts})
        return original(folded, starts, language)

    monkeypatch.setattr(vocabulary, "stems", stems)
    monkeypatch.setattr(vocabulary, "_TURNS", 1)
    for language in ("english", "german"):
        tokenize = Tokenizer(Analysis(stem=language), Hashing())
        for texts in (["running runs Running"] * 50, ["runs RUNS, walked"], ["", "walked"]):
            tokenize(TextBatch(*text_batch(texts)))
    assert looked_up == [{b"running", b"runs"}, {b"walked"}] * 2


CORPUS = [
    f"The {n}th house. Houses of {n % 7} running\nDr. Walker-{n} walked é{n} 你{chr(0x4E00 + n)}。" for n in range(400)
]


@pytest.mark.parametrize("unit", ["letter", "word", "line", "sentence"])
def test_the_size_of_a_batch_changes_nothing(unit):
    analysis = Analysis(unit=unit)
    column = pa.chunked_array([CORPUS])
    whole = tokens_of(CORPUS, analysis)
    for size in (1, 100, 5000):
        tokenize = Tokenizer(analysis, Hashing())
        found = [tokenize(batch) for batch in batches(column, size)]
        assert [tokens for part in found for tokens in lists(part.values, part.offsets)] == whole


@pytest.mark.parametrize("choice", [{}, {"stem": "english", "stop_words": ("of", "the")}], ids=str)
def test_threads_may_share_a_tokeniser(choice):
    analysis = Analysis(unit="sentence", **choice)
    whole = tokens_of(CORPUS, analysis)
    shared = Tokenizer(analysis, Hashing())
    found = [None] * 8
    start = threading.Barrier(len(found))

    def run(thread):
        start.wait()
        parts = []
        for begin in range(0, len(CORPUS), 10):
            batch = shared(TextBatch(*text_batch(CORPUS[begin : begin + 10])))
            parts += lists(batch.values, batch.offsets)
        found[thread] = parts

    threads = [threading.Thread(target=run, args=(thread,)) for thread in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(parts == whole for parts in found)


def test_tokenisers_in_use_are_kept():
    assert tokenizer(Analysis(), Hashing()) is tokenizer(Analysis(), Hashing())
    assert tokenizer(Analysis(), Hashing()) is not tokenizer(Analysis(), Hashing(seed=2))


@pytest.mark.parametrize("unit", ["letter", "word", "line", "sentence"])
def test_documents_without_words(unit):
    assert tokens_of(["", " \n\n ", "!? 。", "\0"], Analysis(unit=unit)) == [[], [], [], []]
    assert tokens_of([], Analysis(unit=unit)) == []


def test_a_batch_in_the_middle_of_its_data():
    data, offsets = text_batch(["one two", "three. Four", "five"])
    for unit in ("letter", "word", "line", "sentence"):
        tokenize = Tokenizer(Analysis(unit=unit), Hashing())
        found = tokenize(TextBatch(data, offsets[1:3]))
        assert lists(found.values, found.offsets) == tokens_of(["three. Four"], Analysis(unit=unit))
