from types import SimpleNamespace

import numpy as np
import pytest

from neardup import Analysis, Checksum, Field, MinHash, ParameterError
from neardup.evaluation.verdicts import verdict
from neardup.model.arrays import Signatures

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
EDITED = f"{STORM} on Tuesday"


def test_a_sketch_is_read_as_its_estimate():
    said = verdict(MinHash(), STORM, EDITED)
    estimate = float(MinHash().estimate(MinHash().sign([STORM]), MinHash().sign([EDITED]))[0])
    assert (said.scheme, said.value, said.threshold, said.matches) == ("minhash", estimate, 0.6, True)
    assert said.rule == "estimated resemblance of sets of 3-word shingles at least 0.6"
    assert said.reason is None
    assert not verdict(MinHash(threshold=1.0), STORM, EDITED).matches


def test_a_checksum_is_equal_or_not():
    scheme = Checksum(fields=(Field(name="body", limit=1024),))
    said = verdict(scheme, STORM, STORM)
    assert (said.value, said.threshold, said.matches) == (1.0, 1.0, True)
    assert said.rule == "equal checksums of the first 1,024 bytes of body"
    one, other = said.detail["checksums"]
    assert one == other == f"{int(scheme.sign([STORM]).rows[0, 0]):016x}"
    assert verdict(scheme, STORM, EDITED).value == 0.0


@pytest.mark.parametrize(
    ("scheme", "a", "b", "reason"),
    [
        (MinHash(), "two words", STORM, "a has no signature: fewer than 3 words"),
        (MinHash(), STORM, "", "b has no signature: fewer than 3 words"),
        (MinHash(shingle=1), "", "...", "a and b have no signature: no words"),
        (MinHash(analysis=Analysis(unit="line")), "a", "a", "a and b have no signature: fewer than 3 lines"),
        (Checksum(), "a", "a", "a and b have no signature: a required field is empty"),
    ],
)
def test_a_text_without_a_signature_matches_nothing_and_the_reason_is_said(scheme, a, b, reason):
    said = verdict(scheme, a, b)
    assert (said.value, said.matches, said.detail, said.reason) == (None, False, {}, reason)


class Standing:
    """A scheme whose signatures are given."""

    def __init__(self, name, rows, **parts):
        self.name, self._rows = name, np.array(rows, np.uint64)
        self.measure, self.threshold, self.shingling = "resemblance", 0.5, SimpleNamespace()
        vars(self).update(parts)

    def sign(self, texts):
        return Signatures(self._rows, np.ones(len(texts), np.bool_), "recipe")

    def estimate(self, *_):
        return np.array([0.75])

    def distances(self, left, right):
        return np.bitwise_count(left.rows ^ right.rows)[:, 0].astype(np.int64)

    def matches(self, *_):
        return np.array([True])


def test_trials_are_counted():
    said = verdict(Standing("trials", [[1, 2, 3, 4], [1, 5, 3, 6]], needed=2, trials=4), "a", "b")
    assert said.rule == "at least 2 of 4 trials agree"
    assert (said.value, said.threshold) == (2.0, 2.0)
    assert said.detail == {"agreeing": 2, "trials": 4, "estimated resemblance": 0.75}


def test_fingerprints_are_compared_bit_by_bit():
    said = verdict(Standing("simhash", [[0b1011], [0b0001]], distance=3, bits=64), "a", "b")
    assert said.rule == "Hamming distance at most 3 of 64 bits"
    assert (said.measure, said.value, said.threshold) == ("Hamming distance", 2.0, 3.0)
    assert said.detail == {"distance": 2, "bits": 64, "cosine": 0.75}


def test_sentences_say_what_the_overlap_is_relative_to():
    said = verdict(Standing("sentences", [[1], [1]], relative_to="union"), "a", "b")
    assert said.rule == "estimated overlap of sentences, relative to the union, at least 0.5"
    assert (said.value, said.detail) == (0.75, {"relative_to": "union"})


def test_a_scheme_of_an_unknown_name_is_read_as_its_estimate():
    assert verdict(Standing("another", [[1], [1]]), "a", "b").rule == "estimated resemblance at least 0.5"


@pytest.mark.parametrize("scheme", ["minhash", MinHash, object()])
def test_what_is_no_scheme_is_a_parameter_error(scheme):
    with pytest.raises(ParameterError, match="must be a scheme"):
        verdict(scheme, "a", "b")
