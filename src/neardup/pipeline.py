"""The one place where the stages meet: a collection in, decisions out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.evidence import FeatureSets, overlap
from neardup.decisions.exact import leaders_by_content, leaders_by_features, spread
from neardup.decisions.gathering import ExactResemblance, GivenMatches, Matcher, represented
from neardup.decisions.ranking import ranking
from neardup.engines.local import LocalEngine
from neardup.index.buckets import Buckets, Proposal
from neardup.kernels.sets import digests
from neardup.model.arrays import Features, Flags, Positions, Signatures, TextBatch, Words
from neardup.model.errors import DataError, ParameterError
from neardup.model.policy import Gather, Policy, Verify
from neardup.schemes.checksum import Checksum
from neardup.schemes.minhash import MinHash
from neardup.text.columns import batches, text_column
from neardup.text.shingling import joined

Progress = Callable[[str, int, int], None]

SLICE: Final = 1 << 16  # rows of Arrow data compared at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run did, in numbers."""

    documents: int
    kept: int
    exact: int
    near: int
    empty: int
    too_short: int
    duplicate_ids: int
    candidates: int
    compared: int
    not_compared: int
    scheme: str
    recipe: str
    threshold: float
    policy: Policy


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What ``dedup`` found.

    ``kept``: int64, the positions of the kept documents, ascending. ``decisions``: an Arrow table, one
    row a document, in input order, with the columns

    - ``id`` (string) and ``kept`` (bool);
    - ``representative``: the id of the kept document it is dropped for, null where it is kept itself;
    - ``rule``: ``same text``, ``same features``, ``resemblance`` (exact), ``checksum``, ``component``
      (connected to the representative through others only), ``estimate`` or ``shared key``
      (not verified);
    - ``resemblance``, ``contained_in_kept``, ``contains_kept``: measured on both documents' feature
      sets for verified rules; for ``estimate`` the estimate alone, for ``shared key`` nothing;
    - ``exact``: whether both texts are equal byte by byte.

    ``representatives``: int64, for each document the position of the one it is dropped for, or -1.
    """

    kept: Positions
    decisions: pa.Table
    representatives: Positions
    summary: Summary


def dedup(  # noqa: PLR0913 - every one a keyword with a default
    table_or_texts: Any,
    *,
    text: str = "text",
    id: str | None = "id",  # noqa: A002 - the word users know
    scheme: MinHash | Checksum | None = None,
    threshold: float | None = None,
    keep: str = "first",
    verify: Verify = "exact",
    gather: Gather = "kept",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Find which documents of a collection say the same, and choose the one to keep of each.

    *table_or_texts* is a sequence of strings, an Arrow column, or anything with the Arrow stream
    protocol that has a *text* column; the *id* column may be absent (positions are the ids then).
    Documents are taken from the best rank to the worst (*keep*); one is dropped when it matches a kept
    document, for the best-ranked such one. *threshold* replaces the scheme's. See ``Policy`` for
    *keep*, *verify* and *gather*, ``Result`` for what comes back. *progress* is called with a stage's
    name, what is done and the total.

    Empty documents and those too short for a signature are kept, except that byte-identical ones
    that are not empty are exact duplicates. Same input and parameters, same decisions, whatever the
    number of threads.

    Raises ``ParameterError`` for a parameter that breaks its rule and ``DataError`` for input that
    is no collection of documents.
    """
    policy = Policy(keep=keep, verify=verify, gather=gather)
    scheme = _with_threshold(MinHash() if scheme is None else scheme, threshold)
    collection = _Collection.of(table_or_texts, text, id)
    with LocalEngine(threads) as engine:
        return _Run(collection, scheme, policy, engine, progress or _silent).result()


def _silent(_stage: str, _done: int, _total: int) -> None:
    return


def _with_threshold(scheme: MinHash | Checksum, threshold: float | None) -> MinHash | Checksum:
    if threshold is None:
        return scheme
    if isinstance(scheme, MinHash):
        return replace(scheme, threshold=threshold)
    raise ParameterError("threshold", threshold, "does not go with a checksum, which is equal or not")


