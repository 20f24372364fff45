"""Collapsing ranked hits: hiding those that repeat a better one."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from neardup.decisions.collapse import STAYS, Collapse, alone
from neardup.decisions.collapse import collapse as decided
from neardup.evaluation.comparison import Explanation, explain
from neardup.model.arrays import Positions, Signatures
from neardup.model.errors import (
    DataError,
    ParameterError,
    counted,
    require,
    require_choice,
    require_flag,
    require_whole,
)
from neardup.model.hits import HiddenHit, Hit, HitGroup, group_id
from neardup.model.policy import Representative, require_representative
from neardup.model.written_values import EXACT
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.inputs import types_of
from neardup.pipeline.query.hits import STRINGS, VALUES, Hits, PlacedHits
from neardup.pipeline.query.near_hits import AskedHits, HitVerify, NearHits, near_hits
from neardup.pipeline.query.result_cache import Judged, JudgedSets, Measured
from neardup.pipeline.query.rules import NearDuplicates, Rule, SameValue
from neardup.schemes.scheme import Scheme
from neardup.text.values import is_missing

_RULES: Final = (NearDuplicates, SameValue)
_DEFAULT: Final = (NearDuplicates(),)

Shown = TypeVar("Shown")
_EQUALITY: Final = "equality"
_Reason = tuple[str, str, Any, float | None, bool]  # the last parameters of a ``HiddenHit``


class Explained(NamedTuple):
    """Why a hit is hidden, and what the texts of both hits have in common, if they are available."""

    hidden: HiddenHit
    evidence: Explanation | None


class Collapsed:
    """Ranked hits without those that repeat a better one, page by page, and the hits that each of them hides.

    *hits* is the number of all hits; only the first *examined* of them were compared, and only these are on pages.
    *unsigned* of them have no signature and match none.
    """

    def __init__(
        self, given: Hits, judged: Judged, rules: Sequence[Rule], requested: "_RequestedPage", index: Index | None
    ) -> None:
        self._given, self._judged, self._rules, self._requested, self._index = given, judged, rules, requested, index
        self.outcome: Collapse = judged.outcome
        """The result as arrays by rank."""
        self.hits, self.examined = len(given.ids), judged.outcome.hits

    def __repr__(self) -> str:
        groups, missing = counted(self.groups, "group"), self.missing_fields
        note = f"; no hit has {', '.join(map(repr, missing))}" if missing else ""
        return f"<Collapsed {counted(self.hits, 'hit')}: {groups}, {self.hidden:,} hidden{note}>"

    @property
    def kept(self) -> list[Any]:
        """The ids of all kept hits, best first."""
        return list(map(self._given.ids.__getitem__, self.outcome.kept))

    @property
    def groups(self) -> int:
        """The number of groups, on all pages."""
        return self.outcome.groups

    @property
    def hidden(self) -> int:
        """The number of hidden hits, on all pages."""
        return self.examined - self.outcome.stay

    @property
    def unsigned(self) -> int:
        """The number of examined hits without a signature."""
        return self._judged.unsigned

    @property
    def pages(self) -> int:
        """The number of pages."""
        size = self._requested.size
        listed = self.groups if self._requested.include is None else len(self._included)
        return (1 if listed else 0) if size is None else -(-listed // size)

    @property
    def missing_fields(self) -> list[str]:
        """The fields of rules that neither a hit nor the index has, and which hide no hit: they may be misspelt."""
        fields = dict.fromkeys(rule.field for rule in self._rules if isinstance(rule, SameValue))
        return [field for field in fields if self.hits and self._given.lacks(field)]

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of all hits, of those that were examined, and of the pages."""
        names = ("hits", "examined", "groups", "hidden", "unsigned")
        return {name: getattr(self, name) for name in names} | {"page": self._requested.page, "pages": self.pages}

    @cached_property
    def page(self) -> tuple[HitGroup, ...]:
        """The groups of this page, or with *include* the members on this page."""
        return tuple(self.page_of(HitGroup, Hit, HiddenHit))

    def page_of(
        self, group: Callable[..., Shown], kept: Callable[..., Any], hidden: Callable[..., Any]
    ) -> Iterator[Shown]:
        """Return the groups of this page, made by functions.

        The functions have the parameters of ``HitGroup``, ``Hit`` and ``HiddenHit``.
        """
        span, matched = self._requested.span, self._matched[0]
        ids, given = self._given.ids, self._given.given
        shown: list[tuple[int, list[int], list[int]]]  # the id of a group, its members on this page, and all of them
        if self._requested.include is None:
            numbers = range(self.groups)[span]
            listed = self.outcome.members(numbers)
            shown = [*zip(self._group_ids(numbers), listed, listed, strict=True)]
        else:
            everybody = self._included
            shown = [(self._requested.include, everybody[span], everybody)] if everybody[span] else []
        for own, ranks, everybody in shown:
            staying, going = [], []
            for rank in ranks:
                if matched[rank] == STAYS:
                    staying.append(kept(ids[rank], rank, given[rank]))
                else:
                    going.append(self._hidden(hidden, rank))
            hides = len(going) if everybody is ranks else sum(matched[rank] != STAYS for rank in everybody)
            yield group(own, tuple(staying), tuple(going), hides)

    @cached_property
    def _included(self) -> list[int]:
        """All members of the requested group; empty if there is no such group."""
        numbers = range(self.groups)
        named = zip(numbers, self._group_ids(numbers), strict=True)
        found = self.outcome.members(number for number, own in named if own == self._requested.include)
        return found[0] if found else []

    def _group_ids(self, numbers: range) -> list[int]:
        """Return the ids of some groups, made of the id of the first hit.

        Hits of several indexes may have the same id. The ids of later groups also depend on how many such groups
        precede.
        """
        named = self._given.named(self.outcome.firsts(numbers.stop))
        earlier = [0] * len(named)
        if len({*named}) < len(named):
            met: Counter[str] = Counter()
            for number, name in enumerate(named):
                earlier[number] = met[name]
                met[name] += 1
        return [group_id(named[number], earlier[number]) for number in numbers]

    def _hidden(self, make: Callable[..., Shown], rank: int) -> Shown:
        """Return a hidden hit, made by a function with the parameters of ``HiddenHit``."""
        ids, (matched, by) = self._given.ids, self._matched
        return make(ids[rank], rank, self._given.given[rank], ids[matched[rank]], *self._reasons[by[rank]](rank))

    @cached_property
    def _matched(self) -> tuple[list[int], list[int]]:
        """The ranks of the hits that the hits match, and the numbers of the rules that hide them, by rank."""
        return self.outcome.matched()

    @cached_property
    def _reasons(self) -> list[Callable[[int], _Reason]]:
        """For each rule a function of a rank: why it hides this hit."""
        reasons: list[Callable[[int], _Reason]] = []
        for rule, values in zip(self._rules, self._judged.values, strict=True):
            if isinstance(rule, SameValue) and values is not None:
                reasons.append(_of_values(rule.name, values))
            elif self._judged.scheme is not None:
                reasons.append(_of_measures(self._judged.scheme, self._judged.measured))
        return reasons

    def explain(self, id: Any) -> Explained | None:  # noqa: A002 - the word users know
        """Return why a hit is hidden, with the evidence of both texts; ``None`` for a hit that is not hidden.

        The texts are those of the records or, if these have none, of the index. Under a rule of equal values, the
        evidence is that of the scheme of the index, or of ``MinHash()``.
        """
        ranks = (rank for rank in self.outcome.hidden if self._given.ids[rank] == id)
        rank = next(ranks, None)
        if rank is None:
            return None
        better, hidden = self._matched[0][rank], self._hidden(HiddenHit, rank)
        text, other = self._text(rank), self._text(better)
        if text is None or other is None:
            return Explained(hidden, None)
        scheme: Scheme | None = self._judged.scheme or getattr(self._index, "scheme", None)  # the default one for none
        signatures = self._signatures(scheme, [rank, better])
        return Explained(hidden, explain(text, other, scheme, signatures=signatures))

    def _signatures(self, scheme: Scheme | None, ranks: list[int]) -> Signatures | None:
        """Return the signatures of hits if more than their texts was signed."""
        if scheme is None or not scheme.columns:
            return None
        if self._judged.hits is not None:
            return self._judged.hits.signatures[np.array(ranks)]
        return None if self._index is None else self._index.signatures([str(self._given.ids[rank]) for rank in ranks])

    def _text(self, rank: int) -> str | None:
        near = next((rule for rule in self._rules if isinstance(rule, NearDuplicates)), NearDuplicates())
        given = self._given.given[rank]
        if self._given.records and isinstance(given.get(near.text), str):
            return str(given[near.text])
        if self._index is not None and self._index.keeps_texts:
            found = self._index.get([str(self._given.ids[rank])])[0]
            return None if found is None else found.text
        return None


