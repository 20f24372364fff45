"""How functions run, one call after the other or several in parallel, and report their progress."""

from collections.abc import Callable, Iterable
from typing import Final, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]  # called with the name of a stage, what is done, and the total
StageProgress = Callable[[int, int], None]  # the same, for one stage


def silent(*_: object) -> None:
    """Report no progress."""


class Engine(Protocol):
    """Runs a function on items; see ``neardup.engines.local.LocalEngine``."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterable[Result]:
        """Return the results in the order of the items. The calls are made when the results are taken."""

    def parts(self, number: int) -> list[slice]:
        """Cut *number* items into slices that can be processed in parallel; none is empty."""


class _InTurn:
    """Calls a function for one item after the other."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterable[Result]:
        return map(function, items)

    def parts(self, number: int) -> list[slice]:
        return [slice(0, number)] if number else []


IN_TURN: Final[Engine] = _InTurn()


def in_parts(engine: Engine, function: Callable[[slice], Result], number: int) -> list[Result]:
    """Call a function for the slices of *number* items, perhaps in parallel; return the results in their order."""
    return list(engine.map(function, engine.parts(number)))
