"""Near duplicates among ranked hits: their signatures, their texts if available, and the rule."""

from functools import partial
from hashlib import blake2b
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from neardup.decisions.evidence import SET_MEASURES, WeightedSets, exact_measure
from neardup.decisions.exact import leaders_by_content
from neardup.index.disk.reader import Places
from neardup.kernels.collapse import GIVEN
from neardup.model.arrays import Features, Flags, Positions, Signatures, Values, require_same_recipe
from neardup.model.errors import ParameterError
from neardup.model.ranked_rule import RankedRule
from neardup.pipeline.corpus.comparison import feature_sets
from neardup.pipeline.index.fields import field_table
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.inputs import types_of
from neardup.pipeline.query.hits import STRINGS, Hits
from neardup.pipeline.query.rules import NearDuplicates
from neardup.schemes import registry
from neardup.schemes.checksum import BODY
from neardup.schemes.plausibility import PlausiblePairs
from neardup.schemes.ranked_parts import LEAST, PairTest, decided_in_parts, matched_in_parts
from neardup.schemes.scheme import Scheme
from neardup.schemes.signing import signed_features
from neardup.schemes.thresholds import require_texts, thresholds_of
from neardup.text.columns import text_column
from neardup.text.shingling import FeatureBuffer

HitVerify = Literal["exact", "estimate"]

# Bounds of one set of hits: beyond them the estimate decides, and verify="exact" is refused.
_BYTES: Final = 1 << 26  # of texts that are read from an index
_LONGEST: Final = 1 << 22  # bytes of a text that is read
_FEATURES: Final = 1 << 28  # that are compared
_TOGETHER: Final = 16  # texts that are read at once
_NO_ROWS: Final = np.empty(0, np.int64)
_NO_TEXTS: Final = "needs the texts of the hits: in a field of records, or in an index that keeps texts"
_OTHER_TEXTS: Final = "needs the texts that were signed, but the records have different texts; pass the signed texts"
_NO_FIELDS: Final = (
    "cannot be used with signatures or an index of the scheme {}; pass only records with the fields that this signs"
)
_NO_TEXT: Final = (
    "needs the text of each hit that it compares, but hit {} has no text, or its text in the index is too long"
    f" (below {_LONGEST >> 20} MiB for a hit, {_BYTES >> 20} MiB for all); pass the text, or omit the hit"
)
_TOO_MUCH: Final = f"compares at most {_FEATURES:,} features of texts: examine fewer hits"

_Texts: TypeAlias = "_GivenTexts | _KeptTexts"


class NearHits(Struct):
    """The input of a rule for near duplicates: a *scheme*, the hits' *signatures*, and the rule as a kernel.

    If texts decide, the kernel fills the arrays of *found* by rank, for hits that match a better one: the measure of
    both texts, what it had to reach, and whether both texts were compared.
    """

    scheme: Scheme
    signatures: Signatures
    ranked: RankedRule
    found: tuple[Values, Values, Flags] | None = None

    def require_verified(self) -> None:
        """Raise ``ParameterError`` if there was too much to compare."""
        if self.found is not None and self.ranked.terms.min() <= 0:
            raise ParameterError("verify", "exact", _TOO_MUCH)


class AskedHits(Struct):
    """The first *number* hits, all that may know of them, and what is to decide; see ``collapse``.

    Each hidden hit is named for the *closest* match, or for the best-ranked.
    """

    given: Hits
    number: int
    signatures: Signatures | None
    index: Index | None
    verify: HitVerify | None
    closest: bool


