"""Records with a fault: they are rejected, have no text, or line ends inside quotes, which may be two records."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record that could not be read: it is in no output, and is counted.

    *code* is a stable name of the kind of error, for programs:

    - ``encoding``: invalid UTF-8; ``utf-16``, ``utf-16le``, ``utf-32`` and others: a file in this encoding.
    - ``json``: invalid JSON; ``type``: a value of a wrong type.
    - ``fields``: more or fewer fields than the header has; ``quotes are text``: the same, with quotation marks that
      were read as text; ``torn quotes``.
    - ``too large``: a file above the cap; ``too long``: a record; ``unreadable``: a file.
    - ``damaged``: a part of an archive; ``endless``: an archive without the line ends after its last record, which is
      read, but the file may be cut off.
    - in an index also ``id too long``, ``no id`` and ``value``.
    """

    source: str  # the file, or "<stdin>"
    position: int  # its line, or in Parquet its record number, from 1; in an archive a byte, from 0
    reason: str  # the rule it breaks
    code: str

    def __str__(self) -> str:
        return f"{self.source}:{self.position}: {self.reason}"


@dataclass(frozen=True, slots=True)
class WithoutText:
    """The number of records whose text field is missing or null, and the place of the first one."""

    records: int
    source: str
    position: int  # as in Rejected
    field: str


@dataclass(frozen=True, slots=True)
class QuotedLines:
    """The number of records of delimited text with line ends inside quotes, and the place of the first one."""

    records: int
    source: str
    first: int  # the line that the first one starts on
    last: int  # the line that it ends on


Counted = TypeVar("Counted", WithoutText, QuotedLines)


def in_total(found: Iterable[Counted | None]) -> Counted | None:
    """Return what was *found* in several parts of the inputs, in their order, as that of one."""
    known = [one for one in found if one is not None]
    return replace(known[0], records=sum(one.records for one in known)) if known else None
