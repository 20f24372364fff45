"""What runs decided on their documents, which are read again: those that made a state, or that of a work folder."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.drops import UNKNOWN
from neardup.decisions.evidence import Shared
from neardup.engines.journal import WorkFolder, read_header, reserved
from neardup.engines.runner import require_version
from neardup.index.disk.arrays import understood
from neardup.model.arrays import Positions, Words
from neardup.model.errors import DataError, StorageRefused, require
from neardup.model.folders import RUN
from neardup.model.policy import Policy
from neardup.pipeline.corpus.comparison import UNVERIFIED
from neardup.pipeline.digests import equals
from neardup.pipeline.spilled.common_shingles import list_of
from neardup.pipeline.spilled.earlier_documents import stored_rows
from neardup.pipeline.spilled.job import OTHER
from neardup.pipeline.spilled.ranking import ranked
from neardup.pipeline.spilled.records import KINDS
from neardup.pipeline.spilled.run import result_of
from neardup.pipeline.spilled.state import State
from neardup.pipeline.spilled.workers import job_of, scheme_of
from neardup.schemes.recorded_scheme import RecordedScheme, as_recorded, differing
from neardup.schemes.scheme import Scheme
from neardup.schemes.terms import common_of, written
from neardup.sources.collection import Collection, InputPiece
from neardup.sources.formats import STDIN, display, display_all, is_url
from neardup.text.columns import batches

_KEPT: Final = -1  # instead of the representative of a dropped document
_NEXT: Final = "continue it with the same command, then audit its report"


class StateDecisions:
    """The documents of all runs of a state, in the order in which these were added, and the decisions on them.

    *runs* are the shards of the state that each run has read, and the rule that ranked their documents; *inputs* are
    the paths of all inputs.
    """

    def __init__(self, state: State, scheme: Scheme, keep: str | None) -> None:
        """Read a state; *keep* is the rule that ranked its documents, if it is known.

        Raises ``StorageRefused`` if its documents were added with another scheme or key, ``ParameterError`` if they
        were ranked in another way, and the errors of ``State.earlier``.
        """
        self._name = str(state.folder)
        recorded = state.header.recorded
        recorded.require_key(self._name, scheme)
        if changes := recorded.changes(RecordedScheme.of(scheme)):
            raise StorageRefused(self._name, as_recorded(changes), "other terms")
        self._policy, self._scheme = state.header.policy, scheme
        self._salt: Words = np.frombuffer(bytes.fromhex(state.header.salt), np.uint64)
        earlier = state.earlier()
        edges = accumulate((len(texts.shards.shards) for texts in earlier.texts), initial=0)
        keeps = [texts.keep for texts in earlier.texts]
        self.runs = [(range(*part), rule) for part, rule in zip(pairwise(edges), keeps, strict=True)]
        for kept in keeps:
            rule = f"is not that of the runs of the state {_quoted(self._name)}, which has recorded {kept!r}"
            require(keep in {None, kept}, "keep", keep, rule)
        self._earlier = earlier.with_fields(
            [*dict.fromkeys(field for own in keeps for field in Policy(keep=own).fields)]
        )
        self.inputs = [path for texts in earlier.texts for path in texts.shards.inputs]

    def require(self, inputs: Iterable[str]) -> None:
        """Raise ``DataError`` unless these are the inputs of the state, in any order."""
        if not self.inputs:
            rule = "all its documents were forgotten, so it cannot be audited; audit the report of the run instead"
            raise DataError(self._name, rule)
        given = {os.path.abspath(path) for path in inputs}  # noqa: PTH100 - links stay, as in the state
        known = dict.fromkeys(self.inputs)
        others = [path for path in given if path not in known]
        if others:
            rule = f"is not an input of the state {_quoted(self._name)}, which has {display_all(known)}"
            raise DataError(display(min(others)), rule)
        lacking = [path for path in known if path not in given]
        if lacking:
            rule = f"a state is audited on all files that its runs have read; name these, too: {display_all(lacking)}"
            raise DataError(self._name, rule)

    def collections(self, shards: Iterable[int] | None = None) -> Iterator[InputPiece]:
        """Yield the documents of some shards, or of all; raises ``DataError`` if an input was changed since."""
        try:
            for shard in range(len(self._earlier.sizes)) if shards is None else shards:
                yield from self._earlier.pieces(shard, ids=True)
        except DataError as error:
            if error.code != "earlier input":
                raise
            rule = "it was moved or changed since it was added; restore it with its modification time, or audit the"
            raise DataError(error.where, f"{rule} report of the run") from error

    def table(self) -> pa.Table:
        """Return the decisions on all documents, as far as an audit needs them; see ``Result``."""
        earlier = self._earlier
        representatives = np.append(earlier.representatives, _KEPT)  # at -1: documents that can equal no other
        positions = np.append(earlier.kept_positions, 0)
        dropped, _, common, *sizes = earlier.settled()
        counted = common != UNKNOWN
        measures = Shared(*(column[counted] for column in (common, *sizes))).columns
        leaders = self._leaders()
        own = np.arange(len(leaders))
        kept_for = np.where(representatives[leaders] < 0, leaders, representatives[leaders])
        known = leaders >= 0
        found = np.where(known, positions[kept_for], own)
        near = known & (representatives[leaders] >= 0)
        exact = known & ~near & (found != own)
        rules = np.full(len(leaders), None, object)
        rules[exact] = "same features"
        rules[near] = UNVERIFIED.get(self._policy["verify"], self._scheme.rule)
        table = {"representative_position": pa.array(found, mask=found == own), "rule": pa.array(rules, pa.string())}
        for name, values in measures.items():
            measured = np.full(len(earlier) + 1, np.nan)
            measured[dropped[counted]] = values
            table[name] = pa.array(np.where(near, measured[leaders], np.nan), from_pandas=True)
        return pa.table(table)

    def _leaders(self) -> Positions:
        """Return the number of the leader that each document equals, or -1 for documents that can equal none."""
        known = np.stack([self._earlier.column(name, np.uint64) for name in ("equal", "equal_high")], axis=1)
        pieces = filter(len, self.collections())
        every = (batch for piece in pieces for batch in batches(piece.texts))
        first, second, salt = self._scheme.shingling, self._scheme.second_shingling, self._salt
        found = (equals(batch, first.batch_features(batch), salt, second) for batch in every)
        digests = np.concatenate([np.empty((0, 2), np.uint64), *found])
        places = pc.index_in(stored_rows(digests), value_set=stored_rows(known))
        leaders: Positions = pc.fill_null(places, -1).to_numpy().astype(np.int64)
        for lost in np.flatnonzero((leaders < 0) & digests.any(axis=1))[:1].tolist():
            ids = (name for piece in self.collections() for name in piece.ids)
            rule = f"document {next(islice(ids, lost, None)).as_py()!r} was forgotten"
            raise DataError(self._name, f"{rule}; a state needs all documents for an audit: audit reports")
        return leaders


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
            rule = "its run compared with documents of other runs or files; audit its report or, if it has one, its"
            raise StorageRefused(self._name, f"{rule} state")
        here, job = terms["changeable"]["folder"], None
        for begun in folder.records("split-"):
            begun["shards"]["inputs"] = [os.path.join(here, path) for path in begun["shards"]["inputs"]]  # noqa: PTH118
            job = job_of(folder, scheme, begun, terms)
        if job is None or not folder.done(job.stage("decide")):
            raise StorageRefused(self._name, f"its run has not decided yet; {_NEXT}")
        stages = map(job.stage, ("rank", "decide", "sign"))
        if not all(folder.has_files(record) for stage in stages for record in folder.records(stage)):
            rule = "files of its run are missing or incomplete; repeat the run with the same command"
            raise StorageRefused(self._name, rule)
        kept = job.policy.keep
        require(keep in {None, kept}, "keep", keep, f"is not that of the run, which has recorded {kept!r}")
        self.scheme, self.result = scheme, result_of(folder, job)
        self.order = ranked(job, len(self.result.documents.signed))
        with understood(folder.folder / RUN[0], rule=OTHER):
            self._inputs = [_placed(path, here) for path, _ in terms["inputs"]]

    def require(self, inputs: Iterable[str]) -> None:
        """Raise ``DataError`` unless these are the inputs of the run, in any order."""
        given = [_placed(path, os.getcwd()) for path in inputs]  # noqa: PTH109
        for one, others in ((given, self._inputs), (self._inputs, given)):
            if lacking := [path for path in one if path not in others]:
                there = f"an input of the run in the work folder {_quoted(self._name)}"
                rule = (
                    f"is not {there}" if one is given else f"is {there}, and is audited with the others; name it, too"
                )
                raise DataError(display(lacking[0]), rule)

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
    with reserved(path, header, KINDS) as folder:
        if scheme is not None:
            same_list = common_of(scheme) in {None, list_of(folder)}
            changes = differing(recorded["scheme"], written(scheme))
            if others := [change for change in changes if not (same_list and change.name == "common")]:
                raise StorageRefused(str(path), as_recorded(others), "other terms")
        yield WorkDecisions(folder, scheme_of(folder, key, scheme), keep)


def _placed(path: str, folder: str) -> str:
    """Return the absolute path of an input of a run that was started in a folder."""
    return path if path == STDIN or is_url(path) else os.path.abspath(os.path.join(folder, path))  # noqa: PTH100, PTH118 - links stay


def _quoted(path: str) -> str:
    return f"'{display(path)}'"