def _of_values(name: str, values: Sequence[Any]) -> Callable[[int], _Reason]:
    return lambda rank: (name, _EQUALITY, values[rank], None, True)


def _of_measures(scheme: Scheme, measured: Measured) -> Callable[[int], _Reason]:
    """Return why a scheme hides a hit, by its rank: *measured* are as in ``Judged``."""
    ranks, *columns = (column.tolist() for column in measured)
    found = dict(zip(ranks, zip(*columns, strict=True), strict=True))
    # Equal checksums prove that the signed fields are equal, but nothing about other text.
    exact, estimated = (_EQUALITY, _EQUALITY) if scheme.columns else (scheme.rule, scheme.measure)

    def reason(rank: int) -> _Reason:
        value, needed, verified = found[rank]
        if verified:
            return scheme.name, exact, value, needed, True
        return scheme.name, estimated, value, scheme.least_estimate, False

    return reason


class _RequestedPage(NamedTuple):
    """Which groups, or which members of a group, are on a page."""

    page: int
    size: int | None
    include: int | None

    @property
    def span(self) -> slice:
        if self.size is None:
            return slice(0, None) if self.page == 1 else slice(0, 0)
        return slice((self.page - 1) * self.size, self.page * self.size)


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
    verify: HitVerify | None = None,
    representative: Representative = "best-ranked",
) -> Collapsed:
    """Hide each ranked hit that matches a better-ranked hit that is kept.

    *hits* are in rank order, best first: ids, records with a field *id*, or a table. *by* is a rule or several, applied
    in turn: ``NearDuplicates()`` by default, and ``SameValue``. Near duplicates are found by *signatures*, one row per
    hit; or by those that *index* has for the ids; or, for records with ids that it does not have, by those of a text
    field. A value that a record lacks is that of *index*.

    Under each rule, a hit joins the group of the best-ranked kept hit that it matches. It is hidden if the group
    already has as many kept hits as the rule keeps; it then matches a kept hit itself. With *enabled* off, all hits are
    kept. Groups of several rules that have a hit in common are one group. Only the first *top* hits are examined and
    returned.

    A page has *size* groups (``None``: all), and no group is on two pages. *include*, the id of a group, lists the
    members of that group instead, *size* per page; all totals remain those of the whole. A *cache* stores the results
    for hits of an index, by their ids; it requires *index* and excludes *signatures*.

    *verify* chooses what decides about near duplicates. ``None``: the texts if they are available (in the records, or
    in an index that stores texts), by the same rule as ``dedup``; otherwise the estimate of the signatures. Each hidden
    hit reports which of the two it was (``verified``). At most 64 MiB of texts per set of hits are read from an index,
    each of less than 4 MiB, and 2**28 features compared; beyond that, the estimate decides. ``"exact"``: the texts
    only; too much text, or a text to compare that is not available, is an error, as are signatures of ``Checksum``.
    ``"estimate"``: the signatures only. If there are *signatures*, or *index* has the id, the text of a record only
    counts if it is the text that was signed.

    *representative* chooses the kept hit that a near duplicate is recorded with, and in whose group it is, of all that
    it matches: the ``"best-ranked"``, or the ``"closest"``, the one with the highest ``value``, measured or estimated
    (the best-ranked of equally close ones). Without other rules, equal hits are recorded with the same hit. It has no
    effect on which hits are kept.

    No hits return no groups. Raises ``ParameterError``, ``DataError`` for an invalid hit or value, and
    ``RecipeMismatch`` for signatures of another recipe.
    """
    rules = rules_of(by)
    if index is not None:
        require(isinstance(index, Index), "index", index, "must be an Index")
    if cache is not None:
        require(isinstance(cache, JudgedSets), "cache", cache, "must be JudgedSets")
        usable = index is not None and signatures is None
        require(usable, "cache", cache, "requires index, and cannot be used with signatures")
    require(isinstance(id, str), "id", id, "must be the name of a field")
    if verify is not None:
        require_choice("verify", verify, ("exact", "estimate"), "must be exact, estimate or None")
    require_representative(representative)
    given = hits if isinstance(hits, PlacedHits) else Hits(hits, id, index)
    requested = _RequestedPage(
        page=require_whole("page", page, 1),
        size=None if size is None else require_whole("size", size, 1),
        include=None if include is None else require_whole("include", include, 0),
    )
    number = len(given.ids)
    if signatures is not None:
        _require_rows(signatures, number)
    number = number if top is None else min(number, require_whole("top", top, 1))
    require_flag("enabled", enabled)

    asked = AskedHits(given, number, signatures, index, verify, representative == "closest")
    if not enabled:
        judged = Judged(alone(number), None, [None] * len(rules))
    elif index is None:
        judged = _judged(rules, asked)
    else:
        with index.store.busy:  # so that all answers are of one state of the index
            index.store.require_open()
            fields = [field for rule in rules for field in _fields_of(rule, index)]
            digest = None if cache is None else given.digest(number, fields)
            if cache is None or digest is None:
                judged = _judged(rules, asked)
            else:
                key = (*index.state, *rules, verify, representative, digest)
                judged = cache.judged(key, lambda: _judged(rules, asked))
    return Collapsed(given, judged, rules, requested, index)


