"""The scheme that a run, a state or an index has recorded, and what another scheme has different."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

from neardup.model.changes import Change, is_keyed
from neardup.model.errors import StorageRefused
from neardup.schemes.terms import written

LAYOUT: Final = frozenset({"recall", "bands", "blocks"})
MATCHING: Final = frozenset({"threshold", "short", "short_threshold", "distance", "needed", "relative_to", "rule"})
"""The parameters that are layout and policy: two schemes may differ in them and have one recipe."""

UNRECORDED: Final = frozenset({"common", "weights"})  # parameters that are recorded by identity only


class RecordedScheme(NamedTuple):
    """A serialised scheme (see ``written``), with its recipe and what identifies its key."""

    settings: Mapping[str, Any]
    recipe: str
    key: str

    @classmethod
    def of(cls, scheme: Any) -> Self:
        """Return what is recorded of a scheme."""
        return cls(written(scheme), scheme.recipe, scheme.key_identity)

    def require_key(self, where: str, scheme: Any) -> None:
        """Raise ``StorageRefused`` for the place *where* it is recorded, unless a scheme has the same secret key."""
        before, now = self.key, scheme.key_identity
        if before == now:
            return
        if is_keyed(before) and is_keyed(now):
            rule = "was created with another secret key, and can only be used with that key"
            raise StorageRefused(where, rule, "other key")
        if is_keyed(before):
            rule = "was created with a secret key, and can only be used with that key"
            raise StorageRefused(where, rule, "key needed")
        if is_keyed(now):
            raise StorageRefused(where, "was created without a secret key, and cannot be used with one", "no key")

    def changes(self, now: "RecordedScheme") -> list[Change]:
        """Return the parameters that differ; if there are none, the key or the recipe."""
        found = [*differing(self.settings, now.settings)]
        if not found and self.key != now.key:
            found = [Change.of_key(self.key, now.key)]
        if not found and self.recipe != now.recipe:
            found = [Change("changed", "the recipe of the scheme")]
        return found

    def recipe_changes(self, now: "RecordedScheme") -> list[Change]:
        """Return what ``changes`` does, without the parameters that are layout or policy, unless only these differ."""
        found = self.changes(now)
        return [change for change in found if change.name not in LAYOUT | MATCHING] or found


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the parameters that differ; of two schemes only the names, as everything else depends on these.

    Tables of weights and lists of shingles differ by their identities, and other values that have parts are changed.
    """
    if before.get("scheme") != now.get("scheme"):
        yield Change("setting", "scheme", before.get("scheme"), now.get("scheme"))
        return
    for name in {**before, **now}:
        one, other = _plain(before.get(name)), _plain(now.get(name))
        if one == other:
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from differing(one, other)
        elif _has_parts(one) or _has_parts(other):
            yield Change("changed", name)
        else:
            yield Change("setting", name, one, other)


def other_settings(changes: Iterable[Change]) -> str:
    """Return the rule of an error about other settings than something was created with."""
    return f"was created with other settings: {'; '.join(change.words() for change in changes)}"


def as_recorded(changes: Sequence[Change]) -> str:
    """Return the same rule, and what to do about settings that are recorded, unless they are in ``UNRECORDED``."""
    lacks = UNRECORDED & {change.name for change in changes}
    recorded = "" if lacks else ", or leave them out: they are recorded"
    return f"{other_settings(changes)}; use the same settings{recorded}"


def _plain(value: Any) -> Any:
    """Return the identity of a table of weights or a list of shingles, and other values as they are."""
    return value["identity"] if isinstance(value, Mapping) and "identity" in value else value


def _has_parts(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(map(_has_parts, value)))
