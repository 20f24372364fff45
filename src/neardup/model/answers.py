"""What a search of an index answers."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct

# These are made for every answer: as frozen dataclasses they would take several times as long.


class Marked(NamedTuple):
    """A piece of text, and where what was looked for stands in it: pairs of begin and end, in characters."""

    text: str
    spans: tuple[tuple[int, int], ...]


class Snippet(NamedTuple):
    """What to show of a document: its title, empty if it has none, and a passage of its text."""

    title: Marked
    body: Marked


class FoundHit(Struct, frozen=True, kw_only=True):
    """A document that a query finds. *url* is its field ``url``, or its id if that is an address of the web.

    *ordinal* is the number of its admission. A higher *score* ranks better; that of another query says nothing.
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
    """A hit that is hidden, because it matches *of*, the id of a better one that is shown.

    *rule* says by what: the name of the index's scheme, ``same text`` or ``same site``. *value* is what *measure* says
    of both, held against *threshold*; or the site; or nothing. It is *verified* where texts or values were compared;
    else *value* is an estimate.
    """

    hit: FoundHit
    of: str
    rule: str
    measure: str
    value: Any
    threshold: float | None
    verified: bool


class AnswerGroup(Struct, frozen=True, kw_only=True):
    """Hits that say the same: those *shown*, and the *repeats* behind them, all *hides* of them unless it is paged."""

    id: int
    shown: tuple[ShownHit, ...]
    repeats: tuple[Repeat, ...]
    hides: int


class Answer(Struct, frozen=True, kw_only=True):
    """A page of what a query finds, without repeats.

    *total* documents match; the best *examined* of them were collapsed, to so many *groups*, of which *hidden* hits are
    not shown; *unsigned* ones have no signature, and so are nobody's near duplicates. *threshold* is how strict the
    scheme was, as an estimate of its measure, where it has such a choice. *results* are the groups of this *page* of
    *pages*; or, with *include*, the members of that group on this page.
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


def as_record(answer: Answer, told: Callable[[float], Any] = float) -> dict[str, Any]:
    """Give an answer as JSON has it; measures and scores as *told* gives them.

    Times are in UTC. Ids of groups are digits in a string: not all programs read integers of 63 bits.
    """
    whole = {name: getattr(answer, name) for name in answer.__struct_fields__ if name != "results"}
    whole |= {
        "include": None if answer.include is None else str(answer.include),
        "threshold": _told(answer.threshold, told),
    }
    return whole | {"results": [_group(group, told) for group in answer.results]}


def _group(group: AnswerGroup, told: Callable[[float], Any]) -> dict[str, Any]:
    shown = [{**_hit(hit, told), "snippet": _snippet(snippet)} for hit, snippet in group.shown]
    repeats = [
        {
            **_hit(one.hit, told),
            "of": one.of,
            "rule": one.rule,
            "measure": one.measure,
            "value": _told(one.value, told),
            "threshold": _told(one.threshold, told),
            "verified": one.verified,
        }
        for one in group.repeats
    ]
    return {"group": str(group.id), "hides": group.hides, "shown": shown, "repeats": repeats}


def _hit(hit: FoundHit, told: Callable[[float], Any]) -> dict[str, Any]:
    return {
        "id": hit.id,
        "title": hit.title,
        "url": hit.url,
        "admitted": written(hit.admitted),
        "score": told(hit.score),
    }


@lru_cache(maxsize=1024)  # many documents are admitted together
def written(moment: datetime) -> str:
    """Give a moment as JSON has it, in UTC.

    >>> written(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05Z'
    """
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _snippet(snippet: Snippet) -> dict[str, Any]:
    return {name: {"text": part.text, "spans": part.spans} for name, part in zip(snippet._fields, snippet, strict=True)}


def _told(value: Any, told: Callable[[float], Any]) -> Any:
    return told(value) if isinstance(value, float) else value
