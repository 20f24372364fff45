"""The text of web pages: their main text, or all that is visible."""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, NamedTuple, Self, cast, get_args

import numpy as np

from neardup.model.errors import ParameterError, counted, require, require_choice, require_kind, require_sequence
from neardup.text.charsets import SINGLE_BYTE
from neardup.text.host_templates import HostTemplates, Template
from neardup.text.html import (
    LARGEST_PAGE,
    PageContent,
    capped,
    decoded,
    decoded_as,
    encoded,
    require_page,
    visible_content,
    visible_contents,
)
from neardup.text.main_text import detected, installed, main_text
from neardup.text.page_contents import Find, Found, PageContents, digest

View = Literal["auto", "main", "visible"]

_LEAST: Final = 5  # letters of visible text for each of main text, at most
_UNKNOWN: Final = "\ufffd"
_HANGUL: Final = re.compile("[가-힣]{2,}")

LONG_LINES: Final = {"words": 5, "least": 50}
"""The words of a line of a text that is not short, and those of all such lines of a text that are enough.

Which texts of a host are different is decided by these lines: a long menu makes all texts of its host similar.
"""
OTHER_LINES: Final = {"links": "ignored", "notices": "ignored"}
"""Lines that do not count on pages of a host with a template, besides those of the template; part of their rule."""


class Pages(NamedTuple):
    """What was read of some pages, an element for each.

    *texts* begin with the title. *titles*, *canonicals* (addresses as written, empty where several differ) and *langs*
    are ``None`` where a page has none; *views* are ``main`` or ``visible``. *noindex* is 1 where the head asks search
    engines not to index the page, otherwise 0. *sites* are those of ``neardup.text.sites``: 0 for a page that is
    compared like any other, and without templates for every page.
    """

    texts: list[str]
    titles: list[str | None]
    canonicals: list[str | None]
    langs: list[str | None]
    views: list[str]
    sites: list[int]
    noindex: list[int]