def near_hits(rule: NearDuplicates, asked: AskedHits) -> NearHits:
    """Sign hits or look their signatures up, and choose what decides: their texts or the estimate.

    Raises ``ParameterError`` for ``verify="exact"`` where texts are missing.
    """
    given, number, signatures = asked.given, asked.number, asked.signatures
    index, verify = asked.index, asked.verify
    scheme = _scheme(rule, index if signatures is None else None)
    if signatures is None and index is None:
        return _signed_here(scheme, rule, asked)
    texts: _Texts | None = None
    if signatures is not None:
        require_same_recipe(scheme.recipe, signatures.recipe)
        signed = signatures if len(signatures.rows) == number else signatures[:number]
        if verify is None and not given.records:  # nothing to compare but these
            return _by_estimate(scheme, signed, asked)
    elif index is not None:
        places = given.places(index, number)
        signed, features = _with_new(index.signatures_at(places), places < 0, scheme, rule, given)
        if index.keeps_texts:
            texts = _KeptTexts(index, scheme, places, features)
    if verify == "estimate":
        return _by_estimate(scheme, signed, asked)
    if not scheme.columns:
        texts = texts or _signed_texts(scheme, rule, given, signed)
        if texts is not None:
            return _ComparedParts(scheme, signed, texts, asked).hits()
    if verify == "exact" and np.count_nonzero(signed.present) > 1:  # otherwise there is nothing to compare
        lacking = _OTHER_TEXTS if given.has_field(rule.text) else _NO_TEXTS
        raise ParameterError("verify", verify, _NO_FIELDS.format(scheme.name) if scheme.columns else lacking)
    return _by_estimate(scheme, signed, asked)


def _scheme(rule: NearDuplicates, index: Index | None) -> Scheme:
    """Return the scheme of a rule; that of an index must have the index's recipe, and may have a policy of its own."""
    if index is not None and rule.scheme is not None:
        require_same_recipe(index.scheme.recipe, rule.scheme.recipe)
    chosen: Scheme = rule.scheme or (registry.default() if index is None else index.scheme)
    return chosen


def _signed_fields(scheme: Scheme, rule: NearDuplicates, given: Hits) -> dict[str, str]:
    """Name the field of each column that a scheme of fields signs."""
    return {name: rule.text if name == BODY and not given.has_field(BODY) else name for name in scheme.columns}


def _field_column(values: list[Any], name: str) -> pa.ChunkedArray:
    """Return the values of a field as a column that a scheme signs as it signs a field of an index."""
    if types_of(values) <= STRINGS:
        return text_column(values, name)
    return field_table({name: values}, len(values)).column(0)


def _with_new(
    signed: Signatures, new: Flags, scheme: Scheme, rule: NearDuplicates, given: Hits
) -> tuple[Signatures, Features | None]:
    """Add the signatures of *new* hits, which an index does not have, by their own texts or fields.

    Returns also the features of the texts of new hits, if any has a text.
    """
    if not given.records:
        return signed, None
    named = _signed_fields(scheme, rule, given) or {rule.text: rule.text}
    present = {name: field for name, field in named.items() if given.has_field(field)}
    if not (present and new.any()):
        return signed, None
    columns = dict.fromkeys(named, pa.nulls(len(new), pa.large_string()))
    kind = object if scheme.columns else str
    for name, field in present.items():
        pairs = zip(given.values(field, len(new)), new, strict=True)
        own_values = [value if is_new and isinstance(value, kind) else None for value, is_new in pairs]
        columns[name] = _field_column(own_values, field)
    features: Features | None = None
    if scheme.columns:
        own = scheme.sign(pa.table(columns))
    else:
        features, own = signed_features(scheme, columns[rule.text])
    rows = signed.rows.copy()
    rows[new] = own.rows[new]
    return Signatures(rows, np.where(new, own.present, signed.present), signed.recipe), features


def _signed_here(scheme: Scheme, rule: NearDuplicates, asked: AskedHits) -> NearHits:
    """Sign hits by the texts or fields of their records, which also decide."""
    given, number, verify = asked.given, asked.number, asked.verify
    if scheme.columns:
        named = _signed_fields(scheme, rule, given)
        fields = pa.table({name: _field_column(given.values(field, number), name) for name, field in named.items()})
        signed = scheme.sign(fields)
        if verify != "estimate":
            nothing = Features(np.empty(0, np.uint64), np.zeros(len(signed) + 1, np.int64))
            equal = partial(scheme.same_content, fields)
            compared = _ComparedParts(scheme, signed, _GivenTexts(scheme, nothing), asked, equal)
            return compared.hits(np.ones(len(signed), np.bool_))
        return _by_estimate(scheme, signed, asked)
    column = text_column(given.values(rule.text, number), rule.text)
    if verify == "estimate":
        return _by_estimate(scheme, scheme.sign(column), asked)
    features, signed = signed_features(scheme, column)
    return _ComparedParts(scheme, signed, _GivenTexts(scheme, features), asked).hits()


