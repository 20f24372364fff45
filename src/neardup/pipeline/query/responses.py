"""Collapsed responses of Elasticsearch and OpenSearch."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from neardup.model.arrays import Signatures
from neardup.model.errors import DataError, kind_of, require, require_flag, require_kind
from neardup.model.hits import HiddenHit, Hit
from neardup.model.policy import Representative
from neardup.pipeline.index.index import Index
from neardup.pipeline.query.collapse import Collapsed, collapse, rules_of
from neardup.pipeline.query.hits import missing_in_hits
from neardup.pipeline.query.near_hits import HitVerify
from neardup.pipeline.query.result_cache import JudgedSets
from neardup.pipeline.query.rules import NearDuplicates, Rule

OURS: Final = "neardup"


def collapse_response(  # noqa: PLR0913 - every one a keyword with a default
    response: Mapping[str, Any],
    by: Rule | Sequence[Rule] | None = None,
    *,
    signatures: Signatures | None = None,
    index: Index | None = None,
    enabled: bool = True,
    top: int | None = None,
    page: int = 1,
    size: int | None = None,
    include: int | None = None,
    cache: JudgedSets | None = None,
    verify: HitVerify | None = None,
    representative: Representative = "best-ranked",
    name: str = "duplicates",
) -> dict[str, Any]:
    """Collapse the hits of a search response; return a response of the same form, and leave the given one unchanged.

    *response* is a parsed response of Elasticsearch or OpenSearch: its hits are in ``hits.hits``, best first. The other
    parameters are those of ``collapse``. The values for a rule are read from the ``_source`` of a hit, where a dot in a
    field's name separates nested objects, or else from its ``fields``. A list of one value counts as the value, and a
    list of texts as all of them. The id of a hit is its ``_id``.

    In the result, ``hits.hits`` are the kept hits of this page, in order. Each hit that matches one of them is in
    ``inner_hits[name].hits`` of that hit. Its ``fields`` contain the hit that it matches (``neardup.of``), the rule
    (``neardup.rule``), the measure (``neardup.measure``) and its value (``neardup.value``), and whether texts or values
    were compared (``neardup.verified``). The ``fields`` of every hit contain the id of its group (``neardup.group``).
    The totals of the engine do not change, including ``hits.total``; those of the collapse are in ``neardup``: ``hits``
    (in the response), ``examined``, ``groups``, ``hidden``, ``unsigned``, ``page`` and ``pages``. With *include*, the
    members of the group are listed in ``hits.hits``, including hidden ones.

    Other keys are passed through, and an error response is returned unchanged. Raises ``DataError`` for an invalid
    response, and the errors of ``collapse``.
    """
    require_flag("enabled", enabled)
    require(isinstance(name, str) and name != "", "name", name, "must be a string that is not empty")
    if not isinstance(response, Mapping):
        raise DataError("response", f"must be a mapping, not {kind_of(response)}; pass the body of a client's response")
    if index is not None:
        require_kind("index", index, Index)
    rules = rules_of(by)
    if "hits" not in response and "error" in response:
        return dict(response)
    outer, given = _hits_of(response)
    collapsed = collapse(
        _asked(given, rules, needed=enabled and index is None and signatures is None, index=index),
        rules,
        signatures=signatures,
        index=index,
        id="_id",
        enabled=enabled,
        top=top,
        page=page,
        size=size,
        include=include,
        cache=cache,
        verify=verify,
        representative=representative,
    )
    shown = _shown(collapsed, given, name if include is None else None)
    missing = collapsed.missing_fields
    ours = collapsed.numbers | ({"missing_fields": missing} if missing else {})
    return {**response, "hits": {**outer, "hits": shown}, OURS: ours}


def _hits_of(response: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]:
    """Return the object ``hits`` of a response, and the hits in it; ``DataError`` for other responses."""
    outer = response.get("hits")
    outer = outer if isinstance(outer, Mapping) else {"hits": None}
    given = outer.get("hits", [])
    if not isinstance(given, list | tuple) or not all(isinstance(hit, Mapping) for hit in given):
        rule = (
            "has no list hits.hits, so it is not a response of Elasticsearch or OpenSearch;"
            " for other engines, pass the hits to collapse"
        )
        raise DataError("response", rule)
    for rank, hit in enumerate(given):
        for part in ("_source", "fields", "inner_hits"):
            if hit.get(part) is not None and not isinstance(hit[part], Mapping):
                raise DataError(f"{part} of hit {rank}", f"must be a mapping, not {kind_of(hit[part])}")
    return outer, given


def _asked(
    given: Sequence[Mapping[str, Any]], rules: Sequence[Rule], *, needed: bool, index: Index | None
) -> list[Any]:
    """Return the hits as records of the fields for the rules, or as ids if an index must have the fields.

    Raises ``DataError`` if texts are *needed*, and no hit has one.
    """
    texts, values = _fields_of(rules, index)
    records: list[dict[str, Any]] = [{"_id": hit.get("_id")} for hit in given]
    known = [*dict.fromkeys(name for hit in given for part in ("_source", "fields") for name in hit.get(part) or ())]
    for field in sorted(texts | values):
        found = [_value_of(hit, field, joined=field in texts) for hit in given]
        if field in known or any(value is not None for value in found):
            for record, value in zip(records, found, strict=True):
                record[field] = value
        elif given and needed and field in texts:
            raise missing_in_hits(field, known, "they have neither _source nor fields")
    if index is not None and all(len(record) == 1 for record in records):
        return [record["_id"] for record in records]
    return records


def _fields_of(rules: Sequence[Rule], index: Index | None) -> tuple[set[str], set[str]]:
    """Return the fields of texts and those of values that rules compare."""
    texts, values = set[str](), set[str]()
    for rule in rules:
        if not isinstance(rule, NearDuplicates):
            values.add(rule.field)
        else:
            scheme = index.scheme if rule.scheme is None and index is not None else rule.scheme
            texts.update(getattr(scheme, "columns", ()) or (rule.text,))
    return texts, values


def _value_of(hit: Mapping[str, Any], field: str, *, joined: bool) -> Any:
    """Return the value of a hit's field, ``None`` if it has none; the texts of a list are *joined*, one per line."""
    value = _found(hit.get("_source"), field)
    if value is None:
        value = _found(hit.get("fields"), field)
    if not isinstance(value, list):
        return value
    values = [one for one in value if one is not None]
    if joined and all(isinstance(one, str) for one in values):
        return "\n".join(values) if values else None
    return (values or [None])[0] if len(values) <= 1 else values


