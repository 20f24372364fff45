from types import SimpleNamespace

import pytest

from neardup.interfaces.http.connections import Direct
from neardup.interfaces.http.receiving import SMALL


def cycle(**given):
    """What a request is to the server that receives it."""
    state = {"more_body": False, "disconnected": False, "body": bytearray(b"{}"), "flow": SimpleNamespace()}
    made = SimpleNamespace(**state | given)
    made.flow.write_paused = given.get("write_paused", False)
    return made


def test_a_body_is_taken_and_not_held():
    one = cycle()
    assert Direct(one).body() == b"{}"
    assert one.body == b""


@pytest.mark.parametrize(
    "given",
    [{"more_body": True}, {"disconnected": True}, {"body": bytearray(SMALL + 1)}],
    ids=["part", "gone", "large"],
)
def test_what_is_not_whole_or_not_small_stays_where_it_is(given):
    one = cycle(**given)
    before = len(one.body)
    assert Direct(one).body() is None
    assert len(one.body) == before


@pytest.mark.parametrize("given", [{"write_paused": True}, {"disconnected": True}])
def test_who_does_not_read_is_not_answered_at_once(given):
    assert not Direct(cycle(**given)).answer(200, [(b"a", b"b")], b"body")
