"""The list of common shingles of a run in pieces, from a sample of its texts; each shard is read once for it."""

import math
from threading import Lock
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.files import naming
from neardup.engines.journal import WorkFolder
from neardup.model.arrays import Positions, Words
from neardup.pipeline.spilled.earlier_documents import mapped_table
from neardup.pipeline.spilled.job import Job
from neardup.schemes.terms import fitted_common
from neardup.text.columns import gathered
from neardup.text.common_shingles import BYTES, CommonShingles, hashed, sample_positions

_LIST: Final = "common.npz"
_SAMPLE: Final = "sample-"
_SCHEMA: Final = pa.schema([("hash", pa.uint64()), ("text", pa.large_binary())])


class Bound:
    """The largest hash that a text of the sample can have, by all texts that this process has read."""

    def __init__(self) -> None:
        self.largest = np.uint64(np.iinfo(np.uint64).max)
        self._hashes, self._lengths = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._lock = Lock()

    def add(self, hashes: Words, lengths: Positions) -> None:
        """Lower the bound by the texts of a sample."""
        with self._lock:
            both = np.concatenate([self._hashes, hashes]), np.concatenate([self._lengths, lengths])
            chosen = sample_positions(*both)
            if len(chosen) < len(np.unique(both[0])):
                self.largest = both[0][chosen[-1]]
            self._hashes, self._lengths = both[0][chosen], both[1][chosen]


def sample(job: Job, bound: Bound, task: int) -> dict[str, Any]:
    """Store the texts of a shard that the sample may contain."""
    held = _SCHEMA.empty_table()
    for piece in job.shards.pieces(job.shards.shards[task]):
        hashes, lengths = hashed(piece.texts)
        chosen = sample_positions(hashes, lengths)
        chosen = chosen[hashes[chosen] <= bound.largest]
        texts = gathered(piece.texts, chosen)
        held = _merged(held, pa.table([pa.array(hashes[chosen]), texts], schema=_SCHEMA))
    bound.add(*_columns(held))
    name = _name(task)
    with job.journal.output(name) as file, pa.ipc.new_file(file, _SCHEMA) as writer:
        writer.write_table(held)
    return {"files": job.journal.files(name)}


def room(job: Job) -> float:
    """Return about how many bytes of disk the sample needs: later shards add ever fewer texts to it."""
    whole, shards = sum(shard.size for shard in job.shards.shards), len(job.shards.shards)
    return min(whole, BYTES * (1 + math.log(shards)))


def find(job: Job, share: float) -> dict[str, Any]:
    """Find the list of the shingles that are in more than a *share* of the different documents, and store it."""
    held = _SCHEMA.empty_table()
    for task in range(len(job.shards.shards)):
        held = _merged(held, mapped_table(job.journal.path(_name(task))))
    return store(job, fitted_common(job.scheme, held.column("text"), share))


def store(job: Job, common: CommonShingles) -> dict[str, Any]:
    """Store the list of a run, for its workers."""
    with job.journal.output(_LIST) as file:
        file.write(common.to_bytes())
    return {"files": job.journal.files(_LIST)}


def remove_samples(job: Job) -> None:
    """Remove the files of the sample; from now on only the list is needed."""
    for path in job.journal.path().glob(f"{_SAMPLE}*"):
        path.unlink(missing_ok=True)


def list_of(folder: WorkFolder) -> CommonShingles | None:
    """Return the list of a run, or ``None`` if it has none."""
    path = folder.path(_LIST)
    with naming(path, doing="read"):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
    return CommonShingles.from_bytes(content, str(path))


def _merged(one: pa.Table, other: pa.Table) -> pa.Table:
    """Return the sample of two samples; the texts of *one* are before those of the *other*."""
    both = pa.concat_tables([one, other])
    hashes, lengths = _columns(both)
    chosen = sample_positions(hashes, lengths)
    return pa.table([pa.array(hashes[chosen]), gathered(both.column("text"), chosen)], schema=_SCHEMA)


def _columns(table: pa.Table) -> tuple[Words, Positions]:
    lengths = pc.binary_length(table.column("text")).to_numpy()
    return table.column("hash").to_numpy(), lengths.astype(np.int64)


def _name(task: int) -> str:
    return f"{_SAMPLE}{task:06}.arrow"
