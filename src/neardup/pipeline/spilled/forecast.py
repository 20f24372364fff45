"""Forecasts of a run in pieces from some shards: documents, disk, memory, time, and whether buckets are too full."""

import resource
import shutil
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np

from neardup.engines.resources import available_memory
from neardup.evaluation.expected_candidates import background_of, expected_candidates
from neardup.evaluation.plans import fewer_shared, smaller_buckets
from neardup.model.arrays import Signatures
from neardup.model.candidates import ROOM
from neardup.model.errors import FULL, StorageFailed
from neardup.pipeline.spilled.candidates import UNITS
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.signing import Signed
from neardup.sources.formats import Kind
from neardup.sources.shards import Shards

SHARDS: Final = 4  # that a forecast is made from, besides the first of each other format

_MEGABYTE: Final = 10**6
_SAMPLE: Final = 1 << 12  # documents
_MANY: Final = 1 << 17  # documents: in smaller collections, a few pairs in the sample would decide
_FEW: Final = 2  # keys that unrelated documents share
_ORDER: Final = 40  # bytes per document: the order, the leaders, their groups, the decisions
_PAIRS: Final = 100  # bytes per document: the plausible pairs, and their order
_ADDED: Final = 40  # bytes per leader that is added to a state: digests, lengths, its representative
_LOADED: Final = 3 * 10**8  # bytes of memory: Python, the libraries and the kernels
_HELD: Final = 80  # bytes of memory per document
_PLAIN: Final = 3.0  # the time of a run, as a multiple of that of signing
_COMPRESSED: Final = 4.2  # the same for compressed outputs


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What a run of this many *documents* needs: bytes of *disk* in the work folder, and *seconds* if it runs alone.

    Of the disk, *signed* bytes are written while the inputs are read. *memory* is that of the process that starts the
    run. *asked* is whether a run in pieces was requested; otherwise its inputs would not have fit into memory.
    """

    documents: int
    disk: int
    signed: int
    memory: int
    seconds: float
    asked: bool = True

    def __str__(self) -> str:
        minutes = f"{max(1, self.seconds / 60):,.0f} min"
        return (
            f"this run of about {self.documents:,} documents needs about {amount(self.disk)} of disk,"
            f" {amount(self.memory)} of memory and {minutes}; it needs more disk if its documents are more similar than"
            " usual"
        )


def sample_of(shards: Shards) -> list[int]:
    """Return the numbers of the first shards, and of the first shard of each format and compression."""
    kinds = [shards.kinds[shard.source] for shard in shards.shards]
    firsts = {kind: number for number, kind in reversed([*enumerate(kinds)])}
    return sorted({*range(min(SHARDS, len(kinds))), *firsts.values()})


def forecast(
    job: Job, some: Sequence[int], records: Sequence[dict[str, Any]], threads: int, memory: int = 0
) -> Forecast:
    """Return the forecast of a run from the *records* of *some* shards, with one of each format and compression.

    *memory* is that for texts and features in progress; a run uses about half of it.

    Documents are in proportion to the bytes of each format. The disk is that of the largest stage. How many documents
    have a similar one, and need their features there, is not known before: the share is that of a collection of
    technical documentation.
    """
    shards = job.shards.shards
    kinds = [job.shards.kinds[shard.source] for shard in shards]
    whole, read = Counter[Kind](), Counter[Kind]()
    for kind, shard in zip(kinds, shards, strict=True):
        whole[kind] += shard.size
    for number in some:
        read[kinds[number]] += shards[number].size
    scales = [whole[kinds[number]] / max(1, read[kinds[number]]) for number in some]

    def in_all(values: Iterable[float]) -> int:
        return round(sum(scale * value for scale, value in zip(scales, values, strict=True)))

    documents, features = (in_all(one[name] for one in records) for name in ("documents", "features"))
    stored = in_all(sum(size for size, _ in one["files"].values()) for one in records)
    similar = 0.0
    if job.policy.verify == "exact" and not job.scheme.columns:
        similar = min(1.0, max(0.0, 0.91 - 0.8 * job.scheme.threshold))
    compared = documents * _row_bytes(job)
    gathered = 8 * features * similar + documents * _PAIRS
    rates = dict[Kind, float]()  # the least of each format: the first shards load the kernels, too
    for number, one in zip(some, records, strict=True):
        rate = one["seconds"] / max(1, shards[number].size)
        rates[kinds[number]] = min(rate, rates.get(kinds[number], rate))
    signing = sum(rate * whole[kind] for kind, rate in rates.items()) / threads
    compressed = any(job.shards.kinds[shard.source].compression for shard in shards)
    return Forecast(
        documents=documents,
        signed=stored,
        disk=round(stored + documents * _ORDER + max(compared, gathered)),
        memory=_LOADED + memory // 2 + _HELD * documents,
        seconds=signing * (_COMPRESSED if compressed else _PLAIN),
    )


def warn_of_full_buckets(job: Job, signed: Signed, documents: int) -> None:
    """Warn if unrelated documents would fill the buckets among this many *documents*; recommend parameters.

    *signed* are the documents of the first shards.
    """
    scheme: Any = job.scheme
    if documents < _MANY or scheme.columns or scheme.key_count is None:
        return
    keys = signed.sample(_SAMPLE)
    if len(keys) <= 1:
        return
    found = expected_candidates(keys, documents, position_independent=scheme.position_independent, most=_FEW)
    if not found.overflows:
        return
    better = smaller_buckets(scheme, documents, background_of(scheme, found))
    numbers = "" if better is None else ", ".join(f"{name} {value:g}" for name, value in better.parameters.items())
    way_out = f"better: {better.scheme} with {numbers}" if better else fewer_shared(scheme.features_in_words)
    warnings.warn(
        f"among {documents:,} documents like the first, each bucket would have about {found.bucket:,.0f} unrelated"
        f" documents; it has room for {ROOM}, so pairs would be missed; {way_out}",
        RuntimeWarning,
        stacklevel=2,
    )


def require_room(folder: Path, needed: float, stage: str) -> None:
    """Raise ``StorageFailed`` if the file system of a folder, which may not exist yet, has less than *needed* bytes."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        there_is = amount(free // _MEGABYTE * _MEGABYTE)
        reason = f"to {stage}, about {amount(needed)} of disk are needed, and {there_is} are free"
        raise StorageFailed(str(folder), reason, FULL)


