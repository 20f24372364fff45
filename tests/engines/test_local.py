import threading
import time
from concurrent.futures import CancelledError
from itertools import pairwise
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.engines import local
from neardup.engines.local import LocalEngine, ahead
from neardup.model.errors import EngineFailed, ParameterError

THREADS = [1, 2, 5]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("number", [0, 1, 3, 100])
def test_results_come_in_the_order_of_the_items(threads, number):
    with LocalEngine(threads) as engine:
        assert list(engine.map(lambda item: item * item, range(number))) == [item * item for item in range(number)]


def test_items_are_in_work_side_by_side():
    """Two items that wait for each other get done by two threads."""
    meeting = threading.Barrier(2, timeout=120)
    with LocalEngine(2) as engine:
        assert sorted(engine.map(lambda _: meeting.wait(), range(2))) == [0, 1]


@pytest.mark.parametrize("most", [None, 1])
@pytest.mark.parametrize("threads", THREADS)
def test_only_a_few_items_ahead_are_taken(threads, most):
    taken = 0

    def items():
        nonlocal taken
        for item in range(1000):
            taken += 1
            yield item

    with LocalEngine(threads) as engine:
        results = engine.map(lambda item: item, items(), most=most)
        assert next(results) == 0
        assert taken <= (4 * threads if most is None else most) + 2
        results.close()


@pytest.mark.parametrize("threads", THREADS)
def test_an_error_reaches_the_caller(threads):
    def fail(item):
        if item == 3:
            raise KeyError(item)
        return item

    with LocalEngine(threads) as engine:
        results = engine.map(fail, range(10))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(KeyError, match="3"):
            next(results)


def test_the_end_does_not_wait_for_all_items_in_turn():
    begun, done = threading.Event(), []

    def slowly(item):
        begun.set()
        time.sleep(0.01)
        done.append(item)

    with LocalEngine(2) as engine:
        assert list(engine.in_turn(str, range(3))) == ["0", "1", "2"]
        waiting = engine.begin(lambda: list(engine.in_turn(slowly, range(1000))))
        begun.wait()
    assert len(done) < 1000
    with pytest.raises(CancelledError):
        waiting()


def test_one_thread_is_the_callers():
    with LocalEngine(1) as engine:
        assert {*engine.map(lambda _: threading.get_ident(), range(3))} == {threading.get_ident()}


def test_a_system_that_starts_no_thread_is_reported(monkeypatch):
    with LocalEngine(2) as engine:
        monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        for call in (
            lambda: list(engine.map(str, range(3))),
            lambda: engine.begin(int),
            lambda: list(ahead([1, 2], 1)),
        ):
            with pytest.raises(EngineFailed, match=r"^threads cannot be started: the limit of processes or memory"):
                call()


def test_every_core_by_default(monkeypatch):
    monkeypatch.setattr(local, "available_cores", lambda: 3)
    with LocalEngine() as engine:
        assert engine.threads == 3


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_threads_have_a_rule(threads):
    with pytest.raises(ParameterError) as caught:
        LocalEngine(threads)
    assert (caught.value.name, caught.value.value) == ("threads", threads)


@given(st.integers(0, 50), st.integers(1, 7))
def test_parts_cover_everything_once(number, threads):
    with LocalEngine(threads) as engine:
        parts = engine.parts(number)
    assert [item for part in parts for item in range(number)[part]] == list(range(number))
    assert len(parts) == min(number, 2 * threads if threads > 1 else 1)
    sizes = [part.stop - part.start for part in parts]
    assert all(sizes)
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    assert all(one.stop == other.start for one, other in pairwise(parts))


def test_the_next_item_is_made_meanwhile():
    meeting = threading.Barrier(2, timeout=120)

    def items():
        yield "first"
        meeting.wait()
        yield "second"

    found = ahead(items(), 1)
    assert next(found) == "first"
    meeting.wait()
    assert list(found) == ["second"]


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_items_are_made_ahead_than_asked_for(most):
    made = []
    found = ahead((made.append(item) or item for item in range(100)), most)
    assert next(found) == 0
    while len(made) < 1 + most:
        time.sleep(0.001)
    time.sleep(0.01)
    assert made == [*range(1 + most)]
    assert [*found] == [*range(1, 100)]


def test_items_that_nobody_takes_are_not_made():
    made, waiting = [], threading.Event()

    def items():
        for item in range(100):
            made.append(item)
            yield item
            waiting.wait()

    found = ahead(items(), 9)
    assert next(found) == 0
    threading.Timer(0.2, waiting.set).start()
    found.close()  # waits for the item that is being made
    assert len(made) <= 3


@pytest.mark.parametrize("most", [1, 5])
def test_an_error_comes_in_its_place(most):
    def items():
        yield 1
        raise ValueError("broken")

    found = ahead(items(), most)
    assert next(found) == 1
    with pytest.raises(ValueError, match="broken"):
        next(found)


def test_nothing_is_made_ahead_of_the_end():
    for most in (1, 2, 7):
        assert list(ahead([], most)) == []
        assert list(ahead(iter([1, 2, 3]), most)) == [1, 2, 3]
