"""Audits: what a run over a collection missed, found by comparing a random sample with everything that was kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa

from neardup.decisions.evidence import COSINE, WeightedSets, exact_measure
from neardup.decisions.partners import Partners
from neardup.decisions.ranking import ranking
from neardup.decisions.weighted_partners import FoundCosines, WeightedPartners
from neardup.engines.local import LocalEngine
from neardup.evaluation.audit import NO_KEY, OVERSIZED, REFUSED, STEP, Audit, Missed, Outcome, Values, audit_of
from neardup.model.arrays import Corpus, Features, Flags, Positions, TextBatch, Words
from neardup.model.errors import DataError, ParameterError, require, require_kind, require_share, require_whole
from neardup.model.protocols import FieldScheme, Scheme
from neardup.pipeline.corpus.address_ranks import address_ranks
from neardup.pipeline.corpus.comparison import feature_sets
from neardup.pipeline.corpus.documents import Documents
from neardup.pipeline.corpus.result import Result
from neardup.pipeline.corpus.run import chosen_scheme
from neardup.pipeline.progress import Progress, followed
from neardup.schemes.plausibility import plausible_tests, share_a_key
from neardup.schemes.thresholds import thresholds_of
from neardup.text.columns import batches, gathered, text_lengths, whole_batch
from neardup.text.sites import NO_SITES, separate

SAMPLE: Final = 2_000
MOST: Final = 200_000  # documents that are sampled
SHOWN: Final = 20  # missed documents with their texts
_READ: Final = 50_000  # characters of a text that are kept to be shown
_AGREES: Final = 1e-9

Among = Callable[[Features], tuple[Positions, Positions, Values, Positions]]  # see ``_Sample._partners``
Pieces = Callable[[], Iterator[tuple[pa.ChunkedArray, Words]]]  # texts in the order of the input, and their sites


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """A run: its documents, read in pieces, the ranks of these from the best, 0, and what was decided.

    *representatives* are the positions for which documents were dropped, -1 for kept documents; *exact* are those
    dropped for equal texts or features; *measured* are the measures of the others in the report, NaN if it has none.
    """

    pieces: Pieces
    ids: pa.ChunkedArray
    ranks: Positions
    representatives: Positions
    exact: Flags
    measured: Values


def audit(  # noqa: PLR0913 - every one a keyword with a default
    result: Result,
    documents: Any = None,
    *,
    text: str = "text",
    id: str | None = "id",  # noqa: A002 - the word users know
    scheme: Scheme | None = None,
    sample: int = SAMPLE,
    until: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Audit:
    """Estimate what a run of ``dedup`` missed, with intervals of 95 %.

    *documents* are those of the run, by default the container that it was called with, *text*, *id* and *scheme* as
    there. *sample* documents are drawn at random by *seed*, and compared exactly with all kept documents, without
    signatures. With *until*, such as 0.005, more are drawn until the interval of the recall is at most that far from
    its middle; ``needed`` of the result is the number that this takes if it is above 200,000. See ``Audit`` for the
    result. A collection without documents or without duplicates has a recall from 0 to 1.

    Raises ``ParameterError`` for a scheme that is not that of the run, and for one that signs fields instead of texts;
    ``DataError`` for other documents than those of the run.
    """
    require_kind("result", result, Result)
    source = result.source if documents is None else documents
    if source is None:
        raise ParameterError("documents", None, "is needed: the run has read them from files, or from a stream")
    policy = result.summary.policy
    chosen, _ = chosen_scheme(scheme, None, None, None)
    require_texts(chosen)
    if chosen.threshold != result.summary.threshold:
        chosen = chosen.with_threshold(result.summary.threshold)
    chosen = chosen.with_short(result.summary.short, result.summary.short_threshold)
    if result.summary.common is not None:
        chosen = chosen.with_common(result.summary.common)
    if chosen.recipe != result.summary.recipe:
        raise ParameterError("scheme", chosen.name, f"is not that of the run: {result.summary.recipe}")
    table = Documents.of(source, text, id, policy.fields)
    if len(table.texts) != len(result.representatives):
        rule = f"are {len(table.texts):,}, but the run had {len(result.representatives):,}"
        raise DataError("the documents", rule)
    values = {name: table.column(name) for name in policy.fields}
    order = ranking(policy, text_lengths(table.texts), values, address_ranks(policy, table.ids, values))
    run = audited(result.decisions, lambda: iter([(table.texts, table.sites)]), table.ids, order, chosen)
    return audit_run(run, chosen, sample=sample, until=until, seed=seed, threads=threads, progress=progress)


def audited(decisions: pa.Table, pieces: Pieces, ids: pa.ChunkedArray, order: Positions, scheme: Scheme) -> Audited:
    """Return a run with these *decisions* (see ``Result``) on documents in this *order* of ranks.

    Raises ``ParameterError`` if a document was dropped for a worse one: then the order is another one.
    """
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    representatives = _filled(decisions["representative_position"], -1)
    dropped = np.flatnonzero(representatives >= 0)
    worse = dropped[ranks[representatives[dropped]] > ranks[dropped]]
    if len(worse):
        name = ids[int(worse[0])].as_py()
        raise ParameterError(
            "keep", None, f"is not that of the run: {name!r} was dropped for a document of a worse rank"
        )
    rules = decisions["rule"].to_pylist()
    exact = np.array([rule in {"same text", "same features"} for rule in rules], np.bool_)
    given = np.array([rule == scheme.rule for rule in rules], np.bool_) & (scheme.rule == "resemblance")
    measured = np.where(given, _filled(decisions["resemblance"], np.nan), np.nan)
    return Audited(pieces, ids, ranks, representatives, exact, measured)


def audit_run(  # noqa: PLR0913 - as audit
    run: Audited,
    scheme: Scheme,
    *,
    sample: int = SAMPLE,
    until: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Audit:
    """Audit a run; see ``audit``."""
    require_texts(scheme)
    sample = require_whole("sample", sample, 1, MOST)
    until = None if until is None else require_share("until", until, below_one=True)
    require_whole("seed", seed, 0)
    with followed(progress) as follow, LocalEngine(threads) as engine:
        while True:
            found = _Sample(run, scheme, sample, seed, engine, follow).audit()
            if until is None or found.recall.width <= until or found.sample == len(run.ranks):
                return found
            needed = min(len(run.ranks), ceil(1.1 * sample * (found.recall.width / until) ** 2))
            if sample == MOST:
                return replace(found, needed=needed)
            sample = min(MOST, max(needed, 2 * sample))


def require_texts(scheme: Scheme) -> None:
    """Raise ``ParameterError`` for a scheme that signs fields, whose runs miss nothing."""
    rule = "signs fields, not texts: equal fields are always found, so there is nothing to audit"
    require(not isinstance(scheme, FieldScheme), "scheme", scheme.name, rule)


def _filled(column: pa.ChunkedArray, missing: float) -> Any:
    kind = pa.int64() if missing == -1 else pa.float64()
    return column.cast(kind).fill_null(pa.scalar(missing, kind)).to_numpy()


class _Sample:
    """One sample of the documents of a run."""

    def __init__(  # noqa: PLR0913, PLR0917 - what is drawn from what, and how it runs
        self, run: Audited, scheme: Scheme, number: int, seed: int, engine: LocalEngine, progress: Progress
    ) -> None:
        self._run, self._scheme, self._engine, self._progress = run, scheme, engine, progress
        total = len(run.ranks)
        drawn = np.random.default_rng(seed).choice(total, min(number, total), replace=False)
        self._positions: Positions = np.sort(drawn)
        self._measure = exact_measure(scheme.rule)

    def audit(self) -> Audit:
        run, scheme, positions = self._run, self._scheme, self._positions
        texts, features, sites = self._read()
        partners = self._partners(features)
        dropped = run.representatives[positions] >= 0
        closest = np.where(run.exact[positions], 1.0, np.nan)
        allowed, near = run.exact[positions].copy(), np.zeros(len(positions), np.bool_)
        matching: list[tuple[Positions, Values]] = []
        missed: dict[int, tuple[float, int, Any]] = {}
        for found in self._scan(partners, sites):
            left, right, values, least, kept_texts = found
            match = values >= least
            matching.append((left[match], values[match]))
            np.fmax.at(closest, left, values)
            np.logical_or.at(allowed, left, match)
            np.logical_or.at(near, left, values >= least - STEP)
            for place in np.flatnonzero(match & ~dropped[left]).tolist():
                one, value = int(left[place]), float(values[place])
                if one not in missed or value > missed[one][0]:
                    missed[one] = value, int(right[place]), kept_texts(int(right[place]))
        listed = [
            Missed(
                id=run.ids[int(positions[one])].as_py(),
                partner=run.ids[other].as_py(),
                position=int(positions[one]),
                partner_position=other,
                value=value,
                reason=self._reason(texts[one].as_py(), partner_text),
                text=texts[one].as_py()[:_READ],
                partner_text=partner_text[:_READ],
            )
            for one, (value, other, partner_text) in sorted(missed.items(), key=lambda each: (-each[1][0], each[0]))
        ]
        outcome = Outcome(dropped, closest, allowed, near, self._lawful(matching))
        reasons = [one.reason for one in listed]
        about = {"scheme": scheme.name, "measure": self._measure}
        return audit_of(outcome, len(run.ranks), scheme.threshold, reasons, **about, missed=tuple(listed[:SHOWN]))

    def _lawful(self, matching: list[tuple[Positions, Values]]) -> Values:
        """Return the probability, by the law, that each sampled document was compared with one that it matches.

        NaN where the scheme has no law for its measure.
        """
        number = len(self._positions)
        if self._scheme.measure != "resemblance":
            return np.full(number, np.nan)
        lacking = np.where(self._run.exact[self._positions], 0.0, 1.0)
        if matching:
            left, values = (np.concatenate(each) for each in zip(*matching, strict=True))
            distinct, of = np.unique(values, return_inverse=True)  # a law takes long, and values repeat
            curves = self._scheme.curves(distinct)
            np.multiply.at(lacking, left, 1 - curves.get("candidate", curves["match"])[of])
        found: Values = 1 - lacking
        return found

    def _read(self) -> tuple[pa.ChunkedArray, Features, Words]:
        """Return the texts of the sample, their features and their sites."""
        first, chosen, sites = 0, [], []
        for texts, own in self._run.pieces():
            inside = self._positions[(self._positions >= first) & (self._positions < first + len(texts))] - first
            chosen.append(gathered(texts, inside).cast(pa.large_string()))
            sites.append(own[inside] if len(own) else own)
            first += len(texts)
        if first != len(self._run.ranks):
            raise DataError("the documents", f"are {first:,}, but the run had {len(self._run.ranks):,}")
        found = pa.chunked_array(chosen, pa.large_string())
        features = self._scheme.shingling.batch_features(whole_batch(found))
        numbers = np.concatenate(sites) if sites else NO_SITES
        if len(numbers):
            separate(features, numbers, np.arange(len(found)))
        return found, features, numbers

    def _partners(self, features: Features) -> Among:
        """Return what finds those among documents that sampled ones may match.

        It returns the numbers of the sampled documents and those of the others, their measures, and the numbers of
        features of the smaller ones. Threads may call it in parallel.
        """
        least, measure = max(0.0, self._scheme.threshold - STEP), self._measure
        if measure == COSINE:
            sample = cast("WeightedSets", feature_sets(self._scheme, features, np.arange(len(features))))
            weighted = WeightedPartners(sample, np.arange(len(features)), least)

            def with_cosines(features: Features) -> FoundCosines:
                every = np.arange(len(features))
                return weighted.among(cast("WeightedSets", feature_sets(self._scheme, features, every)), every)

            return with_cosines
        partners = Partners(features, least, measure=measure)

        def with_shared(features: Features) -> tuple[Positions, Positions, Values, Positions]:
            found = partners.among(features)
            return found.left, found.right, found.common.measured(measure), found.common.smaller

        return with_shared

    def _scan(self, partners: Among, sites: Words) -> Iterator[tuple[Any, ...]]:
        """Yield the better-ranked kept partners of sampled documents, batch by batch.

        These are the number in the sample, the position of the partner, their measure, what they must reach, and a
        function that returns the text of a partner.
        """
        run, first = self._run, 0
        total = len(run.ranks)
        for texts, own in run.pieces():
            kept = np.flatnonzero(run.representatives[first : first + len(texts)] < 0)
            chosen = pa.chunked_array([gathered(texts, kept)]) if len(kept) < len(texts) else texts
            numbers = own[kept] if len(own) else own
            begin = 0

            def placed(chosen: pa.ChunkedArray = chosen) -> Iterator[tuple[int, TextBatch]]:
                start = 0
                for batch in batches(chosen):
                    yield start, batch
                    start += len(batch)

            def look(one: tuple[int, TextBatch], numbers: Words = numbers) -> tuple[int, int, Any]:
                start, batch = one
                features = self._scheme.shingling.batch_features(batch)
                if len(numbers):
                    separate(features, numbers[start : start + len(batch)], np.arange(len(batch)))
                return start, len(batch), partners(features)

            for start, size, (sampled, others, measured, smaller) in self._engine.map(look, placed()):
                rows = others + start
                right = kept[rows] + first
                better = run.ranks[right] < run.ranks[self._positions[sampled]]
                left, right, rows, values = sampled[better], right[better], rows[better], measured[better]
                both = np.concatenate([sites[left], numbers[rows]]) if len(numbers) else numbers
                ends = np.arange(len(left))
                least = thresholds_of(self._scheme, both).of(ends, ends + len(left), smaller[better])
                self._check(left, right, values)
                if len(left):
                    yield left, right, values, least, lambda at, t=texts, f=first: t[at - f].as_py()
                begin = start + size
                self._progress("audit", first + int(kept[begin - 1]) + 1 if begin else first, total)
            first += len(texts)
        self._progress("audit", total, total)

    def _check(self, left: Positions, right: Positions, values: Values) -> None:
        """Raise ``ParameterError`` if a measure is not that of the run."""
        positions = self._positions[left]
        own = self._run.representatives[positions] == right
        stated = self._run.measured[positions]
        other = np.flatnonzero(own & (np.abs(stated - values) > _AGREES))
        if len(other):
            name = self._run.ids[int(positions[other[0]])].as_py()
            told, found = stated[other[0]], values[other[0]]
            rule = (
                f"or its parameters are not those of the run, which measured {told:.4f} for {name!r}, not {found:.4f}"
            )
            raise ParameterError("scheme", self._scheme.name, rule)

    def _reason(self, one: str, other: str) -> str:
        """Return why two documents that match were not compared."""
        scheme = self._scheme
        features = scheme.shingling.batch_features(whole_batch(pa.chunked_array([pa.array([one, other])])))
        signatures = scheme.sign_at(Corpus(features, None, pa.chunked_array([[one, other]])), np.arange(2))
        left, right = np.array([1]), np.array([0])
        if not share_a_key(scheme.keys(signatures), left, right, pooled=scheme.pooled)[0]:
            return NO_KEY
        passed = all(test(left, right)[0] for test in plausible_tests(scheme, signatures))
        return OVERSIZED if passed else REFUSED
