"""What the runs that made a state decided on their documents, which are read again."""

import os
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.decisions.drops import UNKNOWN
from neardup.decisions.evidence import Shared
from neardup.model.arrays import Flags, Positions, Words
from neardup.model.errors import DataError, StorageRefused, is_keyed, require
from neardup.model.policy import Policy
from neardup.model.protocols import Scheme
from neardup.pipeline.corpus.comparison import UNVERIFIED
from neardup.pipeline.spilled.signed import equal_digests
from neardup.pipeline.spilled.state import State
from neardup.sources.collection import InputPiece
from neardup.sources.formats import display

_NOBODY: Final = -1  # represents a kept document
_LISTED: Final = 5  # paths that a message names


class StateDecisions:
    """The documents of all runs of a state, in the order in which these were added, and the decisions on them.

    *runs* are the shards of the state that each run has read, and the rule that ranked their documents; *inputs* are
    the paths of all inputs.
    """

    def __init__(self, state: State, scheme: Scheme, keep: str | None) -> None:
        """Read a state; its documents were ranked by *keep* where it does not record how.

        Raises ``StorageRefused`` if its documents were added with another scheme or key, ``ParameterError`` if they
        were ranked in another way, and the errors of ``State.earlier``.
        """
        self._name = str(state.folder)
        known = state.header.key or ""
        if is_keyed(known) and known != scheme.key_identity:
            raise StorageRefused(self._name, "the state has a secret key: the same key is needed", "key needed")
        if words := state.differences(scheme):
            rule = f"its documents were added with other settings: {words}; use the same, or leave them out, as the"
            rule += " state has recorded them, except a list of common shingles"
            raise StorageRefused(self._name, rule, "other terms")
        self._policy, self._scheme = state.header.policy, scheme
        self._salt: Words = np.frombuffer(bytes.fromhex(state.header.salt), np.uint64)
        earlier = state.earlier()
        edges = accumulate((len(texts.shards.shards) for texts in earlier.texts), initial=0)
        keeps = [texts.keep or keep or Policy().keep for texts in earlier.texts]
        self.runs = [(range(*part), rule) for part, rule in zip(pairwise(edges), keeps, strict=True)]
        for kept in keeps:
            rule = f"is not that of the runs of the state {self._name!r}, which has recorded {kept!r}"
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
            rule = f"is not an input of the state {self._name!r}, which has {_listed(known)}"
            raise DataError(display(min(others)), rule)
        lacking = [path for path in known if path not in given]
        if lacking:
            rule = f"a state is audited on all files that its runs have read; also name {_listed(lacking)} as inputs"
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
        representatives = np.append(earlier.representatives, _NOBODY)  # at -1: documents that can equal no other
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
        table = {
            "representative_position": pa.array(found, mask=found == own),
            "rule": pa.array(rules, pa.string()),
        }
        for name, values in measures.items():
            measured = np.full(len(earlier) + 1, np.nan)
            measured[dropped[counted]] = values
            table[name] = pa.array(np.where(near, measured[leaders], np.nan), from_pandas=True)
        return pa.table(table)

    def _leaders(self) -> Positions:
        """Return the number of the leader that each document equals, or -1 for documents that can equal none."""
        earlier = self._earlier
        low, high = (earlier.column(name, np.uint64) for name in ("equal", "equal_high"))
        order = np.lexsort((high, low))
        low, high = low[order], high[order]
        parts = [np.empty(0, np.int64)]
        for piece in filter(len, self.collections()):
            digests = equal_digests(piece.texts, self._scheme.shingling, self._salt)
            places = _places(digests, low, high)
            lost = np.flatnonzero((places < 0) & digests.any(axis=1))
            if len(lost):
                rule = f"document {piece.ids[int(lost[0])].as_py()!r} was forgotten"
                raise DataError(self._name, f"{rule}; what a run missed can only be found while all are there")
            parts.append(np.append(order, -1)[places])
        return np.concatenate(parts)


def _places(digests: Words, low: Words, high: Words) -> Positions:
    """Return the place of each digest among sorted ones, or -1."""
    found = np.full(len(digests), -1, np.int64)
    places = np.searchsorted(low, digests[:, 0])
    open_: npt.NDArray[np.int64] = np.arange(len(digests))
    while len(open_ := open_[places[open_] < len(low)]):
        alike: Flags = low[places[open_]] == digests[open_, 0]
        same = alike & (high[places[open_]] == digests[open_, 1])
        found[open_[same]] = places[open_[same]]
        open_ = open_[alike & ~same]  # only one half of these digests is equal
        places[open_] += 1
    return found


def _listed(paths: Iterable[str]) -> str:
    names = [repr(display(path)) for path in paths]
    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return ", ".join([*names[:_LISTED], *more])
