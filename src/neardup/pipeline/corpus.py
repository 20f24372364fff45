"""The corpus moment: a collection in, decisions out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.evidence import FeatureSets, Overlap, overlap
from neardup.decisions.exact import leaders_by_content, leaders_by_features, spread
from neardup.decisions.gathering import ExactResemblance, GivenMatches, Matcher, represented
from neardup.decisions.ranking import ranking
from neardup.engines.local import LocalEngine
from neardup.index.buckets import Buckets, Proposal
from neardup.kernels.sets import digests
from neardup.model.arrays import Features, Flags, Positions, Signatures, TextBatch, Words
from neardup.model.errors import ParameterError
from neardup.model.policy import Gather, Policy, Verify
from neardup.pipeline.collection import Collection
from neardup.pipeline.result import Result, Summary, decisions_table, same_text
from neardup.schemes.checksum import Checksum
from neardup.schemes.minhash import MinHash
from neardup.text.columns import batches
from neardup.text.shingling import joined

Progress = Callable[[str, int, int], None]
AnyScheme = MinHash | Checksum


def dedup(  # noqa: PLR0913 - every one a keyword with a default
    table_or_texts: Any,
    *,
    text: str = "text",
    id: str | None = "id",  # noqa: A002 - the word users know
    scheme: AnyScheme | None = None,
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
    document, for the best-ranked such one. *scheme* is ``MinHash()`` by default; *threshold*
    replaces the scheme's. See ``Policy`` for *keep*, *verify* and *gather*, ``Result`` for what comes
    back. *progress* is called with a stage's name, what is done and the total.

    Empty documents and those too short for a signature are kept, except that byte-identical ones
    that are not empty are exact duplicates. Same input and parameters, same decisions, whatever the
    number of threads (``None``: every core).

    Raises ``ParameterError`` for a parameter that breaks its rule and ``DataError`` for input that
    is no collection of documents.
    """
    policy = Policy(keep=keep, verify=verify, gather=gather)
    scheme = _with_threshold(MinHash() if scheme is None else scheme, threshold)
    collection = Collection.of(table_or_texts, text, id)
    with LocalEngine(threads) as engine:
        return _Run(collection, scheme, policy, engine, progress or _silent).result()


def _silent(_stage: str, _done: int, _total: int) -> None:
    return


def _with_threshold(scheme: AnyScheme, threshold: float | None) -> AnyScheme:
    if threshold is None:
        return scheme
    if isinstance(scheme, MinHash):
        return replace(scheme, threshold=threshold)
    raise ParameterError("threshold", threshold, "does not go with a checksum, which is equal or not")


@dataclass(frozen=True, slots=True, eq=False)
class _Signed:
    """What signing gives of some documents, by position."""

    features: Features
    sums: Words  # digests of the features
    signatures: Signatures
    lengths: Positions  # bytes of text


@dataclass(frozen=True, slots=True, eq=False)
class _Decided:
    """What matching gives, by rank: who is dropped for whom (-1: kept), and what it took."""

    matched: Positions
    candidates: int
    compared: int
    not_compared: int


