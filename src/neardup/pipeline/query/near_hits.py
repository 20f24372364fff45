"""Near duplicates among ranked hits: their signatures, their texts if available, and the rule."""

from collections.abc import Callable
from functools import partial
from typing import Final, Literal

import numpy as np
import pyarrow as pa
from msgspec import Struct

from neardup.decisions.evidence import SET_MEASURES, FeatureSets, Shares, WeightedSets, exact_measure
from neardup.index.disk.reader import Places
from neardup.kernels.collapse import GIVEN, by_sets
from neardup.model.arrays import Corpus, Features, Flags, Positions, Signatures, require_same_recipe
from neardup.model.errors import ParameterError
from neardup.model.protocols import FieldScheme, RankedRule, Scheme
from neardup.pipeline.corpus.comparison import feature_sets
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.inputs import types_of
from neardup.pipeline.query.hits import Hits
from neardup.pipeline.query.rules import NearDuplicates
from neardup.schemes import registry
from neardup.schemes.plausibility import plausible_pairs
from neardup.schemes.thresholds import require_texts, thresholds_of
from neardup.text.columns import text_column, whole_batch
from neardup.text.shingling import FeatureBuffer

HitVerify = Literal["exact", "estimate"]

# Bounds of one set of hits: beyond them the estimate decides, and verify="exact" is refused.
_BYTES: Final = 1 << 26  # of texts that are read from an index
_LONGEST: Final = 1 << 22  # bytes of a text that is read
_FEATURES: Final = 1 << 28  # that are compared
_TOGETHER: Final = 16  # texts that are read at once
_STRINGS: Final = frozenset({str, type(None)})
_NO_TEXTS: Final = "needs the texts of the hits: in a field of records, or in an index that keeps texts"
_NOT_ALL: Final = f"needs the text of every hit, and reads at most {_BYTES >> 20} MiB from an index: examine fewer hits"
_TOO_MUCH: Final = f"compares at most {_FEATURES:,} features of texts: examine fewer hits"


class NearHits(Struct):
    """The input of a rule for near duplicates: a *scheme*, the hits' *signatures*, and the rule as a kernel.

    If texts decide, the kernel fills three arrays by rank, for hits that match a better one: *verified*, whether both
    texts were compared, *shares*, their measure, and *needed*, what it had to reach.
    """

    scheme: Scheme
    signatures: Signatures
    ranked: RankedRule
    verified: Flags | None = None
    shares: Shares | None = None
    needed: Shares | None = None

    def require_verified(self) -> None:
        """Raise ``ParameterError`` if there was too much to compare."""
        if self.verified is not None and self.ranked.terms[0] <= 0:
            raise ParameterError("verify", "exact", _TOO_MUCH)


_SetsOf = Callable[[Positions], tuple[FeatureSets, Flags]]  # ranks to sets by rank, and which of these are known


def near_hits(  # noqa: PLR0913, PLR0917 - all that may know of hits
    rule: NearDuplicates,
    given: Hits,
    number: int,
    signatures: Signatures | None,
    index: Index | None,
    verify: HitVerify | None,
) -> NearHits:
    """Sign the first *number* hits or look their signatures up, and choose what decides: their texts or the estimate.

    Raises ``ParameterError`` for ``verify="exact"`` where texts are missing.
    """
    scheme = _scheme(rule, index if signatures is None else None)
    if signatures is None and index is None:
        return _signed_here(scheme, rule, given, number, verify)
    sets_of: _SetsOf | None = None
    if signatures is not None:
        require_same_recipe(scheme.recipe, signatures.recipe)
        signed = signatures if len(signatures.rows) == number else signatures[:number]
        if verify is None and not given.records:  # nothing to compare but these
            return _by_estimate(scheme, signed)
    elif index is not None:
        places = given.places(index, number)
        signed = index.signatures_at(places)
        if index.keeps_texts:
            sets_of = partial(_kept_sets, index, scheme, places)
    if verify == "estimate":
        return _by_estimate(scheme, signed)
    if not scheme.columns:
        sets_of = sets_of or _beside(scheme, rule, given, signed)
        if sets_of is not None:
            return _by_texts(scheme, signed, sets_of, verify)
    if verify == "exact" and number:
        raise ParameterError("verify", verify, _NO_TEXTS)
    return _by_estimate(scheme, signed)


def _scheme(rule: NearDuplicates, index: Index | None) -> Scheme:
    """Return the scheme of a rule; that of an index must have the index's recipe, and may have a policy of its own."""
    if index is not None:
        own: Scheme = index.scheme
        if rule.scheme is not None:
            require_same_recipe(own.recipe, rule.scheme.recipe)
            own = rule.scheme
        return own
    chosen: Scheme = registry.default() if rule.scheme is None else rule.scheme
    return chosen


def _signed_here(scheme: Scheme, rule: NearDuplicates, given: Hits, number: int, verify: HitVerify | None) -> NearHits:
    """Sign hits by the texts or fields of their records, which also decide."""
    if scheme.columns:
        fields = pa.table({name: text_column(given.values(name, number), name) for name in scheme.columns})
        signed = scheme.sign(fields)
        if verify != "estimate" and isinstance(scheme, FieldScheme):
            return _by_fields(scheme, signed, fields)
        return _by_estimate(scheme, signed)
    column = text_column(given.values(rule.text, number), rule.text)
    if verify == "estimate":
        return _by_estimate(scheme, scheme.sign(column))
    features, signed = _signed_features(scheme, column)
    return _by_texts(scheme, signed, partial(_given_sets, scheme, features), verify)