@dataclass(frozen=True, slots=True, eq=False)
class _Collection:
    """A table's columns by name, its texts and its ids."""

    texts: pa.ChunkedArray
    ids: pa.ChunkedArray
    table: pa.Table

    @classmethod
    def of(cls, source: Any, text: str, id_: str | None) -> "_Collection":
        table = _as_table(source)
        if table is None:
            texts = text_column(source, text)
            table = pa.table({text: texts})
        elif text not in table.column_names:
            raise DataError(f"column {text!r}", f"is not there; the columns are {', '.join(table.column_names)}")
        else:
            texts = text_column(table.column(text), text)
        return cls(texts, _ids(table, id_, len(texts)), table)

    def column(self, name: str) -> pa.ChunkedArray:
        if name not in self.table.column_names:
            raise DataError(f"column {name!r}", f"is not there; the columns are {', '.join(self.table.column_names)}")
        return self.table.column(name)

    def fields(self, scheme: Checksum) -> pa.Table:
        """The scheme's columns; the text stands for ``body`` in a table without such a column."""
        columns = {name: self.table.column(name) for name in scheme.columns if name in self.table.column_names}
        if "body" in scheme.columns and "body" not in columns:
            columns["body"] = self.texts
        return pa.table(columns)


def _as_table(source: Any) -> pa.Table | None:
    """Take a table of any kind; ``None`` for a plain column of texts."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, pa.Array | pa.ChunkedArray) or not hasattr(source, "__arrow_c_stream__"):
        return None
    if hasattr(source, "columns") or hasattr(source, "column_names") or hasattr(source, "schema"):
        return pa.table(source)
    return None


def _ids(table: pa.Table, name: str | None, number: int) -> pa.ChunkedArray:
    """Name the documents: the id column as strings, positions where it has none."""
    positions = pa.array(np.arange(number)).cast(pa.string())
    if name is None or name not in table.column_names:
        return pa.chunked_array([positions])
    column = table.column(name)
    try:
        named = column.cast(pa.string()) if not pa.types.is_large_string(column.type) else column
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise DataError(f"column {name!r}", f"holds {column.type}, but ids must be strings or numbers") from error
    if not named.null_count:
        return named
    return pa.chunked_array([pc.coalesce(named.combine_chunks(), positions.cast(named.type))])


class _Run:
    """One pass over one collection: sign, group equals, compare candidates, gather evidence."""

    def __init__(
        self,
        collection: _Collection,
        scheme: MinHash | Checksum,
        policy: Policy,
        engine: LocalEngine,
        progress: Progress,
    ) -> None:
        self._collection, self._scheme, self._policy = collection, scheme, policy
        self._engine, self._progress = engine, progress
        self._fields = collection.fields(scheme) if isinstance(scheme, Checksum) else None
        self._candidates = 0

    def result(self) -> Result:
        values = self._collection.column(self._policy.field) if self._policy.field else None
        features, sums, signatures, lengths = self._sign()
        order = ranking(self._policy, lengths, values)
        leaders, empty = self._equals(features, sums, order)
        sets = _by_rank(features, order)
        matched, compared, not_compared = self._decide(sets, signatures, order, leaders)
        matched = spread(matched, leaders)
        return self._report(order, matched, sets, signatures, leaders, empty, compared, not_compared)

    def _sign(self) -> tuple[Features, Words, Signatures, Positions]:
        total = len(self._collection.texts)
        scheme = self._scheme
        parts: list[tuple[Features, Words, Signatures | None, Positions]] = []
        done = 0
        self._progress("sign", 0, total)
        for part in self._engine.map(self._sign_batch, batches(self._collection.texts)):
            parts.append(part)
            done += len(part[0])
            self._progress("sign", done, total)
        if isinstance(scheme, Checksum):
            signatures = scheme.sign(self._fields)
        else:
            rows = [part[2] for part in parts if part[2] is not None]
            empty = scheme.sign([])
            signatures = Signatures(
                np.concatenate([empty.rows, *(signed.rows for signed in rows)]),
                np.concatenate([empty.present, *(signed.present for signed in rows)]),
                scheme.recipe,
            )
        return (
            joined([part[0] for part in parts]),
            np.concatenate([np.empty(0, np.uint64), *(part[1] for part in parts)]),
            signatures,
            np.concatenate([np.empty(0, np.int64), *(part[3] for part in parts)]),
        )

    def _sign_batch(self, batch: TextBatch) -> tuple[Features, Words, Signatures | None, Positions]:
        features = self._scheme.shingling.batch_features(batch)
        sums = np.empty(len(batch), np.uint64)
        digests(features.values, features.offsets, sums)
        signatures = self._scheme.sign(features) if isinstance(self._scheme, MinHash) else None
        return features, sums, signatures, np.diff(batch.offsets)

    def _equals(self, features: Features, sums: Words, order: Positions) -> tuple[Positions, Flags]:
        """Find each document's best-ranked equal, by rank; and which positions hold empty documents."""
        number = len(order)
        empty = np.zeros(number, np.bool_)
        short = np.diff(features.offsets)[order] == 0
        if self._fields is not None:
            leaders = np.arange(number)
            asking = np.arange(number)
        else:
            leaders = leaders_by_features(features, sums, order)
            asking = np.flatnonzero(short)
        positions = order[asking]
        contents: list[Any] = _raw(self._collection.texts, positions)
        blank = np.array([_is_blank(content) for content in contents], np.bool_)
        empty[positions[blank]] = True
        keys: list[Any] = [None if nothing else content for content, nothing in zip(contents, blank, strict=True)]
        if self._fields is not None:
            others = [_raw(_as_strings(self._fields.column(name)), positions) for name in self._fields.column_names]
            keys = [None if key is None else (key, *rest) for key, *rest in zip(keys, *others, strict=True)]
        leaders_by_content(keys, asking.tolist(), leaders)
        return leaders, empty

    def _decide(
        self, sets: FeatureSets, signatures: Signatures, order: Positions, leaders: Positions
    ) -> tuple[Positions, int, int]:
        """Say by rank which document is dropped for which, before equals are added."""
        number = len(order)
        asking = signatures.present[order] & (leaders == np.arange(number))
        keys = self._scheme.keys(signatures)
        buckets = Buckets(keys[order], asking, map=self._engine.map)
        matcher = self._matcher(sets, signatures, order)
        matched = np.full(number, -1, np.int64)
        parents = np.arange(number)
        self._progress("compare", 0, number)
        for block in buckets.blocks():
            self._candidates += len(block.candidates)
            plausible = self._plausible(block, signatures, order)
            if self._policy.gather == "components":
                matcher.connect(plausible, parents)
            else:
                matcher.settle(plausible, matched)
                buckets.retire(block.asking[matched[block.asking] >= 0])
            self._progress("compare", int(block.asking[-1]) + 1, number)
        self._progress("compare", number, number)
        if self._policy.gather == "components":
            matched = represented(parents)
        return matched, matcher.compared, buckets.not_compared

    def _matcher(self, sets: FeatureSets, signatures: Signatures, order: Positions) -> Matcher:
        scheme, verify = self._scheme, self._policy.verify
        if verify == "none":
            return GivenMatches(lambda left, _: np.ones(len(left), np.bool_))
        if isinstance(scheme, Checksum):
            if verify == "estimate":
                return GivenMatches(lambda left, right: scheme.matches(signatures[order[left]], signatures[order[right]]))
            return GivenMatches(lambda left, right: scheme.same_content(self._fields, order[left], order[right]))
        if verify == "estimate":
            return GivenMatches(
                lambda left, right: scheme.estimate_pairs(signatures, order[left], order[right]) >= scheme.threshold
            )
        return ExactResemblance(sets, scheme.threshold, parts=self._engine.parts, map=self._engine.map)

    def _plausible(self, block: Proposal, signatures: Signatures, order: Positions) -> Proposal:
        """Spare exact comparisons: an estimate far below the threshold settles it."""
        scheme = self._scheme
        if not isinstance(scheme, MinHash) or self._policy.verify != "exact" or not len(block.candidates):
            return block
        pairs = block.pairs
        holds = np.empty(len(pairs), np.bool_)

        def estimate(part: slice) -> None:
            left, right = order[pairs[part]], order[block.candidates[part]]
            holds[part] = scheme.estimate_pairs(signatures, left, right) >= scheme.floor

        for _ in self._engine.map(estimate, self._engine.parts(len(pairs))):
            pass
        return block.where(holds)

    def _report(  # noqa: PLR0913 - everything the run knows
        self,
        order: Positions,
        matched: Positions,
        sets: FeatureSets,
        signatures: Signatures,
        leaders: Positions,
        empty: Flags,
        compared: int,
        not_compared: int,
    ) -> Result:
        number = len(order)
        dropped = np.flatnonzero(matched >= 0)
        representatives = matched[dropped]
        common = overlap(sets, dropped, representatives)
        left, right = order[dropped], order[representatives]
        exact = _same_text(self._collection.texts, left, right)
        equal = (leaders[dropped] == representatives) & ~exact
        shares: list[npt.NDArray[np.float64]] = [common.resemblance, common.left_in_right, common.right_in_left]
        rule = np.full(len(dropped), self._rule(), dtype=object)
        if self._policy.verify == "exact" and self._policy.gather == "components":
            if isinstance(self._scheme, MinHash):
                rule[common.resemblance < self._scheme.threshold] = "component"
        elif self._policy.verify != "exact" and isinstance(self._scheme, MinHash):
            unverified = ~(exact | equal)
            estimate = self._scheme.estimate_pairs(signatures, left, right)
            shares[0] = np.where(unverified, estimate if self._policy.verify == "estimate" else np.nan, shares[0])
            shares[1] = np.where(unverified, np.nan, shares[1])
            shares[2] = np.where(unverified, np.nan, shares[2])
        rule[equal] = "same features"
        rule[exact] = "same text"
        for share in shares:  # equal texts share everything, also where they are too short for a shingle
            share[exact] = 1.0

        representative = np.full(number, -1, np.int64)
        representative[left] = right
        decisions = _decisions(self._collection.ids, representative, left, rule, shares, exact)
        kept = np.flatnonzero(representative < 0)
        short = ~signatures.present & ~empty
        summary = Summary(
            documents=number,
            kept=len(kept),
            exact=int(exact.sum()),
            near=len(dropped) - int(exact.sum()),
            empty=int(empty.sum()),
            too_short=int(short.sum()),
            duplicate_ids=number - int(pc.count_distinct(self._collection.ids).as_py()),
            candidates=self._candidates,
            compared=compared,
            not_compared=not_compared,
            scheme=self._scheme.name,
            recipe=self._scheme.recipe,
            threshold=self._scheme.threshold,
            policy=self._policy,
        )
        return Result(kept, decisions, representative, summary)

    def _rule(self) -> str:
        if self._policy.verify == "none":
            return "shared key"
        if isinstance(self._scheme, Checksum):
            return "checksum"
        return "resemblance" if self._policy.verify == "exact" else "estimate"


