"""The rules that tuning chooses from, and the scores of labelled pairs by each: a pair matches from a threshold on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.decisions.evidence import COSINE, Shares, distinct_sets, exact_measure
from neardup.model.arrays import Positions
from neardup.model.layout import bands_law
from neardup.pipeline.config import scheme_from
from neardup.schemes.minhash import MinHash
from neardup.schemes.signing import signed_features

BITS: Final = 64  # of fingerprints
_FARTHEST: Final = 20  # bits that may differ
_ROUNDING: Final = 1e-9
_SHARES: Final = (0.1, 0.9)  # of the pairs that are short ones, at least and at most
_SIZES: Final = 8  # that are tried for short documents
_RAISED: Final = (0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRule:
    """A rule without its threshold: *settings* as in ``neardup.toml``, and what a pair is scored by, in words.

    The score is from 0 to 1. If *by_distance*, it is the share of equal bits of two fingerprints, and the threshold a
    distance.
    """

    name: str
    settings: Mapping[str, Any]
    by_distance: bool = False
    by_length: bool = False  # whether pairs with a short document may need more

    def at(self, threshold: float) -> dict[str, Any]:
        """Return the settings with a threshold."""
        if not self.by_distance:
            more = _more_permutations(threshold) if self.settings["scheme"] == MinHash.name else {}
            return {**self.settings, "threshold": round(threshold, 4), **more}
        distance = min(_FARTHEST, int((1 - threshold) * BITS + _ROUNDING))
        return {**self.settings, "distance": distance, "verify": "estimate"}

    def measured(self, texts: Sequence[str], left: Positions, right: Positions) -> tuple[Shares, Positions]:
        """Return the scores of pairs of texts, given by their positions, and the sizes of their smaller documents.

        The scores are float64[n]; the size of a document is the number of its different features.
        """
        scheme: Any = scheme_from(self.settings)
        column = pa.chunked_array([pa.array(texts, pa.large_string())])
        features, signatures = signed_features(scheme, column)
        if self.by_distance:
            differing = scheme.distances(signatures[left], signatures[right])
            scores = np.asarray(np.where(differing <= _FARTHEST, 1 - differing / BITS, 0.0))
            return scores, np.minimum(*(np.diff(features.offsets)[side] for side in (left, right)))
        sets = distinct_sets(features, scheme.weight_table if scheme.rule == COSINE else None)
        values = sets.measured(exact_measure(scheme.rule), left, right)
        if scheme.signatures_decide or scheme.passes is not None:
            values = np.where(scheme.match_pairs(signatures, left, right), values, 0.0)
        return values, sets.smaller(left, right)


class Stricter(NamedTuple):
    """A way in which pairs need more whose smaller document has fewer than *short* features.

    Their threshold is *raised* by this share of what is left up to 1.
    """

    short: int
    raised: float

    def settings(self, threshold: float) -> dict[str, Any]:
        """Return the settings in addition to those of a rule with this threshold."""
        return {"short": self.short, "short_threshold": round(threshold + self.raised * (1 - threshold), 4)}

    def scores(self, scores: Shares, smaller: Positions) -> Shares:
        """Return scores that reach a threshold where the given ones reach that of their pair."""
        lowered = np.maximum(0.0, (scores - self.raised) / (1 - self.raised))
        return np.where(smaller < self.short, lowered, scores)


def ways_to_be_stricter(smaller: Positions) -> tuple[Stricter, ...]:
    """Return the ways that are tried for pairs whose smaller documents have these sizes, the mildest first.

    >>> [way.short for way in ways_to_be_stricter(np.array([8, 12, 33, 57, 140, 360]))][:_SIZES]
    [10, 16, 25, 40, 63, 100, 160, 250]
    """
    low, high = np.maximum(1, np.quantile(smaller, _SHARES))
    sizes = dict.fromkeys(int(float(f"{size:.2g}")) for size in np.geomspace(low, high, _SIZES))  # two digits
    return tuple(Stricter(short, raised) for raised in _RAISED for short in sizes)


def match_rules() -> tuple[MatchRule, ...]:
    """Return the rules that ``tune`` chooses from, the default one first."""
    found = [_of_shingles(size, "word") for size in (3, 1, 2, 4, 5)]
    found += [_of_shingles(size, "letter") for size in (4, 6, 9)]
    for size in (1, 2, 3, 5):
        settings = {"scheme": "fracminhash", "measure": "overlap", "shingle": size}
        found.append(MatchRule(name=f"overlap of {size}-word shingles", settings=settings))
    for measure in ("resemblance", "overlap"):
        settings = {"scheme": "sentences", "measure": measure}
        found.append(MatchRule(name=f"{measure} of sentences", settings=settings))
    found.append(MatchRule(name="trials of 2-word sequences", settings={"scheme": "trials"}))
    found.append(MatchRule(name="trials and fingerprints combined", settings={"scheme": "combined"}))
    far = {"scheme": "simhash", "measure": "cosine", "distance": _FARTHEST}
    found.append(MatchRule(name="cosine of word counts", settings=far))
    for size in (1, 2):
        settings = {"scheme": "simhash", "shingle": size}
        found.append(MatchRule(name=f"fingerprints of {size}-word shingles", settings=settings, by_distance=True))
    return tuple(found)


def _more_permutations(threshold: float) -> dict[str, int]:
    """Return the setting of permutations if the usual ones cannot reach the usual recall at a low threshold."""
    usual = MinHash()
    number = usual.permutations
    while bands_law(threshold, number, number) < usual.recall:
        number += 8  # permutations are a multiple of 8
    return {} if number == usual.permutations else {"permutations": number}


def _of_shingles(size: int, unit: str) -> MatchRule:
    settings: dict[str, Any] = {"scheme": "minhash", "shingle": size}
    if unit != "word":
        settings["unit"] = unit
    return MatchRule(name=f"resemblance of {size}-{unit} shingles", settings=settings, by_length=True)
