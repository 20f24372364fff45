"""The query moment: ranked hits without those that repeat a better one."""

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import count
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.decisions.collapse import STAYS, Collapse, alone
from neardup.decisions.collapse import collapse as decided
from neardup.evaluation.comparison import Explanation, explain
from neardup.model.arrays import Signatures, require_same_recipe
from neardup.model.errors import DataError, require, require_whole
from neardup.model.hits import HiddenHit, Hit, HitGroup
from neardup.model.protocols import Scheme
from neardup.pipeline.hits import Hits
from neardup.pipeline.judged import Judged, JudgedSets
from neardup.pipeline.living import Index
from neardup.pipeline.rules import NearDuplicates, Rule, SameValue
from neardup.schemes.minhash import MinHash
from neardup.text.columns import text_column

_VALUES: Final = frozenset({str, int, type(None)})
_DEFAULT: Final = (NearDuplicates(),)
_GROUP_BITS: Final = 63  # so that every engine's integers can hold it


class Explained(NamedTuple):
    """Why a hit is hidden, and what the texts of both hits have in common, if they are there."""

    hidden: HiddenHit
    evidence: Explanation | None


class Collapsed:
    """What stays of ranked hits, page by page, and what each hit hides.

    All there are is *hits*; only the first *examined* of them were looked at, and no others are on any page.
    *unsigned* of them have no signature, and so cannot be near duplicates.
    """

    def __init__(self, given: Hits, judged: Judged, rules: Sequence[Rule], part: "_Part", index: Index | None) -> None:
        self._given, self._judged, self._rules, self._part, self._index = given, judged, rules, part, index
        self._outcome = judged.outcome
        self.hits = len(given)
        self.examined = len(judged.outcome)

    def __repr__(self) -> str:
        return f"<Collapsed {self.hits:,} hits: {self.groups:,} groups, {self.hidden:,} hidden>"

    @property
    def outcome(self) -> Collapse:
        """What became of the hits, as arrays by rank."""
        return self._outcome

    @property
    def kept(self) -> list[Any]:
        """The ids of all hits that stay, best first."""
        ids = self._given.ids
        return [ids[rank] for rank in self._outcome.kept.tolist()]

    @property
    def groups(self) -> int:
        """How many groups there are, on all pages."""
        return len(self._outcome.groups)

    @property
    def hidden(self) -> int:
        """How many hits are hidden, by those on all pages."""
        return len(self._outcome.hidden)

    @property
    def unsigned(self) -> int:
        """How many of those examined have no signature."""
        return self._judged.unsigned

    @property
    def pages(self) -> int:
        """How many pages there are."""
        size = self._part.size
        members = self.groups if self._part.include is None else sum(map(len, self._included))
        return (1 if members else 0) if size is None else -(-members // size)

    @cached_property
    def page(self) -> tuple[HitGroup, ...]:
        """The groups of this page, or of *include* the members of this page."""
        groups = self._outcome.groups.tolist()
        if self._part.include is not None:
            listed = [(int(ranks[0]), ranks.tolist()) for ranks in self._included]
            return tuple(self._group(head, ranks[self._part.span], len(ranks)) for head, ranks in listed)
        members = self._outcome.members
        return tuple(
            self._group(groups[place], members[place].tolist(), len(members[place]))
            for place in range(*self._part.span.indices(len(groups)))
        )

    @property
    def _included(self) -> list[Any]:
        """The members of the group that is asked for; nothing, if there is none such."""
        wanted, ids = self._part.include, self._given.ids
        places = (place for place, head in enumerate(self._outcome.groups.tolist()) if group_id(ids[head]) == wanted)
        place = next(places, None)
        return [] if place is None else [self._outcome.members[place]]

    def _group(self, head: int, ranks: list[int], members: int) -> HitGroup:
        ids, given, of = self._given.ids, self._given.given, self._of
        kept = tuple(Hit(ids[rank], rank, given[rank]) for rank in ranks if of[rank] == STAYS)
        hidden = tuple(self._hidden(rank) for rank in ranks if of[rank] != STAYS)
        whole = (
            self._outcome.members[int(np.searchsorted(self._outcome.groups, head))] if members != len(ranks) else ranks
        )
        return HitGroup(group_id(ids[head]), kept, hidden, sum(of[rank] != STAYS for rank in whole))

    @cached_property
    def _of(self) -> list[int]:
        of: list[int] = self._outcome.of.tolist()
        return of

    def _hidden(self, rank: int) -> HiddenHit:
        ids, given, of = self._given.ids, self._given.given, self._of[rank]
        number = int(self._outcome.by[rank])
        rule, values, scheme = self._rules[number], self._judged.values[number], self._judged.scheme
        if values is not None and isinstance(rule, SameValue):
            return HiddenHit(ids[rank], rank, given[rank], ids[of], rule.name, "equality", values[rank], None)
        if scheme is None:
            raise AssertionError("near duplicates were found without a scheme")
        value, threshold = self._judged.estimates[rank], float(scheme.threshold)
        return HiddenHit(ids[rank], rank, given[rank], ids[of], scheme.name, scheme.measure, value, threshold)

    def explain(self, id: Any) -> Explained | None:  # noqa: A002 - the word users know
        """Say why a hit is hidden, with the evidence of both texts; ``None`` for one that is not.

        The texts are those of the records or, if these have none, of the index. By the rule of equal values the
        evidence is what the scheme of the index, or ``MinHash()``, says of them.
        """
        ranks = [rank for rank in self._outcome.hidden.tolist() if self._given.ids[rank] == id]
        if not ranks:
            return None
        of = self._of[ranks[0]]
        texts = [self._text(rank) for rank in (ranks[0], of)]
        scheme = self._judged.scheme
        there = all(text is not None for text in texts)
        return Explained(self._hidden(ranks[0]), explain(str(texts[0]), str(texts[1]), scheme) if there else None)

    def _text(self, rank: int) -> str | None:
        near = next((rule for rule in self._rules if isinstance(rule, NearDuplicates)), NearDuplicates())
        given = self._given.given[rank]
        if self._given.records and isinstance(given.get(near.text), str):
            return str(given[near.text])
        if self._index is not None and self._index.keeps_texts:
            found = self._index.get([str(self._given.ids[rank])])[0]
            return None if found is None else found.text
        return None


class _Part(NamedTuple):
    """Which groups are shown, or which members of a group."""

    page: int
    size: int | None
    include: int | None

    @property
    def span(self) -> slice:
        if self.size is None:
            return slice(0, None) if self.page == 1 else slice(0, 0)
        return slice((self.page - 1) * self.size, self.page * self.size)


_WHOLE: Final = _Part(1, None, None)


def collapse(  # noqa: PLR0913 - every one a keyword with a default
    hits: Any,
    by: Rule | Sequence[Rule] | None = None,
    *,
    signatures: Signatures | None = None,
    index: Index | None = None,
    id: str = "id",  # noqa: A002 - the field's name, as everywhere
    enabled: bool = True,
    top: int | None = None,
    page: int = 1,
    size: int | None = None,
    include: int | None = None,
    cache: JudgedSets | None = None,
) -> Collapsed:
    """Hide each of ranked hits that matches a better-ranked hit that stays.

    *hits* come best first: ids, records with a field *id*, or a table. *by* is a rule or several, asked in turn:
    ``NearDuplicates()`` by default, and ``SameValue``. Near duplicates are found by *signatures*, a row a hit; or by
    those that *index* has of the ids; or by those of a field of text.

    A hit joins, under a rule, the group of the best-ranked hit that stays and that it matches; it goes if as many of
    that group stay already as the rule keeps, and then matches itself one that stays. With *enabled* off, all stay.
    Groups of several rules that have a hit in common are shown as one. Only the first *top* hits are examined, and
    shown.

    A page has *size* groups (``None``: all), and no group is on two pages. *include*, the id of a group, lists the
    members of that group instead, *size* of them a page; all totals stay those of the whole. A *cache* remembers what
    became of hits that an index was asked about.

    Nothing to collapse is no error: there are no groups then. Raises ``ParameterError``, ``DataError`` for what is no
    hit or no value, and ``RecipeMismatch`` for signatures of another scheme.
    """
    rules = _rules(by)
    given = Hits(hits, id, index)
    part = _part(page, size, include)
    number = len(given) if top is None else min(len(given), require_whole("top", top, 1))
    few = signatures is None or len(signatures) == len(given)
    require(few, "signatures", signatures, "must be one a hit")

    def judge() -> Judged:
        return _judged(rules, given, number, signatures, index)

    if not enabled:
        judged = Judged(alone(number), None, None, None, [None] * len(rules))
    elif cache is not None and index is not None and signatures is None and not given.records:
        judged = cache.judged((index.state, index.scheme, tuple(given.ids[:number]), rules), judge)
    else:
        judged = judge()
    return Collapsed(given, judged, rules, part, index)


def _judged(
    rules: tuple[Rule, ...], given: Hits, number: int, signatures: Signatures | None, index: Index | None
) -> Judged:
    """Ask the rules about the first *number* hits."""
    scheme: Scheme | None = None
    signed: Signatures | None = None
    near: int | None = None
    values: list[list[Any] | None] = []
    for rule in rules:
        if isinstance(rule, NearDuplicates):
            near, scheme = len(values), _scheme(rule, index if signatures is None else None)
            signed = _signed(scheme, rule, given, number, signatures, index)
            values.append(None)
        else:
            values.append(_values(rule, given, number))
    ranked = None if scheme is None or signed is None else scheme.ranked_rule(signed)
    codes = [None if own is None else _codes(own) for own in values]
    outcome = decided(number, [rule.keep for rule in rules], codes, ranked, None if signed is None else signed.present)
    return Judged(outcome, near, scheme, signed, values)


def _rules(by: Rule | Sequence[Rule] | None) -> tuple[Rule, ...]:
    if by is None:
        return _DEFAULT
    if isinstance(by, NearDuplicates):
        return (by,)
    rules = tuple(by) if isinstance(by, list | tuple) else (by,)
    holds = len(rules) > 0 and all(isinstance(rule, NearDuplicates | SameValue) for rule in rules)
    require(holds, "by", by, "must be NearDuplicates(...), SameValue(...), or a list of them")
    near = sum(isinstance(rule, NearDuplicates) for rule in rules)
    require(near <= 1, "by", by, "must have one rule of near duplicates at most")
    return rules


def _part(page: int, size: int | None, include: int | None) -> _Part:
    if page == 1 and size is None and include is None:
        return _WHOLE
    whole = None if size is None else require_whole("size", size, 1)
    wanted = None if include is None else require_whole("include", include, 0)
    return _Part(require_whole("page", page, 1), whole, wanted)


def _scheme(rule: NearDuplicates, index: Index | None) -> Scheme:
    """Give the scheme of a rule; that of an index must have the index's recipe, and may have a policy of its own."""
    if index is not None:
        own: Scheme = index.scheme
        if rule.scheme is not None:
            require_same_recipe(own.recipe, rule.scheme.recipe)
            own = rule.scheme
        return own
    return MinHash() if rule.scheme is None else rule.scheme


def _signed(  # noqa: PLR0913, PLR0917 - all that may have signatures
    scheme: Scheme,
    rule: NearDuplicates,
    given: Hits,
    number: int,
    signatures: Signatures | None,
    index: Index | None,
) -> Signatures:
    if signatures is not None:
        require_same_recipe(scheme.recipe, signatures.recipe)
        return signatures if len(signatures) == number else signatures[:number]
    if index is not None:
        return index.signatures(given.names()[:number])
    if scheme.columns:
        return scheme.sign(pa.table({name: _texts(given.values(name, number), name) for name in scheme.columns}))
    return scheme.sign(_texts(given.values(rule.text, number), rule.text))


def _texts(values: list[Any], name: str) -> Any:
    return text_column(values, name).combine_chunks()


def _values(rule: SameValue, given: Hits, number: int) -> list[Any]:
    """Give the values of hits by a rule; each is made only once."""
    values = given.values(rule.field, number)
    if rule.of is not None:
        made = {value: rule.of(value) for value in {value for value in values if value is not None}}
        values = [None if value is None else made[value] for value in values]
    strange = set(map(type, values)) - _VALUES
    if strange:
        raise DataError(f"field {rule.field!r}", f"holds a {strange.pop().__name__}, but must hold strings or integers")
    return values


def _codes(values: list[Any]) -> list[int]:
    """Give each value a number, in the order of their first appearance; ``None`` has -1."""
    numbers: dict[Any, int] = dict(zip(dict.fromkeys(values), count(), strict=False))
    numbers[None] = STAYS
    return list(map(numbers.__getitem__, values))


def group_id(id: Any) -> int:  # noqa: A002 - the word users know
    """Give the id of the group that begins with a hit: 63 bits of the BLAKE2b digest of its id, as a string."""
    digest = blake2b(str(id).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> (64 - _GROUP_BITS)
