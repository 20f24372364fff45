"""Audits: what a run over a collection missed, found by comparing a random sample with everything that was kept."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import ceil
from typing import Any, Final, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.evidence import COSINE, WeightedSets, exact_measure, shared_by
from neardup.decisions.partners import Partners
from neardup.decisions.ranking import ranking
from neardup.decisions.weighted_partners import MeasuredPairs, WeightedPartners
from neardup.engines.local import LocalEngine
from neardup.evaluation.audit import STEP, Audit, Missed, Outcome, audit_of
from neardup.model.arrays import Corpus, Features, Flags, Positions, TextBatch, Values, Words, inverse
from neardup.model.changes import Change
from neardup.model.errors import DataError, ParameterError, counted, kind_of, require, require_share, require_whole
from neardup.pipeline.corpus.address_ranks import address_ranks
from neardup.pipeline.corpus.comparison import feature_sets
from neardup.pipeline.corpus.documents import Documents, placed
from neardup.pipeline.corpus.result import RunResult
from neardup.pipeline.corpus.run import chosen_scheme
from neardup.pipeline.partners.reasons import MissedPair, Ranked, reasons
from neardup.pipeline.progress import Progress, followed
from neardup.schemes.plausibility import share_a_key
from neardup.schemes.recorded_scheme import UNRECORDED, RecordedScheme
from neardup.schemes.registry import kinds
from neardup.schemes.scheme import Scheme
from neardup.schemes.thresholds import thresholds_of
from neardup.text.columns import batches, gathered, text_bytes, text_lengths, whole_batch
from neardup.text.sites import NO_SITES, separate

SAMPLE: Final = 2_000
MOST: Final = 200_000  # documents that are sampled
SHOWN: Final = 20  # missed documents with their texts
_READ: Final = 50_000  # characters of a text that are kept to be shown
_AGREES: Final = 1e-9
_REPEAT: Final = "use its threshold, short and short_threshold, and its options for reading"
_FIELDS: Final = "compares fields: equal fields are always found, so there is nothing to audit"
_EQUAL: Final = "same text", "same features"
_OF_ANY_SCHEME: Final = *_EQUAL, "estimate", "shared key", "component"

Among = Callable[[Features], MeasuredPairs]  # finds the documents among some that sampled ones may match
Pieces = Callable[[], Iterator[tuple[pa.ChunkedArray, Words]]]  # texts in the order of the input, and their sites


class Audited:
    """A run: its documents, read in pieces, the ranks of these from the best, 0, and what was decided.

    *name* is that of the report. *representatives* are the positions of the documents' representatives, -1 for kept
    documents; *exact* are those dropped for equal texts or features, *verified* those dropped because the scheme's
    measure of their texts reached the threshold, and *measured* are these measures in the report. *by_estimate* are the
    documents that were dropped by their signatures; *estimated*: whether there are any; *estimates* are those in the
    report, and *keyed* the documents dropped for a shared key alone. *known*: which documents were dropped for earlier
    documents; no figure counts these, because their representatives are not among the documents.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - a run is made of these
        self,
        decisions: pa.Table,
        pieces: Pieces,
        ids: pa.ChunkedArray,
        order: Positions,
        scheme: Scheme,
        name: str = "the run",
    ) -> None:
        """Read the *decisions* (see ``Result``) on documents in this *order* of ranks.

        Raises ``ParameterError`` if a document was dropped for a worse one, by another measure or by fields, and
        ``DataError`` for the report of this *name* if a document was dropped whose measure is below the threshold.
        """
        self.name, self.pieces, self.ids, self.scheme = name, pieces, ids, scheme
        self.ranks = inverse(order)
        self.representatives = self._representatives(decisions)
        rules = decisions["rule"].combine_chunks()
        _require_rules(rules, scheme)
        self.exact = _in(rules, *_EQUAL)
        self.verified = _in(rules, scheme.rule)
        self.measured: Values = np.where(self.verified, _measured(decisions, scheme.rule), np.nan)
        self.by_estimate = _in(rules, "estimate")
        self.estimated = bool(self.by_estimate.any())
        self.estimates: Values = np.where(self.by_estimate, _column(decisions, "resemblance"), np.nan)
        self.keyed = _in(rules, "shared key")
        self.known: Flags = (self.representatives < 0) & rules.is_valid().to_numpy(False)
        below = np.flatnonzero(self.measured < scheme.threshold - _AGREES)
        if len(below):
            raise self.below(int(below[0]), float(self.measured[below[0]]), scheme.threshold)

    def _representatives(self, decisions: pa.Table) -> Positions:
        number = len(self.ranks)
        try:
            found: Positions = decisions["representative_position"].cast(pa.int64()).fill_null(-1).to_numpy()
        except pa.ArrowInvalid:  # some are not positions
            found = np.array([number])
        if (found >= number).any():
            rule = f"names a representative that is not among its {number:,} documents; repeat the run"
            raise DataError(self.name, rule)
        dropped = np.flatnonzero(found >= 0)
        worse = dropped[self.ranks[found[dropped]] > self.ranks[dropped]]
        if len(worse):
            dropped_id = self.ids[int(worse[0])].as_py()
            rule = f"is not that of the run: {dropped_id!r} was dropped for a document of a worse rank"
            raise ParameterError("keep", None, rule)
        return found

    @property
    def others(self) -> Positions:
        """The positions of the documents that the figures are about."""
        return np.flatnonzero(~self.known)

    def below(self, position: int, measured: float, least: float) -> DataError:
        """Return the error for a document that was dropped with a smaller measure than the *least*."""
        rule = f"the run used another threshold: {self.ids[position].as_py()!r} was dropped with {measured:.4g}, not"
        return DataError(self.name, f"{rule} {least:g} or more; {_REPEAT}")


