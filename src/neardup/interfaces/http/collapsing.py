"""Ranked hits without those that repeat a better one: given as ids, with their texts or with their signatures."""

from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np

from neardup.interfaces.http.bodies import Body, GroupId, Id, batch, rounded
from neardup.interfaces.http.limits import BATCH
from neardup.interfaces.http.operations import Operation
from neardup.interfaces.http.problems import INVALID, UNAVAILABLE, Refused
from neardup.interfaces.http.serving import Serving
from neardup.model.arrays import Signatures
from neardup.model.recipe import RecipeId
from neardup.pipeline.collapsing import Collapsed, collapse
from neardup.pipeline.given import types_of
from neardup.pipeline.near_hits import HitVerify
from neardup.pipeline.rules import NearDuplicates, Rule, SameValue
from neardup.pipeline.strictness import at_threshold
from neardup.schemes.checksum import BODY
from neardup.sources.domains import registered_domain
from neardup.sources.hosts import host, path_levels

TEXT: Final = "text"
_SHORT: Final = 8 << 10  # some hundred ids

Keep = Annotated[int, msgspec.Meta(ge=1, le=BATCH)]
Fields = dict[str, str | int | None]


class Near(Body, tag_field="rule", tag="near"):
    """Hits that the scheme of the index calls the same, or would at *threshold*; the *keep* best of a group stay."""

    keep: Keep = 1
    threshold: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None


class Same(Body, tag_field="rule", tag="same"):
    """Hits of which a field says the same; the *keep* best of a group stay.

    *of* an address: its host, its registered domain, or its host and the first *levels* of its path.
    """

    field: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
    of: Literal["value", "host", "domain", "path"] = "value"
    levels: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    keep: Keep = 1


class Ranked(Body):
    """A hit with what is known of it: its *text*, or its *signature* (the bytes of its row, Base64), and fields."""

    id: Id
    text: str | None = None
    signature: str | None = None
    fields: Fields = msgspec.field(default_factory=dict)


class CollapseBody(Body):
    """Hits, best first: ids of documents, or all with what is known of them.

    *by* are rules, asked in turn. Only the first *top* are examined. A page has *size* groups; all, if it is null.
    *include* lists the members of one group. With *enabled* off, all hits stay. *recipe* is that of the signatures.
    *verify*: "exact" compares the texts, which must be there, given or kept by the index; "estimate" compares
    signatures; null compares texts where they are there, and signatures elsewhere.
    """

    hits: batch(Id | Ranked)  # type: ignore[valid-type]
    by: Annotated[list[Near | Same], msgspec.Meta(min_length=1, max_length=8)] | None = None
    enabled: bool = True
    top: Keep | None = None
    page: Annotated[int, msgspec.Meta(ge=1, le=BATCH)] = 1
    size: Keep | None = None
    include: GroupId | None = None
    recipe: str | None = None
    verify: HitVerify | None = None


class KeptHit(msgspec.Struct):
    """A hit that stays."""

    id: str
    rank: int


