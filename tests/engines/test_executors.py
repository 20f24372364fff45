import pytest

from neardup.engines.executors import Failure, elsewhere
from neardup.model.errors import DataError, EngineFailed


class Fake:
    def __init__(self, failures):
        self.failures, self.tasks = failures, None

    def each(self, opened, tasks):
        self.tasks = tasks
        yield None
        with opened() as function:
            for task in tasks:
                if task not in self.failures:
                    function(task)
        yield from (Failure(task, "there", "it is not here") for task in self.failures)


class Opened:
    def __init__(self):
        self.done = []

    def __enter__(self):
        return self.done.append

    def __exit__(self, *_):
        pass


def test_executors_do_the_tasks():
    executors, opened, here = Fake([]), Opened(), []
    found = [*elsewhere(executors, lambda: opened)(here.append, iter([2, 5]))]
    assert opened.done == executors.tasks == [2, 5]
    assert here == []
    assert not any(own for _, own in found)


def test_a_task_that_fails_raises_its_own_error_here():
    def attempt(task):
        raise DataError(f"file {task}", "is broken")

    with pytest.raises(DataError, match="file 5 is broken"):
        list(elsewhere(Fake([5]), Opened)(attempt, [2, 5]))


def test_a_task_that_only_fails_elsewhere_is_an_error_of_the_executors():
    here = []
    with pytest.raises(EngineFailed, match="there: it is not here"):
        list(elsewhere(Fake([5]), Opened)(here.append, [2, 5]))
    assert here == [5]
