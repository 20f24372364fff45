"""Tasks of a run on the processes of another system, which sees the work folder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from neardup.model.errors import EngineFailed

Opened = Callable[[], AbstractContextManager[Callable[[int], object]]]


class Failure(NamedTuple):
    """A task that a process on *host* could not do: the *message* of the error of the package."""

    task: int
    host: str
    message: str


class Executors(Protocol):
    """Processes of another system that run functions."""

    def each(self, opened: Opened, tasks: Sequence[int]) -> Iterator[Failure | None]:
        """Do all *tasks*: each process calls *opened*, and applies the function that it yields to some of them.

        Yields ``None`` about once per second, and at last the failures; after a failure, a process does no more tasks.
        Raises ``EngineFailed`` for other errors. Leaving the iterator ends the tasks.
        """
        ...


def elsewhere(
    executors: Executors, opened: Opened
) -> Callable[[Callable[[int], tuple[int, bool]], Iterable[int]], Iterator[tuple[int, bool]]]:
    """Return what ``Journal.run`` maps with, so that executors do the tasks of a stage.

    A task that fails is repeated here, which raises its error; if it succeeds here, ``EngineFailed`` is raised.
    """

    def each(attempt: Callable[[int], tuple[int, bool]], tasks: Iterable[int]) -> Iterator[tuple[int, bool]]:
        for failure in executors.each(opened, [*tasks]):
            if failure is not None:
                attempt(failure.task)
                raise EngineFailed(failure.host, failure.message)
            yield -1, False  # finished tasks are recorded in the work folder

    return each