def audit(  # noqa: PLR0913 - every one a keyword with a default
    result: RunResult,
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

    *documents* are those of the run, by default the container that it was called with; *text*, *id* and *scheme* are as
    there. Without *scheme*, it is that of the run. If that scheme has a secret key, pass *scheme* with this key and all
    other parameters of the run: a result does not record them. *sample* documents are drawn at random by *seed*, and
    compared exactly with all kept documents, without signatures. With *until*, such as 0.005, more are drawn until the
    interval of the recall is at most that far from its middle; ``needed`` of the result is the number that this takes
    if it is above 200,000. See ``Audit`` for the result. A collection without documents or without duplicates has a
    recall from 0 to 1.

    Raises ``ParameterError`` for a scheme that is not that of the run, and for one that signs fields instead of texts;
    ``DataError`` for other documents than those of the run.
    """
    require(isinstance(result, RunResult), "result", result, f"must be a Result, not {kind_of(result)}")
    source = result.source if documents is None else documents
    if source is None:
        rule = "must be the documents of the run: its result does not have them, because they were read"
        raise ParameterError("documents", None, f"{rule} from files or a stream; for files, use audit_files")
    policy = result.summary.policy
    if scheme is None and result.scheme is None:
        rule = "is not enough: the scheme of the run has a secret key, which is not recorded; pass it with its key"
        raise ParameterError("scheme", None, rule)
    chosen: Any = result.scheme if scheme is None else chosen_scheme(scheme)[0]
    require_texts(chosen)
    if scheme is not None:
        chosen = _as_in(result, chosen)
    table = Documents.of(source, text, id, policy.required_fields, policy.fields)
    if len(table.texts) != len(result.representatives):
        raise _other_number(len(table.texts), len(result.representatives))
    if table.named:
        _require_ids(table.ids, result.decisions.column("id"))
    values = table.columns(policy.fields)
    order = ranking(policy, text_lengths(table.texts), values, address_ranks(policy, table.addresses, values))
    run = Audited(result.decisions, lambda: iter([(table.texts, table.sites)]), table.ids, order, chosen)
    return audit_run(run, sample=sample, until=until, seed=seed, threads=threads, progress=progress)


def _other_number(passed: int, recorded: int) -> DataError:
    rule = f"were passed, but the run had {recorded:,}; pass all of them in the same order"
    return DataError(counted(passed, "document"), rule)


def _require_ids(own: pa.ChunkedArray, known: pa.ChunkedArray) -> None:
    """Raise ``DataError`` for the first document with another id than in the run."""
    first = pc.index(pc.equal(own.cast(pa.large_string()), known.cast(pa.large_string())), False).as_py()
    if first >= 0:
        ids = f"has the id {own[first].as_py()!r}, but {known[first].as_py()!r} in the run"
        rule = f"{ids}; use the same documents, in the same order"
        raise DataError(f"document {first:,}", rule)


def _as_in(result: RunResult, given: Any) -> Any:
    """Return the *given* scheme, with the list of common shingles of a run; ``ParameterError`` for another scheme.

    If the scheme of the run is not recorded, its recipe, thresholds and measure are compared.
    """
    own, summary = result.scheme, result.summary
    if summary.common is not None:
        with suppress(ParameterError):  # its recipe is another one
            given = given.with_common(summary.common)
    if own is None:
        names = "recipe", "threshold", "short", "short_threshold", "measure"
        about = given.recipe, given.threshold, given.short, given.short_threshold, exact_measure(given.rule)
        known = summary.recipe, summary.threshold, summary.short, summary.short_threshold, summary.measure
        changes = [Change("setting", *one) for one in zip(names, known, about, strict=True) if one[1] != one[2]]
        way_out = "pass the scheme of the run, with its secret key"
    else:
        changes = RecordedScheme.of(own).changes(RecordedScheme.of(given))  # those of lists may follow from others
        changes = [change for change in changes if change.name not in UNRECORDED] or changes
        way_out = "leave it out: the result has recorded it"
    if changes:
        words = "; ".join(change.words() for change in changes)
        raise ParameterError("scheme", given.name, f"is not the scheme of the run: {words}; {way_out}")
    return given


def _require_rules(rules: pa.Array, scheme: Scheme) -> None:
    """Raise ``ParameterError`` for decisions by a rule that is not one of the scheme."""
    known = {scheme.rule, *_OF_ANY_SCHEME}
    others = [rule for rule in pc.unique(rules).drop_null().to_pylist() if rule not in known]
    if any(kind.same_content and kind.rule in others for kind in kinds()):
        raise ParameterError("scheme", scheme.name, f"is not that of the run, whose scheme {_FIELDS}")
    if others:
        raise ParameterError("measure", scheme.rule, f"is not that of the run, which compared by {others[0]}")


def _in(rules: pa.Array, *names: str) -> Flags:
    found: Flags = pc.is_in(rules, pa.array(names, rules.type)).to_numpy(False)
    return found


def _measured(decisions: pa.Table, rule: str) -> Values:
    """Return what the dropped documents share with their representatives by a rule, NaN where it is not recorded."""
    if rule == "overlap":
        return np.asarray(np.fmax(_column(decisions, "contained_in_kept"), _column(decisions, "contains_kept")))
    return _column(decisions, "contained_in_kept" if rule == "containment" else rule)


def _column(decisions: pa.Table, name: str) -> Values:
    """Return a column of numbers, NaN where a report does not have it."""
    if name not in decisions.column_names:
        return np.full(len(decisions), np.nan)
    found: Values = decisions[name].cast(pa.float64()).fill_null(np.nan).to_numpy()
    return found


def audit_run(  # noqa: PLR0913 - as audit
    run: Audited,
    *,
    sample: int = SAMPLE,
    until: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Audit:
    """Audit a run; see ``audit``."""
    require_texts(run.scheme)
    sample = require_whole("sample", sample, 1, MOST)
    until = None if until is None else require_share("until", until, below_one=True)
    require_whole("seed", seed, 0)
    with followed(progress) as follow, LocalEngine(threads) as engine:
        total = len(run.others)
        while True:
            found = _Sample(run, sample, seed, engine, follow).audit()
            if until is None or found.recall.width <= until or found.sample == total:
                return found
            narrower = found.recall.width / until  # infinite for the smallest numbers
            needed = ceil(min(total, 1.1 * sample * narrower * narrower))
            if sample == MOST:
                return replace(found, needed=needed)
            sample = min(MOST, max(needed, 2 * sample))


def _a_step_below(threshold: Any) -> Any:
    """Return thresholds lower by 0.1, as they are written: 0.8 - 0.1 is 0.7, not the next larger number."""
    return np.round(threshold - STEP, 12)


def require_texts(scheme: Scheme) -> None:
    """Raise ``ParameterError`` for a scheme that signs fields, whose runs miss nothing."""
    require(not scheme.columns, "scheme", scheme.name, _FIELDS)


class _KeptPartners(NamedTuple):
    """Pairs of a sampled document, *left*, its number in the sample, and a better kept document, *right*.

    *right* are positions, *values* the measures of the pairs, and *least* what these must reach. *kept_at* returns the
    text of the document at one of the positions, and its site.
    """

    left: Positions
    right: Positions
    values: Values
    least: Values
    kept_at: Callable[[int], tuple[bytes, int]]


class _ClosestPartner(NamedTuple):
    """The closest kept document that a missed one matches: their measure, its *position*, and the two documents."""

    value: float
    position: int
    pair: MissedPair


class _Sample:
    """One sample of the documents of a run."""

    def __init__(self, run: Audited, number: int, seed: int, engine: LocalEngine, progress: Progress) -> None:
        self._run, self._scheme, self._engine, self._progress = run, run.scheme, engine, progress
        others = run.others
        drawn = np.random.default_rng(seed).choice(len(others), min(number, len(others)), replace=False)
        self._positions: Positions = others[np.sort(drawn)]
        self._measure = exact_measure(run.scheme.rule)

    def audit(self) -> Audit:
        run, scheme, positions = self._run, self._scheme, self._positions
        dropped = run.representatives[positions] >= 0
        texts, sites = self._checked_texts(dropped)
        features = scheme.shingling.batch_features(whole_batch(texts))
        separate(features, sites, np.arange(len(texts)))
        partners = self._partners(features)
        closest = np.where(run.exact[positions], 1.0, np.nan)
        allowed, near = run.exact[positions].copy(), np.zeros(len(positions), np.bool_)
        matching: list[tuple[Positions, Values]] = []
        missed: dict[int, _ClosestPartner] = {}  # by the number in the sample
        for left, right, values, least, kept_at in self._scan(partners, sites):
            match = values >= least
            lawful = match | run.estimated  # an estimate may reach the threshold if the measure does not
            matching.append((left[lawful], values[lawful]))
            np.fmax.at(closest, left, values)
            np.logical_or.at(allowed, left, match)
            np.logical_or.at(near, left, values >= _a_step_below(least))
            for place in np.flatnonzero(match & ~dropped[left]).tolist():
                one, other, value = int(left[place]), int(right[place]), float(values[place])
                if one not in missed or value > missed[one].value:
                    text, site = kept_at(other)
                    own = int(sites[one]) if len(sites) else 0
                    pair = MissedPair((text_bytes(texts, one), text), (own, site), int(run.ranks[other]))
                    missed[one] = _ClosestPartner(value, other, pair)
        ordered = sorted(missed.items(), key=lambda each: (-each[1].value, each[0]))
        why = reasons([closest.pair for _, closest in ordered], scheme, self._ranked(), estimated=run.estimated)
        listed = [self._missed(*each, reason) for each, reason in zip(ordered[:SHOWN], why, strict=False)]
        outcome = Outcome(dropped, closest, allowed, near, self._lawful(matching))
        about: dict[str, Any] = {"scheme": scheme.name, "measure": self._measure, "known": int(run.known.sum())}
        about |= {"short": scheme.short, "short_threshold": scheme.short_threshold}
        return audit_of(outcome, len(run.others), float(scheme.threshold), why, **about, missed=tuple(listed))

    def _missed(self, number: int, closest: _ClosestPartner, reason: str) -> Missed:
        """Return a missed document, by its number in the sample, with its text and that of its partner."""
        run, position = self._run, int(self._positions[number])
        text, partner_text = (text.decode("utf-8", "replace")[:_READ] for text in closest.pair.texts)
        return Missed(
            id=run.ids[position].as_py(),
            partner=run.ids[closest.position].as_py(),
            position=position,
            partner_position=closest.position,
            value=closest.value,
            reason=reason,
            text=text,
            partner_text=partner_text,
        )

    def _lawful(self, matching: list[tuple[Positions, Values]]) -> Values:
        """Return the probability, by the law, that each sampled document was compared with one that it matches.

        If signatures decided, it is the probability that they matched those of a document at most 0.1 below the
        threshold. NaN where the scheme has no law for its measure, where a filter rejects pairs that it counts, and
        where signatures decided and its law is only about long documents.
        """
        number, scheme = len(self._positions), self._scheme
        other = scheme.law_features > 1 if self._run.estimated else scheme.passes is not None
        if scheme.measure != "resemblance" or scheme.law_limit or other:
            return np.full(number, np.nan)
        lacking = np.where(self._run.exact[self._positions], 0.0, 1.0)
        if matching:
            left, values = (np.concatenate(each) for each in zip(*matching, strict=True))
            distinct, of = np.unique(values, return_inverse=True)  # a law takes long, and values repeat
            curves = scheme.curves(distinct)
            law = curves.get("both" if self._run.estimated else "candidate", curves["match"])
            np.multiply.at(lacking, left, 1 - law[of])
        found: Values = 1 - lacking
        return found

    def _checked_texts(self, dropped: Flags) -> tuple[pa.ChunkedArray, Words]:
        """Return the texts of the sample and their sites; raise an error if they are not those of the run."""
        positions = self._positions
        read = np.unique(np.concatenate([positions, self._run.representatives[positions[dropped]]]))
        texts, sites = self._read(read)
        rows = np.searchsorted(read, positions)
        own = sites[rows] if len(sites) else NO_SITES
        self._check_drops(read, texts, sites)
        return pa.chunked_array([gathered(texts, rows)]), own

    def _read(self, positions: Positions) -> tuple[pa.ChunkedArray, Words]:
        """Return the texts at these positions, which ascend, and their sites."""
        first, chosen, sites = 0, [], []
        for texts, own in self._run.pieces():
            inside = positions[slice(*np.searchsorted(positions, [first, first + len(texts)]))] - first
            chosen.append(gathered(texts, inside))
            sites.append((len(own) > 0, own[inside] if len(own) else np.zeros(len(inside), np.uint64)))
            first += len(texts)
        if first != len(self._run.ranks):
            raise _other_number(first, len(self._run.ranks))
        has_sites = any(given for given, _ in sites)  # texts that are read with pages belong to no site
        numbers = np.concatenate([NO_SITES, *(own for _, own in sites)]) if has_sites else NO_SITES
        return pa.chunked_array(chosen, pa.large_binary()), numbers

    def _partners(self, features: Features) -> Among:
        """Return what finds the partners of the sampled documents, which have these features.

        Threads may call it in parallel.
        """
        least, measure = max(0.0, float(_a_step_below(self._scheme.threshold))), self._measure
        if measure == COSINE:
            sample = cast("WeightedSets", feature_sets(self._scheme, features, np.arange(len(features))))
            weighted = WeightedPartners(sample, np.arange(len(features)), least)

            def with_cosines(features: Features) -> MeasuredPairs:
                every = np.arange(len(features))
                return weighted.among(cast("WeightedSets", feature_sets(self._scheme, features, every)), every)

            return with_cosines
        partners = Partners(features, least, measure=measure)

        def with_shared(features: Features) -> MeasuredPairs:
            found = partners.among(features)
            return MeasuredPairs(found.left, found.right, found.common.measured(measure), found.common.smaller)

        return with_shared

    def _scan(self, partners: Among, sites: Words) -> Iterator[_KeptPartners]:
        """Yield the better-ranked kept partners of sampled documents, batch by batch."""
        run, first = self._run, 0
        total = len(run.ranks)
        for texts, given in run.pieces():
            inside = slice(first, first + len(texts))
            kept = np.flatnonzero((run.representatives[inside] < 0) & ~run.known[inside])
            chosen = pa.chunked_array([gathered(texts, kept)]) if len(kept) < len(texts) else texts
            own = given if len(given) or not len(sites) else np.zeros(len(texts), np.uint64)
            numbers = own[kept] if len(own) else own

            def look(one: tuple[int, TextBatch], numbers: Words = numbers) -> tuple[int, int, Any]:
                start, batch = one
                features = self._scheme.shingling.batch_features(batch)
                separate(features, numbers[start : start + len(batch)], np.arange(len(batch)))
                return start, len(batch), partners(features)

            each = self._engine.map(look, placed(batches(chosen)))
            for start, size, (sampled, others, measured, smaller) in each:
                rows = others + start
                right = kept[rows] + first
                better = run.ranks[right] < run.ranks[self._positions[sampled]]
                left, right, rows, values = sampled[better], right[better], rows[better], measured[better]
                both = np.concatenate([sites[left], numbers[rows]]) if len(numbers) else numbers
                ends = np.arange(len(left))
                least = thresholds_of(self._scheme, both).of(ends, ends + len(left), smaller[better])

                def kept_at(at: int, t: pa.ChunkedArray = texts, f: int = first, own: Words = own) -> tuple[bytes, int]:
                    return text_bytes(t, at - f), int(own[at - f]) if len(own) else 0

                if len(left):
                    yield _KeptPartners(left, right, values, least, kept_at)
                self._progress("audit", first + int(kept[start + size - 1]) + 1, total)
            first += len(texts)
        self._progress("audit", total, total)

    def _check_drops(self, read: Positions, texts: pa.ChunkedArray, sites: Words) -> None:
        """Raise an error if measures of dropped documents differ from those that the run recorded, or are too low.

        The *texts* and *sites* are those at the positions *read*, which are the sample and its representatives. Of
        documents with equal features, the run has compared one, which may be of another site. So sites do not count for
        what two documents share, and with sites, thresholds and signatures are not compared.
        """
        run, scheme, every = self._run, self._scheme, np.arange(len(read))
        positions = self._positions[run.representatives[self._positions] >= 0]
        left, right = np.searchsorted(read, positions), np.searchsorted(read, run.representatives[positions])
        features = scheme.shingling.batch_features(whole_batch(texts))
        signs = not len(sites) and bool((run.by_estimate | run.keyed)[positions].any())
        signatures = scheme.sign_at(Corpus(features, None, texts), every) if signs else None
        sets = feature_sets(scheme, features, every)
        sets.make_distinct(every)
        exact, stated = run.exact[positions], run.measured[positions]
        values = np.where(exact, shared_by(sets, left, right).resemblance, sets.measured(self._measure, left, right))
        for one in np.flatnonzero(exact & (values < 1)).tolist():  # equal documents without features have one text
            if text_bytes(texts, int(left[one])) == text_bytes(texts, int(right[one])):
                values[one] = 1.0
        self._compare(positions, np.where(exact, 1.0, stated), values)
        if len(sites):
            return
        if signatures is not None:
            self._compare(positions, run.estimates[positions], scheme.estimate_pairs(signatures, left, right))
            matches = scheme.match_pairs(signatures, left, right)
            others = positions[run.by_estimate[positions] & ~matches]
            if len(others):
                raise self._other_texts(int(others[0]), "had signatures that match", "have others")
            others = positions[run.keyed[positions] & ~share_a_key(scheme, signatures, left, right)]
            if len(others):
                raise self._other_texts(int(others[0]), "shared a key", "share none")
        least = thresholds_of(scheme, sites).of(left, right, sets.smaller(left, right))
        below = np.flatnonzero(run.verified[positions] & (values < least - _AGREES))
        if len(below):
            first = below[0]
            raise run.below(int(positions[first]), float(values[first]), float(least[first]))

    def _compare(self, positions: Positions, stated: Values, found: Values) -> None:
        """Raise an error for the first document whose measure differs from the one that the run has *stated*."""
        others = np.flatnonzero(np.abs(stated - found) > _AGREES)
        if len(others):
            first = others[0]
            before = f"had a {self._measure} of {float(stated[first]):.4f}"
            raise self._other_texts(int(positions[first]), before, f"have {float(found[first]):.4f}")

    def _other_texts(self, position: int, before: str, now: str) -> DataError:
        """Return the error for a document if its text, or its representative's, differs from the run's."""
        pair = f"{self._run.ids[position].as_py()!r} and its representative {before}, but {now} here"
        way_out = "use the same documents, in the same order, and all options of the run for its scheme and for reading"
        return DataError(self._run.name, f"the run had other texts or other options: {pair}; {way_out}")

    def _ranked(self) -> Iterator[Ranked]:
        """Yield all documents of the run, as the reasons need them."""
        run, first = self._run, 0
        ranks = np.where(run.exact, -1, run.ranks)
        for texts, own in run.pieces():
            yield Ranked(texts, own, ranks[first : first + len(texts)])
            first += len(texts)
