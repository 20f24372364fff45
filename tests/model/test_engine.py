import pytest

from neardup.engines.local import LocalEngine
from neardup.model.engine import IN_TURN


@pytest.mark.parametrize("number", [0, 1, 7])
def test_in_turn_does_what_one_thread_does(number):
    with LocalEngine(1) as one:
        assert IN_TURN.parts(number) == one.parts(number)
        assert [*IN_TURN.map(str, range(number))] == [*one.map(str, range(number))] == [*map(str, range(number))]


def test_calls_are_made_when_results_are_taken():
    called = []
    results = iter(IN_TURN.map(called.append, [1, 2]))
    assert called == []
    next(results)
    assert called == [1]