def warn_of_shortage(job: Job, found: Forecast, rest: float) -> None:
    """Warn if the disk or the memory will not suffice for a run that has to read the *rest* of its inputs."""
    folder = job.journal.folder
    needed, free = found.disk - round((1 - rest) * found.signed), shutil.disk_usage(folder).free
    if needed > free:
        warnings.warn(
            f"{folder}: this run needs about {amount(needed)} more disk space, but only {amount(free)} are free; if the"
            " disk becomes full, the run ends and can be continued",
            RuntimeWarning,
            stacklevel=2,
        )
    available = available_memory()
    if available is None:
        return
    available += resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # what this process has already
    if found.memory > available:
        warnings.warn(
            f"this run of about {found.documents:,} documents needs about {amount(found.memory)} of memory, but"
            f" only {amount(available)} are available; allow less memory for texts, or use a machine with more memory",
            RuntimeWarning,
            stacklevel=2,
        )


def bytes_to_order(documents: int) -> int:
    """Return the bytes of disk that the order or the decisions of all documents need."""
    return documents * _ORDER


def bytes_to_add(job: Job, leaders: int) -> int:
    """Return the bytes of disk that leaders need in a state."""
    return leaders * (_row_bytes(job, keys=False) + _ADDED)


def bytes_to_compare(job: Job, documents: int) -> int:
    """Return the bytes of disk that comparing the signatures needs."""
    return documents * (_row_bytes(job) + _ORDER + _PAIRS)


def bytes_to_gather(job: Job, signed: Signed) -> int:
    """Return the bytes of the features of all documents that are in a plausible pair."""
    return 8 * int(signed.column("features", np.int64)[np.asarray(job.array(UNITS, np.int32, len(signed))) >= 0].sum())


def amount(size: float) -> str:
    """Return a number of bytes for people, rounded up if it is small.

    >>> amount(2_345_678_901), amount(1_000_000)
    ('2.3 GB', '1 MB')
    """
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{ceil(size / 1e6):,} MB"  # noqa: PLR2004 - a unit


def _row_bytes(job: Job, *, keys: bool = True) -> int:
    """Return the bytes of the signature of a leader, and of its *keys*."""
    nothing = Signatures(job.no_rows(), np.empty(0, np.bool_), job.scheme.recipe)
    columns = 0 if not keys or job.scheme.position_independent else job.scheme.keys(nothing).shape[1]
    return nothing.rows.itemsize * int(np.prod(nothing.rows.shape[1:])) + 8 * columns
