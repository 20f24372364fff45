"""Signing documents to be judged, and verifying which candidates of an index they match."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self, cast

import numpy as np
import pyarrow as pa

from neardup.decisions.admission import Decisions, Matches, decide
from neardup.decisions.evidence import FeatureSets, exact_measure, shared_by
from neardup.index.disk.buffers import some, taken
from neardup.index.disk.columns import Batch
from neardup.index.disk.reader import PlacedCandidates, Places
from neardup.index.disk.store import Store
from neardup.model.arrays import (
    AnyPositions,
    Corpus,
    Features,
    Flags,
    Positions,
    Signatures,
    TextBatch,
    Values,
    Words,
    require_same_recipe,
)
from neardup.model.errors import DataError
from neardup.pipeline.corpus.comparison import feature_sets
from neardup.pipeline.corpus.documents import placed
from neardup.pipeline.digests import contents, equals
from neardup.pipeline.index.fields import sites_at, sites_of
from neardup.schemes.checksum import BODY
from neardup.schemes.plausibility import matching, plausible_tests
from neardup.schemes.scheme import Scheme
from neardup.schemes.thresholds import thresholds_of
from neardup.text.columns import batches, text_column, whole_batch
from neardup.text.sites import NO_SITES, separate

CLOSEST: Final = 64  # candidates that are not kept: of each document, those with the highest estimates are verified
BYTES_AT_ONCE: Final = 1 << 24  # of texts that are compared, if near duplicates have the same size


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Documents to judge: signatures, digests of *contents* and of *equals*, the texts if they were given, and *sites*.

    Digests are uint64[n, 2], zero for none. Documents with the same features are equals, and so are documents without
    features but with the same text, unless it is blank. For schemes that sign fields, documents with a signature and
    the same content are equals. Documents without sites belong to none (see ``neardup.text.sites``).
    """

    signatures: Signatures
    contents: Words
    equals: Words
    texts: TextBatch | None
    sites: Words

    def __len__(self) -> int:
        return len(self.signatures)

    def columns(self, leads: Flags) -> Batch:
        """Return the columns of an index for these documents, without texts; *leads* marks leaders of equals."""
        signed = self.signatures
        own = {"content": self.contents, "equal": self.equals, "leads": leads}
        return {**own, "present": signed.present, "rows": signed.rows}

    def at(self, rows: AnyPositions | slice) -> Self:
        """Return some of the documents; a slice copies nothing."""
        texts = None if self.texts is None else some(self.texts, rows)
        sites = self.sites[rows] if len(self.sites) else self.sites
        return type(self)(self.signatures[rows], self.contents[rows], self.equals[rows], texts, sites)


def sign_and_digest(scheme: Scheme, documents: Any, fields: pa.Table, salt: Words) -> Asked:
    """Sign and digest texts; signatures are used unchanged and have no digests. *fields* may have the sites of pages.

    If fields are signed, their checksum is a part of the content. The secret *salt* (uint64[2]) prevents different
    texts or features with equal digests.

    Raises ``RecipeMismatch`` for signatures of another recipe and ``DataError`` for values that are not texts.
    """
    if isinstance(documents, Signatures):
        require_same_recipe(scheme.recipe, documents.recipe)
        nothing = np.zeros((len(documents), 2), np.uint64)
        return Asked(documents, nothing, nothing, None, sites_of(fields))
    column = text_column(documents)
    texts = whole_batch(column)
    if not scheme.columns:
        sites = sites_of(fields)
        signatures, own = _signed(scheme, column, sites, salt)
        return Asked(signatures, contents(texts, salt), own, texts, sites)
    listed = dict(zip(fields.column_names, fields.columns, strict=True))
    for name in lacking_fields(scheme, listed):
        raise DataError("fields", f"must have {name!r}, which the scheme signs; add it, with None for unknown values")
    signatures = scheme.sign(pa.table({BODY: column, "text": column, **listed}))  # as a run names the texts
    own = contents(texts, salt, signatures.rows)
    return Asked(signatures, own, own * signatures.present[:, None], texts, NO_SITES)


def lacking_fields(scheme: Scheme, names: Iterable[str]) -> list[str]:
    """Return the fields that the scheme requires, other than texts, and that are not among *names*."""
    return sorted({*scheme.required_columns} - {BODY, "text", *names})


