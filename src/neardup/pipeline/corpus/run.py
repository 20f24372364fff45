"""Deduplication of a collection in memory: documents in, decisions out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_bytes
from typing import Any

import numpy as np

from neardup.decisions.drops import UNKNOWN, GivenMatches, Matcher
from neardup.decisions.evidence import FeatureSets, Shared, count_shared
from neardup.decisions.exact import (
    Leaders,
    leaders_by_content,
    leaders_by_digest,
    leaders_by_features,
    leaders_by_key,
    spread,
)
from neardup.decisions.ranking import ranking
from neardup.engines.local import LocalEngine
from neardup.kernels.segments import blank
from neardup.kernels.sets import digests
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import Corpus, Features, Flags, Positions, Signatures, TextBatch, Words
from neardup.model.changes import is_keyed
from neardup.model.engine import in_parts
from neardup.model.errors import ParameterConflict, require, require_name, require_share
from neardup.model.policy import CANONICAL, Gather, Policy, Representative, Verify
from neardup.model.presets import PRESETS
from neardup.pipeline.corpus.address_ranks import address_ranks, hint_counts
from neardup.pipeline.corpus.clusters import what_is_shared
from neardup.pipeline.corpus.comparison import Decided, LeaderComparison, exact_matcher, feature_sets, needs_rows
from neardup.pipeline.corpus.documents import Documents, needs_text
from neardup.pipeline.corpus.memory import warn_if_short
from neardup.pipeline.corpus.result import Result, Summary, decisions_table
from neardup.pipeline.digests import equals
from neardup.pipeline.progress import Progress, followed
from neardup.schemes import registry
from neardup.schemes.checksum import BODY
from neardup.schemes.presets import preset as preset_scheme
from neardup.schemes.scheme import Scheme, require_scheme
from neardup.schemes.terms import fitted_common
from neardup.schemes.thresholds import require_policy, thresholds_of
from neardup.text.columns import batches
from neardup.text.common_shingles import CommonShingles
from neardup.text.shingling import FeatureBuffer
from neardup.text.sites import NO_SITES, separate

_SIGNED = 1 << 12  # documents signed together


def dedup(  # noqa: PLR0913 - every one a keyword with a default
    table_or_texts: Any,
    *,
    text: str = "text",
    id: str | None = "id",  # noqa: A002 - the word users know
    scheme: Scheme | None = None,
    preset: str | None = None,
    threshold: float | None = None,
    measure: str | None = None,
    keep: str = "first",
    verify: Verify = "exact",
    gather: Gather = "kept",
    representative: Representative = "best-ranked",
    ignore_common: float | CommonShingles | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Result:
    """Find the near duplicates of a collection, and choose the documents to keep.

    *table_or_texts* is a sequence of strings, an Arrow column, a list of dictionaries, a pandas or polars data frame, a
    Hugging Face dataset, or anything else with the Arrow stream protocol that has a *text* column. Only the required
    columns of a table are read. A column named ``id`` contains the ids if it exists; another *id* must exist. Without
    ids, positions are the ids. The column ``text`` may be missing if *scheme* signs other fields.

    Documents are processed from the best rank to the worst (*keep*). A document is dropped if it matches a kept
    document; the best-ranked such document is its *representative*. *scheme* is ``MinHash()`` by default; *threshold*
    replaces the scheme's, and *measure* what it verifies: ``"resemblance"``; ``"containment"``, of a document in a
    better-ranked one; ``"overlap"``, of the smaller one; or ``"cosine"``, of weighted features. Without a scheme, it
    also chooses the scheme: ``FracMinHash`` for containment and overlap, ``SimHash`` for cosines. A scheme that was
    created for another measure, which is not its default, is refused. With *ignore_common*, a share, shingles in more
    than this share of the different documents do not count: system prompts, licence headers, forms. It may also be a
    list that was created before (see ``CommonShingles``). *preset* chooses the scheme by name, as ``neardup.preset``
    does. See ``Policy`` for *keep*, *verify*, *gather* and *representative*, ``Result`` for the result. *progress* is
    called with the name of a stage, the number of finished items and the total; ``True`` shows bars on standard error.

    Empty documents and those without words are kept, except that byte-identical documents that are not blank are exact
    duplicates. The same input and parameters have the same result with any number of *threads* (``None``: every core).
    An empty collection has an empty result.

    Warns (``RuntimeWarning``) before it begins if the run will need more memory than is available. Raises
    ``ParameterError`` for a parameter that breaks its rule, and ``DataError`` for input that is not a collection of
    documents.
    """
    policy = Policy(keep=keep, verify=verify, gather=gather, representative=representative)
    chosen, common = chosen_scheme(scheme, preset, threshold, ignore_common, measure)
    require_policy(chosen, policy)
    require_name("text", text)
    if id is not None:
        require_name("id", id)
    with followed(progress) as follow, LocalEngine(threads) as engine:
        needed = [*policy.required_fields]
        if chosen.columns:
            needed += [name for name in chosen.required_columns if name != BODY]  # which the text replaces
        optional, with_text = [*chosen.columns, *policy.fields], needs_text(chosen, text, policy)
        documents = Documents.of(table_or_texts, text, id, needed, optional, with_text=with_text)
        found = deduplicated(documents, chosen, common, policy, engine, follow)
        return replace(found, source=table_or_texts) if hasattr(table_or_texts, "__len__") else found


def deduplicated(  # noqa: PLR0913, PLR0917 - as dedup
    documents: Documents, scheme: Scheme, common: float | None, policy: Policy, engine: LocalEngine, progress: Progress
) -> Result:
    """Return the result of a collection; see ``dedup``. *scheme* and *common* are those of ``chosen_scheme``."""
    if common is not None:
        scheme = scheme.with_common(fitted_common(scheme, documents.texts, common))
    warn_if_short(scheme, documents.texts, exact=policy.verify == "exact")
    return _Run(documents, scheme, policy, engine, progress).result()


def chosen_scheme(
    scheme: Scheme | None,
    preset: str | None = None,
    threshold: float | None = None,
    common: float | CommonShingles | None = None,
    measure: str | None = None,
) -> tuple[Scheme, float | None]:
    """Return the scheme of a run, with the list of shingles that it ignores, or the share for finding one.

    Raises ``ParameterError`` for parameters that cannot be used together.
    """
    chosen: Any = registry.default() if scheme is None else scheme
    if measure is not None:
        require(preset is None, "measure", measure, "cannot be used with preset: a preset chooses the scheme")
        require_scheme(chosen, "with_measure")
        own, chosen = chosen, registry.for_measure(measure) if scheme is None else chosen.with_measure(measure)
        if scheme is not None and own.rule != measure and own.rule != own.measures[0]:
            why = f"the scheme was created for {own.rule}; leave out one of the two"
            raise ParameterConflict("measure", measure, "scheme", own.name, why)
    if preset is not None:
        require(scheme is None, "preset", preset, "cannot be used with scheme: a preset chooses the scheme")
        chosen = preset_scheme(preset)
        common = PRESETS[preset].ignore_common if common is None else common
    require_scheme(chosen, "sign_at")
    if threshold is not None:
        chosen = chosen.with_threshold(threshold)
    if isinstance(common, CommonShingles):
        return chosen.with_common(common), None
    if common is None:
        return chosen, None
    share: float = require_share("ignore_common", common, below_one=True)
    chosen.require_shingles(share)
    return chosen, share


def scheme_of_texts(scheme: Scheme | None, why: str) -> Scheme:
    """Return the scheme of a run; ``ParameterError`` with the reason, *why*, for one that compares fields."""
    chosen, _ = chosen_scheme(scheme)
    require(not chosen.columns, "scheme", chosen.name, f"compares fields; {why}")
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class _Shingled:
    """The result of shingling the texts, by position."""

    features: Features
    sums: Words  # digests of the features, or uint64[n, 2] of all that equal documents share (see ``digests.equals``)
    lengths: Positions  # bytes of text
    blank: Flags  # only white space


@dataclass(frozen=True, slots=True, eq=False)
class _Dropped:
    """The dropped documents, by position, and their representatives: whether both texts are equal, and the evidence."""

    positions: Positions
    representatives: Positions
    exact: Flags
    evidence: dict[str, Any]


class _Run:
    """One pass over one collection: shingle, group equals, sign, compare, measure evidence."""

    def __init__(
        self, documents: Documents, scheme: Scheme, policy: Policy, engine: LocalEngine, progress: Progress
    ) -> None:
        self._documents, self._scheme, self._policy = documents, scheme, policy
        self._engine, self._progress = engine, progress
        self._fields = documents.fields(scheme.columns) if scheme.columns else None
        self._salt = np.frombuffer(token_bytes(16), np.uint64)  # new each time: equal digests cannot be crafted

    def result(self) -> Result:
        values = self._documents.columns(self._policy.fields)
        shingled = self._shingle()
        addresses = address_ranks(self._policy, self._documents.addresses, values)
        order = ranking(self._policy, shingled.lengths, values, addresses)
        corpus = Corpus(shingled.features, self._fields, self._documents.texts)
        leaders = Leaders.by_rank(self._equals(shingled, corpus, order), order)
        sites = self._documents.sites if self._fields is None else NO_SITES
        separate(shingled.features, sites, leaders.positions)
        sites = sites[leaders.positions] if len(sites) else sites
        signatures = self._sign(corpus, leaders.positions)
        sets = feature_sets(self._scheme, shingled.features, leaders.positions)
        thresholds = thresholds_of(self._scheme, sites)
        comparison = LeaderComparison(self._scheme, self._policy, signatures, self._engine, thresholds)
        decided = comparison.decide(self._matcher(comparison, sets, thresholds), self._progress)
        if not needs_rows(self._scheme, self._policy):  # they would take much of the memory
            signatures = replace(signatures, rows=np.empty((len(signatures), 0), np.uint8))
            comparison = LeaderComparison(self._scheme, self._policy, signatures, self._engine, thresholds)
        duplicate_ids = self._engine.begin(self._documents.duplicate_ids)
        dropped = self._dropped(comparison, shingled.features, order, leaders, sets, decided)
        signed = np.zeros(len(order), np.bool_)
        signed[order] = signatures.present[leaders.of]
        return self._result(dropped, decided, signed, shingled.blank, duplicate_ids)

    def _shingle(self) -> _Shingled:
        texts = self._documents.texts
        total = len(texts)
        buffer = FeatureBuffer(self._scheme.shingling.usual_features(texts.nbytes))
        sums: list[Words] = []
        lengths, blanks = [np.empty(0, np.int64)], [np.empty(0, np.bool_)]

        def placed() -> Iterator[tuple[Words, Words]]:
            done = 0
            for features, digest, sizes, flags in self._engine.map(self._shingle_batch, batches(texts)):
                sums.append(digest)
                lengths.append(sizes)
                blanks.append(flags)
                yield buffer.room(features), features.values
                done += len(sizes)
                self._progress("shingle", done, total)

        self._progress("shingle", 0, total)
        for _ in self._engine.map(lambda pair: np.copyto(*pair), placed()):
            pass
        digest = np.concatenate(sums) if sums else np.empty((0, 2), np.uint64)
        return _Shingled(buffer.features(), digest, np.concatenate(lengths), np.concatenate(blanks))

    def _shingle_batch(self, batch: TextBatch) -> tuple[Features, Words, Positions, Flags]:
        features = self._scheme.shingling.batch_features(batch)
        second = self._scheme.second_shingling
        if second is None:
            sums = np.empty(len(batch), np.uint64)
            digests(features.values, features.offsets, sums)
        else:
            sums = equals(batch, features, self._salt, second)
        flags = np.empty(len(batch), np.bool_)
        blank(batch.data, batch.offsets, flags)
        return features, sums, np.diff(batch.offsets), flags

    def _equals(self, shingled: _Shingled, corpus: Corpus, order: Positions) -> Positions:
        """Return each document's best-ranked equal, by rank.

        Documents are equal if they have the same features, of both kinds if the scheme has a second shingling, or,
        without features, the same text that is not blank. If fields decide, documents are equal if their signed fields
        are; a document without a signature is alone.
        """
        scheme = self._scheme
        leaders: Positions = np.arange(len(order))
        if self._fields is None and scheme.second_shingling is not None:
            sums = shingled.sums[order]
            leaders = leaders_by_key(sums, np.flatnonzero(sums.any(axis=1)))
        elif self._fields is None:
            leaders = leaders_by_features(shingled.features, shingled.sums, order, self._engine)
            featureless = np.diff(shingled.features.offsets)[order] == 0
            ranks = np.flatnonzero(featureless & ~shingled.blank[order])
            leaders_by_content(self._documents.raw_texts(order[ranks]), ranks.tolist(), leaders)
        elif self._policy.verify == "exact":
            signatures = scheme.sign_at(corpus, order)
            ranks = np.flatnonzero(signatures.present)

            def equal(left: Positions, right: Positions) -> Flags:
                return np.asarray(scheme.same_content(corpus.fields, order[left], order[right]))

            leaders_by_digest(scheme.keys(signatures)[ranks, 0], ranks, equal, leaders)
        return leaders

    def _sign(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions, part by part; fields are signed all at once.

        With exact verification, only the part of a signature that finds candidates is needed.
        """
        scheme, number = self._scheme, len(positions)
        sign = scheme.sign_at
        if scheme.shortened is not None and self._policy.verify == "exact":
            sign = scheme.sign_short_at
        self._progress("sign", 0, number)
        if self._fields is not None:
            signatures = sign(corpus, positions)
            self._progress("sign", number, number)
            return signatures
        kind = sign(corpus, positions[:0]).rows
        rows = np.zeros((number, *kind.shape[1:]), kind.dtype)
        present = np.zeros(number, np.bool_)
        offsets = corpus.features.offsets

        def fill(begin: int) -> int:
            part = slice(begin, min(begin + _SIGNED, number))
            chosen = positions[part]
            if (offsets[chosen + 1] > offsets[chosen]).any():  # other rows take no memory
                signed = sign(corpus, chosen)
                rows[part], present[part] = signed.rows, signed.present
            return part.stop

        for done in self._engine.map(fill, range(0, number, _SIGNED)):
            self._progress("sign", done, number)
        return Signatures(rows, present, scheme.recipe)

    def _matcher(self, comparison: LeaderComparison, sets: FeatureSets, thresholds: Thresholds) -> Matcher:
        scheme = self._scheme
        if self._policy.verify != "exact":
            return comparison.unverified
        if scheme.columns:
            fields, at = self._fields, sets.positions
            return GivenMatches(lambda left, right: scheme.same_content(fields, at[left], at[right]))
        return exact_matcher(scheme, self._policy, sets, thresholds, self._engine)

    def _dropped(  # noqa: PLR0913, PLR0917 - the documents, and what was decided on their leaders
        self,
        comparison: LeaderComparison,
        features: Features,
        order: Positions,
        leaders: Leaders,
        sets: FeatureSets,
        decided: Decided,
    ) -> _Dropped:
        """Spread the decisions on leaders to all documents, and measure what dropped ones share."""
        matched = spread(decided.matched, leaders.ranks, leaders.of)
        dropped = np.flatnonzero(matched >= 0)
        left, right = order[dropped], order[matched[dropped]]
        own, kept_for = leaders.of[dropped], leaders.of[matched[dropped]]
        exact = np.zeros(len(dropped), np.bool_)
        if self._fields is None:
            equal = own == kept_for
            asked = np.flatnonzero(equal)  # equal texts have the same leader
            exact[asked] = self._documents.same_text(left[asked], right[asked], self._engine)
            common = self._shared(sets, own, kept_for, np.where(equal, 0, decided.common[own]))
        else:  # documents of one leader have the same fields, but not always the same text
            equal = exact = self._documents.same_text(left, right, self._engine)
            unknown = np.full(len(dropped), UNKNOWN)
            common = self._shared(FeatureSets(features, order), dropped, matched[dropped], unknown)
        return _Dropped(left, right, exact, comparison.evidence(common, own, kept_for, equal, exact))

    def _result(
        self, dropped: _Dropped, decided: Decided, signed: Flags, blank: Flags, duplicate_ids: Callable[[], int]
    ) -> Result:
        """Return the decisions and the numbers; *signed* and *blank* documents are by position."""
        ids, number, drops = self._documents.ids, len(blank), len(dropped.positions)
        representatives, exact = np.full(number, -1, np.int64), np.zeros(number, np.bool_)
        representatives[dropped.positions], exact[dropped.positions] = dropped.representatives, dropped.exact
        hints: dict[str, int] = {}
        if CANONICAL in self._policy.written_fields:
            canonicals = self._documents.columns([CANONICAL])[CANONICAL]
            hints = hint_counts(self._documents.addresses, canonicals, representatives)
        what = ids, self._documents.raw_texts, representatives, exact, self._scheme
        shared = self._engine.begin(partial(what_is_shared, *what))
        decisions = decisions_table(ids, representatives, dropped.positions, dropped.evidence, dropped.exact)
        summary = Summary.of(
            self._scheme,
            self._policy,
            documents=number,
            kept=number - drops,
            exact=int(exact.sum()),
            near=drops - int(exact.sum()),
            empty=int((~signed & blank).sum()),
            too_short=int((~signed & ~blank).sum()),
            duplicate_ids=duplicate_ids(),
            candidates=decided.candidates,
            compared=decided.compared,
            not_compared=decided.not_compared,
            **hints,
            **shared(),
        )
        secret = is_keyed(self._scheme.key_identity)
        return Result(decisions, representatives, summary, scheme=None if secret else self._scheme)

    def _shared(self, sets: FeatureSets, left: Positions, right: Positions, shared: Positions) -> Shared:
        """Measure the pairs whose common features were not counted yet, in parallel.

        Pairs that were not verified are not measured.
        """
        shared = shared.copy()
        asked = np.flatnonzero(shared == UNKNOWN) if self._policy.verify == "exact" else np.empty(0, np.int64)
        sets.make_all_distinct(np.concatenate([left[asked], right[asked]]), self._engine)

        def measure(part: slice) -> None:
            pairs = asked[part]
            shared[pairs] = count_shared(sets, left[pairs], right[pairs])

        in_parts(self._engine, measure, len(asked))
        return Shared(shared, sets.sizes[left], sets.sizes[right])
