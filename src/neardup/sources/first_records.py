"""The first records of an input, which show how much memory all its documents need."""

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

from neardup.sources.collection import Extent, InputPiece
from neardup.sources.compression import expansion_rate, identity, load, stream
from neardup.sources.folder import Folder, documents_in
from neardup.sources.formats import WARC, Kind, input_kind
from neardup.sources.lines import blocks_of_lines
from neardup.sources.request import Request
from neardup.sources.shards import Shards

_FIRST: Final = 1 << 20  # bytes that are read
_FURTHER: Final = 1 << 5  # times as many that are read of an archive without a page among the first, as of images
_PAGE: Final = 1600  # bytes of the fields and the place of a page of an archive


class FirstRecords(NamedTuple):
    """The first records of an input, which has about *times* as many.

    While they are used, *held* more bytes are in memory: those of the other columns of Parquet, of the fields of an
    archive, or of the lines of a compressed file. Plain files are read again.
    """

    piece: InputPiece
    times: float
    held: int = 0


def first_records(path: str, request: Request) -> FirstRecords:
    """Return the first records of a file or of a folder of documents. Raises the errors of ``Shards.pieces_of``."""
    if Path(path).is_dir():
        files, _ = documents_in(path, request.glob)
        sizes = accumulate(Path(path, name).stat().st_size for name in files)
        some = next((number for number, size in enumerate(sizes, 1) if size >= _FIRST), len(files))
        return FirstRecords(Folder(path, request, files[:some]), len(files) / some)
    found = input_kind(path, request.format)
    shards = Shards((path,), request, shards=[], identities=[identity(path)], size=_FIRST, kinds=[found])

    def first(end: int) -> Any:
        return next(shards.pieces_of(Extent(source=0, begin=0, end=end, first=1, size=end), whole=True))

    whole = Path(path).stat().st_size
    if found.format == WARC:
        return _of_archive(first, whole)
    if found.format == "parquet":
        return _of_parquet(first, path)
    end, read, held = whole, min(whole, _FIRST), 0  # read: a part of the whole, in the same unit
    if found == Kind("jsonl"):
        end = read = next((len(block) for _, block, _ in blocks_of_lines(load(path), _FIRST)), 0)
    elif found.compression is not None:
        whole = round(whole * expansion_rate(path, found.compression))
        read = held = len(next(stream(path, found.compression, request.max_bytes, _FIRST), b""))
    return FirstRecords(first(end), _times(whole, read), held)


def _of_archive(first: Callable[[int], Any], whole: int) -> FirstRecords:
    """Return the first pages; *first* returns those of the records that begin in some first bytes."""
    read = min(whole, _FIRST)
    piece = first(read)
    if not len(piece):
        read = min(whole, _FURTHER * _FIRST)
        piece = first(read)
    read = min(read, piece.reached) if piece.size >= _FIRST else read  # the rest is another piece
    return FirstRecords(piece, _times(whole, read), len(piece) * _PAGE)


def _of_parquet(first: Callable[[int], Any], path: str) -> FirstRecords:
    """Return the first records; *first* returns those of some first row groups."""
    from neardup.sources.parquet import group_sizes

    rows, _ = group_sizes(path)
    piece = first(len(rows))
    held = max(0, sum(part.nbytes for part in piece.rows()) - piece.texts.nbytes)
    return FirstRecords(piece, _times(sum(rows), len(piece) + len(piece.rejected)), held)


def _times(whole: int, read: int) -> float:
    return max(1.0, whole / max(1, read))