class BothViews(NamedTuple):
    """The content of a page in its main and in its visible view, its digest, and the view in which it is read.

    *visible* has no lines of links only, as pages of a host with a template are read; *shown* is all visible text.
    A text without markup has no digest.
    """

    digest: bytes | None
    main: PageContent
    visible: PageContent
    view: str
    shown: str

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return those of a text that was extracted before, as in a WET file: its only view is the visible one.

        It is not known which lines are links; instead, the views are without short lines, if enough is left.
        """
        lines = [line for line in text.splitlines() if len(line.split()) >= LONG_LINES["words"]]
        few = sum(map(len, map(str.split, lines))) < LONG_LINES["least"]
        content = PageContent(text if few else "\n".join(lines), None, None, None)
        return cls(None, content, content, "visible", text)

    def read(self, asked: View) -> Found:
        """Return the content that is read, and its view; *asked* is the view of the extraction, or the visible one."""
        return (self.visible, "visible") if "visible" in {asked, self.view} else (self.main, self.view)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """How a web page becomes text.

    ``view``
        ``visible``: all visible text (see ``visible_text``). ``main``: the main text, without navigation,
        advertisements, the comments of readers and other parts that belong to the site; a page whose markup would take
        too much time or memory is read as ``visible``. ``auto``: like ``main``, but also a page whose main text has
        less than a fifth of the letters (bytes of UTF-8 that are not white space) of its visible text is read as
        ``visible``.

    In every view, the title of the page is the first line, and only the first 16 MiB of a page are read. Bytes are
    decoded by their byte order mark, the charset that HTTP declares, that of the markup, or as UTF-8. If this yields
    U+FFFD, ``main`` and ``auto`` use the encoding that the bytes look like, if that yields fewer; an encoding of one
    byte, in which nearly all bytes are valid, only if half of the characters beyond ASCII are U+FFFD.

    ``main`` and ``auto`` need the library resiliparse (extra ``warc``), and depend on its version.

    ``templates``
        lines that do not count, of each host (see ``learn_templates``). On pages of these hosts, lines of
        visible text whose words are all in links do not count either, nor do copyright notices, which have the sign ©,
        and what follows one in the last quarter of a page. With ``auto``, templates also decide which view the pages of
        a host have. A *thin* page, which has fewer than 12 words besides all these lines, keeps all visible text; it
        matches only thin pages of its host, from a resemblance of 0.9. Two pages of one host without a template match
        from 0.8, and from 0.9 if both have hardly any main text.

    ``known``
        contents of pages that this run has extracted before, which need not be extracted again. They change no result.
    """

    view: View = "auto"
    templates: HostTemplates | None = None
    known: PageContents | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_choice("view", self.view, get_args(View), "must be auto, main or visible")
        if self.known is not None:
            require_kind("known", self.known, PageContents)
        if self.templates is not None:
            require_kind("templates", self.templates, HostTemplates)
            own = replace(self, templates=None).identity | OTHER_LINES
            if self.templates.rule.get("extraction") != own:
                raise learned_otherwise(self.templates, own)

    @property
    def identity(self) -> dict[str, str | None]:
        """What decides the text of a page: the view, the library, and the templates."""
        templates = {} if self.templates is None else {"templates": self.templates.identity}
        return {"text_view": self.view, "extractor": self.extractor, **templates}

    def follows(self, known: Mapping[str, str | None]) -> bool:
        """Return whether texts with this identity can be compared with those of this extraction.

        They can if they are read in the same way, or with templates that those of this extraction have replaced. Two
        pages that are read with different templates of a host resemble each other at most as much as without the lines
        of both.
        """
        own, before = self.identity, known.get("templates")
        replaced = self.templates is not None and before in self.templates.earlier
        return known == own or (replaced and {**known, "templates": own["templates"]} == own)

    @classmethod
    def of(cls, known: Mapping[str, str | None], templates: Callable[[], HostTemplates | None]) -> Self:
        """Return the extraction with an identity, whose *templates* are read; without them for another library."""
        plain = cls(view=cast("View", known["text_view"]))
        return plain if plain.extractor != known["extractor"] else replace(plain, templates=templates())

    @property
    def extractor(self) -> str | None:
        """The library that the text depends on, with its version; ``None`` if there is none, or not here."""
        return None if self.view == "visible" else installed()

    def to_dict(self) -> dict[str, str | None]:
        """Return the extraction as plain values, without the contents that are known."""
        templates = None if self.templates is None else b64encode(self.templates.to_bytes()).decode()
        return {"view": self.view, "templates": templates}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return the extraction that ``to_dict`` described; ``DataError`` if its templates are damaged."""
        packed = given["templates"]
        templates = None if packed is None else HostTemplates.from_bytes(b64decode(packed), "templates")
        known = PageContents(given["known"]) if "known" in given else None
        return cls(view=given["view"], templates=templates, known=known)

    def pages(
        self, markup: Sequence[bytes | str], declared: Sequence[str | None] = (), hosts: Sequence[str | None] = ()
    ) -> Pages:
        """Read some pages; *declared* are the charsets that HTTP declares, if any. A string is decoded already.

        *hosts* are those of the pages, which templates need, as ``neardup.urls.host`` returns them. No page raises an
        error. Raises ``DataError`` for a page that is neither bytes nor a string, ``ParameterError`` for fewer or more
        charsets or hosts than pages, for a charset that is neither a string nor ``None`` and, with templates, for a
        host that is not in normal form, and ``ExtraMissing`` without the library that the view needs.
        """
        return self.pages_with_whole_texts(markup, declared, hosts, whole=False)[0]

    def pages_with_whole_texts(
        self, markup: Sequence[bytes | str], declared: Sequence[str | None], hosts: Sequence[str | None], *, whole: bool
    ) -> tuple[Pages, list[str | None]]:
        """Read some pages as ``pages`` does, and return their *whole* texts, too, with the lines of templates.

        ``None`` where they are the same texts, and everywhere if they are not wanted.
        """
        _require_lists(markup, declared, hosts)
        charsets = declared or [None] * len(markup)
        templates: list[Template | None] = [None] * len(markup)
        if self.templates is not None and hosts:
            templates = [*map(self.templates.get, hosts)]
        opened: AbstractContextManager[Find] = self.known.opened() if self.known else nullcontext(lambda *_: None)
        with opened as known:
            found = [self._read(*asked, known) for asked in zip(markup, charsets, templates, strict=True)]
        contents, views = [content for content, _ in found], [view for _, view in found]
        read = [content.whole for content in contents]

        def shown(number: int) -> str:
            return visible_content(self.decoded(markup[number], charsets[number])).whole

        texts, sites = read, [0] * len(read)
        if self.templates is not None and hosts:
            all_shown = [view == "visible" != self.view for view in views]
            texts, sites = texts_without_templates(self.templates, read, hosts, all_shown, shown)
        wholes: list[str | None] = [None] * len(read)
        for number, template in enumerate(templates if whole else ()):
            if template is not None:
                wholes[number] = shown(number) if views[number] == "visible" else read[number]
        found_pages = Pages(
            texts,
            [content.title for content in contents],
            [content.canonical for content in contents],
            [content.lang for content in contents],
            views,
            sites,
            [int(content.noindex) for content in contents],
        )
        return found_pages, wholes

    def both(self, page: bytes | str, declared: str | None = None) -> BothViews:
        """Return the content of a page in its main view, regardless of its size, and in its visible view.

        The main view of a page that cannot be parsed, and of ``Extraction(view="visible")``, is its visible view.
        """
        text = self.decoded(page, declared)
        shown, visible = visible_contents(text)
        main = None if self.view == "visible" else _main(text)
        if main is None:
            return BothViews(digest(text), visible, visible, "visible", shown.whole)
        poor = self.view == "auto" and _instead(*main, lambda: visible) is not None
        return BothViews(digest(text), main[0], visible, "visible" if poor else "main", shown.whole)

    def view_with(self, template: Template | None) -> View:
        """Return the view in which the pages of a host with this template, or without one, are read."""
        by_template = self.view == "auto" and template is not None and template.view == "visible"
        return "visible" if by_template else self.view

    def _read(self, page: bytes | str, declared: str | None, template: Template | None, known: Find) -> Found:
        """Return the content of a page of a host with this template, or without one, and the view that it has."""
        text, view = self.decoded(page, declared), self.view_with(template)
        if template is None:
            return _content(text, view, links=True)
        return known(text, view) or _content(text, view, links=False)

    def decoded(self, page: bytes | str, declared: str | None = None, *, markup: bool = True) -> str:
        """Return a page as the string that is read, without what follows its first 16 MiB.

        Without *markup*, it is plain text, which declares no charset itself. Raises ``ExtraMissing`` if the charset of
        a page of HTML must be detected without the library of the view.
        """
        page = capped(page)[0]
        text = page if isinstance(page, str) else decoded(page, declared, markup=markup)
        if len(page) == LARGEST_PAGE:  # it may have been cut inside a character
            text = text.removesuffix(_UNKNOWN)
        can_detect = self.view != "visible" and (markup or installed())
        if can_detect and isinstance(page, bytes) and _UNKNOWN in text:
            text = _closest(page, text)
        return text