def _by_estimate(scheme: Scheme, signed: Signatures, asked: AskedHits) -> NearHits:
    require_texts(scheme, "the texts of hits")
    ranked = scheme.ranked_rule(signed)
    if asked.closest:
        leaders = np.arange(len(signed))
        leaders_by_content([row.tobytes() for row in signed.rows], leaders.tolist(), leaders)
        answers = partial(scheme.match_pairs, signed), len(signed), partial(scheme.estimate_pairs, signed)
        ranked = RankedRule(matched_in_parts(*answers, leaders), _NO_ROWS, np.ones(2, np.int64))
    return NearHits(scheme, signed, ranked)


def _signed_texts(scheme: Scheme, rule: NearDuplicates, given: Hits, signed: Signatures) -> "_Texts | None":
    """Return the texts of records, if any text is the signed one.

    Records may have another text, such as a summary, which is ignored.
    """
    if not given.has_field(rule.text):
        return None
    values = given.values(rule.text, len(signed))
    if not types_of(values) <= STRINGS:
        return None
    features, own = signed_features(scheme, text_column(values, rule.text))
    same = own.present & signed.present & (own.rows == signed.rows).all(axis=1)
    if not same.any():
        return None
    lengths = np.where(same, np.diff(features.offsets), 0)
    chosen = np.repeat(same, np.diff(features.offsets))
    return _GivenTexts(scheme, Features(features.values[chosen], np.concatenate([[0], np.cumsum(lengths)])))


class _ComparedParts:
    """The kernel of a rule that compares plausible pairs, part by part."""

    def __init__(
        self,
        scheme: Scheme,
        signed: Signatures,
        texts: _Texts,
        asked: AskedHits,
        same: PairTest | None = None,
    ) -> None:
        self._scheme, self._signed, self._texts, self._same = scheme, signed, texts, same
        self._verify, self._closest = asked.verify, asked.closest
        self._thresholds = thresholds_of(scheme)
        self._measure = SET_MEASURES.get(exact_measure(scheme.rule), GIVEN)
        self._found = *np.ones((2, len(signed))), np.zeros(len(signed), np.bool_)
        self._asked, self._contents = 0, dict[object, int]()  # the different ones of the first hits that stay
        self._leaders, self._firsts = np.arange(len(signed)), dict[bytes, int]()  # of equal hits

    def hits(self, verified: Flags | None = None) -> NearHits:
        """Return the input of the rule; *verified* replaces what the kernel finds out."""
        *measures, own = self._found
        ranked = RankedRule(self, _NO_ROWS, np.full(1 + self._closest, _FEATURES))
        return NearHits(self._scheme, self._signed, ranked, (*measures, own if verified is None else verified))

    def __call__(  # noqa: PLR0913, PLR0917 - the arguments of a kernel
        self,
        rows: npt.NDArray[Any],  # noqa: ARG002 - the pairs take their place
        terms: Positions,
        present: Flags,
        near: int,
        codes: Positions,
        keeps: Positions,
        table: Positions,
    ) -> tuple[int, int]:
        """Decide as ``neardup.kernels.collapse.by_sets`` does."""
        plausible = PlausiblePairs(self._scheme, self._signed)

        def compared(begin: int, end: int, staying: Positions) -> tuple[Any, ...]:
            before = self._different(staying) if keeps[near] > 1 else staying
            later, better = plausible.of(np.arange(begin, end), before)
            if self._same is not None:
                same = self._same(later, better)
                later, better = later[same], better[same]
            bounds, compared = np.searchsorted(later, np.arange(begin, end + 1)), self._compared(later, better)
            pairs = bounds, *compared, self._leaders[begin:end]
            return pairs, self._texts.sets.arrays, self._texts.known, self._measure, self._found, better

        return decided_in_parts(compared, terms, present, near, codes, keeps, table)

    def _different(self, hits: Positions) -> Positions:
        """Leave out hits that equal a better one: a later hit that matches both joins the better-ranked one.

        Each call has the hits of the one before, and more.
        """
        if isinstance(self._texts.sets, WeightedSets):
            return hits
        for hit in hits[self._asked :].tolist():
            self._contents.setdefault(self._digest(hit) if self._texts.known[hit] else hit, hit)
        self._asked = len(hits)
        return np.fromiter(self._contents.values(), np.int64)

    def _digest(self, hit: int) -> bytes:
        sets = self._texts.sets
        own = sets.values[sets.starts[hit] : sets.starts[hit] + sets.sizes[hit]]
        return blake2b(own.tobytes() + self._signed.rows[hit].tobytes(), digest_size=16).digest()

    def _read(self, ranks: Positions) -> None:
        """Read the texts of hits that are needed, and make the sets distinct; before that, find equal hits."""
        self._texts.read(ranks)
        sets, known = self._texts.sets, ranks[self._texts.known[ranks]]
        for hit in sets.repeating(known).tolist() if self._closest else ():
            self._leaders[hit] = self._firsts.setdefault(self._digest(hit), hit)
        sets.make_distinct(known)

    def _compared(self, later: Positions, better: Positions) -> tuple[Values, Values]:
        """Return the measures or estimates of pairs, and what these need."""
        scheme, signed, known, sets = self._scheme, self._signed, self._texts.known, self._texts.sets
        ranks = np.unique(np.concatenate([later, better]))
        self._read(ranks)
        if self._verify == "exact" and self._same is None and not known[ranks].all():
            rank = int(ranks[np.argmin(known[ranks])])
            raise ParameterError("verify", self._verify, _NO_TEXT.format(rank))
        least: Values = self._thresholds.of(later, better, sets.smaller(later, better))
        estimated = scheme.match_pairs(signed, later, better).astype(np.float64)
        if scheme.short is not None:  # documents of unknown lengths may be short
            unknown = np.flatnonzero((estimated > 0) & ~(known[later] & known[better]))
            estimated[unknown] = (
                scheme.estimate_pairs(signed, later[unknown], better[unknown]) >= scheme.short_threshold
            )
        if self._closest:
            estimated *= np.maximum(scheme.estimate_pairs(signed, later, better), LEAST)
        if isinstance(sets, WeightedSets):
            measured = np.flatnonzero(known[later] & known[better])
            cosines = sets.cosines(later[measured], better[measured])
            estimated[measured] = np.where(cosines >= least[measured], cosines, 0.0)
        return estimated, least


