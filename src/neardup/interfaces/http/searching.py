"""Documents found by their words, without those that repeat a better one."""

from typing import Annotated, Any, Final

import msgspec

from neardup.interfaces.http.bodies import Body, GroupId, Page, Size, rounded
from neardup.interfaces.http.limits import BATCH
from neardup.interfaces.http.operations import Operation
from neardup.interfaces.http.problems import NO_SEARCH, QUERY_TIME, UNAVAILABLE, Refused
from neardup.interfaces.http.serving import Serving
from neardup.model.answers import as_record
from neardup.pipeline.near_hits import HitVerify
from neardup.pipeline.searching import Collapsing, Search

MOST_QUERY: Final = 1024  # characters
TOP: Final = 100
NO_TEXTS: Final = (
    "This index keeps no texts and cannot be searched."
    " Make one that can be: neardup index INPUT --to DIR --texts --search"
)


class SearchQuery(Body):
    """What is looked for, and how its repeats are hidden.

    *collapse* hides near duplicates, down to *threshold* if it is given; what is exactly the same; what is of the same
    site; or nothing. Of each group *keep* hits are shown. *include* lists the members of one group. The best *top* hits
    are examined. *verify*: "exact" compares the texts of near duplicates, "estimate" their signatures; without it,
    texts are compared as far as there are not too many.
    """

    q: Annotated[str, msgspec.Meta(max_length=MOST_QUERY)]
    page: Page = 1
    size: Size = 10
    collapse: Collapsing = "near"
    threshold: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    keep: Annotated[int, msgspec.Meta(ge=1, le=BATCH)] = 1
    include: GroupId | None = None
    top: Annotated[int, msgspec.Meta(ge=1, le=BATCH)] = TOP
    verify: HitVerify | None = None


class Piece(msgspec.Struct):
    """A piece of text, and where what was looked for stands in it: pairs of begin and end, in characters."""

    text: str
    spans: list[list[int]]


class SnippetPieces(msgspec.Struct):
    """What to show of a document."""

    title: Piece
    body: Piece


class SearchHit(msgspec.Struct):
    """A hit that is shown."""

    id: str
    title: str | None
    url: str | None
    admitted: str
    score: float
    snippet: SnippetPieces


class SearchRepeat(msgspec.Struct):
    """A hit that is hidden, because it matches the better one *of*; *verified* on the texts, or by an estimate."""

    id: str
    title: str | None
    url: str | None
    admitted: str
    score: float
    of: str
    rule: str
    measure: str
    value: float | int | str | None
    threshold: float | None
    verified: bool


class SearchGroup(msgspec.Struct):
    """Hits that say the same: those shown, and the repeats behind them, of which it *hides* so many in all."""

    group: str
    hides: int
    shown: list[SearchHit]
    repeats: list[SearchRepeat]


class SearchAnswer(msgspec.Struct):
    """A page of what was found.

    *total* documents match; of the best *examined* ones there are so many *groups*, and *hidden* hits are not shown.
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


def search_table(serving: Serving) -> Search:
    """Return the search table, or say how to make one."""
    if serving.search is None:
        raise Refused(NO_SEARCH, "" if serving.index.keeps_texts else NO_TEXTS)
    return serving.search


def search(serving: Serving, given: SearchQuery) -> dict[str, Any]:
    """Find, collapse, and show a page: a ``SearchAnswer``."""
    table = search_table(serving)
    found = table.answer(
        given.q,
        page=given.page,
        size=given.size,
        collapse=given.collapse,
        threshold=given.threshold,
        keep=given.keep,
        include=None if given.include is None else int(given.include),
        top=given.top,
        seconds=serving.limits.query_seconds,
        verify=given.verify,
    )
    return as_record(found, rounded)


OPERATIONS: Final = (
    Operation(
        name="search",
        method="GET",
        path="/v1/search",
        summary="Find documents by their words, without those that repeat a better one",
        explained='A document must contain all words; "words in double quotes" are a phrase; word* matches any ending.',
        run=search,
        query=SearchQuery,
        answer=SearchAnswer,
        short=-1,
        refuses=[NO_SEARCH, QUERY_TIME, UNAVAILABLE],
    ),
)
