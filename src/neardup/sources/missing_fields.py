"""Fields that are requested, and that no record has; and records without a text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from neardup.model.errors import FieldMissing

if TYPE_CHECKING:
    from neardup.sources.collection import InputPiece

_SHOWN: Final = 20  # how many column names a message lists
_NAME: Final = 40  # characters of each


class LackingFields:
    """Which of some fields no record of the pieces of inputs has so far."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = fields
        self._of_records: dict[str, list[str]] | None = None
        self._columns: dict[str, list[str]] = {}

    def add(self, piece: "InputPiece") -> dict[str, list[str]]:
        """Note the fields that a piece lacks; return them, with the fields that it has."""
        own = {name: names for name in self._fields if (names := piece.lacking(name)) is not None}
        if len(piece):
            known = own if self._of_records is None else self._of_records
            self._of_records = {name: [*dict.fromkeys([*known[name], *own[name]])] for name in known if name in own}
        else:
            self._columns = own
        return own

    @property
    def found(self) -> dict[str, list[str]]:
        """The fields that no record has, with those that there are; without records, the columns of tables count."""
        return self._columns if self._of_records is None else self._of_records

    @property
    def all_found(self) -> bool:
        """Whether some record has each field."""
        return self._of_records == {}

    def require(self, where: str) -> None:
        """Raise ``FieldMissing`` if no record has one of the fields; no error without records."""
        for name, existing in (self._of_records or {}).items():
            raise missing_field(where, name, existing)


def missing_field(where: str, name: str, existing: Sequence[str]) -> FieldMissing:
    """Return the error for a field that no record has; it lists the existing fields."""
    names = (one if one == one.strip() else repr(one) for one in existing[:_SHOWN])
    shown = ", ".join(one if len(one) <= _NAME else f"{one[:_NAME]}..." for one in names)
    more = f" and {len(existing) - _SHOWN} more" if len(existing) > _SHOWN else ""
    rule = f"there is no field {name!r}; the fields are: {shown}{more}" if existing else f"there is no field {name!r}"
    return FieldMissing(where, rule, "field", name, tuple(existing))
