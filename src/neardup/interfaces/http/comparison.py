"""Operations that compare two documents, given as texts or by their ids."""

from typing import Any, Final

import msgspec

from neardup.evaluation import comparison
from neardup.evaluation.comparison import Measure
from neardup.interfaces.http.operations import rounded
from neardup.interfaces.http.problems import INVALID, NO_DOCUMENT, Refusal
from neardup.interfaces.http.requests import Id, Input
from neardup.interfaces.http.service import Service

NO_TEXTS: Final = "This index keeps no texts."


class ComparedText(Input):
    """A text, or the id of a document whose text the index keeps."""

    text: str | None = None
    id: Id | None = None


class PairBody(Input):
    """Two documents. By containment, *a* counts as the better-ranked one: *b* matches if enough of it is in *a*."""

    a: ComparedText
    b: ComparedText


class SchemeEstimate(msgspec.Struct):
    """The result of the signatures alone."""

    rule: str
    measure: str
    value: float | None
    threshold: float
    matches: bool


class SchemeRuling(msgspec.Struct):
    """Whether two documents match by a scheme: *verified* on the texts, by their exact *measure*.

    *reason* explains a missing *value*, or why documents with a sufficient value do not match.
    """

    scheme: str
    matches: bool
    verified: bool
    rule: str
    measure: str
    value: float | None
    threshold: float
    reason: str | None
    estimate: SchemeEstimate


class SharedPassage(msgspec.Struct):
    """A shared passage: its begin and end in each text, in characters, and its number of words."""

    a: list[int]
    b: list[int]
    words: int


class CompareAnswer(msgspec.Struct):
    """All measures, the rulings of all schemes, and the shared passages.

    *only_in_a* and *only_in_b* are words that are in no run of *run* words that both texts have.
    """

    measures: list[Measure]
    schemes: list[SchemeRuling]
    run: int
    passages: list[SharedPassage]
    only_in_a: list[list[int]]
    only_in_b: list[list[int]]


class ExplainAnswer(SchemeRuling):
    """The ruling of the scheme of the index, with the evidence as in a comparison."""

    resemblance: float
    a_in_b: float
    b_in_a: float
    run: int
    passages: list[SharedPassage]
    only_in_a: list[list[int]]
    only_in_b: list[list[int]]


def compare(service: Service, given: PairBody) -> CompareAnswer:
    """Compare two documents by all measures and all schemes."""
    found = comparison.compare(*_texts(service, given))
    return msgspec.convert(_rounded(msgspec.to_builtins(found)), CompareAnswer)


def explain(service: Service, given: PairBody) -> ExplainAnswer:
    """Explain the decision of the scheme of the index on two documents."""
    ids = [side.id for side in (given.a, given.b) if side.id is not None]
    texts = _texts(service, given)
    signatures = service.index.signatures(ids) if len(ids) == len(texts) else None
    found = comparison.explain(*texts, service.index.scheme, signatures=signatures)
    return msgspec.convert(_rounded(msgspec.to_builtins(found)), ExplainAnswer)


def _texts(service: Service, given: PairBody) -> tuple[str, str]:
    sides = {"a": given.a, "b": given.b}
    for name, side in sides.items():
        if (side.text is None) == (side.id is None):
            raise Refusal(INVALID, f"{name} must have either a text or an id.")
    ids = [side.id for side in sides.values() if side.id is not None]
    if ids and not service.index.keeps_texts:
        raise Refusal(INVALID, f"{NO_TEXTS} Compare documents by their texts.")
    found = dict(zip(ids, service.index.get(ids), strict=True))
    for name, side in sides.items():
        if side.id is not None and found[side.id] is None:
            raise Refusal(NO_DOCUMENT, f"The index has no document with the id of {name}.")
    a, b = ((found.get(side.id or "") or side).text or "" for side in sides.values())
    return a, b


def _rounded(found: Any) -> Any:
    if isinstance(found, float):
        return rounded(found)
    if isinstance(found, dict):
        return {name: _rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple) and found and not isinstance(found[0], int):
        return [_rounded(value) for value in found]
    return found
