"""Workers: processes that share the tasks of a run in pieces, on any machines that see its files."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from neardup.engines.journal import BLOCK, WorkFolder, read_header
from neardup.engines.runner import End, TaskFunction, Worked, require_version, work
from neardup.model.errors import StorageRefused
from neardup.model.policy import Policy
from neardup.pipeline.spilled.blocks import match, settle
from neardup.pipeline.spilled.candidates import bucket, pair
from neardup.pipeline.spilled.changes import recorded_in, task_of
from neardup.pipeline.spilled.common_shingles import Bound, list_of, sample
from neardup.pipeline.spilled.earlier_documents import Earlier
from neardup.pipeline.spilled.features import gather
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.output_records import together, write
from neardup.pipeline.spilled.outputs import Output, Part, output_parts, writing
from neardup.pipeline.spilled.run import records_of, result_of
from neardup.pipeline.spilled.signing import Signed, sign
from neardup.pipeline.spilled.state import earlier_of
from neardup.pipeline.spilled.stored_documents import StoredResult
from neardup.schemes import terms as schemes
from neardup.schemes.scheme import Scheme
from neardup.sources.formats import is_url, local_folder
from neardup.sources.shards import Shards
from neardup.text.extraction import Extraction


def work_on(
    folder: str | os.PathLike[str],
    *,
    key: bytes | None = None,
    idle: float = 60.0,
    threads: int = 1,
    waiting: Callable[[End], None] | None = None,
) -> Worked:
    """Do tasks of the run in pieces whose work folder this is, until the run ends.

    The process must see the inputs and outputs of the run at the same paths. *key* is the secret key of its scheme, if
    it has one. The worker waits *idle* seconds for a run to start or continue, and calls *waiting* with the reason,
    ``"absent"`` or ``"stopped"``. Raises ``StorageRefused`` for a folder with files of others, for a run of another
    version of neardup or of all pairs, and for one whose scheme, texts of web pages or relative paths would be others
    here; and ``StorageFailed``.
    """
    folder = local_folder("folder", folder).absolute()
    known: list[_Tasks] = []  # of the run in the folder

    def do(stage: str, run: WorkFolder, task: int) -> dict[str, Any]:
        if not (known and known[0].knows(stage)):
            if here := _folder_of_paths(run):
                os.chdir(here)
            known[:] = [_Tasks(run, scheme_of(run, key))]
        return known[0].function(stage)(task)

    def function_of(stage: str) -> TaskFunction | None:
        if is_shared(stage):
            return partial(do, stage)
        header = read_header(folder)
        if header is not None and task_of(header.terms) == "pairs":
            raise StorageRefused(
                str(folder), "its run finds all pairs; only the process that started it does its tasks"
            )
        return None

    return work(folder, function_of, idle=idle, threads=threads, waiting=waiting)


@contextmanager
def tasks_of(folder: str, token: str, scheme: Scheme, stage: str) -> Iterator[Callable[[int], object]]:
    """Yield a function that does a task of a stage, for a process of an executor; *token* names the run.

    *scheme* is that of the run, perhaps without the list of common shingles that the run has found.
    Raises ``StorageRefused`` if the run is not in the folder here, or is of another version of neardup.
    """
    header = read_header(Path(folder))
    if header is None or header.token != token:
        raise StorageRefused(folder, "its run is not here; use a folder that all machines share")
    run = WorkFolder(Path(folder), require_version(folder, header))
    try:
        with chdir(here) if (here := _folder_of_paths(run)) else nullcontext():
            tasks = _Tasks(run, scheme.with_common(list_of(run)))
            yield partial(run.attempt, stage, function=tasks.function(stage))
    finally:
        run.claims.leave()


def is_shared(stage: str) -> bool:
    """Return whether other processes can do the tasks of a stage, by the name that it has in the journal."""
    return stage.partition("-")[0] in _SHARED


def _terms(folder: WorkFolder) -> dict[str, Any]:
    header = read_header(folder.folder)
    return folder.terms if header is None else header.terms


def _folder_of_paths(folder: WorkFolder) -> str | None:
    """Return the folder in which the relative paths of a run count; ``None`` if it is not here, nor needed."""
    stated = _terms(folder)["changeable"]
    here: str = stated["folder"]
    if os.path.isdir(here):  # noqa: PTH112 - a string
        return here
    paths = [*folder.records("split-", [0])[0]["shards"]["inputs"], *(path for _, path, *_ in stated["outputs"])]
    if not all(os.path.isabs(path) or is_url(path) for path in paths):  # noqa: PTH117 - strings
        rule = f"its run has relative paths, and was started in {here}, which is not here; start it with absolute paths"
        raise StorageRefused(str(folder.folder), rule)
    return None


def _require_extractor(folder: WorkFolder, pages: Mapping[str, Any] | None) -> None:
    """Raise ``StorageRefused`` if web pages of a run have other texts here than in the process that started it."""
    if pages is not None and pages["extractor"] != (own := Extraction(view=pages["text_view"]).extractor):
        rule = f"its pages are read by {pages['extractor']}, and here by {own or 'no such library'}"
        raise StorageRefused(str(folder.folder), f"{rule}; install the same version")


def scheme_of(folder: WorkFolder, key: bytes | None, given: Scheme | None = None) -> Scheme:
    """Return the scheme of a run, from its terms and the secret key, or from one *given* with the same settings."""
    terms = _terms(folder)
    recorded = recorded_in(terms)
    plain: Scheme = schemes.read({**recorded.settings}, key, where=folder.folder) if given is None else given
    where = str(folder.folder)
    recorded.require_key(where, plain)
    scheme = plain.with_common(list_of(folder))
    if terms["recipe"] not in {schemes.without_common(scheme).recipe, scheme.recipe}:
        rule = "has a scheme with a table of weights, which a work folder does not store; workers cannot share this run"
        raise StorageRefused(where, rule)
    return scheme


def job_of(folder: WorkFolder, scheme: Scheme, begun: dict[str, Any], terms: dict[str, Any]) -> Job:
    """Return the job of a run of these terms whose first task, *begun*, is recorded."""
    stated = terms["changeable"]
    return Job(
        folder,
        Shards.from_dict(begun["shards"]),
        scheme,
        Policy(**stated["policy"]),
        np.frombuffer(bytes.fromhex(begun["salt"]), np.uint64),
        stated[BLOCK],
        terms["compared"],
        Earlier() if terms["state"] is None else earlier_of(Path(terms["state"][0]), begun["segments"]),
        begun["for_index"],
    )


class _Tasks:
    """The tasks of one run."""

    def __init__(self, folder: WorkFolder, scheme: Scheme) -> None:
        terms = _terms(folder)
        _require_extractor(folder, terms["reading"]["extraction"])
        self._folder = folder
        self.job = job_of(folder, scheme, folder.records("split-", [0])[0], terms)
        self._outputs = [Output(*output) for output in terms["changeable"]["outputs"]]
        self._names = {"", self.job.signing, self.job.deciding, writing(self.job, self._outputs)}
        self.bound = Bound()

    def knows(self, stage: str) -> bool:
        """Return whether a stage is one of these terms."""
        return stage.partition("-")[2] in self._names

    def function(self, stage: str) -> Callable[[int], dict[str, Any]]:
        if not self.knows(stage):
            where = str(self._folder.folder)
            raise StorageRefused(where, "its run has other terms than this worker knows; start it again")
        return partial(_SHARED[stage.partition("-")[0]], self)

    @cached_property
    def signed(self) -> Signed:
        return Signed(self.job, records_of(self._folder, self.job))

    @cached_property
    def outputs(self) -> list[list[list[Part]]]:
        return together(self.job.shards, self.result, output_parts(self.result, self._outputs))

    @cached_property
    def result(self) -> StoredResult:
        return result_of(self._folder, self.job)


_SHARED: Final[dict[str, Callable[[_Tasks, int], dict[str, Any]]]] = {
    "sample": lambda run, task: sample(run.job, run.bound, task),
    "sign": lambda run, task: sign(run.job, task),
    "sign_text": lambda run, task: sign(run.job, task, body=True),
    "bucket": lambda run, task: bucket(run.job, task),
    "pair": lambda run, task: pair(run.job, task),
    "gather": lambda run, task: gather(run.job, run.signed, task),
    "match": lambda run, task: match(run.job, task),
    "settle": lambda run, task: settle(run.job, task),
    "write": lambda run, task: write(run.job, run.result, run.outputs, task),
}
