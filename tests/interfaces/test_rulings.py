from neardup import Checksum, Field, MinHash
from neardup.evaluation.rulings import Ruling, ruling
from neardup.interfaces.rulings import answer_of, value_of

BODY = Checksum(fields=(Field(name="body"),))


def test_what_a_rule_looked_at_is_said():
    same, other = "one two three four", "four five six seven"
    assert value_of(ruling(MinHash(), same, same)) == "1.0000"
    assert value_of(ruling(BODY, same, same)) == "equal"
    assert value_of(ruling(BODY, same, other)) == "different"
    assert value_of(ruling(MinHash(), same, "")) == "b has no signature: fewer than 3 words"
    assert [answer_of(ruling(MinHash(), same, text)) for text in (same, other)] == ["match", "no match"]


def test_numbers_that_are_no_shares_are_whole():
    parts = {"scheme": "simhash", "measure": "Hamming distance", "threshold": 3.0, "matches": False}
    said = Ruling(**parts, rule="Hamming distance at most 3 of 64 bits", value=5.0, detail={"bits": 64, "cosine": 0.97})
    assert value_of(said) == "5, cosine 0.9700"
    zero = Ruling(**parts, rule="another rule", value=0.0)
    assert value_of(zero) == "Hamming distance 0"
