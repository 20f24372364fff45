"""Parameters that meet requirements, cheapest first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from neardup.evaluation.plain_results import AsDict
from neardup.model.candidates import ROOM
from neardup.model.errors import ParameterError, require
from neardup.model.requirements import Requirements
from neardup.schemes import registry

SHOWN: Final = 10  # recommendations per scheme
WORD: Final = 8  # bytes of a key
_NONE: Final = 0.001  # candidates; fewer count as none


@dataclass(frozen=True, kw_only=True)
class Recommendation(AsDict):
    """A scheme's parameters that meet requirements, and their cost.

    ``parameters`` are parameters of the scheme and of ``neardup dedup``; ``layout`` is the resulting layout.

    ``recall``: the probability that a pair at the required threshold is found; ``misses`` is the rest. MinHash finds a
    pair that becomes a candidate, because candidates are then compared exactly (but for those whose estimate is far
    below the threshold: at most a tenth of 1 - recall more are missed); the other schemes find it if it matches by
    their rule. ``false_rate``: the probability that a pair at resemblance *apart* becomes a candidate;
    ``matched_apart``: that it matches by the rule. ``candidates``: the expected number of unrelated documents that
    share a key with a document, ``(documents - 1) * P[candidate at the background]``; ``bucket``: how many share
    a given key, on average over the keys. If it is above 64, the recommendation ``overflows``: a document is compared
    with at most 64 documents of a bucket, so more pairs are missed than ``misses``. ``signature_bytes`` and ``keys`` (8
    bytes each) are stored for a document, ``bytes`` in all.

    ``cost``, in bytes per document, is the bytes stored, and read to compare the document with its candidates: ``bytes
    + candidates * signature_bytes``.
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
    misses: float
    bucket: float
    overflows: bool
    bytes: int
    cost: float

    @property
    def words(self) -> str:
        """The scheme and its parameters, such as ``minhash with permutations 160, threshold 0.8, recall 0.99``."""
        return f"{self.scheme} with {', '.join(f'{name} {value}' for name, value in self.parameters.items())}"


@dataclass(frozen=True, kw_only=True)
class Unreached:
    """The best recall of a scheme without parameters that meet the requirements."""

    scheme: str
    recall: float


def recommend(wanted: Requirements, schemes: Iterable[str]) -> tuple[tuple[Recommendation, ...], tuple[Unreached, ...]]:
    """Return parameters that meet the requirements, cheapest first, and the schemes without any.

    Each scheme defines which parameters are searched (``grid``). Parameters whose buckets overflow are recommended only
    for schemes without others, and are last, those with the smallest buckets first. A recommendation is omitted if
    another one of the same scheme has fewer bytes or candidates and no more of the other (fewer than 0.001 candidates
    count as none). Each scheme has at most its first 10. Ties go to fewer bytes.

    Raises ``ParameterError`` if no scheme meets the requirements; the message has the recall that each can reach.
    """
    searched = searched_schemes()
    found: list[Recommendation] = []
    unreached: list[Unreached] = []
    for scheme in schemes:
        rule = f"must be one of {', '.join(searched)}: only their parameters are searched for a recall"
        require(scheme in searched, "scheme", scheme, rule)
        offers = [_recommendation(wanted, one) for one in registry.named(scheme).grid(wanted)]
        allowed = [one for one in offers if wanted.false_rate is None or one.false_rate <= wanted.false_rate]
        good = [one for one in allowed if one.recall >= wanted.recall]
        roomy = [one for one in good if not one.overflows]
        found += sorted(_unbeaten(roomy or good), key=_order)[:SHOWN]
        if not good:
            unreached.append(Unreached(scheme=scheme, recall=max((one.recall for one in allowed), default=0.0)))
    if not found:
        best = ", ".join(f"{one.scheme} {one.recall:.4f}" for one in unreached)
        condition = "" if wanted.false_rate is None else f" with a false rate of at most {wanted.false_rate:g}"
        rule = f"cannot be reached; the highest recall at threshold {wanted.threshold:g}{condition} is {best}"
        raise ParameterError("recall", wanted.recall, rule)
    return tuple(sorted(found, key=_order)), tuple(unreached)


def searched_schemes() -> tuple[str, ...]:
    """Return the names of the schemes whose parameters can be recommended."""
    return tuple(kind.name for kind in registry.kinds() if kind.searched_numbers)


def _order(one: Recommendation) -> tuple[float, float, int, str]:
    return one.bucket if one.overflows else 0.0, one.cost, one.bytes, one.words


def _unbeaten(offers: list[Recommendation]) -> Iterator[Recommendation]:
    fewest = float("inf")
    for one in sorted(offers, key=lambda one: (one.bytes, one.candidates, one.words)):
        if max(one.candidates, _NONE) < fewest:
            fewest = max(one.candidates, _NONE)
            yield one


def _recommendation(wanted: Requirements, scheme: Any) -> Recommendation:
    curves = {name: curve.tolist() for name, curve in scheme.curves(wanted.values).items()}
    match = curves["match"]
    candidate = curves.get("candidate", match)
    found = candidate if scheme.estimate_decides else match  # estimates are verified; other rules decide
    candidates, stored = (wanted.documents - 1) * candidate[2], scheme.stored_bytes + WORD * scheme.key_count
    bucket = (wanted.documents - 1) * float(scheme.key_probability(wanted.values)[2])
    return Recommendation(
        scheme=scheme.name,
        parameters={name: getattr(scheme, name) for name in scheme.searched_numbers},
        layout=scheme.layout_numbers,
        recall=found[0],
        false_rate=candidate[1],
        matched_apart=curves.get("both", match)[1],
        candidates=candidates,
        signature_bytes=scheme.stored_bytes,
        keys=scheme.key_count,
        misses=1.0 - found[0],
        bucket=bucket,
        overflows=bucket > ROOM,
        bytes=stored,
        cost=stored + candidates * scheme.stored_bytes,
    )
