from neardup.model.verdicts import as_record
from neardup.verdicts import Empty, ExactDuplicate, Known, NearDuplicate, New


def test_records_have_the_name_and_every_part():
    assert as_record(New()) == {"verdict": "new"}
    assert as_record(Empty()) == {"verdict": "empty"}
    assert as_record(ExactDuplicate("a", representative="b")) == {
        "verdict": "exact duplicate",
        "of": "a",
        "representative": "b",
    }
    assert as_record(Known("a", changed=True)) == {
        "verdict": "known",
        "of": "a",
        "changed": True,
        "representative": None,
        "resemblance": None,
        "contained": None,
    }
    near = NearDuplicate("a", "resemblance", 0.75, verified=True)
    assert as_record(near) == {
        "verdict": "near duplicate",
        "of": "a",
        "measure": "resemblance",
        "value": 0.75,
        "verified": True,
        "representative": None,
    }


def test_verdicts_are_equal_whatever_is_kept():
    assert ExactDuplicate("a", representative="b") == ExactDuplicate("a")
    assert Known("a") != Known("a", changed=True)
