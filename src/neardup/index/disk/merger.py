"""Merging segments, and writing the next state of an index: first new files, then their manifest."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from neardup.index.disk.arrays import ArraysWriter, Stored
from neardup.index.disk.columns import flattened
from neardup.index.disk.files import Disk
from neardup.index.disk.log import LogWriter
from neardup.index.disk.manifest import UNFINISHED, Manifest
from neardup.index.disk.part import Written, alive_in
from neardup.index.disk.segment import Segment, write_segment
from neardup.model.arrays import Positions

if TYPE_CHECKING:
    from neardup.index.disk.reader import Reader

FAN: Final = 4  # segments of similar size that are merged into one
UPDATES: Final = "updates of an index"
PREFIXES: Final = ("segment-", "log-", "updates-")

_NOTHING: Final = np.empty(0, np.int64)
_BYTES_WHILE_MERGING: Final = 32  # the most bytes of a list entry


def tail(segments: Sequence[Segment], most: int) -> int | None:
    """Return the first of the last segments to be merged; ``None`` for few of one size, or too large ones."""
    levels = [segment.documents.bit_length() // 2 for segment in segments]  # logarithms to the base of ``FAN``
    run = 0
    while run < len(levels) and levels[-1 - run] <= levels[-1]:
        run += 1
    begin = len(levels) - run
    enough = run >= FAN and sum(segment.documents for segment in segments[begin:]) <= most
    return begin if enough else None


def groups(segments: Sequence[Segment], most: int) -> list[list[Segment]]:
    """Group neighbours of at most *most* documents together."""
    found: list[list[Segment]] = []
    for segment in segments:
        if found and sum(alive_in(part) for part in (*found[-1], segment)) <= most:
            found[-1].append(segment)
        else:
            found.append([segment])
    return found


def most_documents(segments: Sequence[Segment], memory: int) -> int:
    """Return how many documents a merged segment may have, so that its longest list fits into the *memory*."""
    entries = max([1, *(segment.longest_list // max(segment.documents, 1) for segment in segments)])
    return memory // (_BYTES_WHILE_MERGING * entries)


def commit(
    index: "Reader",
    before: Manifest,
    parts: Iterable[Segment | Sequence[Written]],
    *,
    first: int | None = None,
    removed: Callable[[], Positions] = lambda: _NOTHING,
) -> tuple[Manifest, list[Segment], LogWriter | None]:
    """Commit the next state of an index.

    *parts* are existing segments, and groups of parts that are each written as one segment; groups without documents
    are left out. *first* is the number of the first record of a new log; ``None`` keeps the log. *removed* is called
    after the last part was taken: the documents with these ordinals are left out. Returns the manifest, the segments
    and, if that is new, the log.
    """
    disk, folder, numbers = index.disk, index.folder, count(before.next_file)
    number, segments = before.next_file, list[Segment]()  # the last number: files of different kinds may share it
    for part in parts:
        if isinstance(part, Segment):
            segments.append(part)
        elif any(map(alive_in, part)):
            number = next(numbers)
            stored = write_segment(disk, folder / f"segment-{number:08}", index.columns, part, index.lookup)
            segments.append(index.segment(stored))
    ordinals = removed()
    for segment in segments:
        segment.update_removed(ordinals)
    name, mark = f"log-{number:08}", bytes.fromhex(before.mark)
    log = None if first is None else LogWriter.create(disk, folder / name, mark, first)
    with log.closed_on_failure() if log else nullcontext():
        changed: dict[str, Any] = {"log": name, "sealed": log.tail.end} if log else {}
        following = replace(
            before,
            next_file=number + 1,
            next_ordinal=max([before.next_ordinal, *(segment.last + 1 for segment in segments)]),
            segments=tuple(segment.stored for segment in segments),
            updates=_write_updates(index, folder / f"updates-{number:08}", segments),
            **changed,
        )
        return following.commit(disk, folder), segments, log


def discard(disk: Disk, folder: Path, number: int) -> None:
    """Remove the files of a failed commit at once, as they may fill the disk, unless the commit reached the disk.

    Its files have this number or later ones.
    """
    with suppress(OSError):  # the next writer removes what is left
        if Manifest.read(disk, folder).next_file <= number:
            for name in disk.names(folder):
                if any(name.startswith(prefix) and name >= f"{prefix}{number:08}" for prefix in PREFIXES):
                    disk.remove(folder / name)
            disk.remove(folder / UNFINISHED)


def _write_updates(index: "Reader", path: Path, segments: Sequence[Segment]) -> Stored | None:
    """Write the changes of documents in segments since these were written, and the latest removals."""
    if not (index.removals or any(part.is_changed for part in segments)):
        return None
    with ArraysWriter(index.disk, path, UPDATES) as writer:
        writer.add("removed", np.concatenate([_NOTHING, *(part.removed for part in segments if len(part.alive))]))
        for name in index.columns.changing:
            pairs = [part.changes(name) for part in segments]
            writer.add(name, np.concatenate([_NOTHING, *(ordinals for ordinals, _ in pairs)]))
            new = index.columns.joined(name, [values for _, values in pairs])
            for own, array in flattened({f"new.{name}": new}).items():
                writer.add(own, array)
        index.removals.write(writer)
        return writer.finish({})
