"""Two documents side by side, given as texts or by their ids."""

from typing import Any, Final

import msgspec

from neardup.interfaces.http.bodies import Body, Id, rounded
from neardup.interfaces.http.operations import Operation
from neardup.interfaces.http.problems import INVALID, NO_DOCUMENT, UNAVAILABLE, Refused
from neardup.interfaces.http.serving import Serving

_SHORT: Final = 4 << 10


class Side(Body):
    """A text, or the id of a document whose text the index keeps."""

    text: str | None = None
    id: Id | None = None


class PairBody(Body):
    """Two documents."""

    a: Side
    b: Side


class Estimate(msgspec.Struct):
    """What the signatures of both say, without their texts."""

    rule: str
    measure: str
    value: float | None
    threshold: float
    matches: bool


class Ruling(msgspec.Struct):
    """Whether a scheme calls both the same: *verified* on the texts, by the exact *measure* of both.

    *reason* tells why there is no *value*, or why it does not suffice.
    """

    scheme: str
    matches: bool
    verified: bool
    rule: str
    measure: str
    value: float | None
    threshold: float
    reason: str | None
    estimate: Estimate


class Measure(msgspec.Struct):
    """Exact measures of the shingles of so many words, as sets or, with *bag*, as bags."""

    shingle: int
    bag: bool
    resemblance: float
    a_in_b: float
    b_in_a: float


class Passage(msgspec.Struct):
    """A passage that both share: where it is in each, in characters, and how many words it has."""

    a: list[int]
    b: list[int]
    words: int


class CompareAnswer(msgspec.Struct):
    """Every measure, what each scheme decides, and what both share.

    *only_in_a* and *only_in_b* are stretches of words in no run of *run* words that stands in both.
    """

    measures: list[Measure]
    schemes: list[Ruling]
    run: int
    passages: list[Passage]
    only_in_a: list[list[int]]
    only_in_b: list[list[int]]


class ExplainAnswer(Ruling):
    """What the index's scheme decides, and on what evidence; the rest is as in a comparison."""

    resemblance: float
    a_in_b: float
    b_in_a: float
    run: int
    passages: list[Passage]
    only_in_a: list[list[int]]
    only_in_b: list[list[int]]


def compare(serving: Serving, given: PairBody) -> CompareAnswer:
    """Compare two texts."""
    from neardup.evaluation import comparison

    return msgspec.convert(_shown(comparison.compare(*_texts(serving, given)).as_dict()), CompareAnswer)


def explain(serving: Serving, given: PairBody) -> ExplainAnswer:
    """Explain what the index's scheme says of two texts."""
    from neardup.evaluation import comparison

    ids = [side.id for side in (given.a, given.b) if side.id is not None]
    texts = _texts(serving, given)
    signatures = serving.index.signatures(ids) if len(ids) == len(texts) else None
    found = comparison.explain(*texts, serving.index.scheme, signatures=signatures)
    return msgspec.convert(_shown(found.as_dict()), ExplainAnswer)


def _texts(serving: Serving, given: PairBody) -> tuple[str, str]:
    """Give both texts; those of ids are asked for together."""
    sides = {"a": given.a, "b": given.b}
    for name, side in sides.items():
        if (side.text is None) == (side.id is None):
            raise Refused(INVALID, f"{name} must have either a text or an id")
    ids = [side.id for side in sides.values() if side.id is not None]
    if ids and not serving.index.keeps_texts:
        raise Refused(INVALID, "This index keeps no texts, so documents can be compared by their texts only.")
    found = dict(zip(ids, serving.index.get(ids), strict=True))
    texts: dict[str, str] = {}
    for name, side in sides.items():
        document = found[side.id] if side.id is not None else None
        if side.id is not None and document is None:
            raise Refused(NO_DOCUMENT, f"The index has no document of the id of {name}.")
        texts[name] = side.text if side.text is not None else (document and document.text) or ""
    return texts["a"], texts["b"]


def _shown(found: Any) -> Any:
    """Round every value, and leave out what signatures tell beside their rules."""
    if isinstance(found, float):
        return rounded(found)
    if isinstance(found, dict):
        return {name: _shown(value) for name, value in found.items() if name != "detail"}
    if isinstance(found, list):
        return [_shown(value) for value in found] if not found or not isinstance(found[0], int) else found
    return found


OPERATIONS: Final = (
    Operation(
        name="compare",
        method="POST",
        path="/v1/compare",
        summary="Compare two documents by every measure and every scheme, and list what they share",
        run=compare,
        body=PairBody,
        answer=CompareAnswer,
        short=_SHORT,
        compares_texts=True,
        refuses=[NO_DOCUMENT, UNAVAILABLE],
    ),
    Operation(
        name="explain",
        method="POST",
        path="/v1/explain",
        summary="Explain what the scheme of the index says of two documents",
        run=explain,
        body=PairBody,
        answer=ExplainAnswer,
        short=_SHORT,
        compares_texts=True,
        refuses=[NO_DOCUMENT, UNAVAILABLE],
    ),
)
