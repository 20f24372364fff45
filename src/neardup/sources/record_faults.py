"""Records with a fault: they are rejected, have no text, or line ends inside quotes, which may be two records."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final, Self, TypeVar

import msgspec

from neardup.model.errors import FieldMissing, NothingRead, cut_to
from neardup.sources.formats import first_names

if TYPE_CHECKING:
    from neardup.sources.collection import Collection, InputPiece

_SHOWN: Final = 20  # how many column names a message lists
_NAME: Final = 40  # characters of each

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 60)]


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


class RecordFaults(msgspec.Struct):
    """What reading left out, or read in part or in an unusual way, and the number of the *documents* that it returned.

    The others are as in a ``Collection``; *ignored*, the files of folders that were not requested, is not added up.
    """

    documents: Count = 0
    rejected: list[Rejected] = []
    without_text: WithoutText | None = None
    quoted_lines: QuotedLines | None = None
    skipped: dict[str, Count] = {}
    body_faults: dict[str, Count] = {}
    without_templates: bool = False
    ignored: Count = 0

    @classmethod
    def of(cls, parts: "Iterable[Collection | RecordFaults]") -> Self:
        """Return those of all parts together, in their order."""
        found = cls()
        for part in parts:
            found.add(part)
        return found

    def __len__(self) -> int:
        return self.documents

    def add(self, part: "Collection | RecordFaults") -> None:
        """Add those of another part."""
        self.documents += len(part)
        self.rejected += part.rejected
        self.without_text = in_total([self.without_text, part.without_text])
        self.quoted_lines = in_total([self.quoted_lines, part.quoted_lines])
        self.skipped = dict(Counter(self.skipped) + Counter(part.skipped))  # asdict cannot copy a Counter
        self.body_faults = dict(Counter(self.body_faults) + Counter(part.body_faults))
        self.without_templates |= len(part) > 0 and part.without_templates

    def require_documents(self, names: Sequence[str]) -> None:
        """Raise ``NothingRead`` if all records of these inputs were rejected."""
        if self.rejected and not self.documents:
            raise nothing_left(names, self.rejected)


def nothing_left(names: Sequence[str], rejected: Sequence[Rejected]) -> NothingRead:
    """Return the error for inputs whose records were all rejected; damaged parts of archives are not counted."""
    where, number, first = first_names(names), len(rejected), rejected[0]
    if first.code == "damaged":
        rule = f"no document was found; a damaged part is at {first}"
    elif number == 1:
        rule = f"its only record, {first.source}:{first.position}, was rejected: {first.reason}"
    else:
        rule = f"all {number:,} records were rejected; the first is at {first}"
    return NothingRead(where, rule, first.code, first.source)


class LackingFields:
    """The requested fields that no record of some pieces has so far."""

    def __init__(self, fields: Sequence[str] = ()) -> None:
        self._fields = fields
        self._of_records: dict[str, list[str]] | None = None
        self._columns: dict[str, list[str]] | None = None

    def add(self, piece: "InputPiece") -> dict[str, list[str]]:
        """Note the fields that a piece lacks; return them, with the fields that it has."""
        own = {name: names for name in self._fields if (names := piece.lacking(name)) is not None}
        self.note(own, len(piece))
        return own

    def note(self, own: dict[str, list[str]], records: int) -> None:
        """Note the fields that this number of *records*, or a table without any, lacks, with the fields that it has."""
        before = self._of_records if records else self._columns
        known = own if before is None else before
        both = {name: [*dict.fromkeys([*known[name], *own[name]])] for name in known if name in own}
        if records:
            self._of_records = both
        else:
            self._columns = both

    @property
    def found(self) -> dict[str, list[str]]:
        """The fields that no record has, each with the existing fields; without records, those of the tables."""
        return (self._columns or {}) if self._of_records is None else self._of_records

    @property
    def all_found(self) -> bool:
        """Whether every field has been found."""
        return self._of_records == {}

    def require(self, where: str) -> None:
        """Raise ``FieldMissing`` if no record has one of the fields; no error without records."""
        for name, existing in (self._of_records or {}).items():
            raise missing_field(where, name, existing)


def missing_field(where: str, name: str, existing: Sequence[str]) -> FieldMissing:
    """Return the error for a field that no record has; it lists the existing fields."""
    names = (one if one == one.strip() else repr(one) for one in existing[:_SHOWN])
    shown = ", ".join(cut_to(_NAME, one) for one in names)
    more = f" and {len(existing) - _SHOWN} more" if len(existing) > _SHOWN else ""
    rule = f"there is no field {name!r}; the fields are: {shown}{more}" if existing else f"there is no field {name!r}"
    return FieldMissing(where, rule, "field", name, tuple(existing))
