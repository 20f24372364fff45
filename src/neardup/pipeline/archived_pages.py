"""The pages of web archives as JSON lines, for ``crawl_stream``."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

import msgspec
import pyarrow as pa

from neardup.model.errors import require
from neardup.sources.archives import pieces_of
from neardup.sources.collection import DEFAULT_ID, DEFAULT_TEXT, Collection, Rejected
from neardup.sources.formats import WARC, common_format, expand
from neardup.sources.read import MAX_BYTES, request_of
from neardup.sources.remote import fetched
from neardup.text.extraction import Extraction

_PIECE: Final = 1 << 22  # bytes of text in the pages that are read together
_PLACE: Final = ("warc_filename", "warc_record_offset")


class ArchivedPages:
    """The pages of archives, some at a time: their JSON lines, and for each the place of its record.

    A line has the text, the address and the id under the names *text*, *url* and *id*, and all other fields of the
    page. *rejected* and *skipped* are those of the pieces that were read.
    """

    def __init__(
        self,
        inputs: Sequence[str | os.PathLike[str]],
        *,
        text: str = DEFAULT_TEXT,
        url: str = "url",
        id: str = DEFAULT_ID,  # noqa: A002 - the field's name, as everywhere
        extraction: Extraction,
    ) -> None:
        """Raise ``InputRefused`` for inputs that do not exist, and ``ParameterError`` for inputs of other formats."""
        self._paths = expand(inputs)
        found = common_format(self._paths)
        rule = f"must be web archives, not {found}; other pages are read from standard input, as JSON lines"
        require(found == WARC, "inputs", None, rule)
        self._names = {"text": text, "url": url, "id": id}
        given: dict[str, Any] = {"text": DEFAULT_TEXT, "id": DEFAULT_ID, "columns": (), "format": None}
        given |= {"quoting": "auto", "glob": (), "strict": False, "max_bytes": MAX_BYTES}
        self.extraction = extraction
        self._request = request_of(**given, extraction=extraction)
        self.rejected: list[Rejected] = []
        self.skipped: Counter[str] = Counter()

    def __iter__(self) -> Iterator[tuple[list[bytes], list[dict[str, Any]]]]:
        """Yield the lines of some pages, and the places of their records."""
        with fetched(self._paths) as (local, folder):
            for path in local:
                size = Path(path).stat().st_size
                for piece in pieces_of(path, self._request, 0, size, _PIECE, markup=False):
                    self.rejected += piece.rejected
                    self.skipped += Counter(piece.skipped)
                    if len(piece):
                        yield self._lines(piece), piece.places().select(_PLACE).to_pylist()
            if folder is not None:
                rmtree(folder, ignore_errors=True)

    def _lines(self, piece: Collection) -> list[bytes]:
        table = pa.concat_tables(piece.rows())
        names = [self._names.get(name, name) for name in table.column_names]
        encode = msgspec.json.Encoder().encode
        return [
            encode({name: value for name, value in zip(names, values, strict=True) if value is not None})
            for values in zip(*(column.to_pylist() for column in table.columns), strict=True)
        ]