class _Run:
    """One pass over one collection: sign, group equals, compare candidates, measure evidence."""

    def __init__(
        self, collection: Collection, scheme: AnyScheme, policy: Policy, engine: LocalEngine, progress: Progress
    ) -> None:
        self._collection, self._scheme, self._policy = collection, scheme, policy
        self._engine, self._progress = engine, progress
        self._fields = collection.fields(scheme) if isinstance(scheme, Checksum) else None

    def result(self) -> Result:
        values = self._collection.column(self._policy.field) if self._policy.field else None
        signed = self._sign()
        order = ranking(self._policy, signed.lengths, values)
        leaders, empty = self._equals(signed, order)
        sets = FeatureSets(signed.features, order)
        decided = self._decide(sets, signed.signatures, order, leaders)
        return self._report(signed.signatures, order, leaders, empty, sets, decided)

    def _sign(self) -> _Signed:
        total = len(self._collection.texts)
        nothing = _Signed(joined([]), np.empty(0, np.uint64), self._signatures(joined([])), np.empty(0, np.int64))
        parts = [nothing]
        done = 0
        self._progress("sign", 0, total)
        for part in self._engine.map(self._sign_batch, batches(self._collection.texts)):
            parts.append(part)
            done += len(part.lengths)
            self._progress("sign", done, total)
        if isinstance(self._scheme, Checksum):
            signatures = self._scheme.sign(self._fields)
        else:
            rows = np.concatenate([part.signatures.rows for part in parts])
            present = np.concatenate([part.signatures.present for part in parts])
            signatures = Signatures(rows, present, self._scheme.recipe)
        return _Signed(
            joined([part.features for part in parts]),
            np.concatenate([part.sums for part in parts]),
            signatures,
            np.concatenate([part.lengths for part in parts]),
        )

    def _sign_batch(self, batch: TextBatch) -> _Signed:
        features = self._scheme.shingling.batch_features(batch)
        sums = np.empty(len(batch), np.uint64)
        digests(features.values, features.offsets, sums)
        return _Signed(features, sums, self._signatures(features), np.diff(batch.offsets))

    def _signatures(self, features: Features) -> Signatures:
        """Sign features; a scheme of fields signs the whole table at once, later."""
        if isinstance(self._scheme, MinHash):
            return self._scheme.sign(features)
        return Signatures(np.empty((0, 1), np.uint64), np.empty(0, np.bool_), self._scheme.recipe)

    def _equals(self, signed: _Signed, order: Positions) -> tuple[Positions, Flags]:
        """Find each document's best-ranked equal, by rank; and which positions hold empty documents.

        Equal are documents with the same features, and those without features but with the same
        text. Where fields decide, the fields must be the same too, and the features say nothing.
        """
        number = len(order)
        featureless = np.diff(signed.features.offsets)[order] == 0
        if self._fields is None:
            leaders = leaders_by_features(signed.features, signed.sums, order)
            ranks = np.flatnonzero(featureless)
        else:
            leaders = ranks = np.arange(number)
            leaders = leaders.copy()
        positions = order[ranks]
        texts = self._collection.raw_texts(positions)
        blank = np.array([_is_blank(text) for text in texts], np.bool_)
        empty = np.zeros(number, np.bool_)
        empty[positions[blank]] = True
        contents: list[Any] = texts
        if self._fields is not None:
            fields = [column.to_pylist() for column in self._fields.take(pa.array(positions)).columns]
            contents = list(zip(texts, *fields, strict=True))
        contents = [None if nothing else content for content, nothing in zip(contents, blank, strict=True)]
        leaders_by_content(contents, ranks.tolist(), leaders)
        return leaders, empty

    def _decide(self, sets: FeatureSets, signatures: Signatures, order: Positions, leaders: Positions) -> _Decided:
        """Say which document is dropped for which: the leaders by comparison, their equals with them."""
        number = len(order)
        asking = signatures.present[order] & (leaders == np.arange(number))
        buckets = Buckets(self._scheme.keys(signatures)[order], asking, map=self._engine.map)
        matcher = self._matcher(sets, signatures, order)
        matched = np.full(number, -1, np.int64)
        parents = np.arange(number)
        candidates = 0
        self._progress("compare", 0, number)
        for block in buckets.blocks():
            candidates += len(block.candidates)
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
        return _Decided(spread(matched, leaders), candidates, matcher.compared, buckets.not_compared)

    def _matcher(self, sets: FeatureSets, signatures: Signatures, order: Positions) -> Matcher:
        scheme, verify = self._scheme, self._policy.verify
        if verify == "none":
            return GivenMatches(lambda left, _: np.ones(len(left), np.bool_))
        if isinstance(scheme, Checksum):
            if verify == "estimate":
                return GivenMatches(
                    lambda left, right: scheme.matches(signatures[order[left]], signatures[order[right]])
                )
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

    def _report(  # noqa: PLR0913, PLR0917 - everything the run knows
        self,
        signatures: Signatures,
        order: Positions,
        leaders: Positions,
        empty: Flags,
        sets: FeatureSets,
        decided: _Decided,
    ) -> Result:
        dropped = np.flatnonzero(decided.matched >= 0)
        representatives = decided.matched[dropped]
        left, right = order[dropped], order[representatives]
        exact = same_text(self._collection.texts, left, right)
        equal = (leaders[dropped] == representatives) & ~exact
        common = self._overlap(sets, dropped, representatives)
        evidence = self._evidence(common, signatures, left, right, exact | equal)
        evidence["rule"][equal] = "same features"
        evidence["rule"][exact] = "same text"

        number = len(order)
        representative = np.full(number, -1, np.int64)
        representative[left] = right
        kept = np.flatnonzero(representative < 0)
        summary = Summary(
            documents=number,
            kept=len(kept),
            exact=int(exact.sum()),
            near=len(dropped) - int(exact.sum()),
            empty=int(empty.sum()),
            too_short=int((~signatures.present & ~empty).sum()),
            duplicate_ids=number - int(pc.count_distinct(self._collection.ids).as_py()),
            candidates=decided.candidates,
            compared=decided.compared,
            not_compared=decided.not_compared,
            scheme=self._scheme.name,
            recipe=self._scheme.recipe,
            threshold=self._scheme.threshold,
            policy=self._policy,
        )
        decisions = decisions_table(self._collection.ids, representative, left, evidence, exact)
        return Result(kept, decisions, representative, summary)

    def _overlap(self, sets: FeatureSets, left: Positions, right: Positions) -> Overlap:
        """Measure all pairs, a part each thread."""
        sets.ensure_distinct(np.concatenate([left, right]))
        parts = list(
            self._engine.map(lambda part: overlap(sets, left[part], right[part]), self._engine.parts(len(left)))
        )
        return Overlap.joined(parts)

    def _evidence(
        self, common: Overlap, signatures: Signatures, left: Positions, right: Positions, equal: Flags
    ) -> dict[str, Any]:
        """Give rule and measures of each dropped document; what was not verified is not claimed."""
        scheme, verify = self._scheme, self._policy.verify
        measured = {
            "resemblance": common.resemblance,
            "contained_in_kept": common.left_in_right,
            "contains_kept": common.right_in_left,
        }
        rule = np.full(len(left), _RULES[verify], dtype=object)
        if verify != "exact":
            for measure in measured.values():
                measure[~equal] = np.nan
        if verify == "estimate" and isinstance(scheme, MinHash):
            measured["resemblance"][~equal] = scheme.estimate_pairs(signatures, left[~equal], right[~equal])
        if verify == "exact" and isinstance(scheme, MinHash):
            rule[common.resemblance < scheme.threshold] = "component"
        if verify != "none" and isinstance(scheme, Checksum):
            rule[:] = "checksum"
        for measure in measured.values():  # equals share everything, also where they are too short for a shingle
            measure[equal] = 1.0
        return {"rule": rule, **measured}


_RULES = {"exact": "resemblance", "estimate": "estimate", "none": "shared key"}


def _is_blank(text: bytes | None) -> bool:
    return text is None or not text or not text.decode("utf-8", "replace").strip()
