"""The pairs of a collection that can be labelled: drawn at random over the whole range of resemblance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from threading import Lock
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.evidence import Shared, distinct_sets, shared_by
from neardup.decisions.partners import Partners
from neardup.engines.local import LocalEngine
from neardup.evaluation.labelling import BANDS, FLOOR, bands_of, next_band
from neardup.model.arrays import Features, Positions, TextBatch, Values, Words, ragged
from neardup.model.errors import DataError, require_whole
from neardup.model.labels import DrawnPair, LabelledPair
from neardup.pipeline.corpus.documents import Documents, placed
from neardup.pipeline.corpus.run import scheme_of_texts
from neardup.pipeline.progress import Progress, followed
from neardup.schemes.scheme import Scheme
from neardup.text.columns import batches, gathered, readable_text, text_lengths, whole_batch

LABELS_OF_TEXTS: Final = "labels compare texts; choose another scheme"
SAMPLE: Final = 20_000

_PILOT: Final = 500  # documents by which the costs are estimated
_LOOKS: Final = 12_000_000_000  # occurrences of features of the sample in other documents, more or less
_PAIRS: Final = 30_000_000  # with a resemblance from the floor, or contained, more or less
_BYTES: Final = 1 << 28  # of the texts of the sample
_OTHERS: Final = 32  # random pairs


@dataclass(frozen=True, slots=True, eq=False)
class BandPairs:
    """The pairs of a band in the order in which they are drawn: a document of the sample, and one of its partners.

    *degrees* are how many partners the document has in the band: it was one of them with the same probability.
    *pairs* is the number of pairs of the whole collection in the band, estimated.
    """

    left: Positions
    right: Positions
    resemblance: Values
    degrees: Positions
    pairs: float


class PairPool:
    """The pairs of a collection that can be labelled, by bands of resemblance; see ``draw_pairs``."""

    def __init__(self, documents: Documents, bands: Sequence[BandPairs], sample: int, threshold: float) -> None:
        self._documents, self._bands, self._threshold = documents, tuple(bands), threshold
        self.documents, self.sample = len(documents.texts), sample
        self._known: dict[tuple[BandPairs, int], tuple[str, str]] = {}  # the pairs whose ids were needed

    def __len__(self) -> int:
        ends = [np.sort(np.stack([band.left, band.right]), axis=0) for band in self._bands]
        return int(np.unique(np.concatenate(ends, axis=1), axis=1).shape[1])

    def __repr__(self) -> str:
        """Return the counts in one line."""
        return f"PairPool(pairs={len(self):,}, documents={self.documents:,}, sample={self.sample:,})"

    def draw(self, answers: Sequence[LabelledPair]) -> DrawnPair | None:
        """Return the next pair to label: where the answers leave the most doubt; ``None`` if no pair is left.

        The same answers give the same pair.
        """
        labelled = {one.pair for one in answers}
        drawn = [self._drawn(band, labelled) for band in self._bands]
        left = [done < len(band.left) for done, band in zip(drawn, self._bands, strict=True)]
        number = next_band(answers, drawn, left, self._threshold)
        return None if number is None else self._pair(self._bands[number], drawn[number])

    def weighed(
        self, answers: Sequence[LabelledPair], some: Sequence[LabelledPair] | None = None
    ) -> list[LabelledPair]:
        """Return the answers, or only *some* of them, with their weights.

        A weight is how many pairs of the collection an answer represents.

        A document of a band is drawn with the same probability as each other, and then one of its partners. So each
        drawn pair has a share of the pairs of its band that is proportional to the number of these partners. Answers
        about other pairs than those that were drawn keep their weights.
        """
        labelled = {one.pair for one in answers}
        weights: dict[tuple[str, str], float] = {}
        for band in self._bands:
            done = self._drawn(band, labelled)
            total = int(band.degrees[:done].sum())
            for number in range(done):
                pair = self._names(band, number)
                weights[pair] = weights.get(pair, 0.0) + band.pairs * int(band.degrees[number]) / total
        return [replace(one, weight=weights.get(one.pair, one.weight)) for one in (answers if some is None else some)]

    def text(self, name: str) -> str | None:
        """Return the text of the document with this id; ``None`` if there is no such document."""
        place = pc.index(self._documents.ids, name).as_py()
        return None if place < 0 else readable_text(self._documents.texts, place)

    def _drawn(self, band: BandPairs, labelled: set[tuple[str, str]]) -> int:
        """Return how many pairs of a band have been drawn: all before the first one without an answer."""
        return next(
            number for number in count() if number == len(band.left) or self._names(band, number) not in labelled
        )

    def _names(self, band: BandPairs, number: int) -> tuple[str, str]:
        found = self._known.get((band, number))
        if found is None:
            a, b = (self._documents.ids[int(side[number])].as_py() for side in (band.left, band.right))
            found = self._known[band, number] = (a, b) if a < b else (b, a)
        return found

    def _pair(self, band: BandPairs, number: int) -> DrawnPair:
        a, b = sorted((int(band.left[number]), int(band.right[number])))
        (id_a, text_a), (id_b, text_b) = (
            (self._documents.ids[one].as_py(), readable_text(self._documents.texts, one)) for one in (a, b)
        )
        rounded = round(float(band.resemblance[number]), 6)
        return DrawnPair(a=id_a, b=id_b, text_a=text_a, text_b=text_b, resemblance=rounded)


def draw_pairs(  # noqa: PLR0913 - every one a keyword with a default
    documents: Any,
    *,
    text: str = "text",
    id: str | None = "id",  # noqa: A002 - the word users know
    scheme: Scheme | None = None,
    sample: int = SAMPLE,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> PairPool:
    """Find pairs of documents to label, over the whole range of resemblance.

    At most *sample* documents are drawn at random by *seed*, fewer if texts are long or much alike, and compared
    exactly with all documents, by the features of *scheme* (default: ``MinHash()``). The pairs have a resemblance of
    0.2 or more, or half of the smaller document is in the other one; a few random pairs have neither. Each document of
    the sample is in one pair for each tenth of the resemblance, if it has such partners. Containers and *id* are as in
    ``dedup``; of documents with equal ids, the first one counts. Everything is in memory. The same documents,
    parameters and seed give the same pairs.

    Raises ``ParameterError`` and ``DataError``; also for fewer than two documents with words.
    """
    sample = require_whole("sample", sample, 1)
    seed = require_whole("seed", seed, 0, 2**63)
    chosen = scheme_of_texts(scheme, LABELS_OF_TEXTS)
    read = _with_own_ids(Documents.of(documents, text, id))
    if not len(read.texts):
        raise _no_pair()
    with followed(progress) as follow, LocalEngine(threads) as engine:
        return _PairSearch(read, chosen, sample, seed).pool(engine, follow)


def _with_own_ids(documents: Documents) -> Documents:
    """Return the documents without those that have the id of an earlier one."""
    if not documents.duplicate_ids():
        return documents
    codes = documents.ids.combine_chunks().dictionary_encode().indices  # in the order of the first ones
    firsts = np.unique(codes.to_numpy(), return_index=True)[1]
    texts = pa.chunked_array([gathered(documents.texts, firsts)])
    return Documents(texts, documents.ids.take(pa.array(firsts)), pa.table({"text": texts}), documents.named)


class _PairSearch:
    """The search for pairs of a sample with all documents."""

    def __init__(self, documents: Documents, scheme: Scheme, sample: int, seed: int) -> None:
        self._documents, self._scheme, self._seed = documents, scheme, seed
        self._random = np.random.default_rng(seed)
        self._number = len(documents.texts)
        order = self._random.permutation(self._number)
        self._positions: Positions = np.sort(order[: self._affordable(order[:_PILOT], sample)])
        self._sizes = np.zeros(self._number, np.int64)
        shape = len(self._positions), len(BANDS)
        self._degrees = np.zeros(shape, np.int64)
        self._best = np.full(shape, np.iinfo(np.uint64).max, np.uint64)
        self._partner = np.full(shape, -1, np.int64)
        self._resemblance = np.zeros(shape)

    def pool(self, engine: LocalEngine, progress: Progress) -> PairPool:
        partners = Partners(self._features(self._positions), FLOOR, measure="overlap")
        noting = Lock()
        progress("compare", 0, self._number)

        def look(one: tuple[int, TextBatch]) -> tuple[int, Positions]:
            start, batch = one
            features = self._scheme.shingling.batch_features(batch)
            sizes = np.diff(features.offsets)
            for found in partners.steps(features):  # all pairs of a batch need not fit into memory
                with noting:
                    self._note(found.left, found.right + start, found.common)
            return start, sizes

        for start, sizes in engine.map(look, placed(batches(self._documents.texts))):
            self._sizes[start : start + len(sizes)] = sizes
            progress("compare", start + len(sizes), self._number)
        bands = [self._band(number) for number in range(1, len(BANDS))]
        bands = [self._others(sum(band.pairs for band in bands)), *bands]
        return PairPool(self._documents, bands, len(self._positions), min(1.0, self._scheme.threshold))

    def _affordable(self, pilot: Positions, sample: int) -> int:
        """Return how many documents can be compared with all, by what a few of them have in common."""
        if len(pilot) <= 1:
            return self._number
        features = self._features(pilot)
        partners = Partners(Features(features.values.copy(), features.offsets), FLOOR, measure="overlap")
        sets = distinct_sets(features)
        values = sets.values[ragged(sets.starts, sets.sizes)]
        counts = np.unique(values, return_counts=True)[1].astype(np.float64)
        others = len(pilot) * (len(pilot) - 1)
        looks = (counts * (counts - 1)).sum() / others
        pairs = (len(partners.among(features).left) - len(pilot)) / others
        length = max(1.0, float(text_lengths(self._documents.texts).mean()))
        least = min(_LOOKS / max(looks, 1e-9), _PAIRS / max(pairs, 1e-9)) / self._number
        return int(max(1, min(sample, self._number, _BYTES / length, max(least, 100))))

    def _features(self, positions: Positions) -> Features:
        texts = pa.chunked_array([gathered(self._documents.texts, positions)])
        features: Features = self._scheme.shingling.batch_features(whole_batch(texts))
        return features

    def _note(self, left: Positions, right: Positions, common: Shared) -> None:
        """Count the partners of documents of the sample, and keep a random one of each document and band."""
        bands = bands_of(common.resemblance, common.of_smaller)
        real = (bands > 0) & (self._positions[left] != right)
        left, right, bands, resemblance = left[real], right[real], bands[real], common.resemblance[real]
        places = left * len(BANDS) + bands
        self._degrees += np.bincount(places, minlength=self._degrees.size).reshape(self._degrees.shape)
        own = self._positions[left]
        drawn = _mixed(own.astype(np.uint64) * np.uint64(self._number) + right.astype(np.uint64), self._seed)
        order = np.lexsort((drawn, places))
        first = order[np.flatnonzero(np.diff(places[order], prepend=-1))]
        better = first[drawn[first] < self._best.ravel()[places[first]]]
        for kept, values in ((self._best, drawn), (self._partner, right), (self._resemblance, resemblance)):
            kept.reshape(-1)[places[better]] = values[better]

    def _band(self, band: int) -> BandPairs:
        rows = np.flatnonzero(self._degrees[:, band])
        rows = rows[np.argsort(_mixed(rows.astype(np.uint64), self._seed + band), kind="stable")]
        degrees = self._degrees[rows, band]
        pairs = float(degrees.sum()) / 2 * self._number / len(self._positions)
        left, right = self._positions[rows], self._partner[rows, band]
        return BandPairs(left, right, self._resemblance[rows, band], degrees, pairs)

    def _others(self, found: float) -> BandPairs:
        """Return random pairs of the other documents, which share next to nothing."""
        filled = np.flatnonzero(self._sizes)
        if len(filled) <= 1:
            raise _no_pair()
        left, right = filled[self._random.integers(0, len(filled), (2, 4 * _OTHERS))]
        sets = distinct_sets(self._features(np.concatenate([left, right])))
        common = shared_by(sets, np.arange(len(left)), np.arange(len(left)) + len(left))
        rest = np.flatnonzero(bands_of(common.resemblance, common.of_smaller) == 0)[:_OTHERS]
        distinct = np.unique(np.sort(np.stack([left[rest], right[rest]]), axis=0), axis=1).shape[1]
        pairs = max(float(distinct), len(filled) * (len(filled) - 1) / 2 - found)
        ones = np.ones(len(rest), np.int64)
        return BandPairs(left[rest], right[rest], common.resemblance[rest], ones, pairs)


def _no_pair() -> DataError:
    return DataError("the documents", "no pairs to label; at least two documents with words are needed")


def _mixed(values: Words, seed: int) -> Words:
    """Return numbers that look random, and depend on the values and the seed alone (splitmix64)."""
    mixed: Words = values + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
