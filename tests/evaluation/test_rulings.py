from types import SimpleNamespace

import numpy as np
import pytest

from neardup import Analysis, Checksum, Combined, Field, MinHash, ParameterError, Sentences, SimHash, Trials
from neardup.evaluation.rulings import ruling
from neardup.model.arrays import Signatures

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
EDITED = f"{STORM} on Tuesday"


def test_a_sketch_is_read_as_its_estimate():
    said = ruling(MinHash(), STORM, EDITED)
    estimate = float(MinHash().estimate(MinHash().sign([STORM]), MinHash().sign([EDITED]))[0])
    assert (said.scheme, said.value, said.threshold, said.matches) == ("minhash", estimate, 0.6, True)
    assert said.rule == "estimated resemblance of sets of 3-word shingles at least 0.6"
    assert said.reason is None
    assert not ruling(MinHash(threshold=1.0), STORM, EDITED).matches


def test_a_checksum_is_equal_or_not():
    scheme = Checksum(fields=(Field(name="body", limit=1024),))
    said = ruling(scheme, STORM, STORM)
    assert (said.value, said.threshold, said.matches) == (1.0, 1.0, True)
    assert said.rule == "equal checksums of the first 1,024 bytes of body"
    one, other = said.detail["checksums"]
    assert one == other == f"{int(scheme.sign([STORM]).rows[0, 0]):016x}"
    assert ruling(scheme, STORM, EDITED).value == 0.0


@pytest.mark.parametrize(
    ("scheme", "a", "b", "reason"),
    [
        (MinHash(), "...", STORM, "a has no signature: no words"),
        (MinHash(), STORM, "", "b has no signature: no words"),
        (MinHash(shingle=1), "", "...", "a and b have no signature: no words"),
        (MinHash(analysis=Analysis(unit="line")), "", "\n", "a and b have no signature: no lines"),
        (Checksum(), "a", "a", "a and b have no signature: a required field is empty"),
    ],
)
def test_a_text_without_a_signature_matches_nothing_and_the_reason_is_said(scheme, a, b, reason):
    said = ruling(scheme, a, b)
    assert (said.value, said.matches, said.detail, said.reason) == (None, False, {}, reason)


def test_trials_are_counted():
    scheme = Trials(needed=1)
    said = ruling(scheme, STORM, EDITED)
    one, other = (scheme.sign([text]) for text in (STORM, EDITED))
    agreeing = int((one.rows == other.rows).sum())
    assert said.rule == "at least 1 of 6 trials of 2-word shingles agree"
    assert (said.value, said.threshold, said.matches) == (agreeing, 1.0, agreeing >= 1)
    estimate = float(scheme.estimate(one, other)[0])
    assert said.detail == {"agreeing": agreeing, "trials": 6, "estimated resemblance": estimate}
    assert ruling(scheme, STORM, STORM).value == 6.0


def test_fingerprints_are_compared_bit_by_bit():
    scheme = SimHash()
    said = ruling(scheme, STORM, EDITED)
    one, other = (scheme.sign([text]) for text in (STORM, EDITED))
    distance = int(scheme.distances(one, other)[0])
    assert said.rule == "Hamming distance at most 3 of 64 bits"
    assert (said.value, said.threshold, said.matches) == (distance, 3.0, distance <= 3)
    cosine = float(scheme.estimate(one, other)[0])
    assert said.detail == {"distance": distance, "bits": 64, "cosine": cosine}
    assert ruling(scheme, STORM, STORM).detail == {"distance": 0, "bits": 64, "cosine": 1.0}


def test_sentences_say_what_they_are_relative_to():
    longer = f"{STORM}. Nobody was hurt, said the harbour master. The fleet stays."
    said = ruling(Sentences(), f"{STORM}.", longer)
    assert said.rule == "estimated resemblance of sets of sentences at least 0.5"
    assert (said.value, said.matches, said.detail) == (1 / 3, False, {"relative_to": "union"})
    said = ruling(Sentences(relative_to="smaller"), f"{STORM}.", longer)
    assert said.rule == "estimated overlap of sets of sentences relative to the smaller set at least 0.5"
    assert (said.value, said.matches) == (1.0, True)


@pytest.mark.parametrize(("distance", "value"), [(0, 1.0), (63, 2.0)])
def test_of_two_schemes_both_are_asked(distance, value):
    scheme = Combined(MinHash(), SimHash(distance=distance))
    said = ruling(scheme, STORM, EDITED)
    assert (said.value, said.threshold, said.matches) == (value, 2.0, value == 2.0)
    assert said.rule.startswith("estimated resemblance of sets of 3-word shingles at least 0.6; and Hamming distance")
    assert said.detail["second"] == ruling(scheme.second, STORM, EDITED).as_dict()
    assert said.matches == scheme.matches(scheme.sign([STORM]), scheme.sign([EDITED]))[0]
    short = ruling(scheme, "...", STORM)
    assert (short.value, short.matches) == (None, False)
    assert short.reason == "a has no signature: no words"


class Another:
    """A scheme that nobody here knows."""

    name, measure, threshold, shingling = "another", "resemblance", 0.5, SimpleNamespace()

    def sign(self, texts):
        return Signatures(np.ones((len(texts), 1)), np.ones(len(texts), np.bool_), "recipe")

    def estimate(self, *_):
        return np.array([0.75])

    def matches(self, *_):
        return np.array([True])


def test_a_scheme_of_an_unknown_name_is_read_as_its_estimate():
    said = ruling(Another(), "a", "b")
    assert (said.rule, said.value, said.matches) == ("estimated resemblance at least 0.5", 0.75, True)


@pytest.mark.parametrize("scheme", ["minhash", MinHash, object()])
def test_what_is_no_scheme_is_a_parameter_error(scheme):
    with pytest.raises(ParameterError, match="must be a scheme"):
        ruling(scheme, "a", "b")