def _require_lists(markup: Sequence[bytes | str], declared: Sequence[str | None], hosts: Sequence[str | None]) -> None:
    """Raise the errors of ``Extraction.pages`` for lists of other values, or of different lengths."""
    require_sequence("markup", markup, "pages")
    for position, page in enumerate(markup):
        require_page(f"page {position}", page)
    rule = f"must be a list with one item for each of {counted(len(markup), 'page')}"
    for name, given in (("declared", declared), ("hosts", hosts)):
        require(not isinstance(given, str) and len(given) in {0, len(markup)}, name, given, rule)
    for charset in declared:
        require(isinstance(charset, str | None), "declared", charset, "must be a string, or None, for each page")


def _closest(page: bytes, text: str) -> str:
    """Return a page decoded by the charset that it looks like, if that fits better than its *text*, which has U+FFFD.

    In charsets of one byte, nearly all bytes are valid. So they only fit better if half of the characters beyond ASCII
    are U+FFFD: one damaged character must not change how a page of UTF-8 is read.
    """
    unknown = text.count(_UNKNOWN)
    if unknown <= page.count(_UNKNOWN.encode()):  # the page has them itself
        return text
    charset = detected(page)
    if charset not in SINGLE_BYTE:
        other = decoded_as(page, charset)
        if other.count(_UNKNOWN) < unknown:
            return other
        charset = "cp949" if _is_korean(page) else "cp1252"  # that of most pages without a charset
    if 2 * unknown < len(text) - len(text.encode("ascii", "ignore")):
        return text
    return min(text, decoded_as(page, charset), key=lambda one: one.count(_UNKNOWN))


def _is_korean(page: bytes) -> bool:
    """Return whether a page is Korean in EUC-KR, which resiliparse does not detect.

    Most characters beyond ASCII are Hangul then, next to each other: single ones are accents in other charsets.
    """
    text = decoded_as(page, "cp949")
    hangul = sum(map(len, _HANGUL.findall(text)))
    return 2 * hangul > len(text) - len(text.encode("ascii", "ignore"))


