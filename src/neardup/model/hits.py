"""What a collapse of ranked hits answers: groups of those that stay, and what each hides."""

from hashlib import blake2b
from typing import Any, Final

from msgspec import Struct

_GROUP_BITS: Final = 63  # so that every engine's integers can hold it
_DIGEST: Final = blake2b(digest_size=8)  # to be copied, which takes half as long as to make one

# These are made for every page that is shown: as frozen dataclasses they would take ten times as long.


class Hit(Struct, frozen=True):
    """A hit that stays: its *id*, its *rank* among all hits, from 0, and what was *given* of it."""

    id: Any
    rank: int
    given: Any


class HiddenHit(Struct, frozen=True):
    """A hit that goes because it matches *of*, a better-ranked hit that stays.

    *rule* is the name of the rule, and *measure* of what it looks at. *value* is what it found there, for equal values
    the value itself, and *threshold* what the value was held against, ``None`` for equal values. It is *verified* if
    texts or values were compared; else *value* is an estimate of signatures.
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
    """Hits that belong together, best first: those *kept* and those *hidden*; it *hides* so many in all.

    The *id*, of 63 bits, is a digest of that of its first hit: see ``group_id``. Where the first hits of several groups
    have one id, all groups but the best have other ones.
    """

    id: int
    kept: tuple[Hit, ...]
    hidden: tuple[HiddenHit, ...]
    hides: int


def group_id(id: Any) -> int:  # noqa: A002 - the word users know
    """Give the id of the group that begins with a hit: 63 bits of the BLAKE2b digest of its id, as a string.

    >>> group_id("a"), group_id(7) == group_id("7")
    (1702698405120146464, True)
    """
    name = id if isinstance(id, str) else str(id)
    digest = _DIGEST.copy()
    digest.update(name.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "little") >> (64 - _GROUP_BITS)