def _by_estimate(scheme: Scheme, signed: Signatures) -> NearHits:
    require_texts(scheme, "the texts of hits")
    return NearHits(scheme, signed, scheme.ranked_rule(signed))


def _signed_features(scheme: Scheme, column: pa.ChunkedArray) -> tuple[Features, Signatures]:
    features = scheme.shingling.batch_features(whole_batch(column))
    return features, scheme.sign_at(Corpus(features, None, column), np.arange(len(column)))


def _beside(scheme: Scheme, rule: NearDuplicates, given: Hits, signed: Signatures) -> _SetsOf | None:
    """Return the maker of feature sets of records' texts, if any text is the signed one.

    Records may have another text, such as a summary, which is ignored.
    """
    if not given.says(rule.text):
        return None
    values = given.values(rule.text, len(signed))
    if not types_of(values) <= _STRINGS:
        return None
    features, own = _signed_features(scheme, text_column(values, rule.text))
    same = own.present & signed.present & (own.rows == signed.rows).all(axis=1)
    if not same.any():
        return None
    lengths = np.where(same, np.diff(features.offsets), 0)
    chosen = np.repeat(same, np.diff(features.offsets))
    return partial(_given_sets, scheme, Features(features.values[chosen], np.concatenate([[0], np.cumsum(lengths)])))


def _by_fields(scheme: FieldScheme, signed: Signatures, fields: pa.Table) -> NearHits:
    """Compare the fields that were signed, byte by byte."""
    later, better = plausible_pairs(scheme, signed)
    same = scheme.same_content(fields, later, better)
    nothing = FeatureSets(Features(np.empty(0, np.uint64), np.zeros(2, np.int64)), np.zeros(len(signed), np.int64))
    decided = _decided(scheme, signed, (later[same], better[same]), nothing, np.zeros(len(signed), np.bool_))
    return NearHits(scheme, signed, decided.ranked, np.ones(len(signed), np.bool_), decided.shares, decided.needed)


def _by_texts(scheme: Scheme, signed: Signatures, sets_of: _SetsOf, verify: HitVerify | None) -> NearHits:
    """Compare what the texts of plausible pairs share; *sets_of* is called with the hits of such pairs only."""
    pairs = plausible_pairs(scheme, signed)
    ranks = np.unique(np.concatenate(pairs))
    sets, known = sets_of(ranks)
    if verify == "exact" and not known[ranks].all():
        raise ParameterError("verify", verify, _NOT_ALL)
    return _decided(scheme, signed, pairs, sets, known)


def _decided(
    scheme: Scheme, signed: Signatures, pairs: tuple[Positions, Positions], sets: FeatureSets, known: Flags
) -> NearHits:
    later, better = pairs
    least = thresholds_of(scheme).of(later, better, sets.smaller(later, better))
    estimated = scheme.match_pairs(signed, later, better).astype(np.float64)
    if scheme.short is not None:  # documents of unknown lengths may be short
        unknown = np.flatnonzero((estimated > 0) & ~(known[later] & known[better]))
        estimated[unknown] = scheme.estimate_pairs(signed, later[unknown], better[unknown]) >= scheme.short_threshold
    if isinstance(sets, WeightedSets):
        compared = np.flatnonzero(known[later] & known[better])
        cosines = sets.cosines(later[compared], better[compared])
        estimated[compared] = np.where(cosines >= least[compared], cosines, 0.0)
    bounds = np.searchsorted(later, np.arange(len(signed) + 1))
    verified, shares, needed = np.zeros(len(signed), np.bool_), *np.ones((2, len(signed)))
    measure = SET_MEASURES.get(exact_measure(scheme.rule), GIVEN)
    kernel = partial(by_sets, (bounds, estimated, least), sets.arrays, known, measure, (shares, needed, verified))
    return NearHits(scheme, signed, RankedRule(kernel, better, np.array([_FEATURES])), verified, shares, needed)


def _given_sets(scheme: Scheme, features: Features, ranks: Positions) -> tuple[FeatureSets, Flags]:
    sets = feature_sets(scheme, features, np.arange(len(features)))
    sets.make_distinct(ranks)
    return sets, sets.sizes > 0


def _kept_sets(index: Index, scheme: Scheme, places: Places, ranks: Positions) -> tuple[FeatureSets, Flags]:
    """Read the texts of hits from an index, best ranks first, within the bounds, and make their features."""
    buffer = FeatureBuffer(0)
    buffer.append(Features(np.empty(0, np.uint64), np.zeros(2, np.int64)))  # of hits without a known text
    known, rows = np.zeros(len(places), np.bool_), np.zeros(len(places), np.int64)
    spent, made = 0, 1
    for begin in range(0, len(ranks), _TOGETHER):
        some = ranks[begin : begin + _TOGETHER]
        texts = index.store.strings("text", places[some], _LONGEST)
        sizes = np.diff(texts.offsets)
        spent += int(sizes.sum())
        if spent > _BYTES:
            break
        buffer.append(scheme.shingling.batch_features(texts))
        known[some] = sizes < _LONGEST
        rows[some] = made + np.arange(len(some))
        made += len(some)
    sets = feature_sets(scheme, buffer.features(), rows)
    sets.make_distinct(np.flatnonzero(known))
    return sets, known & (sets.sizes > 0)
