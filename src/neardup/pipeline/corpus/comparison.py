"""The comparison of leaders: which is dropped for which, and by which rule; in memory and in pieces alike.

Leaders are the best-ranked documents of groups of equal ones, numbered from best to worst.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from neardup.decisions.drops import UNKNOWN, ExactResemblance, GivenMatches, Matcher, represented
from neardup.decisions.evidence import COSINE, FeatureSets, Shared, WeightedSets, exact_measure
from neardup.engines.local import LocalEngine
from neardup.index.memory.buckets import Buckets, Keys
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import AnyPositions, Features, Flags, Positions, Signatures, Words
from neardup.model.candidates import Candidates
from neardup.model.engine import IN_TURN, Engine, in_parts
from neardup.model.policy import Policy
from neardup.pipeline.progress import Progress
from neardup.schemes.plausibility import matching, plausible_tests, share_a_key
from neardup.schemes.ranked_parts import PairTest
from neardup.schemes.scheme import Scheme

_MANY: Final = 8  # largest ratio of documents to dropped ones that is worth a search
NO_DECISIONS: Final[Positions] = np.empty(0, np.int64)
UNVERIFIED: Final = {"estimate": "estimate", "none": "shared key"}


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """The result of comparing: for each leader the kept leader that it is dropped for, or -1; and the counts.

    ``common`` is the number of features that both share, if it was counted, otherwise ``UNKNOWN``.
    """

    matched: Positions
    common: Positions
    candidates: int
    compared: int
    not_compared: int


class SignatureKeys:
    """The keys of signatures, computed for some documents or one column at a time, if that takes no longer."""

    def __init__(self, scheme: Scheme, signatures: Signatures) -> None:
        self._scheme, self._signatures = scheme, signatures
        by_parts = scheme.position_independent or scheme.key_column is not None
        self._whole = None if by_parts else scheme.keys(signatures)  # other schemes make all columns as fast as one

    @property
    def columns(self) -> int:
        """The number of columns."""
        return self.rows(np.arange(0)).shape[1] if self._scheme.key_column is None else int(self._scheme.key_count)

    def column(self, column: int, documents: AnyPositions) -> Words:
        """Return the keys of these documents in one column."""
        if self._scheme.key_column is not None:
            return np.asarray(self._scheme.key_column(self._signatures, column, documents))
        return self.rows(documents)[:, column] if self._whole is None else np.asarray(self._whole[documents, column])

    def rows(self, documents: AnyPositions) -> Words:
        """Return all keys of these documents."""
        return self._scheme.keys(self._signatures[documents]) if self._whole is None else self._whole[documents]


class LeaderComparison:
    """Leaders with their signatures, and the rules by which they are compared."""

    def __init__(
        self, scheme: Scheme, policy: Policy, signatures: Signatures, engine: LocalEngine, thresholds: Thresholds
    ) -> None:
        self._scheme, self._policy, self._signatures, self._engine = scheme, policy, signatures, engine
        self._thresholds = thresholds

    @property
    def unverified(self) -> GivenMatches:
        """The matcher of a policy that verifies no texts: every candidate, or those whose signatures match."""
        scheme, signatures = self._scheme, self._signatures
        if self._policy.verify == "none":
            return GivenMatches(lambda left, _: np.ones(len(left), np.bool_), compares=False)
        closeness = partial(scheme.estimate_pairs, signatures) if self._policy.representative == "closest" else None
        return GivenMatches(partial(matching, scheme, signatures, self._thresholds), closeness=closeness)

    def decide(
        self, matcher: Matcher, progress: Progress, keys: Keys | None = None, earlier: Positions = NO_DECISIONS
    ) -> Decided:
        """Let the *matcher* decide the plausible candidates of all leaders, block by block, best ranks first.

        *keys* are those of the signatures, unless they were computed before. *earlier* are the decisions on the best
        leaders, if these were made before; they do not change.
        """
        scheme, signatures = self._scheme, self._signatures
        number = len(signatures)
        first, matched = len(earlier), np.full(number, -1, np.int64)
        matched[:first] = earlier
        buckets = Buckets(
            SignatureKeys(scheme, signatures) if keys is None else keys,
            signatures.present,
            first=first,
            position_independent=scheme.position_independent,
            engine=self._engine,
        )
        parents = np.arange(number)
        candidates, dropped = 0, int((matched >= 0).sum())
        progress("compare", first, number)
        propose = partial(next, buckets.proposed(), None)
        proposed = self._engine.begin(propose)
        while (block := proposed()) is not None:
            proposed = self._engine.begin(propose)  # the next block, while this one is compared
            candidates += len(block.candidates)
            if self._policy.gather == "components":
                matcher.connect(self.plausible(block), parents)
            else:
                if first or _MANY * dropped > int(block.asking[0]):  # no document is dropped for a dropped document
                    block = block.where(matched[block.candidates] < 0)
                matcher.settle(self.plausible(block), matched)
                dropped += int((matched[block.asking] >= 0).sum())
            progress("compare", int(block.asking[-1]) + 1, number)
        progress("compare", number, number)
        if self._policy.gather == "components":
            matched = represented(parents)
        left = pairs_left(signatures.present, first, candidates)
        common = matcher.common if isinstance(matcher, ExactResemblance) else np.full(number, UNKNOWN)
        return Decided(matched, common, candidates, matcher.compared, min(buckets.not_compared, left))

    def plausible(self, block: Candidates) -> Candidates:
        """Remove pairs that need no comparison: with an estimate far below the threshold, or refused by a filter."""
        verify, signatures = self._policy.verify, self._signatures
        tests = [] if verify == "estimate" else plausible_tests(self._scheme, signatures, by_estimate=verify == "exact")
        for test in tests:
            block = self._where(block, test)
        return block

    def _where(self, block: Candidates, test: PairTest) -> Candidates:
        pairs = block.pairs
        holds = np.empty(len(pairs), np.bool_)

        def ask(part: slice) -> None:
            holds[part] = test(pairs[part], block.candidates[part])

        in_parts(self._engine, ask, len(pairs))
        return block.where(holds)

    def evidence(self, common: Shared, left: Positions, right: Positions, equal: Flags, exact: Flags) -> dict[str, Any]:
        """Return the rule and measures of dropped leaders *left* and kept leaders *right*; null if not verified.

        *equal* are pairs of equal documents, *exact* those of them with the same text.
        """
        scheme, verify, signatures = self._scheme, self._policy.verify, self._signatures
        least = self._thresholds.of(left, right, common.smaller)
        measured = common.columns
        rule = np.full(len(left), UNVERIFIED.get(verify, scheme.rule), dtype=object)
        if scheme.passes is not None:
            rule[~scheme.passes(signatures, left, right)] = "component"
        if verify != "exact":
            for measure in measured.values():
                measure[~equal] = np.nan
        if verify == "estimate" and scheme.measure == "resemblance":
            measured["resemblance"][~equal] = scheme.estimate_pairs(signatures, left[~equal], right[~equal])
        if verify == "none" and self._policy.gather == "components":
            rule[~share_a_key(scheme, signatures, left, right)] = "component"
        if verify == "estimate":
            rule[~matching(scheme, signatures, self._thresholds, left, right)] = "component"
        elif verify == "exact" and not scheme.columns and scheme.rule != COSINE:  # equal fields are transitive
            rule[common.measured(exact_measure(scheme.rule)) < least] = "component"
        for measure in measured.values():  # equal documents share everything, even without shingles
            measure[equal] = 1.0
        if self._thresholds.vary:
            verified = (rule != "component") & ~equal & (verify != "none")
            measured["threshold"] = np.where(verified, least, np.nan)
        rule[equal] = "same features"
        rule[exact] = "same text"
        return {"rule": rule, **measured}


def pairs_left(present: Flags, first: int, candidates: int) -> int:
    """Return the number of pairs of an asking document that are not candidates."""
    signed, before = int(present.sum()), int(present[:first].sum())
    return signed * (signed - 1) // 2 - before * (before - 1) // 2 - candidates


def needs_rows(scheme: Scheme, policy: Policy) -> bool:
    """Return whether evidence is read from the rows of signatures; otherwise decisions are their last use."""
    return policy.verify != "exact" or scheme.passes is not None


def feature_sets(scheme: Any, features: Features, positions: Positions) -> FeatureSets:
    """Return the sets that exact verification compares: with weights if it compares cosines."""
    if scheme.rule == COSINE:
        return WeightedSets(features, positions, scheme.weight_table)
    return FeatureSets(features, positions)


def exact_matcher(
    scheme: Scheme, policy: Policy, sets: FeatureSets, thresholds: Thresholds, engine: Engine = IN_TURN
) -> ExactResemblance | GivenMatches:
    """Return the matcher that verifies the features of documents."""
    if isinstance(sets, WeightedSets):
        weighted = sets
        return GivenMatches(
            lambda left, right: (
                weighted.cosines(left, right) >= thresholds.of(left, right, weighted.smaller(left, right))
            ),
            closeness=weighted.cosines if policy.representative == "closest" else None,
        )
    return ExactResemblance(
        sets, thresholds, measure=exact_measure(scheme.rule), closest=policy.representative == "closest", engine=engine
    )
