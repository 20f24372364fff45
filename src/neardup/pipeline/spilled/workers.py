"""Workers: processes that share the tasks of a run in pieces, on any machines that see its files."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from neardup.engines.journal import WorkFolder, read_header
from neardup.engines.runner import Worked, work
from neardup.model.errors import StorageRefused
from neardup.pipeline.spilled.blocks import settle
from neardup.pipeline.spilled.features import gather
from neardup.pipeline.spilled.files import job_of
from neardup.pipeline.spilled.outcome import Decisions
from neardup.pipeline.spilled.outputs import Output, write, writing
from neardup.pipeline.spilled.run import records_of
from neardup.pipeline.spilled.signed import sign
from neardup.pipeline.spilled.stored import StoredDocuments, StoredResult
from neardup.schemes import terms as schemes

Function = Callable[[WorkFolder, int], dict[str, Any]]


def work_on(
    folder: str | os.PathLike[str], *, key: bytes | None = None, idle: float = 60.0, threads: int = 1
) -> Worked:
    """Do tasks of the run in pieces whose work folder this is, until the run ends.

    The process must see the inputs and outputs of the run at the same paths. *key* is the secret key of its scheme, if
    it has one. The worker waits *idle* seconds for a run to start or continue. Raises ``StorageRefused`` for a run of
    another version of neardup, and for one whose scheme cannot be made here; and ``StorageFailed``.
    """
    return work(Path(folder).absolute(), _Functions(key), idle=idle, threads=threads)


class _Functions(Mapping[str, Function]):
    """The functions of the stages that are shared, by the names of the stages of one run."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key
        self._runs: dict[Path, _Tasks] = {}

    def __getitem__(self, stage: str) -> Function:
        name, _, of = stage.partition("-")
        if name not in _SHARED:
            raise KeyError(stage)
        return partial(self._do, name, of)

    def __iter__(self) -> Iterator[str]:
        return iter(_SHARED)

    def __len__(self) -> int:
        return len(_SHARED)

    def _do(self, name: str, of: str, folder: WorkFolder, task: int) -> dict[str, Any]:
        known = self._runs.get(folder.path())
        if known is None or of not in known.names:
            known = self._runs[folder.path()] = _Tasks(folder, self._key)
        if of not in known.names:
            raise StorageRefused(str(folder.folder), "its run has other terms than this worker knows; start it again")
        done: dict[str, Any] = getattr(known, name)(task)
        return done


class _Tasks:
    """The tasks of one run."""

    def __init__(self, folder: WorkFolder, key: bytes | None) -> None:
        header = read_header(folder.folder)
        terms = folder.terms if header is None else header.terms
        scheme = schemes.read(terms["changeable"]["scheme"], key)
        if scheme.recipe != terms["recipe"]:
            if scheme.key_identity != terms["key"]:
                raise StorageRefused(
                    str(folder.folder), "its run has a secret key that this worker does not have", "key needed"
                )
            rule = "its scheme has a table of weights or a list of shingles, which workers cannot read"
            raise StorageRefused(str(folder.folder), rule)
        os.chdir(terms["changeable"]["folder"])  # where the names of the inputs count
        self._folder = folder
        self._job = job_of(folder, scheme, folder.records("split-")[0], terms)
        self._outputs = [Output(*output) for output in terms["changeable"]["outputs"]]
        self.names = {self._job.signing, self._job.deciding, writing(self._job, self._outputs)}

    def sign(self, task: int) -> dict[str, Any]:
        return sign(self._job, task)

    def gather(self, task: int) -> dict[str, Any]:
        return gather(self._job, self._documents.signed.edges, task)

    def settle(self, task: int) -> dict[str, Any]:
        return settle(self._job, task)

    def write(self, task: int) -> dict[str, Any]:
        return write(self._job, self._result, self._outputs, task)

    @cached_property
    def _documents(self) -> StoredDocuments:
        return StoredDocuments(self._job, records_of(self._folder, self._job))

    @cached_property
    def _result(self) -> StoredResult:
        rules = self._folder.records(f"decide-{self._job.deciding}")[0]["rules"]
        return StoredResult(
            Decisions(self._job, self._documents.signed, self._documents.ids, rules), self._documents, None
        )


_SHARED = ("sign", "gather", "settle", "write")