def _found(source: Any, field: str) -> Any:
    """Look a field up by its name, or by the names of nested objects, separated by dots."""
    if not isinstance(source, Mapping):
        return None
    if field in source:
        return source[field]
    first, dot, rest = field.partition(".")
    return _found(source.get(first), rest) if dot else None


def _shown(collapsed: Collapsed, given: Sequence[Mapping[str, Any]], name: str | None) -> list[dict[str, Any]]:
    """Return the hits of a page, in order: with a *name*, the hidden ones are inner hits of those that they match."""
    groups, of = collapsed.page, collapsed.outcome.of.tolist()
    hits = {one.rank: _marked(given[one.rank], group.id, one) for group in groups for one in group.kept + group.hidden}
    if name is None:
        return [hits[rank] for rank in sorted(hits)]
    kept = {one.rank: list[dict[str, Any]]() for group in groups for one in group.kept}
    for repeat in (one for group in groups for one in group.hidden):
        kept[of[repeat.rank]].append(hits[repeat.rank])
    for rank, own in kept.items():
        inner = hits[rank].get("inner_hits") or {}
        if name in inner:
            raise DataError("response", f"already has inner hits {name!r}; choose another name")
        found = {
            "total": {"value": len(own), "relation": "eq"},
            "max_score": own[0].get("_score") if own else None,
            "hits": own,
        }
        hits[rank]["inner_hits"] = {**inner, name: {"hits": found}}
    return [hits[rank] for rank in sorted(kept)]


def _marked(hit: Mapping[str, Any], group: int, own: Hit | HiddenHit) -> dict[str, Any]:
    """Return a copy of a hit with the result in its fields, which are lists as in the engines."""
    fields: dict[str, Any] = {**(hit.get("fields") or {}), f"{OURS}.group": [group]}
    if isinstance(own, HiddenHit):
        for name in ("of", "rule", "measure", "value", "verified"):
            fields[f"{OURS}.{name}"] = [getattr(own, name)]
    return {**hit, "fields": fields}
