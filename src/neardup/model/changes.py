"""What differs between two runs, or between the terms of an index and those that are asked for."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

_LONGEST: Final = 100  # characters of a value in a message


class Change(NamedTuple):
    """A difference between two runs.

    *kind* is one of

    - ``setting``: a parameter, *name*, with both values;
    - ``changed``, ``added``, ``left out``: an input, or the secret key;
    - ``time``: only the time of change of an input differs, with both, in nanoseconds;
    - ``order``: the inputs are in another order;
    - ``version``: of neardup;
    - ``templates``: of hosts, with their identities, or how they are found.
    """

    kind: str
    name: str = ""
    before: Any = None
    now: Any = None

    @classmethod
    def of_key(cls, before: str, now: str) -> "Change":
        """Return the difference between two values of ``key_identity``.

        >>> Change.of_key("key:12ab", "seed:1").words(), Change.of_key("key:12ab", "key:34cd").words()
        ('the secret key was left out', 'the secret key was changed')
        """
        keyed, keyed_now = map(is_keyed, (before, now))
        return cls("changed" if keyed and keyed_now else "added" if keyed_now else "left out", "the secret key")

    def words(self, named: Callable[[str], str] = str) -> str:
        """Describe the difference; *named* returns how a parameter is called.

        >>> Change("setting", "text", "text", "body").words(), Change("added", "a.jsonl").words()
        ('text was text and is body', 'a.jsonl was added')
        """
        match self.kind:
            case "setting":
                return f"{named(self.name)} was {_plain(self.before)} and is {_plain(self.now)}"
            case "version":
                return f"neardup was {self.before} and is {self.now}"
            case "templates":
                return f"web pages were read {_with(self.before)}, and are read {_with(self.now)}"
            case "order":
                return "the inputs are in another order"
            case "time":
                return f"{self.name} has another modification time, but the same size, beginning and end"
            case _:
                return f"{self.name} was {self.kind}"


def is_keyed(identity: str) -> bool:
    """Return whether a ``key_identity`` is that of a scheme with a secret key."""
    return "key:" in identity


def _with(templates: Any) -> str:
    if templates is None:
        return "without templates of hosts"
    return f"with templates of hosts ({templates if ' ' in templates else f'id {templates}'})"


def _plain(value: Any) -> str:
    """Return a value of a setting for messages."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None or value == []:
        return "not set"
    shown = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
