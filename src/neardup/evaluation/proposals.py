"""Parameters that reach what is wished for, cheapest first."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from neardup.evaluation.designs import (
    WORD,
    Design,
    MinHashDesign,
    Numbers,
    SimHashDesign,
    TrialsDesign,
)
from neardup.model.errors import ParameterError, require, require_whole
from neardup.model.layout import bands_law
from neardup.schemes.laws import bands_and_sample_law, is_share, trials_law

SHOWN: Final = 10  # proposals a scheme at most
_MANY: Final = 10**15
_PERMUTATIONS: Final = (*range(8, 64, 8), *range(64, 128, 16), *range(128, 256, 32), *range(256, 513, 64))
_HASHES: Final = np.arange(2, 31)
_TRIALS: Final = range(2, 13)
_NEEDED: Final = range(1, 5)
_DISTANCES: Final = range(11)
_KEYS: Final = 256  # of a fingerprint at most
_NONE: Final = 0.001  # candidates, fewer than which are as good as none


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What parameters must reach, and in what collection.

    A pair whose resemblance is *threshold* must be found with probability *recall* at least. A pair whose resemblance
    is *apart* (default: half the threshold) may become a candidate with probability *false_rate* at most; None allows
    any. Costs are those among *documents* documents, of which any two that have nothing to do with each other
    resemble each other by *background*. Each scheme reads these values in its own measure: SimHash as cosines.
    """

    threshold: float
    recall: float
    false_rate: float | None = None
    documents: int = 1_000_000
    apart: float | None = None
    background: float = 0.05

    def __post_init__(self) -> None:
        require(is_share(self.threshold), "threshold", self.threshold, "must be above 0 and at most 1")
        require(is_share(self.recall) and self.recall < 1, "recall", self.recall, "must be above 0 and below 1")
        if self.false_rate is not None:
            fits = is_share(self.false_rate) and self.false_rate < 1
            require(fits, "false_rate", self.false_rate, "must be above 0 and below 1")
        require_whole("documents", self.documents, 1, _MANY)
        rule = f"must be above 0 and below the threshold, {self.threshold}"
        if self.apart is None:
            object.__setattr__(self, "apart", self.threshold / 2)
        require(is_share(self.apart) and self.apart < self.threshold, "apart", self.apart, rule)  # type: ignore[operator]  # a number by now
        below = self.background == 0 or (is_share(self.background) and self.background < self.threshold)
        require(below, "background", self.background, rule.replace("above 0", "0 or more"))

    @property
    def values(self) -> Numbers:
        """The three values that matter: threshold, apart, background."""
        return np.array([self.threshold, self.apart, self.background], np.float64)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A scheme's parameters that fulfil a wish, and what they cost.

    ``parameters`` are what the scheme, and ``neardup dedup``, is given; ``layout`` is what it has then.

    ``recall``: how likely a pair at the wished threshold is found, and ``misses`` the rest. MinHash finds a pair that
    becomes a candidate, as candidates are then compared exactly; the others find it when their rule says match.
    ``false_rate``: how likely a pair that far *apart* becomes a candidate; ``matched_apart``: how likely the rule says
    match of it. ``candidates``: how many strangers a document is compared with,
    ``(documents - 1) * P[candidate at the background]``. ``signature_bytes`` and ``keys`` (8 bytes each) are
    stored for a document, ``bytes`` in all.

    ``cost``, in bytes a document, is what is stored and what is read to compare it with its candidates:
    ``bytes + candidates * signature_bytes``.
    """

    scheme: str
    parameters: dict[str, float]
    layout: dict[str, float]
    recall: float
    false_rate: float
    matched_apart: float
    candidates: float
    signature_bytes: int
    keys: int

    @property
    def misses(self) -> float:
        """Of the pairs at the threshold, the share that is expected to be missed."""
        return 1.0 - self.recall

    @property
    def bytes(self) -> int:
        """What is stored for a document: its signature and its keys."""
        return self.signature_bytes + WORD * self.keys

    @property
    def cost(self) -> float:
        """Bytes stored and read for a document."""
        return self.bytes + self.candidates * self.signature_bytes

    @property
    def options(self) -> str:
        """The options of ``neardup dedup`` that use it."""
        given = (f"--{name.replace('_', '-')} {value}" for name, value in self.parameters.items())
        return f"--scheme {self.scheme} {' '.join(given)}"

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            **asdict(self),
            "misses": self.misses,
            "bytes": self.bytes,
            "cost": self.cost,
            "options": self.options,
        }


@dataclass(frozen=True, kw_only=True)
class Unreached:
    """The best recall that a scheme can offer where none of its parameters fulfil a wish."""

    scheme: str
    recall: float


def propose(wish: Wish, schemes: Iterable[str]) -> tuple[tuple[Proposal, ...], tuple[Unreached, ...]]:
    """Give what fulfils the wish, cheapest first, and the schemes of which nothing does.

    Searched are, for ``minhash``, up to 512 permutations in the fewest bands that reach the recall; for ``trials``,
    2 to 30 hashes and 1 to 4 of 2 to 12 trials; for ``simhash``, distances of up to 10 of 64 bits and blocks of up to
    256 keys. Left out is what another proposal of the same scheme beats in bytes or in candidates and equals in the
    other (fewer than 0.001 candidates count as none); each scheme has its 10 cheapest of the rest. Ties go to fewer
    bytes.

    Raises ``ParameterError`` if no scheme fulfils the wish; it says which recall each can reach.
    """
    found: list[Proposal] = []
    unreached: list[Unreached] = []
    for scheme in schemes:
        require(scheme in SEARCHES, "scheme", scheme, f"must be one of {', '.join(SEARCHES)}, to be proposed")
        offers = list(SEARCHES[scheme](wish))
        allowed = [one for one in offers if wish.false_rate is None or one.false_rate <= wish.false_rate]
        good = [one for one in allowed if one.recall >= wish.recall]
        found += sorted(_unbeaten(good), key=_order)[:SHOWN]
        if not good:
            unreached.append(Unreached(scheme=scheme, recall=max((one.recall for one in allowed), default=0.0)))
    if not found:
        best = ", ".join(f"{one.scheme} {one.recall:.4f}" for one in unreached)
        condition = "" if wish.false_rate is None else f" with a false rate of at most {wish.false_rate:g}"
        rule = f"must be less: the most that can be reached at threshold {wish.threshold:g}{condition} is {best}"
        raise ParameterError("recall", wish.recall, rule)
    return tuple(sorted(found, key=_order)), tuple(unreached)


def _order(one: Proposal) -> tuple[float, int, str]:
    return one.cost, one.bytes, one.options


def _unbeaten(offers: list[Proposal]) -> Iterator[Proposal]:
    fewest = float("inf")
    for one in sorted(offers, key=lambda one: (one.bytes, one.candidates, one.options)):
        if max(one.candidates, _NONE) < fewest:
            fewest = max(one.candidates, _NONE)
            yield one


def _minhash(wish: Wish) -> Iterator[Proposal]:
    for permutations in _PERMUTATIONS:
        bands = _bands(wish, permutations)
        met = bands_law(wish.values, permutations, bands)
        design = MinHashDesign(permutations=permutations, threshold=wish.threshold, bands=bands)
        both = bands_and_sample_law(wish.apart, permutations, bands, wish.threshold)
        reach = {"recall": wish.recall} if met[0] >= wish.recall else {}
        yield _proposal(wish, design, reach, met[0], met, float(both))


def _bands(wish: Wish, permutations: int) -> int:
    """Take the fewest bands that reach the recall; if that breaks the false rate, the most that keep to it."""
    met, far = bands_law(wish.values[:2, None], permutations, np.arange(1, permutations + 1))
    enough = np.flatnonzero(met >= wish.recall)
    kept = np.flatnonzero(far <= (1.0 if wish.false_rate is None else wish.false_rate))
    if enough.size and (enough[0] in kept or not kept.size):
        return int(enough[0]) + 1
    return int(kept[np.argmax(met[kept])]) + 1 if kept.size else 1


def _trials(wish: Wish) -> Iterator[Proposal]:
    for trials in _TRIALS:
        for needed in _NEEDED:
            if needed > trials:
                continue
            chances = trials_law(wish.values[None], _HASHES[:, None], trials, needed)
            for hashes, matched in zip(_HASHES.tolist(), chances, strict=True):
                design = TrialsDesign(hashes=hashes, trials=trials, needed=needed)
                exact = {"threshold": wish.threshold}  # what verification asks for
                yield _proposal(wish, design, exact, matched[0], matched, float(matched[1]))


def _simhash(wish: Wish) -> Iterator[Proposal]:
    for distance in _DISTANCES:
        for blocks in range(distance + 1, 65):
            design = SimHashDesign(distance=distance, blocks=blocks)
            if design.keys > _KEYS:
                break
            if distance == 0 and blocks > 1:
                break  # all blocks must agree, however many they are
            curves = design.curves(wish.values)
            matched = curves["match"]
            yield _proposal(wish, design, design.layout, matched[0], curves["candidate"], float(matched[1]))


def _proposal(  # noqa: PLR0913, PLR0917 - the columns of a proposal
    wish: Wish, design: Design, more: dict[str, float], recall: float, candidate: Numbers, matched_apart: float
) -> Proposal:
    return Proposal(
        scheme=design.name,
        parameters={**design.parameters, **more},
        layout=design.layout,
        recall=float(recall),
        false_rate=float(candidate[1]),
        matched_apart=matched_apart,
        candidates=(wish.documents - 1) * float(candidate[2]),
        signature_bytes=design.signature_bytes,
        keys=design.keys,
    )


SEARCHES: Final[dict[str, Callable[[Wish], Iterator[Proposal]]]] = {
    "minhash": _minhash,
    "trials": _trials,
    "simhash": _simhash,
}
