"""Whole runs of ``dedup`` with the schemes ``Trials`` and ``Sentences``, against their rules in plain Python."""

import numpy as np
import pytest
from batches import lists

from neardup import Sentences, Trials, dedup

SMALLER = {"relative_to": "smaller", "threshold": 0.8}
SCHEMES = {
    "trials": Trials(),
    "trials, keyed": Trials(key=bytes(range(16)), hashes=4, trials=8),
    "trials, bags": Trials(bag=True, hashes=6, trials=9, needed=3),
    "sentences": Sentences(),
    "sentences, keyed": Sentences(key=bytes(range(16))),
    "sentences, relative to the smaller": Sentences(**SMALLER),
}


def generated(number):
    """Texts of 1 to 20 sentences, half of them edited copies of earlier ones, some of them parts; a chain, a blank."""
    random = np.random.default_rng(5)
    found = [[], ["Hi."]]
    while len(found) < number:
        if random.random() < 0.6 and len(found) > 5:
            sentences = list(found[int(random.integers(2, len(found)))])
            for _ in range(int(random.integers(0, 2))):
                place = int(random.integers(len(sentences)))
                words = sentences[place].split()
                words[int(random.integers(len(words)))] = f"word{random.integers(10**6)}"
                sentences[place] = " ".join(words)
            if random.random() < 0.3:
                sentences = sentences[: max(1, len(sentences) * 2 // 3)]
            found.append(sentences)
        else:
            words = [f"word{n}" for n in random.integers(0, 500, int(random.integers(8, 300)))]
            found.append([" ".join(["Here", *words[at : at + 15]]) + "." for at in range(0, len(words), 15)])
    chain = [f"link{n}" for n in range(240)]
    for _ in range(12):  # each resembles the one before, but the first and the last do not
        chain = list(chain)
        for place in random.integers(0, 240, 3):
            chain[place] = f"word{random.integers(10**6)}"
        found.append([" ".join(["Here", *chain[at : at + 15]]) + "." for at in range(0, 240, 15)])
    return [" ".join(sentences) for sentences in found]


TEXTS = generated(250)


@pytest.fixture(params=SCHEMES.values(), ids=SCHEMES)
def scheme(request):
    return request.param


def greedy(number, holds):
    """For each document the best kept document that it matches, or -1."""
    chosen = []
    for place in range(number):
        kept = [other for other in range(place) if chosen[other] < 0 and holds(place, other)]
        chosen.append(min(kept, default=-1))
    return chosen


def measured(scheme, one, other):
    return len(one & other) / (min(len(one), len(other)) if scheme.measure == "overlap" else len(one | other))


def feature_sets(scheme):
    features = scheme.features(TEXTS)
    return [{*values} for values in lists(features.values, features.offsets)]


def test_exact_decisions_are_the_candidates_that_reach_the_threshold(scheme):
    """Signatures of such short texts have all sentences, so none is missed; trials miss pairs without a common key."""
    sets, signatures = feature_sets(scheme), scheme.sign(TEXTS)
    keys = [{*row} if scheme.position_independent else {*enumerate(row)} for row in scheme.keys(signatures).tolist()]

    def holds(a, b):
        if not sets[a] or not sets[b]:
            return TEXTS[a] == TEXTS[b] and bool(TEXTS[a].strip())
        return bool(keys[a] & keys[b]) and measured(scheme, sets[a], sets[b]) >= scheme.threshold

    def reaches(a, b):
        return bool(sets[a] and sets[b]) and measured(scheme, sets[a], sets[b]) >= scheme.threshold

    result = dedup(TEXTS, scheme=scheme, threads=1)
    assert result.representatives.tolist() == greedy(len(TEXTS), holds)
    assert result.summary.near > 20
    if scheme.name == "sentences":
        pairs = [(a, b) for a in range(len(TEXTS)) for b in range(a) if reaches(a, b)]
        assert all(holds(a, b) for a, b in pairs)
    for place, row in enumerate(result.decisions.to_pylist()):
        if row["rule"] in {"resemblance", "overlap"}:
            mine, kept = sets[place], sets[result.representatives[place]]
            assert row["rule"] == scheme.rule
            assert row["resemblance"] == len(mine & kept) / len(mine | kept)
            assert (row["contained_in_kept"], row["contains_kept"]) == (
                len(mine & kept) / len(mine),
                len(mine & kept) / len(kept),
            )
        else:
            assert row["rule"] in {None, "same text", "same features"}


def test_relative_to_the_smaller_a_part_goes_for_its_whole():
    result = dedup(TEXTS, scheme=SCHEMES["sentences, relative to the smaller"])
    rows = [row for row in result.decisions.to_pylist() if row["rule"] == "overlap"]
    assert any(row["contained_in_kept"] == 1 and row["resemblance"] < 0.8 for row in rows)
    assert all(max(row["contained_in_kept"], row["contains_kept"]) >= 0.8 for row in rows)


def test_estimates_follow_the_scheme_s_own_rule(scheme):
    signatures, sets = scheme.sign(TEXTS), feature_sets(scheme)
    left, right = (found.ravel() for found in np.indices((len(TEXTS), len(TEXTS))))
    matching = scheme.match_pairs(signatures, left, right).reshape(len(TEXTS), -1)
    estimated = scheme.estimate_pairs(signatures, left, right).reshape(len(TEXTS), -1)
    result = dedup(TEXTS, scheme=scheme, verify="estimate")
    assert result.representatives.tolist() == greedy(len(TEXTS), lambda a, b: matching[a, b])
    for place, row in enumerate(result.decisions.to_pylist()):
        if row["rule"] == "estimate":
            chosen = result.representatives[place]
            assert row["resemblance"] == (estimated[place, chosen] if scheme.measure == "resemblance" else None)
            assert row["contained_in_kept"] is None
        elif row["rule"] is not None:
            assert sets[place] == sets[result.representatives[place]]


def test_unverified_are_those_that_share_a_key(scheme):
    keys = scheme.keys(scheme.sign(TEXTS)).tolist()
    present = scheme.sign(TEXTS).present
    sharing = [{*row} if scheme.position_independent else {*enumerate(row)} for row in keys]
    result = dedup(TEXTS, scheme=scheme, verify="none")
    assert result.representatives.tolist() == greedy(
        len(TEXTS), lambda a, b: present[a] and present[b] and bool(sharing[a] & sharing[b])
    )


def test_members_of_a_component_say_what_connects_them(scheme):
    """A direct match names its rule, whichever the verification; what only a chain connects does not."""
    sets, signatures = feature_sets(scheme), scheme.sign(TEXTS)
    keys = scheme.keys(signatures).tolist()
    sharing = [{*row} if scheme.position_independent else {*enumerate(row)} for row in keys]
    seen = set()
    for verify in ("exact", "estimate", "none"):
        result = dedup(TEXTS, scheme=scheme, verify=verify, gather="components")
        for place, row in enumerate(result.decisions.to_pylist()):
            chosen = int(result.representatives[place])
            if row["rule"] not in {"resemblance", "overlap", "estimate", "shared key", "component"}:
                continue
            pair = np.array([place]), np.array([chosen])
            direct = {
                "exact": measured(scheme, sets[place], sets[chosen]) >= scheme.threshold,
                "estimate": bool(scheme.match_pairs(signatures, *pair)[0]),
                "none": bool(sharing[place] & sharing[chosen]),
            }[verify]
            assert (row["rule"] == "component") == (not direct)
            seen.add(row["rule"])
    assert "component" in seen


def test_threads_change_nothing(scheme):
    one, two = (dedup(TEXTS, scheme=scheme, threads=threads) for threads in (1, 2))
    assert one.decisions.equals(two.decisions)
    assert one.summary == two.summary


def test_a_threshold_can_be_moved():
    strict = dedup(TEXTS, scheme=Sentences(), threshold=1.0).summary
    loose = dedup(TEXTS, scheme=Sentences(), threshold=0.1).summary
    assert strict.near < loose.near
    assert (strict.recipe, strict.threshold) == (loose.recipe, 1.0)
    assert dedup(TEXTS[:3], scheme=Trials()).summary.threshold == 0.9094


HOSTILE = [
    "",
    " ",
    None,
    "\ud800\ud800 lone surrogates here",
    "\0\0 nul \0 there",
    "\u202e bidi controls \u202d",
    "a. " * 5000,
]


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
def test_hostile_texts_are_signed_and_kept(scheme, verify):
    result = dedup(HOSTILE, scheme=scheme, verify=verify)
    assert result.kept.tolist() == list(range(len(HOSTILE)))