def _require_rows(signatures: Signatures, number: int) -> None:
    """Raise ``ParameterError`` unless there are signatures of a *number* of hits."""
    require(isinstance(signatures, Signatures), "signatures", signatures, "must be Signatures, one row per hit")
    rows = len(signatures.rows)
    if rows != number:
        hits_there = f"there {'is' if number == 1 else 'are'} {counted(number, 'hit')}"
        raise ParameterError("signatures", signatures, f"has {counted(rows, 'row')}, but {hits_there}")


def _fields_of(rule: Rule, index: Index) -> tuple[str, ...]:
    if isinstance(rule, SameValue):
        return (rule.field,)
    return (rule.text, *(rule.scheme or index.scheme).columns)


def _judged(rules: tuple[Rule, ...], asked: AskedHits) -> Judged:
    hits: NearHits | None = None
    values: list[list[Any] | None] = []
    for rule in rules:
        if isinstance(rule, NearDuplicates):
            hits = near_hits(rule, asked)
            values.append(None)
        else:
            values.append(_values(rule, asked.given, asked.number))
    codes = [None if own is None else _codes(own) for own in values]
    ranked, present = (None, None) if hits is None else (hits.ranked, hits.signatures.present)
    outcome = decided(asked.number, [rule.keep for rule in rules], codes, ranked, present)
    if asked.verify == "exact" and hits is not None:
        hits.require_verified()
    return Judged(outcome, hits, values)


