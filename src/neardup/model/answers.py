"""The result of searching an index."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct

# Many of these are created for each answer: creating frozen dataclasses would take several times as long.


class Marked(NamedTuple):
    """A piece of text, and the *spans* of the query's terms in it: pairs of begin and end, in characters."""

    text: str
    spans: tuple[tuple[int, int], ...]


class Snippet(NamedTuple):
    """The parts of a document to show: its title, empty if it has none, and a passage of its text."""

    title: Marked
    body: Marked


class FoundHit(Struct, frozen=True, kw_only=True):
    """A document that a query finds. *url* is its field ``url``, or its id if that is a web address.

    *ordinal* is the number of its admission, and *changed_at* when its present content was admitted. A higher *score*
    ranks better; scores of different queries are not comparable.
    """

    id: str
    ordinal: int
    score: float
    title: str | None
    url: str | None
    changed_at: datetime


class FoundHits(Struct, frozen=True, kw_only=True):
    """The best hits of a query, best first, of *total* documents that match."""

    query: str
    hits: tuple[FoundHit, ...]
    total: int


class ShownHit(NamedTuple):
    """A hit that is shown."""

    hit: FoundHit
    snippet: Snippet


class Repeat(Struct, frozen=True, kw_only=True):
    """A hit that is hidden because it matches *of*, the id of a better hit that is shown.

    *rule* is the name of the index's scheme, ``same text`` or ``same site``. *value* is the value of *measure* for both
    documents, and *threshold* the least value of a match; for ``same site``, *value* is the site. If *verified*, texts
    or values were compared; otherwise *value* is an estimate.
    """

    hit: FoundHit
    of: str
    rule: str
    measure: str
    value: Any
    threshold: float | None
    verified: bool


class AnswerGroup(Struct, frozen=True, kw_only=True):
    """A group of matching hits: those *shown*, their *repeats* on this page, and how many it *hides* in all."""

    id: int
    shown: tuple[ShownHit, ...]
    repeats: tuple[Repeat, ...]
    hides: int


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
    include: int | None
    total: int
    examined: int
    groups: int
    hidden: int
    unsigned: int
    page: int
    pages: int
    size: int
    results: tuple[AnswerGroup, ...]


# The same in JSON.


class Piece(Struct):
    """A piece of text, and where the words of the query are in it: pairs of begin and end, in characters."""

    text: str
    spans: Sequence[Sequence[int]]


class SnippetPieces(Struct):
    """The title of a document and a passage of its text."""

    title: Piece
    body: Piece


class HitOfSearch(Struct):
    """A document that matches the query; its present content was admitted at *changed_at*, in UTC."""

    id: str
    title: str | None
    url: str | None
    changed_at: str
    score: float


class SearchHit(HitOfSearch):
    """A hit that is shown."""

    snippet: SnippetPieces


class SearchRepeat(HitOfSearch):
    """A hit that is hidden because it matches *of*, a better one; *verified* on the texts, or by an estimate."""

    of: str
    rule: str
    measure: str
    value: float | int | str | None
    threshold: float | None
    verified: bool


class SearchGroup(Struct):
    """Hits that belong together: those shown, and their repeats; *hides* counts all repeats of the group.

    Ids of groups are strings of digits, because some programs cannot read integers of 63 bits.
    """

    group: str
    hides: int
    shown: list[SearchHit]
    repeats: list[SearchRepeat]


class SearchAnswer(Struct):
    """A page of groups.

    *total* documents match; the best *examined* of them are in *groups* groups, and *hidden* hits are not shown.
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
    results: list[SearchGroup]


def as_record(answer: Answer) -> SearchAnswer:
    """Return an answer as JSON has it."""

    def of_hit(hit: FoundHit) -> tuple[str, str | None, str | None, str, float]:
        return hit.id, hit.title, hit.url, written(hit.changed_at), hit.score

    def shown(one: ShownHit) -> SearchHit:
        return SearchHit(*of_hit(one.hit), SnippetPieces(*(Piece(*part) for part in one.snippet)))

    def repeat(one: Repeat) -> SearchRepeat:
        return SearchRepeat(*of_hit(one.hit), one.of, one.rule, one.measure, one.value, one.threshold, one.verified)

    whole = {name: getattr(answer, name) for name in answer.__struct_fields__}
    whole |= {
        "include": None if answer.include is None else str(answer.include),
        "results": [
            SearchGroup(str(group.id), group.hides, [*map(shown, group.shown)], [*map(repeat, group.repeats)])
            for group in answer.results
        ],
    }
    return SearchAnswer(**whole)


@lru_cache(maxsize=1024)  # many documents are admitted together
def written(moment: datetime) -> str:
    """Return a time as an ISO 8601 string, in UTC.

    >>> written(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05Z'
    """
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
