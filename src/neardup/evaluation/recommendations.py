"""Parameters that meet requirements, cheapest first."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from neardup.model.errors import ParameterError, require
from neardup.model.requirements import Requirements
from neardup.schemes import registry

SHOWN: Final = 10  # recommendations for each scheme at most
WORD: Final = 8  # bytes of a key
_NONE: Final = 0.001  # candidates; fewer do not matter


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """A scheme's parameters that meet requirements, and what they cost.

    ``parameters`` are what the scheme, and ``neardup dedup``, is given; ``layout`` is what it has then.

    ``recall``: how likely a pair at the required threshold is found, and ``misses`` the rest. MinHash finds a pair that
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
    """The best recall that a scheme can offer where none of its parameters meet the requirements."""

    scheme: str
    recall: float


def recommend(wanted: Requirements, schemes: Iterable[str]) -> tuple[tuple[Recommendation, ...], tuple[Unreached, ...]]:
    """Return what meets the requirements, cheapest first, and the schemes of which nothing does.

    Each scheme says which parameters are searched (``grid``). Left out is what another recommendation of the same
    scheme beats in bytes or in candidates and equals in the other (fewer than 0.001 candidates count as none); each
    scheme has its 10 cheapest of the rest. Ties go to fewer bytes.

    Raises ``ParameterError`` if no scheme meets the requirements; it says which recall each can reach.
    """
    searched = searched_schemes()
    found: list[Recommendation] = []
    unreached: list[Unreached] = []
    for scheme in schemes:
        require(scheme in searched, "scheme", scheme, f"must be one of {', '.join(searched)}, to be recommended")
        offers = [_recommendation(wanted, one) for one in registry.named(scheme).grid(wanted)]
        allowed = [one for one in offers if wanted.false_rate is None or one.false_rate <= wanted.false_rate]
        good = [one for one in allowed if one.recall >= wanted.recall]
        found += sorted(_unbeaten(good), key=_order)[:SHOWN]
        if not good:
            unreached.append(Unreached(scheme=scheme, recall=max((one.recall for one in allowed), default=0.0)))
    if not found:
        best = ", ".join(f"{one.scheme} {one.recall:.4f}" for one in unreached)
        condition = "" if wanted.false_rate is None else f" with a false rate of at most {wanted.false_rate:g}"
        rule = f"must be less: the most that can be reached at threshold {wanted.threshold:g}{condition} is {best}"
        raise ParameterError("recall", wanted.recall, rule)
    return tuple(sorted(found, key=_order)), tuple(unreached)


def searched_schemes() -> tuple[str, ...]:
    """Return the names of the schemes whose parameters can be recommended."""
    return tuple(kind.name for kind in registry.kinds() if kind.searched_numbers)


def _order(one: Recommendation) -> tuple[float, int, str]:
    return one.cost, one.bytes, one.options


def _unbeaten(offers: list[Recommendation]) -> Iterator[Recommendation]:
    fewest = float("inf")
    for one in sorted(offers, key=lambda one: (one.bytes, one.candidates, one.options)):
        if max(one.candidates, _NONE) < fewest:
            fewest = max(one.candidates, _NONE)
            yield one


def _recommendation(wanted: Requirements, scheme: Any) -> Recommendation:
    curves = {name: curve.tolist() for name, curve in scheme.curves(wanted.values).items()}
    match = curves["match"]
    candidate = curves.get("candidate", match)
    found = candidate if scheme.estimate_decides else match  # an estimate is verified, another rule decides
    return Recommendation(
        scheme=scheme.name,
        parameters={name: getattr(scheme, name) for name in scheme.searched_numbers},
        layout=scheme.layout_numbers,
        recall=found[0],
        false_rate=candidate[1],
        matched_apart=curves.get("both", match)[1],
        candidates=(wanted.documents - 1) * candidate[2],
        signature_bytes=scheme.stored_bytes,
        keys=scheme.key_count,
    )
