"""Merging segments, and writing the next state of an index: first new files, then their manifest."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from neardup.index.disk.arrays import ArraysWriter, Stored
from neardup.index.disk.columns import Columns, Lookup, flattened
from neardup.index.disk.files import Disk
from neardup.index.disk.growing_part import GrowingPart
from neardup.index.disk.latest_changes import Removals
from neardup.index.disk.log import LogWriter
from neardup.index.disk.manifest import UNFINISHED, Manifest
from neardup.index.disk.part import Part, alive_in
from neardup.index.disk.segment import Segment, write_segment
from neardup.model.arrays import Positions

FAN: Final = 4  # segments of similar size that are merged into one
UPDATES: Final = "updates of an index"
PREFIXES: Final = ("segment-", "log-", "updates-")

_BYTES_WHILE_MERGING: Final = 32  # the most bytes of a list entry


class Files(NamedTuple):
    """Where the files of an index are, what they hold, how a new segment is opened, and the latest removals."""

    disk: Disk
    folder: Path
    columns: Columns
    lookup: Lookup
    opened: Callable[[Stored], Segment]
    removals: Removals


class Committed(NamedTuple):
    """A committed state: its manifest and segments, and its log if that is new."""

    manifest: Manifest
    segments: list[Segment]
    log: LogWriter | None


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


def write(
    files: Files, before: Manifest, segments: Sequence[Segment | None], merged: Sequence[Part], first: int | None
) -> Committed:
    """Write *merged* parts as one segment, in place of ``None`` or at the end, and commit that as the next state.

    *first* is the number of the first record of a new log; ``None`` keeps the log.
    """
    disk, folder, number = files.disk, files.folder, before.next_file
    kept = [part for part in segments if part is not None]
    if any(map(alive_in, merged)):
        stored = write_segment(disk, folder / f"segment-{number:08}", files.columns, merged, files.lookup)
        kept.insert(segments.index(None) if None in segments else len(segments), files.opened(stored))
    name, mark = f"log-{number:08}", bytes.fromhex(before.mark)
    log = None if first is None else LogWriter.create(disk, folder / name, mark, first)
    with log.closed_on_failure() if log else nullcontext():
        changed = {"log": name, "sealed": log.tail.end} if log else {}
        return Committed(_next_state(files, before, number, kept, **changed), kept, log)


def write_parts(
    files: Files, before: Manifest, parts: Iterable[GrowingPart], removed: Callable[[], Positions]
) -> Committed:
    """Write *parts* as the only segments, and commit them together, without the documents of the *removed* ordinals.

    The ordinals of the parts ascend from 0. *removed* is called after the last part was taken.
    """
    disk, folder = files.disk, files.folder
    segments: list[Segment] = []
    for number, part in enumerate(parts, before.next_file):
        stored = write_segment(disk, folder / f"segment-{number:08}", files.columns, [part], files.lookup)
        segments.append(files.opened(stored))
    ordinals = removed()
    for segment in segments:
        segment.update_removed(ordinals)
    number, ordinal = before.next_file + len(segments), segments[-1].last + 1 if segments else before.next_ordinal
    return Committed(_next_state(files, before, number, segments, next_ordinal=ordinal), segments, None)


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


def _next_state(files: Files, before: Manifest, number: int, segments: Sequence[Segment], **changed: Any) -> Manifest:
    """Commit these segments, with their updates in the file of this *number*, as the next state."""
    updates, stored = _write_updates(files, number, segments), tuple(part.stored for part in segments)
    following = replace(before, next_file=number + 1, segments=stored, updates=updates, **changed)
    return following.commit(files.disk, files.folder)


def _write_updates(files: Files, number: int, segments: Sequence[Segment]) -> Stored | None:
    """Write the changes of documents in segments since these were written, and the latest removals."""
    if not (files.removals or any(part.is_changed for part in segments)):
        return None
    nothing = np.empty(0, np.int64)
    with ArraysWriter(files.disk, files.folder / f"updates-{number:08}", UPDATES) as writer:
        writer.add("removed", np.concatenate([nothing, *(part.removed for part in segments if len(part.alive))]))
        for name in files.columns.changing:
            pairs = [part.changes(name) for part in segments]
            writer.add(name, np.concatenate([nothing, *(ordinals for ordinals, _ in pairs)]))
            new = files.columns.joined(name, [values for _, values in pairs])
            for own, array in flattened({f"new.{name}": new}).items():
                writer.add(own, array)
        files.removals.write(writer)
        return writer.finish({})
