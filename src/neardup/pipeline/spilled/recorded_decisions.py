"""What the run in a work folder decided on its documents, which are read again."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final

from neardup.engines.journal import WorkFolder, read_header, reserved
from neardup.engines.runner import require_version
from neardup.model.errors import DataError, StorageRefused, require
from neardup.pipeline.spilled.common_shingles import list_of
from neardup.pipeline.spilled.ranking import ranked
from neardup.pipeline.spilled.run import records_of, result_of
from neardup.pipeline.spilled.workers import job_of, scheme_of
from neardup.schemes.recorded_scheme import as_recorded, differing
from neardup.schemes.scheme import Scheme
from neardup.schemes.terms import common_of, written
from neardup.sources.collection import Collection
from neardup.sources.formats import STDIN, display, is_url

_NEXT: Final = "continue it with the same command, then audit its report"


class WorkDecisions:
    """The documents of a run in pieces that has decided, in the order of its inputs, and the decisions on them.

    *scheme* and *result* are those of the run; *order* are the positions of all documents from best to worst.
    """

    def __init__(self, folder: WorkFolder, scheme: Scheme, keep: str | None) -> None:
        """Read a work folder.

        Raises ``StorageRefused`` if the run has not decided yet, or compared with other documents; and
        ``ParameterError`` if its documents were ranked in another way than by *keep*.
        """
        self._name, terms = str(folder.folder), folder.terms
        if terms["state"] is not None or terms["compared"]:
            raise StorageRefused(self._name, "its run compared with documents of other runs or files; audit its report")
        here, job = terms["changeable"]["folder"], None
        for begun in folder.records("split-"):
            begun["shards"]["inputs"] = [os.path.join(here, path) for path in begun["shards"]["inputs"]]  # noqa: PTH118
            job = job_of(folder, scheme, begun, terms)
        if job is None or not folder.done(job.stage("decide")):
            raise StorageRefused(self._name, f"its run has not decided yet; {_NEXT}")
        signed, decided = records_of(folder, job), map(folder.records, map(job.stage, ("rank", "decide")))
        if len(signed) < len(job.shards.shards) or not all(map(folder.has_files, chain(signed, *decided))):
            raise StorageRefused(
                self._name, "files of its run are missing or damaged; repeat the run", "decisions damaged"
            )
        kept = job.policy.keep
        require(keep in {None, kept}, "keep", keep, f"is not that of the run, which has recorded {kept!r}")
        self.scheme, self.result = scheme, result_of(folder, job)
        self.order = ranked(job, len(self.result.documents.signed))
        self._inputs = [_placed(path, here) for path, _ in terms["inputs"]]

    def require(self, inputs: Iterable[str]) -> None:
        """Raise ``DataError`` unless these are the inputs of the run, in any order."""
        given = {_placed(path, os.getcwd()) for path in inputs}  # noqa: PTH109
        others = given.symmetric_difference(self._inputs)
        if others:
            rule = "is not an input of both the audit and its run; name all inputs of the run, and no others"
            raise DataError(display(min(others)), rule)

    def collections(self) -> Iterator[Collection]:
        """Yield the documents, in pieces; raises ``DataError`` if an input was changed since."""
        signed = self.result.documents.signed
        for shard in range(len(signed.edges) - 1):
            yield from filter(len, signed.pieces(shard))


@contextmanager
def work_decisions(path: Path, scheme: Scheme | None, key: bytes | None, keep: str | None) -> Iterator[WorkDecisions]:
    """Yield what the run in a work folder decided; until then, no run can use the folder.

    The scheme is that of the run, which needs *key* if it has one, or must be *scheme*. Raises the errors of
    ``WorkDecisions``, ``StorageBusy`` if a run is using the folder, and ``StorageRefused`` for a run of another
    version, of another scheme, or of ``pairs``.
    """
    header = read_header(path)
    if header is None:
        raise StorageRefused(str(path), "there is no run in it")
    require_version(path, header)
    recorded = header.terms["changeable"]
    if "policy" not in recorded:
        raise StorageRefused(str(path), "its run finds all pairs, which leaves nothing to audit")
    with reserved(path, header) as folder:
        if scheme is not None:
            same_list = common_of(scheme) in {None, list_of(folder)}
            changes = differing(recorded["scheme"], written(scheme))
            if others := [change for change in changes if not (same_list and change.name == "common")]:
                raise StorageRefused(str(path), as_recorded(others), "other terms")
        yield WorkDecisions(folder, scheme_of(folder, key, scheme), keep)


def _placed(path: str, folder: str) -> str:
    """Return the absolute path of an input of a run that was started in a folder."""
    return path if path == STDIN or is_url(path) else os.path.abspath(os.path.join(folder, path))  # noqa: PTH100, PTH118 - links stay
