"""The operation that searches documents by their words, without repeats."""

from typing import Final

import msgspec

from neardup.interfaces.http.operations import ALWAYS_LONG, Operation, rounded
from neardup.interfaces.http.problems import NO_SEARCH, QUERY_TIME, UNAVAILABLE, Refusal
from neardup.interfaces.http.requests import GroupId, Input, Number, Page, Query, Size, Threshold
from neardup.interfaces.http.service import Service
from neardup.model.answers import as_record
from neardup.pipeline.near_hits import HitVerify
from neardup.pipeline.search import TOP, Collapsing, Search

NOT_SEARCHABLE: Final = (
    "This index keeps no texts and cannot be searched."
    " Make one that can be: neardup index INPUT --to DIR --texts --search"
)


class SearchQuery(Input):
    """Words, and how repeats are hidden.

    *collapse* hides near duplicates, from *threshold* on if it is given; exact duplicates; all but one of a site; or
    nothing. The *keep* best of each group are shown. *include* lists the members of one group. The best *top* hits are
    examined. *verify*: "exact" compares the texts of near duplicates, "estimate" their signatures; by default texts
    are compared as far as there are not too many.
    """

    q: Query
    page: Page = 1
    size: Size = 10
    collapse: Collapsing = "near"
    threshold: Threshold | None = None
    keep: Number = 1
    include: GroupId | None = None
    top: Number = TOP
    verify: HitVerify | None = None


class Piece(msgspec.Struct):
    """A piece of text, and where the words of the query are in it: pairs of begin and end, in characters."""

    text: str
    spans: list[list[int]]


class SnippetPieces(msgspec.Struct):
    """The title of a document and a passage of its text."""

    title: Piece
    body: Piece


class HitOfSearch(msgspec.Struct):
    """A document that matches the query."""

    id: str
    title: str | None
    url: str | None
    admitted: str
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


class SearchGroup(msgspec.Struct):
    """Hits that belong together: those shown, and their repeats; *hides* counts all repeats of the group."""

    group: str
    hides: int
    shown: list[SearchHit]
    repeats: list[SearchRepeat]


class SearchAnswer(msgspec.Struct):
    """A page of groups.

    *total* documents match; the best *examined* of them are in *groups* groups, of which *hidden* hits are not shown.
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


def search_table(service: Service) -> Search:
    """Return the search table; raise a refusal that says how to make one."""
    if service.search is None:
        raise Refusal(NO_SEARCH, "" if service.index.keeps_texts else NOT_SEARCHABLE)
    return service.search


def search(service: Service, given: SearchQuery) -> SearchAnswer:
    """Find documents by their words, and hide those that repeat a better one.

    A document must contain all words; "words in double quotes" are a phrase; word* matches any ending.
    """
    found = search_table(service).answer(
        given.q,
        page=given.page,
        size=given.size,
        collapse=given.collapse,
        threshold=given.threshold,
        keep=given.keep,
        include=None if given.include is None else int(given.include),
        top=given.top,
        seconds=service.limits.query_seconds,
        verify=given.verify,
    )
    return msgspec.convert(as_record(found, rounded), SearchAnswer)


OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/v1/search",
        run=search,
        short=ALWAYS_LONG,
        problems=[NO_SEARCH, QUERY_TIME, UNAVAILABLE],
    ),
)