def _signed(scheme: Scheme, column: pa.ChunkedArray, sites: Words, salt: Words) -> tuple[Signatures, Words]:
    """Return the signatures of texts, and the digests of equals."""
    parts: list[Signatures] = []
    digests: list[Words] = []
    for begin, batch in placed(batches(column)):  # one at a time, while its features are in the processor's cache
        part, every = slice(begin, begin + len(batch)), np.arange(len(batch))
        features = scheme.shingling.batch_features(batch)
        digests.append(equals(batch, features, salt, scheme.second_shingling))
        separate(features, sites[part], every)
        parts.append(scheme.sign_at(Corpus(features, None, column[part]), every))
    if len(parts) == 1:
        return parts[0], digests[0]
    rows, present = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "present"))
    return Signatures(rows, present, scheme.recipe), np.concatenate(digests)


class Verifier:
    """Decides which candidates match: by the features of both texts if these are available, otherwise by signatures."""

    def __init__(self, store: Store, scheme: Scheme) -> None:
        self._store, self._scheme = store, scheme
        self._by_fields = bool(scheme.columns)

    def verified(self, asked: Asked) -> bool:
        """Return whether matches are verified on texts."""
        return self._store.columns.texts and asked.texts is not None and not self._by_fields

    def measure(self, asked: Asked) -> str:
        """Return the measure of the values of matches."""
        return str(self._scheme.rule if self._by_fields or self.verified(asked) else self._scheme.measure)

    def matches(self, asked: Asked, found: PlacedCandidates, *, later: bool = False) -> Matches:
        """Verify all kept candidates of each document, and the ``CLOSEST`` others by their estimates.

        Candidates that are *later* documents match if they repeat the document: containment has a direction. All of
        them are verified.
        """
        if not len(found.rows):
            return Matches(found.rows, found.places, np.empty(0))
        scheme, number = self._scheme, len(asked)
        places, inverse = np.unique(found.places, return_inverse=True)
        both = _followed(asked.signatures, self._store.take("rows", places), np.ones(len(places), np.bool_))
        left, right = found.rows, number + inverse
        repeating, repeated = (right, left) if later else (left, right)
        sites = self._sites(asked, places)
        thresholds = thresholds_of(scheme, sites)
        if not self.verified(asked):
            holds = matching(scheme, both, thresholds, repeating, repeated)
            values = scheme.estimate_pairs(both, repeating[holds], repeated[holds])
            return Matches(left[holds], places[inverse[holds]], np.asarray(values, np.float64))
        chosen = np.arange(len(left))
        for test in plausible_tests(scheme, both):
            chosen = chosen[test(repeating[chosen], repeated[chosen])]
        if not later and len(chosen) > CLOSEST:
            ordinals, representatives = self._store.take_all(("ordinal", "representative"), places)
            kept = (ordinals == representatives)[inverse[chosen]]
            others = chosen[~kept]
            estimates = scheme.estimate_pairs(both, left[others], right[others])
            chosen = np.sort(np.concatenate([chosen[kept], others[_closest(left[others], estimates)]]))
        left, right, inverse = left[chosen], right[chosen], inverse[chosen]
        compared = self._compared(cast("TextBatch", asked.texts), left, places, inverse, sites)
        values, smaller = self._measured(compared, later=later)
        holds = values >= thresholds.of(left, right, smaller)
        return Matches(left[holds], places[inverse[holds]], values[holds])

    def _sites(self, asked: Asked, places: Places) -> Words:
        """Return the sites of documents, and then of those at some places; none if the index has none."""
        stored = NO_SITES if self._by_fields else sites_at(self._store, places)
        own = asked.sites if len(asked.sites) else np.zeros(len(asked), np.uint64)
        return np.concatenate([own, stored]) if len(stored) else NO_SITES

    def compared(self, asked: Asked, places: Places) -> list[tuple[float | None, float | None]]:
        """Compare each document with the one at its place: return the resemblance, and the share of that one.

        Without texts, the first is the scheme's estimate of its measure and the second ``None``; both are ``None`` if
        one of the documents has no features, or no signature.
        """
        rows = np.arange(len(asked))
        if self.verified(asked):
            found: list[tuple[float | None, float | None]] = []
            for one in self._compared(cast("TextBatch", asked.texts), rows, places, rows, NO_SITES):
                shared = shared_by(*one)
                known = zip(shared.resemblance.tolist(), shared.right_in_left.tolist(), strict=True)
                there = ((shared.left > 0) & (shared.right > 0)).tolist()
                found += [pair if own else (None, None) for pair, own in zip(known, there, strict=True)]
            return found
        before, present = self._store.take_all(("rows", "present"), places)
        both = _followed(asked.signatures, before, present)
        estimates = np.asarray(self._scheme.estimate_pairs(both, rows, rows + len(rows)), np.float64)
        signed = (asked.signatures.present & present).tolist()
        return [(value if own else None, None) for value, own in zip(estimates.tolist(), signed, strict=True)]

    def _measured(self, compared: Iterable["_SetPairs"], *, later: bool) -> tuple[Values, Positions]:
        """Return the measure of each pair, and the number of features of the smaller one."""
        measure = exact_measure(self._scheme.rule)
        values, smaller = [], []
        for sets, one, other in compared:
            values.append(sets.measured(measure, other, one) if later else sets.measured(measure, one, other))
            smaller.append(sets.smaller(one, other))
        return np.concatenate(values), np.concatenate(smaller)

    def _compared(
        self, texts: TextBatch, left: Positions, places: Places, right: Positions, sites: Words
    ) -> Iterator["_SetPairs"]:
        """Yield the features of texts and the pairs of these, some at a time: all their texts may be too much."""
        spent = np.cumsum(np.diff(texts.offsets)[left])
        cuts = np.flatnonzero(np.diff(spent // BYTES_AT_ONCE)) + 1
        for one, other in zip(np.split(left, cuts), np.split(right, cuts), strict=True):
            yield self._compared_at_once(texts, one, places, other, sites)

    def _compared_at_once(
        self, texts: TextBatch, left: Positions, places: Places, right: Positions, sites: Words
    ) -> "_SetPairs":
        asking, one = np.unique(left, return_inverse=True)
        answering, other = np.unique(right, return_inverse=True)
        own = taken(texts, asking)
        theirs = self._store.strings("text", places[answering])
        features = _joined([self._scheme.shingling.batch_features(texts) for texts in (own, theirs)])
        if len(sites):
            both = np.concatenate([asking, len(texts) + answering])
            separate(features, sites[both], np.arange(len(both)))
        sets = feature_sets(self._scheme, features, np.arange(len(features)))
        sets.make_distinct(np.arange(len(features)))
        return _SetPairs(sets, one, other + len(asking))


class _SetPairs(NamedTuple):
    """Pairs of documents, by the sets of their features."""

    sets: FeatureSets
    left: Positions
    right: Positions


def decide_by_places(store: Store, own: Places, equal: Places, matches: Matches) -> Decisions:
    """Decide what each document repeats, and its representative; documents are numbered by their places.

    *equal* are the leaders of their equals.
    """
    places = np.unique(np.concatenate([matches.documents, equal[equal >= 0]]))
    representatives = store.take("representative", places)
    others = np.flatnonzero(representatives != store.take("ordinal", places))
    kept = places.copy()
    if len(others):
        kept[others] = store.with_ordinals(representatives[others])
    known = dict(zip(places.tolist(), kept.tolist(), strict=True))
    return decide(own.tolist(), equal.tolist(), matches, known, store.manifest.terms.representative)


def _followed(own: Signatures, rows: Any, present: Any) -> Signatures:
    """Return signatures followed by stored ones of the same recipe."""
    return Signatures(np.concatenate([own.rows, rows]), np.concatenate([own.present, present]), own.recipe)


def _closest(groups: Positions, estimates: Any) -> Positions:
    """Choose the ``CLOSEST`` highest estimates of each group, the first ones among equals."""
    order = np.lexsort((np.arange(len(groups)), -estimates, groups))
    ranks = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
    return np.sort(order[ranks < CLOSEST])


def _joined(parts: list[Features]) -> Features:
    shifts = np.cumsum([0, *(len(part.values) for part in parts)])
    offsets = [part.offsets[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
    return Features(np.concatenate([part.values for part in parts]), np.concatenate([*offsets, shifts[-1:]]))
