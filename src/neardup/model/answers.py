"""The result of searching an index."""

from collections.abc import Callable
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

    *ordinal* is the number of its admission. A higher *score* ranks better; scores of different queries are not
    comparable.
    """

    id: str
    ordinal: int
    score: float
    title: str | None
    url: str | None
    admitted: datetime


class Found(Struct, frozen=True, kw_only=True):
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
    shown. *unsigned* hits have no signature and match none. *threshold* is the strictness, as an estimate of the
    scheme's measure; ``None`` if the scheme has no choice. *results* are the groups of this *page* of *pages*, or, with
    *include*, the members of that group on this page.
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


def as_record(answer: Answer, convert: Callable[[float], Any] = float) -> dict[str, Any]:
    """Return an answer as plain values for JSON; *convert* converts measures and scores.

    Times are in UTC. The ids of groups are strings of digits, because some programs cannot read integers of 63 bits.
    """
    whole = {name: getattr(answer, name) for name in answer.__struct_fields__ if name != "results"}
    whole |= {
        "include": None if answer.include is None else str(answer.include),
        "threshold": _convert(answer.threshold, convert),
    }
    return whole | {"results": [_group(group, convert) for group in answer.results]}


def _group(group: AnswerGroup, convert: Callable[[float], Any]) -> dict[str, Any]:
    shown = [{**_hit(hit, convert), "snippet": _snippet(snippet)} for hit, snippet in group.shown]
    repeats = [
        {
            **_hit(one.hit, convert),
            "of": one.of,
            "rule": one.rule,
            "measure": one.measure,
            "value": _convert(one.value, convert),
            "threshold": _convert(one.threshold, convert),
            "verified": one.verified,
        }
        for one in group.repeats
    ]
    return {"group": str(group.id), "hides": group.hides, "shown": shown, "repeats": repeats}


def _hit(hit: FoundHit, convert: Callable[[float], Any]) -> dict[str, Any]:
    return {
        "id": hit.id,
        "title": hit.title,
        "url": hit.url,
        "admitted": written(hit.admitted),
        "score": convert(hit.score),
    }


@lru_cache(maxsize=1024)  # many documents are admitted together
def written(moment: datetime) -> str:
    """Return a time as an ISO 8601 string, in UTC.

    >>> written(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05Z'
    """
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _snippet(snippet: Snippet) -> dict[str, Any]:
    return {name: {"text": part.text, "spans": part.spans} for name, part in zip(snippet._fields, snippet, strict=True)}


def _convert(value: Any, convert: Callable[[float], Any]) -> Any:
    return convert(value) if isinstance(value, float) else value
