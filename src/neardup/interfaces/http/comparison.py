"""Operations that compare two documents, given as texts or by their ids."""

from typing import Any, Final

import msgspec

from neardup.evaluation import comparison
from neardup.evaluation.comparison import Comparison, Explanation
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
    """Two documents."""

    a: ComparedText
    b: ComparedText


def compare(service: Service, given: PairBody) -> Comparison:
    """Compare two documents by all measures and all schemes."""
    found = comparison.compare(*_texts(service, given))
    return msgspec.convert(_rounded(msgspec.to_builtins(found)), Comparison)


def explain(service: Service, given: PairBody) -> Explanation:
    """Explain the decision of the scheme of the index on two documents."""
    ids = [side.id for side in (given.a, given.b) if side.id is not None]
    texts = _texts(service, given)
    signatures = service.index.signatures(ids) if len(ids) == len(texts) else None
    found = comparison.explain(*texts, service.index.scheme, signatures=signatures)
    return msgspec.convert(_rounded(msgspec.to_builtins(found)), Explanation)


def _texts(service: Service, given: PairBody) -> tuple[str, str]:
    sides = {"a": given.a, "b": given.b}
    for name, side in sides.items():
        if (side.text is None) == (side.id is None):
            raise Refusal(INVALID, f"{name} must have either a text or an id.")
    ids = [side.id for side in sides.values() if side.id is not None]
    if ids and not service.index.keeps_texts:
        raise Refusal(INVALID, f"{NO_TEXTS} Compare documents by their texts.")
    found = dict(zip(ids, service.index.get(ids), strict=True))
    texts = [side.text for side in sides.values()]
    for place, (name, side) in enumerate(sides.items()):
        if side.id is not None:
            document = found[side.id]
            if document is None:
                raise Refusal(NO_DOCUMENT, f"The index has no document with the id of {name}.")
            texts[place] = document.text
    a, b = texts
    return a or "", b or ""


def _rounded(found: Any) -> Any:
    if isinstance(found, float):
        return rounded(found)
    if isinstance(found, dict):
        return {name: _rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple) and found and not isinstance(found[0], int):
        return [_rounded(value) for value in found]
    return found
