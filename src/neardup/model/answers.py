"""The result of searching an index, in Python and, field by field, in JSON."""

from datetime import datetime

from msgspec import Struct

# Many of these are created for each answer: creating frozen dataclasses would take several times as long.


class Marked(Struct, frozen=True):
    """A piece of text, and the *spans* of the query's terms in it: pairs of begin and end, in characters."""

    text: str
    spans: tuple[tuple[int, int], ...]


class Snippet(Struct, frozen=True):
    """The parts of a document to show: its title, empty if it has none, and a passage of its text."""

    title: Marked
    body: Marked


class FoundHit(Struct, frozen=True, kw_only=True):
    """A document that a query finds. *url* is its field ``url``, or its id if that is a web address.

    *changed_at* is when its present content was admitted, in UTC. A higher *score* ranks better; scores of different
    queries are not comparable.
    """

    id: str
    title: str | None
    url: str | None
    changed_at: datetime
    score: float


class ShownHit(FoundHit, frozen=True, kw_only=True):
    """A hit that is shown."""

    snippet: Snippet


class Repeat(FoundHit, frozen=True, kw_only=True):
    """A hit that is hidden because it matches *of*, the id of a better hit that is shown.

    *rule* is the name of the index's scheme, ``same text`` or ``same site``. *value* is the value of *measure* for both
    documents, and *threshold* the least value of a match; for ``same site``, *value* is the site. If *verified*, texts
    or values were compared; otherwise *value* is an estimate.
    """

    of: str
    rule: str
    measure: str
    value: float | int | str | None
    threshold: float | None
    verified: bool


class AnswerGroup(Struct, frozen=True, kw_only=True, rename={"id": "group"}):
    """A group of matching hits: those *shown*, their *repeats* on this page, and how many it *hides* in all.

    Ids of groups are strings of digits, because some programs cannot read integers of 63 bits.
    """

    id: str
    hides: int
    shown: tuple[ShownHit, ...]
    repeats: tuple[Repeat, ...]


class Answer(Struct, frozen=True, kw_only=True):
    """A page of the results of a query, without repeats.

    *total* documents match. The best *examined* of them were collapsed to *groups* groups, and *hidden* hits are not
    shown. *unsigned* hits have no signature and match none. *threshold* is the least measure of near duplicates, of
    their texts or, if only signatures decide, of these; ``None`` if the scheme has no choice. *results* are the groups
    of this *page* of *pages*, or, with *include*, the members of that group on this page.
    """

    query: str
    collapse: str
    threshold: float | None
    keep: int
    include: str | None
    total: int
    examined: int
    groups: int
    hidden: int
    unsigned: int
    page: int
    pages: int
    size: int
    results: tuple[AnswerGroup, ...]
