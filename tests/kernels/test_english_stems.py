"""The kernel against PyStemmer, whose stems it must compute."""

import random
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import Stemmer
from batches import U64
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.kernels import english_stems as kernels
from neardup.kernels.folding import PADDING

DOCS = Path(__file__).parents[2]
STEMMER = Stemmer.Stemmer("english", 0)
SUFFIXES = re.findall(
    r"\S+",
    "' 's 's' s ss us es ies ied sses ed edly ing ingly eed eedly y e l ll at bl iz ate ble ize "
    "tional enci anci abli entli izer ization ational ation ator alism aliti alli fulness ousli ousness "
    "iveness iviti biliti bli ogi ogist fulli lessli li logi alize icate iciti ical ful ness ative "
    "al ance ence er ic able ible ant ement ment ent ism iti ous ive ion sion bb dd ff gg mm nn pp rr tt cc zz",
)
STEMS = re.findall(  # exceptions, beginnings and ends of them, and prefixes with a region of their own
    r"\S+",
    "skis skies sky idly gently ugly early only singly news howe atlas cosmos bias andes dy ly ty vy "
    "inn out cann herr earr even proc exc succ gener commun arsen past univers later emerg organ inter "
    "ski atla cosmo bia ande ad eg of egg pa",
)
LETTERS = "aeiouybcdfghklmnprstvwxz"
PIECES = st.lists(
    st.sampled_from([*SUFFIXES, *STEMS, *LETTERS, "Y", "é", "ß", "你", "𝄞", "7", "/", "\u0301"]), max_size=7
)


def of_kernel(words):
    """Return the stems, and which words may change."""
    folded = np.frombuffer(b"\0".join([bytes(kernels.LEAD - 1), *words, bytes(PADDING)]), np.uint8).copy()
    starts = np.cumsum([kernels.LEAD, *(len(word) + 1 for word in words)])[:-1].astype(np.int64)
    chosen = np.full(len(words), U64 >> 1, np.int64)
    count = kernels.may_change(folded, starts, chosen)
    size = len(folded) - PADDING
    kernels.stem(folded, size)
    assert not folded[size:].any()
    return [stem for stem in folded[:size].tobytes().split(b"\0") if stem], {*chosen[len(words) - count :].tolist()}


def differing(words):
    """Return the words whose stems differ from those of PyStemmer, or change unexpectedly. No stem is empty."""
    raw = [word.encode() for word in words]
    stemmed = zip(STEMMER.stemWords(raw), raw, strict=True)
    expected = [word if b":" in word else stem or word for stem, word in stemmed]  # addresses stay
    found, chosen = of_kernel(raw)
    assert len(found) == len(raw)
    triples = enumerate(zip(raw, expected, found, strict=True))
    return [
        (word, own, stem)
        for place, (word, stem, own) in triples
        if own != stem or (stem != word and place not in chosen)
    ]


def generated(number, seed):
    """Join random stems with no suffix or up to three, and double some consonants."""
    choose = random.Random(seed)  # noqa: S311 - no secret
    words = []
    for _ in range(number):
        stem = choose.choice(STEMS) if choose.random() < 0.25 else ""
        stem += "".join(choose.choices(LETTERS, k=choose.randint(0, 5)))
        if choose.random() < 0.02:
            stem = choose.choice(["'", "é", "Y"]) + stem + choose.choice(["'", "ß", "Y", "你"])
        stem += stem[-1:] * (choose.random() < 0.2)
        words.append(stem + "".join(choose.choices(SUFFIXES, k=choose.choice([0, 1, 1, 1, 2, 2, 3]))))
    return [word for word in words if word]


@pytest.mark.parametrize("number", [100_000, pytest.param(5_000_000, marks=pytest.mark.soak)])
def test_generated_words(number):
    for seed in range(0, number, 50_000):
        assert differing(generated(50_000, seed)) == []


def test_every_suffix_after_every_stem():
    ends = ["", *SUFFIXES]
    words = [start + stem + end for start in ("", "'", "b") for stem in (*STEMS, *LETTERS, "bab") for end in ends]
    assert differing([word for word in words if word]) == []


@pytest.mark.parametrize("alphabet", ["aeybtxé's", pytest.param("aeiouybdlngtsxwYé'", marks=pytest.mark.soak)])
def test_all_short_words(alphabet):
    assert differing(["".join(letters) for size in range(1, 5) for letters in product(alphabet, repeat=size)]) == []


@given(words=st.lists(PIECES.map("".join).filter(bool), max_size=20))
@example([])
@example(["''s", "''s'", "yY", "YBya", "'y'y", "ying", "éying", "laßing", "pasted"])
def test_words_of_suffixes(words):
    assert differing(words) == []


@given(words=st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1), max_size=9))
def test_words_of_any_characters(words):
    assert differing(words) == []


@given(size=st.integers(50, 140), letter=st.sampled_from(LETTERS + "é"), end=PIECES.map("".join))
def test_long_words_have_the_stems_of_snowball(size, letter, end):
    words = [letter * size + end, end + letter * size, "bab" + letter * size + end, "past" + letter * size + end]
    assert differing(words) == []


def test_a_word_longer_than_any_block():
    assert differing(["x" * 5000 + "ationally", "ab" * 70_000 + "nesses", "running"]) == []


def test_the_words_of_the_documentation():
    text = "\n".join(path.read_text("utf-8") for path in [DOCS / "README.md", *DOCS.glob("docs/**/*.md")])
    words = sorted({word for raw in re.findall(r"[\w']+", text) for word in (raw, raw.lower(), raw.casefold() + "'s")})
    assert len(words) > 5000
    assert differing(words) == []
    assert differing(re.findall(r"\S+", text)) == []
