"""The text of web pages: their main text, or all that is visible."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final, Literal, NamedTuple, get_args

from neardup.model.errors import require
from neardup.text.html import PageContent, decoded, visible_content, without_surrogates
from neardup.text.main_text import detected, installed, main_text

View = Literal["auto", "main", "visible"]

_LEAST: Final = 5  # letters of visible text for each of main text, at most
_UNKNOWN: Final = "\ufffd"


class Pages(NamedTuple):
    """What was read of some pages, an element for each.

    *texts* begin with the title. *titles*, *canonicals* (addresses as written) and *langs* are ``None`` where a page
    has none; *views* are ``main`` or ``visible``.
    """

    texts: list[str]
    titles: list[str | None]
    canonicals: list[str | None]
    langs: list[str | None]
    views: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """How a web page becomes text.

    ``view``
        ``visible``: all visible text (see ``neardup.visible_text``). ``main``: the main text, without navigation,
        advertisements and other parts that belong to the site; a page whose markup would take too much time or memory
        is read as ``visible``. ``auto``: like ``main``, but also a page whose main text has less than a fifth of the
        letters (bytes of UTF-8 that are not white space) of its visible text is read as ``visible``.

    In every view, the title of the page is the first line. Bytes are decoded by their byte order mark, the charset that
    HTTP declares, that of the markup, or as UTF-8. If this yields U+FFFD, ``main`` and ``auto`` use the encoding that
    the bytes look like, if that yields fewer.

    ``main`` and ``auto`` need the library resiliparse (extra ``warc``), and depend on its version.
    """

    view: View = "auto"

    def __post_init__(self) -> None:
        require(self.view in get_args(View), "view", self.view, "must be auto, main or visible")

    @property
    def identity(self) -> dict[str, str | None]:
        """What decides the text of a page: the view, and the library."""
        return {"text_view": self.view, "extractor": self.extractor}

    @property
    def extractor(self) -> str | None:
        """The library that the text depends on, with its version; ``None`` if there is none, or not here."""
        return None if self.view == "visible" else installed()

    def pages(self, markup: Sequence[bytes | str], declared: Sequence[str | None] = ()) -> Pages:
        """Read some pages; *declared* are the charsets that HTTP declares, if any. A string is decoded already.

        No page raises an error. Raises ``ExtraMissing`` without the library that the view needs.
        """
        found = [self._read(page, charset) for page, charset in zip(markup, declared or repeat(None), strict=False)]
        contents = [content for content, _ in found]
        return Pages(
            [content.whole for content in contents],
            [content.title for content in contents],
            [content.canonical for content in contents],
            [content.lang for content in contents],
            [view for _, view in found],
        )

    def _read(self, page: bytes | str, declared: str | None) -> tuple[PageContent, str]:
        """Return the content of a page, and the view that it has."""
        text = page if isinstance(page, str) else decoded(page, declared)
        if self.view == "visible":
            return visible_content(text), "visible"
        if isinstance(page, bytes) and _UNKNOWN in text:
            text = min(text, detected(page), key=lambda one: one.count(_UNKNOWN))
        text = without_surrogates(text.removeprefix("\ufeff"))
        from neardup.text.markup import shape  # it loads Numba

        measured = shape(text.encode())
        if not measured.bearable:
            return visible_content(text), "visible"
        main = main_text(text)
        letters = _letters(main.text)
        if self.view == "auto" and _LEAST * letters < measured.shown:  # more than visible text can have
            visible = visible_content(text)
            if _LEAST * letters < _letters(visible.text):
                return visible, "visible"
        return main, "main"


def other_extraction(known: Mapping[str, str | None], own: Mapping[str, str | None]) -> str:
    """Return why pages that were extracted in two ways cannot be compared."""
    before, now = (
        " by ".join(filter(None, (f"text view {one['text_view']}", one["extractor"]))) for one in (known, own)
    )
    return f"the texts of its pages were extracted as {before}, and cannot be compared with {now}"


def _letters(text: str) -> int:
    return len("".join(text.split()).encode())
