from neardup import Checksum, Field, FracMinHash, MinHash, SimHash, compare, explain
from neardup.evaluation.match_decisions import Estimate, match_decision
from neardup.interfaces.wording.match_decisions import (
    answer_of,
    decided_of,
    estimate_of,
    excerpts_of,
    names_of,
    passages_of,
    value_of,
)

BODY = Checksum(fields=(Field(name="body"),))


def test_what_a_rule_looked_at_is_reported():
    same, other = "one two three four", "four five six seven"
    assert value_of(match_decision(MinHash(), same, same)) == "resemblance 1.0000"
    assert value_of(match_decision(BODY, same, same)) == "equal"
    assert value_of(match_decision(BODY, same, other)) == "different"
    assert value_of(match_decision(MinHash(), same, "")) == "B has no signature: no words"
    assert [answer_of(match_decision(MinHash(), same, text)) for text in (same, other)] == ["match", "no match"]


def test_of_two_schemes_with_one_name_the_first_is_that_of_the_options():
    found = compare("one two", "one two", [MinHash(threshold=0.5), SimHash(), MinHash()])
    assert names_of(found) == ["minhash (your options)", "simhash", "minhash (default)"]
    assert names_of(compare("one two", "one two", [MinHash(), SimHash()])) == ["minhash", "simhash"]


def test_containment_is_that_of_the_second_text_in_the_first():
    text = "one two three four five six seven eight nine ten"
    short, scheme = " ".join(text.split()[:5]), FracMinHash(scaled=1)
    assert value_of(match_decision(scheme, text, short)) == "containment of B in A 1.0000 (A counts as better-ranked)"
    other = match_decision(scheme, short, text)
    assert value_of(other) == "containment of B in A 0.3750 (A counts as better-ranked)"
    assert estimate_of(other.estimate) == "no match: estimated containment of B in A 0.3750"
    assert "no match; containment of b in a 0.375;" in str(explain(short, text, scheme))
    assert value_of(match_decision(scheme.with_measure("overlap"), short, text)) == "overlap 1.0000"


def test_a_value_just_below_the_threshold_does_not_read_as_the_threshold():
    text, other = (" ".join(f"w{n}" for n in range(begin, begin + 32_000)) for begin in (0, 8_001))
    decision = match_decision(MinHash(shingle=1), text, other)
    assert (decision.matches, round(decision.value, 4)) == (False, 0.6)
    assert value_of(decision) == f"resemblance {decision.value:.12g}"
    assert f"no match; resemblance {decision.value:.12g}; rule" in str(explain(text, other, MinHash(shingle=1)))


def test_what_decides_is_reported_before_what_the_signatures_say():
    text = "one two three four five six seven eight nine ten"
    said = match_decision(SimHash(distance=0), text, f"{text} ten")
    assert decided_of(said) == "no match"
    assert value_of(said).startswith("resemblance 1.0000, but the signatures rule it out: Hamming distance ")
    assert estimate_of(said.estimate).startswith("no match: Hamming distance ")
    assert estimate_of(match_decision(BODY, text, text).estimate) == "equal"
    assert estimate_of(match_decision(BODY, text, "other").estimate) == "different"
    assert estimate_of(match_decision(MinHash(), text, "").estimate) == "no signature"


def test_numbers_that_are_no_shares_are_whole():
    parts = {"threshold": 3.0, "matches": False, "rule": "Hamming distance at most 3 of 64 bits"}
    said = Estimate(**parts, measure="Hamming distance", value=5.0, detail={"bits": 64, "cosine": 0.97})
    assert estimate_of(said) == "no match: Hamming distance 5, cosine 0.9700"


def test_passages_are_reported_and_what_is_marked():
    text = "one two three four five six seven eight nine ten"
    assert passages_of(compare(text, f"{text} again")) == (
        "Shared passages: 1, of 10 words."
        " Marked words are in no run of 3 words that both texts have: 0 stretches of A, 1 of B."
    )
    other = compare(text, "nothing of it")
    assert passages_of(other) == "The texts share no passage, so nothing is marked."
    assert [[piece.kind for piece in one.pieces] for one in excerpts_of(other, text, "nothing of it", 9)] == [
        ["between"]
    ] * 2
    words = explain(text, "ten nine", SimHash())
    assert passages_of(words).startswith("The texts share no passage. Marked words are not in the other text:")
    left, right = excerpts_of(words, text, "ten nine", 1000)
    assert [piece.kind for piece in left.pieces] == ["alone", "between"]
    assert [piece.text for piece in right.pieces if piece.kind == "alone"] == []