def _by_rank(features: Features, order: Positions) -> FeatureSets:
    sets = FeatureSets(features)
    sets.starts, sets.sizes = sets.starts[order], sets.sizes[order]
    return sets


def _raw(texts: pa.ChunkedArray, positions: Positions) -> list[bytes | None]:
    """The texts at these positions, as bytes."""
    column = texts.cast(pa.large_binary()) if len(positions) else texts
    return [] if not len(positions) else column.take(pa.array(positions)).to_pylist()


def _as_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column if pa.types.is_large_binary(column.type) else column.cast(pa.large_string())


def _is_blank(content: bytes | None) -> bool:
    return content is None or not content or not content.decode("utf-8", "replace").strip()


def _same_text(texts: pa.ChunkedArray, left: Positions, right: Positions) -> Flags:
    """Say, pair by pair, whether two texts are equal byte by byte."""
    same = np.empty(len(left), np.bool_)
    for begin in range(0, len(left), SLICE):
        part = slice(begin, begin + SLICE)
        equal = pc.equal(texts.take(pa.array(left[part])), texts.take(pa.array(right[part])))
        same[part] = pc.fill_null(equal, fill_value=False).to_numpy(zero_copy_only=False)
    return same


def _decisions(  # noqa: PLR0913 - the columns of a report
    ids: pa.ChunkedArray,
    representative: Positions,
    dropped: Positions,
    rule: npt.NDArray[np.object_],
    shares: list[npt.NDArray[np.float64]],
    exact: Flags,
) -> pa.Table:
    """Lay out the evidence, one row a document."""
    number = len(representative)
    kept = representative < 0
    rows = np.full(number, -1, np.int64)
    rows[dropped] = np.arange(len(dropped))
    where = pa.array(rows, mask=kept)

    def column(values: pa.Array) -> pa.Array:
        return values.take(where)

    resemblance, inside, around = (pa.array(share, from_pandas=True) for share in shares)
    same = np.zeros(number, np.bool_)
    same[dropped] = exact
    return pa.table(
        {
            "id": ids,
            "kept": pa.array(kept),
            "representative": ids.take(pa.array(representative, mask=kept)),
            "rule": column(pa.array(rule, pa.string())),
            "resemblance": column(resemblance),
            "contained_in_kept": column(inside),
            "contains_kept": column(around),
            "exact": pa.array(same),
        }
    )


