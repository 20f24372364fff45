import json
import subprocess
import sys

import numpy as np
import pytest
from batches import folded, lists
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from oracles import public_hash, siphash13, words

from neardup.kernels import tokens

sip_bytes = njit(tokens.sip_bytes.py_func)  # parts of kernels cannot be called from Python
KEY = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
TEXTS = st.lists(st.text(alphabet="abcdefgh é你0. ", max_size=120), max_size=4)


def hashed(texts, *, keyed, kernel=tokens.words):
    target, bounds = folded(texts)
    found = np.empty(len(target), np.uint64)
    offsets = np.empty(len(bounds), np.int64)
    extra = (np.empty(0, np.int64),) if kernel is tokens.words else ()
    count = kernel(target, bounds, np.array(KEY, np.uint64), keyed, found, offsets, *extra)
    return lists(found[:count], offsets)


def expected_hash(token, *, keyed):
    return siphash13(token.encode(), *KEY) if keyed else public_hash(token.encode(), KEY[0])


@given(TEXTS, st.booleans())
def test_words_equal_their_definition(texts, keyed):
    assert hashed(texts, keyed=keyed) == [[expected_hash(word, keyed=keyed) for word in words(text)] for text in texts]


@given(TEXTS, st.booleans())
def test_letters_equal_their_definition(texts, keyed):
    expected = [[expected_hash(letter, keyed=keyed) for letter in " ".join(words(text))] for text in texts]
    assert hashed(texts, keyed=keyed, kernel=tokens.letters) == expected


@pytest.mark.parametrize("length", [*range(1, 35), 63, 64, 65, 127, 128, 129, 1000])
def test_words_of_every_length(length):
    text = "x" * length + " y"
    assert hashed([text], keyed=False) == [[expected_hash(word, keyed=False) for word in text.split()]]
    assert hashed([text], keyed=True) == [[expected_hash(word, keyed=True) for word in text.split()]]


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("number", [0, 1, tokens.GROUP - 1, tokens.GROUP, tokens.GROUP + 1, 3 * tokens.GROUP + 7])
def test_words_around_the_size_of_a_group(number, keyed):
    """All lengths next to each other, and whole groups of one length."""
    for lengths in ([n * 11 % 40 + 1 for n in range(number)], [9] * number, [17] * number):
        chosen = ["abcdefg"[length % 7] * length for length in lengths]
        middle = number // 3
        found = hashed([" ".join(chosen[:middle]), "", " ".join(chosen[middle:])], keyed=keyed)
        hashes = [expected_hash(word, keyed=keyed) for word in chosen]
        assert found == [hashes[:middle], [], hashes[middle:]]


def test_starts_point_at_the_words():
    target, bounds = folded(["one  two", "", "three"])
    found, starts = np.empty(64, np.uint64), np.empty(64, np.int64)
    count = tokens.words(target, bounds, np.array(KEY, np.uint64), False, found, np.empty(4, np.int64), starts)
    assert [target[start : start + 3].tobytes() for start in starts[:count]] == [b"one", b"two", b"thr"]


def test_siphash_published_vector():
    """SipHash-1-3 of nothing under the key bytes 0 .. 15, as published, the lowest byte first."""
    nothing = np.empty(0, np.uint8)
    assert siphash13(b"", *KEY).to_bytes(8, "little").hex() == "dcc40f055801acab"
    assert int(sip_bytes(nothing, np.uint64(KEY[0]), np.uint64(KEY[1]))) == siphash13(b"", *KEY)


@pytest.mark.skipif(sys.hash_info.algorithm != "siphash13", reason="this Python hashes bytes in another way")
def test_siphash_is_the_interpreters():
    """CPython hashes bytes by SipHash-1-3, under the key 0 where its seed is 0."""
    code = "print([hash(bytes(range(length))) % 2**64 for length in range(1, 40)])"
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, env={"PYTHONHASHSEED": "0"}, check=True, capture_output=True, text=True).stdout
    raw = [bytes(range(length)) for length in range(1, 40)]
    assert [siphash13(data, 0, 0) for data in raw] == json.loads(printed)
    zero = np.uint64(0)
    assert [int(sip_bytes(np.frombuffer(data, np.uint8).copy(), zero, zero)) for data in raw] == json.loads(printed)


@given(st.binary(max_size=64))
def test_whole_bytes_equal_their_definition(raw):
    data = np.frombuffer(raw or b"", np.uint8).copy()
    assert sip_bytes(data, np.uint64(KEY[0]), np.uint64(KEY[1])) == siphash13(raw, *KEY)
