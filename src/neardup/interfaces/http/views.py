"""The contents of pages, made from answers of the library by pure functions, without HTML.

Of a search: its results, and all hits that one of them hides. Of documents: one with those that it represents, and two
side by side.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Final, Literal, NamedTuple

import msgspec

from neardup.evaluation.comparison import Explanation
from neardup.interfaces.escaping import middle_shortened, parts, printable, printable_lines, shortened
from neardup.interfaces.http.links import COMPARE, DOCUMENT, START, LinkChoice, elsewhere, link, linked, paging
from neardup.interfaces.http.requests import GroupId, Input, PageNumber, Query, Site
from neardup.interfaces.wording.answers import advice_of, because, hidden_of, total_of
from neardup.interfaces.wording.excerpts import Excerpt
from neardup.interfaces.wording.match_decisions import estimate_of, excerpts_of, passages_of, value_of
from neardup.interfaces.wording.numbers import decimals, percent
from neardup.model.answers import Answer, AnswerGroup, FoundHit, Repeat, Snippet
from neardup.model.errors import counted
from neardup.model.policy import Representative
from neardup.model.seen import Document
from neardup.pipeline.query.search import Sort, site_of

Way = Literal["near", "exact", "site"]
Step = Literal["loose", "default", "strict", "strictest"]
Shown = Literal["auto", "whole", "differences"]

SIZE: Final = 10  # results of a page
LISTED: Final = 5  # duplicates under a result; a page of their own has all
MEMBERS: Final = 20  # represented documents on the page of a document
MOST: Final = 200_000  # characters of a text that are shown, and compared
PIECES: Final = 4_000  # of each of two texts that are shown
CONTEXT: Final = 2_000  # characters of a shared passage that are shown at each end

_VALUE: Final = 200  # characters
_FIELD: Final = 1_000
_NAME: Final = 120
_TITLE: Final = 300
_ADDRESS: Final = 70
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")  # in any locale

_WAYS: Final[dict[Way, str]] = {"near": "near-duplicate", "exact": "exact", "site": "same site"}
_SORTS: Final[dict[Sort, str]] = {"score": "best first", "newest": "newest first"}
_STATES: Final = {"hidden": "hidden", "shown": "shown"}
_HOW: Final = ("rule", "strictness", "representative", "repeats", "sort", "site")
_IN_ORDER: Final = ("q", *_HOW, "include", "page", "from_page")  # of a URL


class PageQuery(Input):
    """A search as its page has it; the members of the group *include* were opened from the page *from_page*."""

    q: Query = ""
    page: PageNumber = 1
    rule: Way = "near"
    strictness: Step = "default"
    representative: Representative = "best-ranked"
    repeats: Literal["hidden", "shown"] = "hidden"
    sort: Sort = "score"
    site: Site | None = None
    include: GroupId | None = None
    from_page: PageNumber = 1

    @property
    def collapses(self) -> bool:
        """Whether repeats are hidden."""
        return self.repeats == "hidden"

    @property
    def back(self) -> str:
        """The parameters of the URL of the search, for pages that link back to it."""
        return self.link().partition("?")[2]

    @property
    def ways(self) -> dict[str, str]:
        """The parameters of the URL that choose how repeats are handled, without defaults."""
        return {name: value for name in _HOW if (value := getattr(self, name)) != _DEFAULTS[name]}

    def link(self, **changed: Any) -> str:
        """Return the URL of the search with changed parameters; of the start page if the query is too long."""
        given = msgspec.structs.asdict(self) | changed
        chosen = {name: given[name] for name in _IN_ORDER if given[name] != _DEFAULTS[name]}
        return link(START, **chosen) or str(link(START))


_DEFAULTS: Final = {field.name: field.default for field in msgspec.structs.fields(PageQuery)}


class RepeatView(NamedTuple):
    """A hidden hit: the reason, the name of the matched hit *of*, and the URL of their comparison."""

    entry: SimpleNamespace
    why: str
    of: str
    compare: str | None


def entry(  # noqa: PLR0913 - all that is shown
    *,
    id: str,  # noqa: A002 - the word users know
    title: str | None,
    url: str | None,
    moment: datetime,
    snippet: Snippet | None = None,
    back: str = "",
) -> SimpleNamespace:
    """Return an entry; a *snippet* marks the words of the query. Without a title, the URL is shown.

    *href* links to the source of the document on the web, *document* to its page, which links *back* to a search.
    """
    address = url or id
    title = title if title and not title.isspace() else None  # the text of a link must be visible
    name = shortened(title or address, _TITLE)
    return SimpleNamespace(
        name=name,
        title=(parts(snippet.title.text, snippet.title.spans) if snippet and title else ()) or ((name, False),),
        href=elsewhere(address),
        address=middle_shortened(address, _ADDRESS),
        document=linked(DOCUMENT, back, id=id),
        stamp=moment.isoformat(timespec="seconds"),
        day=f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}",
        snippet=parts(snippet.body.text, snippet.body.spans) if snippet else (),
    )


def results_view(
    asked: PageQuery, answer: Answer, thresholds: Mapping[str, float], shorter: Sequence[tuple[str, str, int]] = ()
) -> SimpleNamespace:
    """Return what the page of results shows; *thresholds* are those of the steps of strictness, if there are any.

    *shorter* are what ``Search.shorter`` returns for a query without results: the page has *advice* then, and links to
    use *instead*. *choices* describes the chosen links, and *everywhere* links to the results of all sites.
    """
    results = tuple(_result(asked, group) for group in answer.results)
    everywhere = LinkChoice("Search all sites", asked.link(site=None, page=1)) if asked.site else None
    return SimpleNamespace(
        **_common(asked, answer, total_of(answer)),
        found=answer.total > 0,
        first=(answer.page - 1) * answer.size + 1,
        rules=_choices(asked, "rule", _WAYS) if asked.collapses else (),
        strictness=_choices(asked, "strictness", _steps(asked, thresholds)),
        switch=_choices(asked, "repeats", _STATES),
        results=results,
        advice=advice_of(answer, asked.site),
        instead=() if results else _instead(asked, answer, shorter),
        sorts=_choices(asked, "sort", _SORTS),
        choices=_chosen(asked),
        site=shortened(asked.site or "", _VALUE),
        everywhere=everywhere,
    )


def members_view(asked: PageQuery, answer: Answer) -> SimpleNamespace:
    """Return what the page of a group shows: the hits that a result hides, and *kept_hits*, which hide them."""
    return SimpleNamespace(
        **_common(asked, answer, f"Hidden among the results for: {_shown(asked.q)}"),
        back=asked.link(include=None, page=asked.from_page, from_page=1),
        heading=hidden_of(answer.collapse, sum(group.hides for group in answer.results)),
        kept_hits=tuple(_entry(asked, shown, shown.snippet) for group in answer.results for shown in group.shown),
        repeats=tuple(_repeat(asked, one, group) for group in answer.results for one in group.repeats),
    )


def _common(asked: PageQuery, answer: Answer, total: str) -> dict[str, Any]:
    """Return what all pages of a search have."""
    return {
        "query": _shown(asked.q),
        "search": asked,
        "total": total,
        "pages": paging(answer.page, answer.pages, lambda number: asked.link(page=number)),
    }


def _choices(asked: PageQuery, name: str, labels: Mapping[Any, str]) -> tuple[LinkChoice, ...]:
    """Return links to the first page of the search with each value of a parameter."""
    chosen = getattr(asked, name)
    return tuple(LinkChoice(label, asked.link(**{name: way}, page=1), way == chosen) for way, label in labels.items())


def _steps(asked: PageQuery, thresholds: Mapping[str, float]) -> dict[str, str]:
    """Return the labels of the steps of strictness, if it makes a difference."""
    if asked.rule != "near" or not asked.collapses:
        return {}
    return {step: f"{step} {each:.3g}" if step == asked.strictness else step for step, each in thresholds.items()}


def _result(asked: PageQuery, group: AnswerGroup) -> SimpleNamespace:
    """Return a result with the heading and the first of its hidden hits, and links to all of them and to its site."""
    best, others = group.shown[0], None
    listed = tuple(_repeat(asked, one, group) for one in group.repeats[:LISTED])
    if group.hides > len(listed):
        listing = f"List all {group.hides:,}" + (" duplicates" if asked.rule != "site" else " from this site")
        others = LinkChoice(listing, asked.link(include=group.id, page=1, from_page=asked.page))
    site = None if asked.site else site_of(best.url)
    return SimpleNamespace(
        entry=_entry(asked, best, best.snippet),
        hidden=hidden_of(asked.rule, group.hides) if group.hides else "",
        repeats=listed,
        others=others,
        site=LinkChoice(shortened(site, _VALUE), asked.link(site=site, page=1)) if site else None,
    )


def _chosen(asked: PageQuery) -> str:
    """Describe the choices of a search in a few words.

    >>> _chosen(PageQuery(q="x")), _chosen(PageQuery(q="x", repeats="shown", sort="newest"))
    ('repeats hidden: near-duplicate, best first', 'repeats shown, newest first')
    """
    if not asked.collapses:
        return f"repeats shown, {_SORTS[asked.sort]}"
    step = f" ({asked.strictness})" if asked.rule == "near" and asked.strictness != "default" else ""
    return f"repeats hidden: {_WAYS[asked.rule]}{step}, {_SORTS[asked.sort]}"


def _repeat(asked: PageQuery, one: Repeat, group: AnswerGroup) -> RepeatView:
    kept = next((shown for shown in group.shown if shown.id == one.of), None)  # may be on another page
    of = shortened(one.of, _VALUE) if kept is None else _entry(asked, kept).name
    return RepeatView(_entry(asked, one), because(one), of, linked(COMPARE, asked.back, a=one.of, b=one.id))


def _entry(asked: PageQuery, hit: FoundHit, snippet: Snippet | None = None) -> SimpleNamespace:
    return entry(id=hit.id, title=hit.title, url=hit.url, moment=hit.changed_at, snippet=snippet, back=asked.back)


def _instead(asked: PageQuery, answer: Answer, shorter: Sequence[tuple[str, str, int]]) -> tuple[LinkChoice, ...]:
    """Return links to searches that have results, for a page without them."""
    if answer.page > answer.pages > 0:
        return (LinkChoice(f"To the last one, page {answer.pages:,}", asked.link(page=answer.pages)),)
    return tuple(
        LinkChoice(f"Without {shortened(term, _VALUE)}: {counted(number, 'document')}", asked.link(q=rest, page=1))
        for term, rest, number in shorter
    )


def _shown(query: str) -> str:
    return printable(query.strip())


def entry_of(document: Document, back: str = "") -> SimpleNamespace:
    """Return the entry of a stored document; its title and URL are the fields of these names."""
    known = {name: value for name, value in document.fields.items() if isinstance(value, str)}
    title, url = known.get("title"), known.get("url")
    return entry(id=document.id, title=title, url=url, moment=document.changed_at, back=back)


def document_view(  # noqa: PLR0913 - all that is shown
    document: Document,
    number: int,
    members: Sequence[tuple[Document, float | None]],
    page: int,
    *,
    measure: str = "resemblance",
    asked: PageQuery | None = None,
) -> SimpleNamespace:
    """Return what the page of a document shows, which represents a *number* of others, *members* on this page.

    A member is a document with their estimated *measure*, if known. *status* is a sentence on its cluster,
    *representative* the document that represents it, with the URLs of its page and of their comparison. *measure* is
    what the scheme estimates, and *asked* the search that the page links back to.
    """
    own, back = document.id, asked.back if asked else ""
    kept, compares, representative = document.representative, document.text is not None, None
    if kept != own:
        representative = SimpleNamespace(
            label=middle_shortened(kept, _NAME),
            href=linked(DOCUMENT, back, id=kept),
            compare=linked(COMPARE, back, a=kept, b=own) if compares else None,
        )

    def repeat(member: Document, estimate: float | None) -> RepeatView:
        compare = linked(COMPARE, back, a=own, b=member.id) if compares else None
        known = "" if estimate is None else f"Estimated {measure} {decimals(estimate)}"
        return RepeatView(entry_of(member, back), known, shortened(own, _NAME), compare)

    return SimpleNamespace(
        entry=entry_of(document, back),
        status=_status(number if kept == own else None),
        representative=representative,
        fields=tuple(
            (shortened(name, _NAME), shortened(str(value), _FIELD))
            for name, value in (("id", own), *document.fields.items())
            if value is not None
        ),
        text=None if document.text is None else printable_lines(document.text[:MOST]),
        note=_note(document.text),
        number=f"{number:,}",
        others=tuple(repeat(*member) for member in members),
        pages=paging(
            page, -(-number // MEMBERS), lambda other: linked(DOCUMENT, back, id=own, page=other if other > 1 else None)
        ),
        search=asked,
    )


def _status(others: int | None) -> str:
    """Describe a document in its cluster; *others* counts those it represents, ``None`` means it is a repeat."""
    if others is None:
        return "It is a repeat. Its representative is"
    if not others:
        return "It repeats no other document, and none repeats it."
    return f"It represents {counted(others, 'other document')}, which {'repeats' if others == 1 else 'repeat'} it."


def _note(text: str | None) -> str:
    if text is None:
        return "The index keeps no texts."
    return f"The first {MOST:,} of {len(text):,} characters." if len(text) > MOST else ""


def comparison_view(
    a: Document, b: Document, found: Explanation, shown: Shown = "auto", asked: PageQuery | None = None
) -> SimpleNamespace:
    """Return what the page of two documents shows; passages are searched in the first ``MOST`` characters.

    *shown* chooses the whole texts, or only the first words of shared passages; ``"auto"`` shows the whole texts on
    wide screens. *asked* is the search that the page links back to.
    """
    back = asked.back if asked else ""
    excerpted = excerpts_of(found, (a.text or "")[:MOST], (b.text or "")[:MOST], CONTEXT, most=PIECES)
    notes = [passages_of(found)]
    if found.passages:
        notes.append("Each passage links to its place in the other text.")
    if any(len(one.text or "") > MOST for one in (a, b)):
        notes.append(f"Only the first {MOST:,} characters of each text are shown and searched for passages.")
    how = "on their texts" if found.verified else "by their signatures"
    answer = f"These two {'repeat' if found.matches else 'do not repeat'} each other, by the rule of the index, {how}"
    return SimpleNamespace(
        matches=found.matches,
        answer="Both are the same document" if a.id == b.id else answer,
        decision=printable(f"{found.scheme}: {value_of(found)}; rule: {found.rule}"),
        estimate=printable(f"Signatures alone: {estimate_of(found.estimate)}"),
        measures=(
            ("Resemblance", decimals(found.resemblance), "shared, of all that both have"),
            ("A in B", percent(found.a_in_b), "of A is in B"),
            ("B in A", percent(found.b_in_a), "of B is in A"),
        ),
        notes=tuple(notes),
        sides=tuple(_side(back, *side) for side in zip("AB", (a, b), excerpted, ("ab", "ba"), strict=True)),
        shown=shown,
        ways=tuple(
            LinkChoice(label, linked(COMPARE, back, a=a.id, b=b.id, shown=way), way == shown)
            for way, label in (("whole", "whole texts"), ("differences", "differences only"))
        ),
        search=asked,
    )


def _side(back: str, letter: str, document: Document, excerpted: Excerpt, anchors: str) -> SimpleNamespace:
    """Return a document; *anchors* are the letters of the anchors of its passages and of their targets."""
    text = excerpted._replace(left=excerpted.left + max(0, len(document.text or "") - MOST))
    return SimpleNamespace(letter=letter, entry=entry_of(document, back), text=text, anchors=anchors)