def rules_of(by: Rule | Sequence[Rule] | None) -> tuple[Rule, ...]:
    """Return the rules that ``collapse`` accepts, after checking them."""
    if by is None:
        return _DEFAULT
    if isinstance(by, _RULES):
        return (by,)
    rules = tuple(by) if isinstance(by, list | tuple) else (by,)
    holds = len(rules) > 0 and all(isinstance(rule, _RULES) for rule in rules)
    require(holds, "by", by, "must be NearDuplicates(...), SameValue(...), or a list of them")
    near = sum(isinstance(rule, NearDuplicates) for rule in rules)
    require(near <= 1, "by", by, "must contain at most one rule for near duplicates")
    return rules


def _values(rule: SameValue, given: Hits, number: int) -> list[Any]:
    if given.lacks(rule.field):
        return [None] * number
    values, kinds = _plain(given.values(rule.field, number))
    if rule.of is not None:
        values, kinds = _plain(_made(rule.of, values))
    if not kinds <= VALUES:
        strange = (kinds - VALUES).pop().__name__
        if rule.of is not None:
            name = f"the function of field {rule.field!r}"
            raise DataError(name, f"must return strings, integers or None, not {strange}")
        raise DataError(f"field {rule.field!r}", f"must contain strings or integers, not {strange}; convert them")
    return values


def _plain(values: list[Any]) -> tuple[list[Any], set[type]]:
    """Return values and their types: integers of NumPy, but not its durations, and whole floats become integers.

    Missing values become ``None``.
    """
    kinds = types_of(values)
    if kinds <= VALUES:
        return values, kinds
    values = [_plain_one(value) for value in values]
    return values, types_of(values)


def _plain_one(value: Any) -> Any:
    duration = isinstance(value, np.timedelta64)
    whole = isinstance(value, float) and value.is_integer() and abs(value) < EXACT
    integer = whole or (isinstance(value, np.integer) and not duration)
    return int(value) if integer else None if is_missing(value) else value


def _made(of: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    """Map the values of a field by a function, equal strings only once."""
    if not types_of(values) <= STRINGS:  # other equal values, such as 1 and True, are different
        return [None if value is None else of(value) for value in values]
    made = {value: None if value is None else of(value) for value in dict.fromkeys(values)}
    return [made[value] for value in values]


def _codes(values: list[Any]) -> Positions:
    """Return for each value the rank of the first hit that has it; -1 for ``None``."""
    firsts: dict[Any, int] = {None: STAYS}
    return np.fromiter(map(firsts.setdefault, values, range(len(values))), np.int64, len(values))
