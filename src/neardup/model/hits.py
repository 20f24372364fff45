"""The result of collapsing ranked hits: groups of the hits that are kept, and those that each group hides."""

from hashlib import blake2b
from typing import Any, Final

from msgspec import Struct

_GROUP_BITS: Final = 63  # so that every engine's integers can hold it
GROUP_PATTERN: Final = "^[0-9]{1,19}$"  # of such an id as a string, because many programs cannot read such integers
_DIGEST: Final = blake2b(digest_size=8)  # copying it takes half as long as creating one

# Many of these are created for each page: creating frozen dataclasses would take ten times as long.


class Hit(Struct, frozen=True):
    """A hit that is kept: its *id*, its *rank* among all hits, from 0, and the *given* hit itself."""

    id: Any
    rank: int
    given: Any


class HiddenHit(Struct, frozen=True):
    """A hit that is hidden because it matches *of*, a better-ranked hit that is kept.

    *rule* is the name of the rule, *measure* what it compares, and *value* the result: the measured value, or the
    common value of a rule for equal values. *threshold* is the least value of a match, ``None`` for equal values. If
    *verified*, texts or values were compared; otherwise *value* is an estimate from signatures.
    """

    id: Any
    rank: int
    given: Any
    of: Any
    rule: str
    measure: str
    value: Any
    threshold: float | None
    verified: bool


class HitGroup(Struct, frozen=True):
    """Hits that belong together, best first: the *kept* hits, the *hidden* hits, and how many the group *hides* in all.

    *id* is a digest of the id of the group's first hit, of 63 bits: see ``group_id``. If the first hits of several
    groups have the same id, only the best of these groups has this digest.
    """

    id: int
    kept: tuple[Hit, ...]
    hidden: tuple[HiddenHit, ...]
    hides: int


def group_id(id: Any, earlier: int = 0) -> int:  # noqa: A002 - the word users know
    """Return the id of the group that begins with a hit: 63 bits of the BLAKE2b digest of the hit's id, as a string.

    If *earlier* groups begin with a hit with the same id, their number is digested too.

    >>> group_id("a"), group_id(7) == group_id("7")
    (1702698405120146464, True)
    """
    name = id if isinstance(id, str) else str(id)
    digest = _DIGEST.copy()
    digest.update(name.encode("utf-8", "surrogatepass"))
    if earlier:
        digest.update(b"\xff%d" % earlier)  # a byte that is not in UTF-8, so that no other id has this digest
    return int.from_bytes(digest.digest(), "little") >> (64 - _GROUP_BITS)
