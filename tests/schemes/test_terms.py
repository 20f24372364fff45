"""Schemes written down and read again: the same scheme, without its key."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Analysis, Checksum, Combined, Field, MinHash, Sentences, SimHash, TermWeights, Trials
from neardup.errors import ParameterError, StorageRefused
from neardup.schemes.terms import is_whole, read, written

KEYS = st.none() | st.binary(min_size=16, max_size=16)
SHARES = st.floats(0.05, 1.0) | st.sampled_from([np.float32(0.5), np.float64(0.7), 1])
NAMES = st.text(min_size=1, max_size=5)
ANALYSES = st.builds(
    Analysis,
    unit=st.sampled_from(["word", "line", "sentence"]),
    fold_case=st.booleans(),
    normalization=st.sampled_from(["NFC", "NFKC", None]),
    min_length=st.integers(1, 5),
    stop_words=st.lists(NAMES, max_size=3).map(tuple),
    stem=st.sampled_from([None, "english", "finnish"]),
)
HASHING = {"key": KEYS}
MINHASHES = st.builds(
    MinHash,
    shingle=st.integers(1, 9),
    permutations=st.sampled_from([8, 64, 128, np.int64(256)]),
    threshold=SHARES,
    recall=st.floats(0.01, 0.3),
    analysis=ANALYSES | st.just(Analysis(unit="letter")),
    bag=st.booleans(),
    **HASHING,
)
TRIALS = st.builds(
    Trials,
    words=st.integers(1, 9),
    hashes=st.integers(1, 30),
    trials=st.integers(2, 8),
    needed=st.integers(1, 2),
    threshold=st.none() | SHARES,
    analysis=ANALYSES,
    bag=st.booleans(),
    **HASHING,
)
SENTENCES = st.builds(
    Sentences,
    size=st.integers(1, 99),
    threshold=SHARES,
    stem=st.sampled_from([None, "english"]),
    min_length=st.integers(1, 5),
    relative_to=st.sampled_from(["union", "smaller"]),
    **HASHING,
)
SIMHASHES = st.builds(
    SimHash,
    shingle=st.integers(1, 9),
    bits=st.sampled_from([64, 128]),
    distance=st.integers(0, 4),
    blocks=st.none() | st.integers(5, 7),
    threshold=SHARES,
    analysis=ANALYSES,
    **HASHING,
)
CHECKSUMS = st.builds(
    Checksum,
    fields=st.lists(
        st.builds(Field, name=NAMES, limit=st.none() | st.integers(1, 2000), required=st.booleans()),
        min_size=1,
        max_size=3,
        unique_by=lambda part: part.name,
    ),
    contribution=st.none() | st.just("a longer name"),
    **HASHING,
)
SINGLE = MINHASHES | TRIALS | SENTENCES | SIMHASHES
COMBINED = st.builds(lambda first, second: Combined(first, replace(second, key=first.key)), SINGLE, SINGLE)
SCHEMES = SINGLE | CHECKSUMS | COMBINED


def without_key(scheme):
    if isinstance(scheme, Combined):
        return replace(scheme, first=without_key(scheme.first), second=without_key(scheme.second))
    return replace(scheme, key=None)


def read_again(line, key=None):
    return read(json.loads(line), key, where="here")


def keys_of(scheme):
    return [*keys_of(scheme.first), *keys_of(scheme.second)] if isinstance(scheme, Combined) else [scheme.key]


@given(scheme=SCHEMES, key=KEYS)
def test_what_is_written_is_read(scheme, key):
    line = json.dumps(written(scheme))
    assert read_again(line) == without_key(scheme)
    assert read_again(line).recipe == without_key(scheme).recipe
    assert is_whole(json.loads(line))
    assert read_again(line, key) == without_key(scheme).with_key(key)
    for own in keys_of(scheme):
        if own is not None and len(set(own)) > 4:
            assert own.hex() not in line
            assert repr(own)[2:-1] not in line


@pytest.mark.parametrize("seed", [0, 2, 2**64 - 1])
@pytest.mark.parametrize("kind", [MinHash, Trials, Sentences, SimHash, Checksum])
def test_a_seed_is_read_as_it_was_written(kind, seed):
    scheme = kind(seed=seed)
    assert read_again(json.dumps(written(scheme))) == scheme


@given(scheme=SCHEMES, key=st.binary(min_size=16, max_size=16))
def test_a_key_is_told_from_others_and_nothing_else_of_it(scheme, key):
    one, other = scheme.with_key(key), scheme.with_key(key[1:] + bytes([key[0] ^ 1]))
    assert one.key_identity == without_key(scheme).with_key(key).key_identity
    assert (one.key_identity == other.key_identity) == (key == key[1:] + bytes([key[0] ^ 1]))
    assert key.hex() not in one.key_identity
    assert (one.recipe == other.recipe) == (one.key_identity == other.key_identity)


def test_no_key_leaves_the_scheme_as_it_is():
    scheme = Combined(MinHash(key=bytes(16)), SimHash(key=bytes(16)))
    assert scheme.with_key(None) is scheme


def test_every_parameter_is_written():
    for scheme in (MinHash(), Trials(), Sentences(), SimHash(), Checksum()):
        assert {*written(scheme)} == {"scheme"} | {part.name for part in fields(scheme)} - {"key"}


def test_a_scheme_of_another_kind_takes_no_key():
    with pytest.raises(ParameterError, match="cannot be used with this scheme") as refused:
        Checksum.__mro__[1]().with_key(b"a secret")
    assert "a secret" not in str(refused.value)


# What stands in for a table of weights has the same keys.


@pytest.mark.parametrize("wrap", [lambda scheme: scheme, lambda scheme: Combined(scheme, MinHash())])
def test_of_a_table_of_weights_only_its_identity_is_written(wrap):
    table = TermWeights.fitted(["some words", "some other words"])
    scheme = wrap(SimHash(weights=table))
    line = json.dumps(written(scheme))
    assert not is_whole(json.loads(line))
    assert table.identity in line
    signatures = scheme.sign(["some words that are signed", ""])
    made = read_again(line)
    rows = type(signatures)(signatures.rows, signatures.present, made.recipe)
    assert (made.keys(rows) == scheme.keys(signatures)).all()


@pytest.mark.parametrize("wrap", [lambda given: given, lambda given: {**written(Combined()), "second": given}])
def test_a_scheme_that_is_not_registered_is_named(wrap):
    with pytest.raises(StorageRefused, match="here has the scheme 'other', which is not registered in this process"):
        read(wrap({"scheme": "other", "size": 3}), where="here")


# What keys suffice for.


@pytest.mark.parametrize(
    ("made", "other", "lacks"),
    [
        (SimHash(distance=3), SimHash(distance=3, threshold=0.1), None),
        (SimHash(distance=3), SimHash(distance=2), None),
        (SimHash(distance=3), SimHash(distance=4), "has keys for a distance of 3, not for 4"),
        (Trials(needed=2), Trials(needed=3, threshold=0.5), None),
        (Trials(needed=2), Trials(needed=1), "has keys for 2 trials that agree, not for 1"),
        (Sentences(), Sentences(threshold=0.1, relative_to="smaller"), None),
        (Checksum(), Checksum(), None),
        (MinHash(), MinHash(threshold=0.9), None),
        (MinHash(), MinHash(recall=0.9999), None),
        (MinHash(threshold=0.8), MinHash(threshold=0.5), "of the pairs at 0.5 would be found, not 99"),
        (MinHash(threshold=0.8), MinHash(threshold=0.5, recall=0.05), None),
        (Combined(SimHash(), MinHash()), Combined(SimHash(distance=5), MinHash()), "a distance of 3, not for 5"),
        (Combined(MinHash(), SimHash()), Combined(MinHash(), SimHash(distance=9)), None),
    ],
)
def test_keys_suffice_for_a_stricter_policy_only(made, other, lacks):
    found = made.keys_lack(other, chosen=False)
    assert found is None if lacks is None else lacks in found
    if isinstance(made, MinHash):
        assert made.keys_lack(other, chosen=True) is None  # chosen by itself


def test_the_recall_that_is_named_is_taken():
    made, other = MinHash(threshold=0.8), MinHash(threshold=0.5)
    share = made.keys_lack(other, chosen=False).partition("a recall of ")[2].partition(" ")[0]
    assert made.keys_lack(replace(other, recall=float(share)), chosen=False) is None
    far = MinHash(threshold=0.95).keys_lack(MinHash(threshold=0.4), chosen=False)
    assert far.endswith(
        "less than 0.1 % of the pairs at 0.4 would be found, not 99.9 %; fill a new index for this threshold"
    )
