"""The operation that collapses ranked hits: by their ids, or with their texts, signatures or fields."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

import msgspec

from neardup.interfaces.http.documents import Value
from neardup.interfaces.http.problems import INVALID, Refusal
from neardup.interfaces.http.requests import GroupId, Id, Input, Number, Threshold, batch, signatures_of
from neardup.interfaces.http.service import Service
from neardup.model.policy import Representative
from neardup.pipeline.index.inputs import types_of
from neardup.pipeline.query.collapse import collapse as collapsed_hits
from neardup.pipeline.query.near_hits import HitVerify
from neardup.pipeline.query.rules import NearDuplicates, Rule, SameValue, at_threshold
from neardup.schemes.checksum import BODY
from neardup.sources.hosts import host, path_levels, registered_domain

_TEXT: Final = "text"
_OF: Final[dict[str, Callable[[int], Callable[[Any], Any] | None]]] = {
    "value": lambda _: None,
    "host": lambda _: host,
    "domain": lambda _: registered_domain,
    "path": path_levels,
}


class Near(Input, tag_field="rule", tag="near"):
    """Near duplicates by the scheme of the index, or from *threshold* on; the *keep* best of a group are kept."""

    keep: Number = 1
    threshold: Threshold | None = None


class Same(Input, tag_field="rule", tag="same"):
    """Hits with the same value of a field; the *keep* best of a group are kept.

    With *of*, the field is a URL, and the value is its host, its registered domain, or its host and the first *levels*
    levels of its path, by default one.
    """

    field: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
    of: Literal["value", "host", "domain", "path"] = "value"
    levels: Annotated[int, msgspec.Meta(ge=1, le=64)] | None = None
    keep: Number = 1


class RankedHit(Input):
    """A hit with its *text*, or its *signature* (the bytes of its row, as Base64), and its fields.

    The text counts if the index does not have the document, or has this text; a field that is missing is that of the
    index. A field must not be named like the id of hits or, if one has a text, like the text.
    """

    id: Id
    text: str | None = None
    signature: str | None = None
    fields: dict[str, Value] = msgspec.field(default_factory=dict)


class CollapseBody(Input):
    """Ranked hits, best first: all as ids, or all as objects.

    *by* lists rules, which are applied in turn. Only the first *top* hits are examined. A page has *size* groups, or
    all. *include* lists the members of one group instead. With *enabled* off, all hits are kept. *recipe* is the recipe
    of the signatures. *verify*: "exact" compares texts, of the hits or of the index, and fails where one is missing;
    "estimate" compares signatures; null compares texts where there are any, and signatures elsewhere. *representative*:
    a hidden near duplicate is in the group of the best-ranked kept hit that it matches, or of the closest.
    """

    hits: batch(Id | RankedHit, least=0)  # type: ignore[valid-type]
    by: Annotated[list[Near | Same], msgspec.Meta(min_length=1, max_length=8)] | None = None
    enabled: bool = True
    top: Number | None = None
    page: Number = 1
    size: Number | None = None
    include: GroupId | None = None
    recipe: str | None = None
    verify: HitVerify | None = None
    representative: Representative = "best-ranked"


class KeptHit(msgspec.Struct):
    """A hit that is kept."""

    id: str
    rank: int


class HiddenRepeat(msgspec.Struct):
    """A hit that is hidden because it matches *of*, a better one: by which *rule*, and with which *value*.

    *verified* means that texts or values were compared; otherwise *value* is an estimate.
    """

    id: str
    rank: int
    of: str
    rule: str
    measure: str
    value: float | int | str
    threshold: float | None
    verified: bool


class Group(msgspec.Struct):
    """Hits that belong together; *hides* counts all hidden hits of the group."""

    group: str
    kept: Sequence[KeptHit]
    hidden: Sequence[HiddenRepeat]
    hides: int


class CollapseAnswer(msgspec.Struct, omit_defaults=True):
    """A page of groups, and the numbers of all hits, examined hits, groups and hidden hits.

    *unsigned* of the examined hits have no signature, so that they cannot be near duplicates. *missing_fields* are the
    fields of rules that neither a hit nor the index has, and which hide no hit; they may be misspelt.
    """

    hits: int
    examined: int
    unsigned: int
    groups: int
    hidden: int
    page: int
    pages: int
    results: list[Group]
    missing_fields: list[str] = msgspec.field(default_factory=list)


def collapse(service: Service, given: CollapseBody) -> CollapseAnswer:
    """Hide ranked hits that repeat a better-ranked hit."""
    hits: Any = given.hits
    kept = service.index.keeps_texts and given.recipe is None
    by_texts = given.verify != "estimate" and (kept or any(getattr(hit, "text", None) is not None for hit in hits))
    rules = [_rule(one, service.index.scheme, by_texts=by_texts) for one in given.by] if given.by else None
    known: dict[str, Any] = {"index": service.index, "cache": service.cache}
    kinds = types_of(hits)
    if kinds == {RankedHit}:
        hits, rules, known = _records(service, given.hits, rules or [NearDuplicates()], given.recipe)
    elif not kinds <= {str}:
        raise Refusal(INVALID, "Some hits are ids, and others are objects; send all as ids, or all as objects.")
    elif given.recipe is not None and hits:
        raise Refusal(INVALID, "A recipe needs hits with signatures.")
    found = collapsed_hits(
        hits,
        rules,
        enabled=given.enabled,
        top=given.top,
        page=given.page,
        size=given.size,
        include=None if given.include is None else int(given.include),
        verify=given.verify,
        representative=given.representative,
        **known,
    )
    results = [
        *found.page_of(
            lambda group, *parts: Group(str(group), *parts),
            lambda own, rank, _: KeptHit(own, rank),
            lambda own, rank, _, *evidence: HiddenRepeat(own, rank, *evidence),
        )
    ]
    return CollapseAnswer(**found.numbers, results=results, missing_fields=found.missing_fields)


def _rule(given: Near | Same, scheme: Any, *, by_texts: bool) -> Rule:
    """Return a rule of the library; see ``at_threshold``."""
    if isinstance(given, Near):
        chosen = None if given.threshold is None else at_threshold(scheme, given.threshold, by_texts=by_texts)
        return NearDuplicates(scheme=chosen, keep=given.keep)
    if given.levels is not None and given.of != "path":
        raise Refusal(INVALID, 'levels needs "of": "path".')
    return SameValue(given.field, _OF[given.of](given.levels or 1), keep=given.keep)


def _records(
    service: Service, hits: Sequence[RankedHit], rules: list[Rule], recipe: str | None
) -> tuple[list[dict[str, Any]], list[Rule], dict[str, Any]]:
    """Return hits as records, their rules, and where the library finds signatures."""
    scheme = service.index.scheme
    text = BODY if BODY in scheme.columns else _TEXT  # a checksum signs the text as its body
    texts = any(hit.text is not None for hit in hits)
    for place, hit in enumerate(hits):
        for name, what in (("id", "id"), *([(text, "text")] if texts else [])):
            if name in hit.fields:
                rule = f"a name that is reserved for the {what} of the hit; rename the field."
                raise Refusal(INVALID, f"Hit {place} has a field {name!r}, {rule}")
    records = [{**hit.fields, **({} if hit.text is None else {text: hit.text}), "id": hit.id} for hit in hits]
    signatures = signatures_of(service, hits, recipe, "hit")
    if signatures is not None:
        rules = [
            replace(rule, scheme=rule.scheme or scheme) if isinstance(rule, NearDuplicates) else rule for rule in rules
        ]
    return records, rules, {"index": service.index, "signatures": signatures}