class Repeat(msgspec.Struct):
    """A hit that goes because it matches the better one *of*: by which *rule*, and what that found.

    It is *verified* if texts or values were compared; else *value* is an estimate.
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
    """Hits that belong together, of which *hides* are hidden in all. *group* is its id: digits."""

    group: str
    kept: Sequence[KeptHit]
    hidden: Sequence[Repeat]
    hides: int


class CollapseAnswer(msgspec.Struct):
    """How many hits there are, how many of them were examined, in how many groups, and how many are hidden.

    *unsigned* of those examined have no signature, so nothing can be said of them. *results* are those of this page.
    """

    hits: int
    examined: int
    unsigned: int
    groups: int
    hidden: int
    page: int
    pages: int
    results: list[Group]


def collapse_hits(serving: Serving, given: CollapseBody) -> CollapseAnswer:
    """Collapse ranked hits."""
    scheme = serving.index.scheme
    rules: list[Rule] | None = [_rule(one, scheme) for one in given.by] if given.by else None
    hits: Any = given.hits
    own: dict[str, Any] = {"index": serving.index, "cache": serving.judged}
    kinds = types_of(hits)
    if kinds != {str}:
        if kinds != {Ranked}:
            raise Refused(INVALID, "The hits must be ids all, or all with what is known of them.")
        hits, rules, own = _known(serving, given.hits, rules or [NearDuplicates()], given.recipe)
    elif given.recipe is not None:
        raise Refused(INVALID, "There are no signatures of the recipe.")
    found = collapse(
        hits,
        rules,
        enabled=given.enabled,
        top=given.top,
        page=given.page,
        size=given.size,
        include=None if given.include is None else int(given.include),
        verify=given.verify,
        **own,
    )
    return told(found, given.page)


def told(found: Collapsed, page: int) -> CollapseAnswer:
    """Tell what a collapse found, on one page of it."""
    results = [*found.page_of(_group, _kept, _repeat)]
    return CollapseAnswer(
        found.hits, found.examined, found.unsigned, found.groups, found.hidden, page, found.pages, results
    )


def _group(group: int, kept: Sequence[KeptHit], hidden: Sequence[Repeat], hides: int) -> Group:
    return Group(str(group), kept, hidden, hides)


def _kept(own: Any, rank: int, _: Any) -> KeptHit:
    return KeptHit(str(own), rank)


def _repeat(  # noqa: PLR0913, PLR0917 - as a ``HiddenHit`` is made
    own: Any, rank: int, _: Any, of: Any, rule: str, measure: str, value: Any, threshold: float | None, verified: Any
) -> Repeat:
    return Repeat(str(own), rank, str(of), rule, measure, _value(value), rounded(threshold), verified)


def _value(value: Any) -> float | int | str:
    shown: float | int | str = rounded(value) if isinstance(value, float) else value  # type: ignore[assignment]
    return shown


def _rule(given: Near | Same, scheme: Any) -> Rule:
    if isinstance(given, Same):
        return SameValue(given.field, _OF[given.of](given.levels), keep=given.keep)
    chosen = None if given.threshold is None else at_threshold(scheme, given.threshold)
    return NearDuplicates(scheme=chosen, keep=given.keep)


def _known(
    serving: Serving, hits: Sequence[Ranked], rules: list[Rule], recipe: str | None
) -> tuple[list[dict[str, Any]], list[Rule], dict[str, Any]]:
    """Give hits as records, the rules for these, and what else the collapse must know."""
    scheme = serving.index.scheme
    body = TEXT if BODY not in scheme.columns else BODY  # as which a checksum takes a text
    records = [{**hit.fields, **({} if hit.text is None else {body: hit.text}), "id": hit.id} for hit in hits]
    if recipe is not None:
        if any(hit.text is not None for hit in hits):
            raise Refused(INVALID, "The hits must have either signatures or texts.")
        signatures = _signatures(serving, [hit.signature for hit in hits], recipe)
        near = [_of_scheme(rule, scheme) for rule in rules]
        return records, near, {"signatures": signatures}
    if any(hit.signature is not None for hit in hits):
        raise Refused(INVALID, "Signatures must come with their recipe.")
    if any(hit.text is not None for hit in hits):
        return records, [_of_scheme(rule, scheme) for rule in rules], {}
    return records, rules, {"index": serving.index}


_OF: Final[dict[str, Callable[[int], Callable[[Any], Any] | None]]] = {
    "value": lambda _: None,
    "host": lambda _: host,
    "domain": lambda _: registered_domain,
    "path": path_levels,
}


def _of_scheme(rule: Rule, scheme: Any) -> Rule:
    if isinstance(rule, NearDuplicates):
        return NearDuplicates(scheme=rule.scheme or scheme, text=TEXT, keep=rule.keep)
    return rule


def _signatures(serving: Serving, given: Sequence[str | None], recipe: str) -> Signatures:
    """Take the rows of signatures; null stands for none."""
    like = serving.index.signatures([])
    kind, shape = like.rows.dtype, like.rows.shape[1:]
    rows = np.zeros((len(given), *shape), kind)
    present = np.zeros(len(given), np.bool_)
    for rank, written in enumerate(given):
        if written is not None:
            try:
                row = np.frombuffer(b64decode(written, validate=True), kind.newbyteorder("<"))
                rows[rank] = row.reshape(shape)
            except ValueError:
                rule = f"must be Base64 of {rows[rank].nbytes} bytes: {rows[rank].size} numbers {kind}, little-endian"
                raise Refused(INVALID, f"The signature of hit {rank} {rule}.") from None
            present[rank] = True
    return Signatures(rows, present, RecipeId(recipe))


OPERATIONS: Final = (
    Operation(
        name="collapse",
        method="POST",
        path="/v1/collapse",
        summary="Hide of ranked hits those that repeat a better one that stays",
        run=collapse_hits,
        body=CollapseBody,
        answer=CollapseAnswer,
        short=_SHORT,
        compares_texts=True,
        refuses=[UNAVAILABLE],
    ),
)
