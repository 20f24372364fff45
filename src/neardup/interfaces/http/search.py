"""The operation that searches documents by their words, without repeats."""

from typing import Final

import msgspec

from neardup.interfaces.http.problems import NO_SEARCH, Refusal
from neardup.interfaces.http.requests import GroupId, Input, Number, PageNumber, Query, Site, Size, Threshold
from neardup.interfaces.http.service import Service
from neardup.model.answers import Answer
from neardup.model.policy import Representative
from neardup.pipeline.query.near_hits import HitVerify
from neardup.pipeline.query.search import TOP, Collapsing, Search, Sort, has_table

NOT_SEARCHABLE: Final = (
    "This index keeps no texts and cannot be searched."
    " Make one that can be: neardup index INPUT --to DIR --texts --search"
)


class SearchQuery(Input):
    """Words, and how repeats are hidden.

    *collapse* hides near duplicates, from *threshold* on if it is given; exact duplicates; all but one of a site; or
    nothing. The *keep* best of each group are shown. *include* lists the members of one group. The first *top* hits are
    examined. *verify*: "exact" compares the texts of near duplicates, "estimate" their signatures; by default texts
    are compared unless there are too many. *sort* "newest" lists those first that were admitted last. *site*: only
    documents of this host, without "www.". *representative*: a near duplicate is listed below the best-ranked result
    that it matches, or below the closest.
    """

    q: Query
    page: PageNumber = 1
    size: Size = 10
    collapse: Collapsing = "near"
    threshold: Threshold | None = None
    keep: Number = 1
    include: GroupId | None = None
    top: Number = TOP
    sort: Sort = "score"
    site: Site | None = None
    verify: HitVerify | None = None
    representative: Representative = "best-ranked"


def search_table(service: Service) -> Search:
    """Return the search table; raise a refusal if there is none, or it was removed."""
    removed = service.readable and not has_table(service.index.store.folder)
    if service.search is None or removed:
        raise Refusal(NO_SEARCH, "" if service.index.keeps_texts else NOT_SEARCHABLE)
    return service.search


def search(service: Service, given: SearchQuery) -> Answer:
    """Find documents by their words, and hide those that repeat a better one.

    A document must contain all words; "words in double quotes" are a phrase; word* matches any ending.
    """
    options = msgspec.structs.asdict(given)
    return search_table(service).answer(options.pop("q"), **options, seconds=service.limits.query_seconds)
