from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from neardup import Analysis, Checksum, Combined, Field, MinHash, Sentences, SimHash, Trials, dedup, resemblance
from neardup.evaluation.match_decisions import match_decision

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
EDITED = f"{STORM} on Tuesday"


SCHEMES = [
    MinHash(),
    MinHash(threshold=0.9),
    MinHash(shingle=2, bag=True),
    Trials(words=1, hashes=4),
    Sentences(min_length=1),
    Sentences(relative_to="smaller"),
    SimHash(distance=8),
    Combined(MinHash(), SimHash(distance=8)),
    Checksum(fields=(Field(name="body"),)),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_it_is_what_dedup_decides(scheme):
    rng = np.random.default_rng(1)
    text = [f"word{number}" for number in rng.integers(0, 300, 40)]
    texts = ["", "!", "!!", "word1", "word1 word2"]
    for _ in range(4):
        other = list(text)
        for place in rng.integers(0, 40, rng.integers(0, 7)):
            other[place] = str(rng.choice(["new", "newer", "word1. And", "."]))
        texts.append(" ".join(other))
    for a, b in product(texts, repeat=2):
        kept = dedup(pa.table({"text": [a, b], "body": [a, b]}), scheme=scheme, threads=1).kept.tolist()
        assert match_decision(scheme, a, b).matches == (kept == [0])


def test_the_exact_value_decides_and_the_estimate_is_told_below():
    words = [f"w{number}" for number in range(60)]
    for place in range(1, 60):
        a, b = (
            " ".join(words),
            " ".join(["x" if own in {place, place // 2, place // 3} else w for own, w in enumerate(words)]),
        )
        said = match_decision(MinHash(threshold=0.7), a, b)
        assert said.value == resemblance(a, b)
        assert (said.measure, said.verified, said.matches) == ("resemblance", True, said.value >= 0.7)
        assert said.estimate.matches == (said.estimate.value >= 0.7)
    assert said.rule == "resemblance of sets of 3-word shingles at least 0.7"


def test_a_value_that_suffices_but_signatures_that_do_not():
    said = match_decision(SimHash(distance=0), STORM, EDITED)
    assert (said.matches, said.value >= said.threshold) == (False, True)
    assert said.reason.startswith("the signatures rule it out: Hamming distance")
    both = match_decision(Combined(MinHash(), SimHash(distance=0)), STORM, EDITED)
    assert both.reason == said.reason


def test_where_more_than_the_text_was_signed_the_signatures_decide():
    scheme = Checksum(fields=(Field(name="title"), Field(name="body")))
    signed = scheme.sign(pa.table({"title": ["A", "A"], "body": [STORM, STORM]}))
    said = match_decision(scheme, STORM, EDITED, signed)
    assert (said.matches, said.verified, said.value) == (True, False, 1.0)


def estimate(*asked):
    return match_decision(*asked).estimate


def test_a_sketch_is_read_as_its_estimate():
    said = estimate(MinHash(), STORM, EDITED)
    value = float(MinHash().estimate(MinHash().sign([STORM]), MinHash().sign([EDITED]))[0])
    assert (said.value, said.threshold, said.matches) == (value, 0.6, True)
    assert said.rule == "estimated resemblance of sets of 3-word shingles at least 0.6"
    assert not match_decision(MinHash(threshold=1.0), STORM, EDITED).matches


def test_a_checksum_is_equal_or_not():
    scheme = Checksum(fields=(Field(name="body", limit=1024),))
    said = match_decision(scheme, STORM, STORM)
    assert (said.value, said.threshold, said.matches, said.verified) == (1.0, 1.0, True, True)
    assert said.rule == "equal bytes of the first 1,024 bytes of body"
    assert said.estimate.rule == "equal checksums of the first 1,024 bytes of body"
    one, other = said.estimate.detail["checksums"]
    assert one == other == f"{int(scheme.sign([STORM]).rows[0, 0]):016x}"
    assert match_decision(scheme, STORM, EDITED).value == 0.0


@pytest.mark.parametrize(
    ("scheme", "a", "b", "reason"),
    [
        (MinHash(), "...", STORM, "A has no signature: no words"),
        (MinHash(), STORM, "", "B has no signature: no words"),
        (MinHash(), "\u200b", "\u200b", "A and B have no signature: no words"),
        (MinHash(shingle=1), "", "...", "A and B have no signature: no words"),
        (MinHash(analysis=Analysis(unit="line")), "", "\n", "A and B have no signature: no lines"),
        (Checksum(), "a", "a", "A and B have no signature: a required field is empty"),
    ],
)
def test_a_text_without_a_signature_matches_nothing_and_the_reason_is_reported(scheme, a, b, reason):
    said = match_decision(scheme, a, b)
    assert (said.value, said.matches, said.reason) == (None, False, reason)
    assert (said.estimate.value, said.estimate.matches, said.estimate.detail) == (None, False, {})


def test_trials_are_counted():
    scheme = Trials(needed=1)
    said = estimate(scheme, STORM, EDITED)
    one, other = (scheme.sign([text]) for text in (STORM, EDITED))
    agreeing = int((one.rows == other.rows).sum())
    assert said.rule == "at least 1 of 6 trials of 2-word shingles agree"
    assert (said.value, said.threshold, said.matches) == (agreeing, 1.0, agreeing >= 1)
    value = float(scheme.estimate(one, other)[0])
    assert said.detail == {"agreeing": agreeing, "trials": 6, "estimated resemblance": value}
    assert estimate(scheme, STORM, STORM).value == 6.0


def test_fingerprints_are_compared_bit_by_bit():
    scheme = SimHash()
    said = estimate(scheme, STORM, EDITED)
    one, other = (scheme.sign([text]) for text in (STORM, EDITED))
    distance = int(scheme.distances(one, other)[0])
    assert said.rule == "Hamming distance at most 3 of 64 bits"
    assert (said.value, said.threshold, said.matches) == (distance, 3.0, distance <= 3)
    cosine = float(scheme.estimate(one, other)[0])
    assert said.detail == {"distance": distance, "bits": 64, "cosine": cosine}
    assert estimate(scheme, STORM, STORM).detail == {"distance": 0, "bits": 64, "cosine": 1.0}


def test_sentences_say_what_they_are_relative_to():
    longer = f"{STORM}. Nobody was hurt, said the harbour master. The fleet stays."
    said = estimate(Sentences(), f"{STORM}.", longer)
    assert said.rule == "estimated resemblance of sets of sentences at least 0.5"
    assert (said.value, said.matches, said.detail) == (1 / 3, False, {"relative_to": "union"})
    said = estimate(Sentences(relative_to="smaller"), f"{STORM}.", longer)
    assert said.rule == "estimated overlap of sets of sentences relative to the smaller set at least 0.5"
    assert (said.value, said.matches) == (1.0, True)


@pytest.mark.parametrize(("distance", "value"), [(0, 1.0), (63, 2.0)])
def test_of_two_schemes_both_are_asked(distance, value):
    scheme = Combined(MinHash(), SimHash(distance=distance))
    said = estimate(scheme, STORM, EDITED)
    assert (said.value, said.threshold, said.matches) == (value, 2.0, value == 2.0)
    assert said.rule.startswith("estimated resemblance of sets of 3-word shingles at least 0.6; and Hamming distance")
    assert said.detail["second"] == estimate(scheme.second, STORM, EDITED).as_dict()
    assert said.matches == scheme.matches(scheme.sign([STORM]), scheme.sign([EDITED]))[0]
    short = match_decision(scheme, "...", STORM)
    assert (short.value, short.matches) == (None, False)
    assert short.reason == "A has no signature: no words, or nothing that the second scheme compares"


class Another(MinHash):
    """A scheme that is not registered."""

    name = "another"


def test_a_scheme_of_an_unknown_name_is_read_as_its_estimate():
    said = match_decision(Another(), STORM, EDITED)
    assert (said.scheme, said.estimate) == ("another", match_decision(MinHash(), STORM, EDITED).estimate)
