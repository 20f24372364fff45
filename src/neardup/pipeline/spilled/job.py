"""What every task of a run in pieces knows: the inputs, the rules, and the files of the work folder."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.engines.files import naming
from neardup.engines.journal import Files, WorkFolder
from neardup.model.arrays import Corpus, Features, Words
from neardup.model.errors import StorageDamaged
from neardup.model.policy import Policy
from neardup.pipeline.corpus.report import reading_terms
from neardup.pipeline.spilled.earlier_documents import Earlier, mapped_table
from neardup.schemes.scheme import Scheme
from neardup.schemes.terms import written
from neardup.sources.collection import InputPiece
from neardup.sources.shards import Shards

SIGNED: Final = "signed-"  # the beginnings of the names of the shards' files
IDS: Final = "ids-"
ID: Final = {"id": pa.large_string()}  # the column of these
REVISITS: Final = "revisits-"
NOTHING: Final = Corpus(
    Features(np.empty(0, np.uint64), np.zeros(1, np.int64)), None, pa.chunked_array([], pa.string())
)


def of_shard(kind: str, shard: int) -> str:
    """Return the name of a file of a shard."""
    return f"{kind}{shard:06}.arrow"


class HeldTexts:
    """The texts of some shards, which fit into *room* bytes together, so that later stages need not read them again."""

    def __init__(self, room: int = 0) -> None:
        self._room, self._changing = room, Lock()
        self._shards: dict[int, list[pa.ChunkedArray]] = {}

    def of(self, shard: int) -> list[pa.ChunkedArray] | None:
        """Return the texts of a shard, piece by piece; ``None`` if they are not held."""
        return self._shards.get(shard)

    def holding(self, shard: int, pieces: Iterable[InputPiece]) -> Iterator[InputPiece]:
        """Yield the pieces of a shard, and hold their texts if there is room for all of them."""
        texts: list[pa.ChunkedArray] = []
        taken, fits = 0, shard not in self._shards
        for piece in pieces:
            yield piece
            size = piece.texts.get_total_buffer_size() if fits else 0
            if fits and not self._takes(size):
                self._takes(-taken)
                fits = False
                texts.clear()
            elif fits:
                taken += size
                texts.append(piece.texts)
        if fits:
            self._shards[shard] = texts

    def _takes(self, size: int) -> bool:
        """Reserve some bytes, and return whether there was room for them."""
        with self._changing:
            fits = size <= self._room
            self._room -= size if fits else 0
        return fits


@dataclass(frozen=True, eq=False)
class Job:
    """A run in pieces. *salt* (uint64[2]) keys its digests; *block* is the most bytes of features compared together.

    The documents of the first *compared* inputs, and the *earlier* ones, are only compared with: they rank before all
    others, and are in no output. *for_index* stores what an index needs of the documents that a state receives.

    Files are arrays (``.raw``) and tables (``.arrow``), mapped into memory when they are read. They are in folders
    named by what they depend on: a run with another policy uses those of the shards again.
    """

    journal: WorkFolder
    shards: Shards
    scheme: Scheme
    policy: Policy
    salt: Words
    block: int
    compared: int = 0
    earlier: Earlier = field(default_factory=Earlier)
    for_index: bool = False
    held: HeldTexts = field(default_factory=HeldTexts)
    """The texts of the inputs that this process holds in memory."""

    @cached_property
    def signing(self) -> str:
        """The name of everything that decides what is stored of a shard."""
        policy, row = self.policy, self.no_rows()
        ranking = [policy.value_fields, policy.written_fields, policy.ranks_addresses, policy.verify == "exact"]
        return digest([self.scheme.recipe, row.dtype.str, row.shape[1], ranking, self.for_index])

    @cached_property
    def reading(self) -> dict[str, Any]:
        """What decides the texts of the run, as its reports record it."""
        return reading_terms(self.shards.request, self.shards.extraction)

    @cached_property
    def is_short(self) -> bool:
        """Whether rows are short: exact verification only needs what finds candidates."""
        return self.policy.verify == "exact" and self.scheme.shortened is not None

    @cached_property
    def stores_whole(self) -> bool:
        """Whether whole rows are stored, too."""
        return self.for_index and self.is_short

    @cached_property
    def deciding(self) -> str:
        """The name of everything that decides the answer."""
        return digest([self.signing, asdict(self.policy), written(self.scheme)])

    def stage(self, name: str) -> str:
        """Return the name of a stage in the journal: with that of everything that decides what the stage makes."""
        return f"{name}-{self.signing if name in {'sign', 'sign_text'} else self.deciding}"

    @cached_property
    def has_sites(self) -> bool:
        """Whether documents may belong to sites: their host's templates are known, or those of earlier ones were."""
        known = self.shards.request.extraction.templates is not None or self.earlier.has_sites
        return known and not self.scheme.columns

    def no_rows(self, *, whole: bool = False) -> npt.NDArray[Any]:
        """Return the signature rows of no documents, which have the type and width of all rows."""
        scheme: Any = self.scheme
        if scheme.columns:
            nothing = pa.chunked_array([], pa.large_string())
            signed = scheme.sign(pa.table(dict.fromkeys(scheme.columns, nothing)))
        else:
            sign = scheme.sign_short_at if self.is_short and not whole else scheme.sign_at
            signed = sign(NOTHING, np.empty(0, np.int64))
        return np.asarray(signed.rows)

    def name(self, name: str) -> str:
        """Return the path of a file inside the work folder."""
        shared = name.startswith((SIGNED, IDS, REVISITS))
        return f"signed-{self.signing}/{name}" if shared else f"decided-{self.deciding}/{name}"

    def files(self, *names: str) -> Files:
        """Return what the record of a task has of its files."""
        return self.journal.files(*(self.name(name) for name in names))

    def output(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Yield a new file, which has this name when it is complete."""
        return self.journal.output(self.name(name))

    def path(self, name: str) -> Path:
        """Return the path of a file."""
        return self.journal.path(self.name(name))

    def remove(self, *names: str) -> None:
        """Remove files that the run needs no more; those that the system keeps are removed with the work folder."""
        for name in names:
            with suppress(OSError):
                self.path(name).unlink(missing_ok=True)

    def save(self, name: str, array: npt.NDArray[Any]) -> Files:
        """Write an array; return the file for the record of the task."""
        with self.output(name) as file:
            file.write(np.ascontiguousarray(array).reshape(-1).data)  # NumPy hides why a write failed
        return self.files(name)

    def array(self, name: str, kind: npt.DTypeLike, size: int | None = None, *, shape: tuple[int, ...] = (-1,)) -> Any:
        """Map an array of this type and *shape*; *size* is the number of rows that it must have."""
        path = self.path(name)
        with naming(path, doing="read"):
            raw = mapped(path) if path.stat().st_size else b""
        try:
            found = np.frombuffer(raw, kind).reshape(shape if size is None else (size, *shape[1:]))
        except ValueError as error:
            raise StorageDamaged(str(path), _INCOMPLETE) from error
        return found

    @contextmanager
    def new_array(self, name: str, kind: Any, shape: tuple[int, ...]) -> Iterator[npt.NDArray[Any]]:
        """Yield an array of zeros that is written as a file, part by part."""
        with self.output(name) as file:
            if not prod(shape):  # such a file cannot be mapped
                yield np.empty(shape, kind)
                return
            array = np.memmap(file.name, kind, "w+", shape=shape)
            if hasattr(os, "posix_fallocate"):  # a full disk is an error here, but a mapped file would end the process
                os.posix_fallocate(file.fileno(), 0, array.nbytes)
            yield array

    def save_table(self, name: str, table: pa.Table) -> Files:
        """Write a table; return the file for the record of the task."""
        with self.output(name) as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        return self.files(name)

    def table(self, name: str) -> pa.Table:
        """Map a table."""
        return mapped_table(self.path(name))


def mapped(path: Path) -> pa.Buffer:
    """Map a file that is not empty, without keeping it open: a run has thousands of files, and may open a thousand."""
    with pa.memory_map(os.fsencode(path)) as file:
        begin = file.read_buffer(1)  # Arrow reads ahead what is asked for, but maps all
        return pa.foreign_buffer(begin.address, file.size(), begin)


_INCOMPLETE: Final = "it is damaged, or of another run; remove the work folder, and run again"


def digest(values: Any) -> str:
    """Return a name for plain values."""
    return blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()
