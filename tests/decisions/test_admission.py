"""Matches and representatives of documents, against the rule in a few lines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.admission import NONE, Matches, decide


def expected(own, exact, matches, representatives, representative):
    representatives = dict(representatives)
    answers = []
    for row, itself in enumerate(own):
        ordered = sorted((-value, document) for at, document, value in matches if at == row)
        closest = ordered[0] if ordered else None
        kept = [document for _, document in ordered if representatives[document] == document]
        first = kept[0] if kept and representative == "closest" else min(kept, default=itself)
        chosen = representatives[exact[row]] if exact[row] != NONE else first
        if itself != NONE:
            representatives[itself] = chosen
        answers.append((closest, chosen))
    return answers


@st.composite
def cases(draw):
    """Documents 0 to 5 are there, each kept or removed for a kept document; 6 and on come now."""
    there = {document: draw(st.sampled_from([document, 0])) for document in range(1, 6)} | {0: 0}
    number = draw(st.integers(1, 5))
    own = [draw(st.sampled_from([NONE, 6 + row])) for row in range(number)]
    exact, matches = [], []
    for row in range(number):
        before = [*range(6), *(other for other in own[:row] if other != NONE)]
        exact.append(draw(st.sampled_from([NONE, *before])))
        chosen = draw(st.lists(st.sampled_from(before), unique=True, max_size=6))
        matches += [(row, document, draw(st.sampled_from([0.5, 0.75, 1.0]))) for document in chosen]
    return own, exact, draw(st.permutations(matches)), there


@given(cases(), st.sampled_from(["best-ranked", "closest"]))
def test_equals_the_rule(case, representative):
    own, exact, matches, representatives = case
    rows, documents, values = zip(*matches, strict=True) if matches else ((), (), ())
    given_matches = Matches(np.array(rows, np.int64), np.array(documents, np.int64), np.array(values, np.float64))
    known = dict(representatives)
    closest, kept_by = decide(own, exact, given_matches, known, representative)
    found = [
        (None if at == NONE else (-values[at], documents[at]), chosen)
        for at, chosen in zip(closest, kept_by, strict=True)
    ]
    assert found == expected(own, exact, matches, representatives, representative)
    for itself, kept in zip(own, kept_by, strict=True):
        if itself != NONE:
            assert known[itself] == kept
            assert known[kept] == kept  # a representative is kept


def test_nobody_has_a_representative_through_a_chain():
    """0 is kept and represents 1, and 2 matches 1 alone: it is a near duplicate, and kept."""
    matches = Matches(np.array([0]), np.array([1]), np.array([0.9]))
    assert decide([2], [NONE], matches, {1: 0}, "best-ranked") == ([0], [2])
