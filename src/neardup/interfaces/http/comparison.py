"""Operations that compare two documents, given as texts or by their ids."""

from dataclasses import replace
from typing import Final

from neardup.evaluation import comparison
from neardup.evaluation.comparison import Comparison, Explanation
from neardup.evaluation.match_decisions import Estimate
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


def compare(service: Service, given: PairBody) -> Comparison:
    """Compare two documents by all measures and all schemes.

    The *detail* of estimates is empty.
    """
    found = comparison.compare(*_texts(service, given))
    return replace(found, schemes=tuple(replace(one, estimate=_public(one.estimate)) for one in found.schemes))


def explain(service: Service, given: PairBody) -> Explanation:
    """Explain the decision of the scheme of the index on two documents.

    The *detail* of its estimate is empty.
    """
    ids = [side.id for side in (given.a, given.b) if side.id is not None]
    texts = _texts(service, given)
    signatures = service.index.signatures(ids) if len(ids) == len(texts) else None
    found = comparison.explain(*texts, service.index.scheme, signatures=signatures)
    return replace(found, estimate=_public(found.estimate))


def _public(estimate: Estimate) -> Estimate:
    """Return an estimate without its detail, which may have signatures: those of a checksum."""
    return replace(estimate, detail={})


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
