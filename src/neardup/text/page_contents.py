"""Contents of pages in a temporary file, so that a later pass of a run need not parse these pages again."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from hashlib import blake2b
from typing import Final
from urllib.parse import quote

from neardup.text.html import PageContent

Found = tuple[PageContent, str]  # and the view that it has
Find = Callable[[str, str], Found | None]  # of a decoded page and the view that is asked for

_MADE: Final = "CREATE TABLE IF NOT EXISTS contents (key BLOB PRIMARY KEY, text, title, canonical, lang, noindex, view)"
_ADDED: Final = "INSERT OR IGNORE INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)"
_FOUND: Final = "SELECT text, title, canonical, lang, noindex, view FROM contents WHERE key = ?"


class PageContents:
    """Contents of pages in a file at *path*, by the digest of the decoded page and the view that was asked for.

    Several processes may read them. A process has a few megabytes of them in memory, regardless of their number. A file
    that cannot be written or read any more has no contents: pages are then read as without it.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def add(self, asked: str, contents: Iterable[tuple[bytes, PageContent, str]]) -> None:
        """Add contents with the digest of the page and the view that they have; *asked* is that of the request."""
        rows = ((key + asked.encode(), *content, view) for key, content, view in contents)
        with suppress(sqlite3.Error), closing(sqlite3.connect(self.path)) as file, file:
            file.execute("PRAGMA synchronous = OFF")
            file.execute(_MADE)
            file.executemany(_ADDED, rows)

    @contextmanager
    def opened(self) -> Iterator[Find]:
        """Return a function that finds the content of a decoded page in the view that is asked for, if it is known."""
        with ExitStack() as files:
            file = None
            with suppress(sqlite3.Error):
                uri = f"file:{quote(self.path)}?mode=ro"
                file = files.enter_context(closing(sqlite3.connect(uri, uri=True)))

            def find(page: str, asked: str) -> Found | None:
                with suppress(sqlite3.Error):
                    if file is not None and (row := file.execute(_FOUND, (digest(page) + asked.encode(),)).fetchone()):
                        text, title, canonical, lang, noindex, view = row
                        return PageContent(text, title, canonical, lang, bool(noindex)), view
                return None

            yield find


def digest(page: str) -> bytes:
    """Return BLAKE2b, 16 bytes, of a decoded page."""
    return blake2b(page.encode("utf-8", "surrogatepass"), digest_size=16).digest()
