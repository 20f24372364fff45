import numpy as np
import pyarrow as pa
import pytest

from neardup import Checksum, Combined, MinHash, ParameterError, Sentences, SimHash, Trials, dedup
from neardup.model.arrays import Corpus

LINE = "harbour light evening quiet boat water stone bridge market bread winter letter garden window music road"
WORDS = LINE.split()


def text(*changes):
    words = WORDS * 4
    for place in changes:
        words[place] = f"change{place}"
    return " ".join(words)


TEXTS = [
    text(),
    text(3),
    text(*range(0, 64, 8)),
    "",
    text(*range(0, 60, 2)),
    None,
    " ".join(sorted(WORDS * 4)),
    "too short to be signed",
]
LOOSE = Combined(MinHash(shingle=2, threshold=0.3), SimHash(distance=4))


def positions(signatures):
    return (found.ravel() for found in np.indices((len(signatures), len(signatures))))


def test_the_default_is_the_published_filter():
    scheme = Combined()
    assert (scheme.first, scheme.second) == (
        Trials(words=8, hashes=14, trials=6, needed=2),
        SimHash(bits=384, distance=29),
    )
    assert 384 - scheme.second.distance == 355
    signatures = scheme.sign([text()])
    assert signatures.rows.nbytes == 48 + 48  # both take the same room


def test_rows_hold_both_signatures_side_by_side():
    scheme = Combined(Sentences(size=3), SimHash(bits=128))
    rows = scheme.sign(TEXTS).rows
    one, other = scheme.first.sign(TEXTS).rows, scheme.second.sign(TEXTS).rows
    assert rows.dtype == np.uint64
    assert rows.shape == (len(TEXTS), 2 + 2)  # 12 bytes take two words
    for row, first, second in zip(rows, one, other, strict=True):
        assert row.tobytes() == first.tobytes() + bytes(4) + second.tobytes()


@pytest.mark.parametrize(
    "scheme",
    [LOOSE, Combined(MinHash(shingle=1), SimHash()), Combined(SimHash(distance=9), Sentences())],
    ids=["other features", "the same features", "a filter of sentences"],
)
@pytest.mark.parametrize("chunks", [1, 3])
def test_a_corpus_is_signed_as_its_texts_are(scheme, chunks, monkeypatch):
    monkeypatch.setattr("neardup.schemes.combined._TOGETHER", 2)
    column = pa.chunked_array(list(np.array_split(np.array(TEXTS, object), chunks)), pa.string())
    whole = scheme.sign(column)
    picked = scheme.sign_at(Corpus(scheme.first.features(column), None, column), np.array([3, 0, 5, 1, 2]))
    assert picked.rows.tolist() == whole.rows[[3, 0, 5, 1, 2]].tolist()
    assert picked.present.tolist() == whole.present[[3, 0, 5, 1, 2]].tolist()
    nothing = scheme.sign_at(Corpus(scheme.first.features(column), None, column), np.empty(0, np.int64))
    assert nothing.rows.shape == (0, whole.rows.shape[1])


def test_both_must_match():
    signatures = LOOSE.sign(TEXTS)
    left, right = positions(signatures)
    first, second = (part.sign(TEXTS) for part in (LOOSE.first, LOOSE.second))
    by_first, by_second = LOOSE.first.match_pairs(first, left, right), LOOSE.second.match_pairs(second, left, right)
    assert LOOSE.match_pairs(signatures, left, right).tolist() == (by_first & by_second).tolist()
    assert LOOSE.passes(signatures, left, right).tolist() == by_second.tolist()
    assert 0 < (by_first & by_second).sum() < by_first.sum()


def test_a_document_that_one_scheme_cannot_sign_has_no_signature():
    signatures = Combined().sign(["only seven words stand in this line", text()])
    assert signatures.present.tolist() == [False, True]


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
def test_what_the_filter_refuses_is_kept(verify):
    texts = [text(), text(3), text(*range(0, 64, 8))]
    alone = dedup(texts, scheme=LOOSE.first, verify=verify, threads=1)
    assert alone.kept.tolist() == [0]
    strict = Combined(LOOSE.first, SimHash(distance=0))
    filtered = dedup(texts, scheme=strict, verify=verify, threads=1)
    assert filtered.kept.tolist() == [0, 1, 2]
    assert dedup(texts, scheme=LOOSE, verify=verify, threads=2).kept.tolist() == [0, 2]


def test_a_threshold_is_the_firsts():
    assert LOOSE.with_threshold(0.7) == Combined(MinHash(shingle=2, threshold=0.7), LOOSE.second)
    assert LOOSE.with_threshold(0.7).recipe == LOOSE.recipe


@pytest.mark.parametrize("part", [Checksum(), Combined(), "minhash", None, MinHash], ids=str)
def test_only_schemes_of_texts_can_be_combined(part):
    with pytest.raises(ParameterError, match="must be a scheme that signs texts"):
        Combined(MinHash(), part)
    with pytest.raises(ParameterError, match="must be a scheme that signs texts"):
        Combined(part, MinHash())