class _GivenTexts:
    """The features of texts that are at hand: the *sets* of hits, by rank, which are valid only where *known*."""

    def __init__(self, scheme: Scheme, features: Features) -> None:
        self.sets = feature_sets(scheme, features, np.arange(len(features)))
        self.known = self.sets.sizes > 0

    def read(self, ranks: Positions) -> None:
        """Do nothing: all texts are at hand."""


class _KeptTexts:
    """The texts of hits of an index, which are read when they are needed, best ranks first, within the bounds.

    *new* are the features of hits that the index does not have, by rank.
    """

    def __init__(self, index: Index, scheme: Scheme, places: Places, new: Features | None) -> None:
        self._index, self._shingling, self._places = index, scheme.shingling, places
        self._buffer = FeatureBuffer(0)
        self._buffer.append(Features(np.empty(0, np.uint64), np.zeros(2, np.int64)))  # of hits without a known text
        self._made, self._spent = 1, 0
        positions = np.zeros(len(places), np.int64)
        if new is not None:
            self._buffer.append(new)
            self._made += len(new)
            positions = np.arange(1, self._made)
        self.sets = feature_sets(scheme, self._buffer.features(), positions)
        self.known = self.sets.sizes > 0
        self._asked = self.known.copy()

    def read(self, ranks: Positions) -> None:
        """Read the texts of these hits that are needed."""
        missing = ranks[~self._asked[ranks]]
        self._asked[missing] = True
        read = 0
        for begin in range(0, len(missing), _TOGETHER):
            some = missing[begin : begin + _TOGETHER]
            if self._spent > _BYTES:
                break
            texts = self._index.store.strings("text", self._places[some], _LONGEST)
            sizes = np.diff(texts.offsets)
            self._spent += int(sizes.sum())
            if self._spent > _BYTES:
                break
            self._buffer.append(self._shingling.batch_features(texts))
            self.known[some] = sizes < _LONGEST
            read += len(some)
        made = missing[:read]
        self.sets.add(self._buffer.features(), made, self._made + np.arange(read))
        self._made += read
        self.known[made] &= self.sets.sizes[made] > 0