def texts_without_templates(
    templates: HostTemplates,
    texts: Sequence[str],
    hosts: Sequence[str | None],
    all_shown: Sequence[bool],
    shown: Callable[[int], str],
) -> tuple[list[str], list[int]]:
    """Return texts of pages without the templates of their hosts, and the sites of the pages.

    Those of thin pages are all visible text, which *shown* returns. *all_shown* are the pages whose texts are all
    visible text because there is hardly any main text.
    """
    from neardup.text.lines import Lines  # it loads Numba
    from neardup.text.sites import THIN, site

    lines = Lines.of(texts)
    numbers = templates.numbers(hosts)
    flags = lines.listed(numbers, templates.terms, templates.begins)
    flags |= lines.notices() & np.repeat(numbers >= 0, np.diff(lines.parts))
    found = lines.others(flags)
    thin = (numbers >= 0) & (lines.words_left(flags) < THIN)
    for page in np.flatnonzero(thin).tolist():
        found[page] = shown(page)
    sites = [
        site(own, thin=few, whole=whole) if own is not None and (few or number < 0) else 0
        for own, few, number, whole in zip(hosts, thin.tolist(), numbers.tolist(), all_shown, strict=True)
    ]
    return found, sites


def _content(text: str, view: View, *, links: bool) -> Found:
    """Return the content of a page in a view, and the view that it has; *links* are those of ``visible_content``."""
    main = None if view == "visible" else _main(text)
    if main is None:
        return visible_content(text, links=links), "visible"
    visible = _instead(*main, partial(visible_content, text, links=links)) if view == "auto" else None
    return (main[0], "main") if visible is None else (visible, "visible")


def _instead(main: PageContent, shown: int, visible: Callable[[], PageContent]) -> PageContent | None:
    """Return the *visible* content if ``auto`` reads it instead of this *main* content, otherwise ``None``."""
    letters = _LEAST * _letters(main.text)
    return content if letters < shown and letters < _letters((content := visible()).text) else None


def _main(text: str) -> tuple[PageContent, int] | None:
    """Return the main content of a page, and more than the letters that visible text can have.

    ``None`` if a parser cannot bear the page.
    """
    from neardup.text.markup import shape  # it loads Numba

    text, page = encoded(text)
    measured = shape(page)
    content = main_text(text) if measured.bearable else None
    return None if content is None else (content, measured.shown)


def other_extraction(known: Mapping[str, str | None], own: Mapping[str, str | None]) -> tuple[str, str]:
    """Return why *own* pages cannot be compared with *known* ones, read in another way, and a code for that."""
    views = known["text_view"], own["text_view"]
    if views[0] != views[1]:
        rule = f"its pages were read in the text view {views[0]}, and the new ones in the text view {views[1]}"
        return rule, "other view"
    if known.get("extractor") != own.get("extractor"):
        rule = f"its pages were read by {known.get('extractor')}, and the new ones are read by {own.get('extractor')}"
        return rule, "other version"
    before, now = known.get("templates"), own.get("templates")
    if before is None:
        return f"its pages were read without templates, and the new ones with the templates {now}", "no templates"
    if now is None:
        return f"its pages were read with the templates {before}, and the new ones without", "templates needed"
    rule = f"its pages were read with the templates {before}, and the new ones with the templates {now}"
    return f"{rule}, which were not made of those", "other templates"


def learned_otherwise(templates: HostTemplates, own: Mapping[str, str | None]) -> ParameterError:
    """Return the error for templates that were not learned from pages which are read as *own*, or by another rule."""
    learned: Mapping[str, str | None] = templates.rule.get("extraction") or {}
    before, now = learned.get("text_view"), own["text_view"]
    if before and before != now:
        rule = f"it is for pages in the text view {before}, and pages are read in the view {now} here"
        return ParameterError("templates", str(templates), f"cannot be used: {rule}", "other view")
    others, mine = learned.get("extractor"), own.get("extractor")
    why = "another version of neardup learned it, by another rule"
    if before and others != mine:
        why = f"its pages were read by {others or 'another library'}, and by {mine or 'none'} now"
    return ParameterError("templates", str(templates), f"cannot be used: {why}; learn them again")


def _letters(text: str) -> int:
    return len("".join(text.split()).encode())
