"""Plans: the probability of a match by resemblance for each scheme, and parameters that meet requirements."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.evaluation.expected_candidates import ExpectedCandidates, candidates_by_law
from neardup.evaluation.plain_results import AsDict
from neardup.model.arrays import Values
from neardup.model.candidates import ROOM
from neardup.model.errors import ParameterConflict, ParameterError, counted, plain_value, require
from neardup.model.requirements import Requirements, require_background
from neardup.schemes import registry
from neardup.schemes.scheme import SHINGLES, Scheme, require_scheme

SHOWN: Final = 10  # recommendations per scheme
WORD: Final = 8  # bytes of a key
_NONE: Final = 0.001  # candidates; fewer count as none
_CLASSIC_SCHEME: Final = "trials"
_CLASSIC: Final = range(10, 21)  # hashes
_ROWS: Final = 20  # steps of a table
_COLUMNS: Final = ("scheme", "parameters", "layout", "misses", "false rate", "candidates", "bytes", "cost")
_WORDS: Final = {"match": "match %", "candidate": "candidate %", "both": "both %"}
_RECALLS: Final = (0.99, 0.95, 0.9, 0.8)  # that are tried where no parameters keep the buckets small


@dataclass(frozen=True, kw_only=True)
class Recommendation(AsDict):
    """A scheme's parameters that meet requirements, and their cost.

    ``parameters`` are parameters of the scheme and of ``neardup dedup``; ``layout`` is the resulting layout.

    ``recall``: the probability that a pair at the required threshold is found; ``misses`` is the rest. MinHash finds a
    pair that becomes a candidate, because candidates are then compared exactly (but for those whose estimate is far
    below the threshold: at most a tenth of 1 - recall more are missed); the other schemes find it if it matches by
    their rule. ``false_rate``: the probability that a pair at resemblance *apart* becomes a candidate;
    ``matched_apart``: that it matches by the rule. ``candidates``: the expected number of unrelated documents that
    share a key with a document, ``(documents - 1) * P[candidate at the background]``; ``bucket``: how many share
    a given key, on average over the keys. If it is above 64, the recommendation ``overflows``: a document is compared
    with at most 64 documents of a bucket, so more pairs are missed than ``misses``. ``signature_bytes`` and ``keys`` (8
    bytes each) are stored for a document, ``bytes`` in all.

    ``cost``, in bytes per document, is the bytes stored, and read to compare the document with its candidates: ``bytes
    + candidates * signature_bytes``.
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
    misses: float
    bucket: float
    overflows: bool
    bytes: int
    cost: float

    @property
    def words(self) -> str:
        """The scheme and its parameters, such as ``minhash with permutations 160, threshold 0.8, recall 0.99``."""
        return f"{self.scheme} with {', '.join(f'{name} {value}' for name, value in self.parameters.items())}"


@dataclass(frozen=True, kw_only=True)
class Unreached:
    """The best recall of a scheme without parameters that meet the requirements."""

    scheme: str
    recall: float


def recommend(wanted: Requirements, schemes: Iterable[str]) -> tuple[tuple[Recommendation, ...], tuple[Unreached, ...]]:
    """Return parameters that meet the requirements, cheapest first, and the schemes without any.

    Each scheme defines which parameters are searched (``grid``). Parameters whose buckets overflow are recommended only
    for schemes without others, and are last, those with the smallest buckets first. A recommendation is omitted if
    another one of the same scheme has fewer bytes or candidates and no more of the other (fewer than 0.001 candidates
    count as none). Each scheme has at most its first 10. Ties go to fewer bytes.

    Raises ``ParameterError`` if no scheme meets the requirements; the message has the recall that each can reach.
    """
    searched = searched_schemes()
    found: list[Recommendation] = []
    unreached: list[Unreached] = []
    for scheme in schemes:
        rule = f"must be one of {', '.join(searched)}: only their parameters are searched for a recall"
        require(scheme in searched, "scheme", scheme, rule)
        offers = [_recommendation(wanted, one) for one in registry.named(scheme).grid(wanted)]
        allowed = [one for one in offers if wanted.false_rate is None or one.false_rate <= wanted.false_rate]
        good = [one for one in allowed if one.recall >= wanted.recall]
        roomy = [one for one in good if not one.overflows]
        found += sorted(_unbeaten(roomy or good), key=_order)[:SHOWN]
        if not good:
            unreached.append(Unreached(scheme=scheme, recall=max((one.recall for one in allowed), default=0.0)))
    if not found:
        best = ", ".join(f"{one.scheme} {one.recall:.4f}" for one in unreached)
        condition = "" if wanted.false_rate is None else f" with a false rate of at most {wanted.false_rate:g}"
        rule = f"cannot be reached; the highest recall at threshold {wanted.threshold:g}{condition} is {best}"
        raise ParameterError("recall", wanted.recall, rule)
    return tuple(sorted(found, key=_order)), tuple(unreached)


def searched_schemes() -> tuple[str, ...]:
    """Return the names of the schemes whose parameters can be recommended."""
    return tuple(kind.name for kind in registry.kinds() if kind.searched_numbers)


def _order(one: Recommendation) -> tuple[float, float, int, str]:
    return one.bucket if one.overflows else 0.0, one.cost, one.bytes, one.words


def _unbeaten(offers: list[Recommendation]) -> Iterator[Recommendation]:
    fewest = float("inf")
    for one in sorted(offers, key=lambda one: (one.bytes, one.candidates, one.words)):
        if max(one.candidates, _NONE) < fewest:
            fewest = max(one.candidates, _NONE)
            yield one


def _recommendation(wanted: Requirements, scheme: Any) -> Recommendation:
    curves = {name: curve.tolist() for name, curve in scheme.curves(wanted.values).items()}
    match = curves["match"]
    candidate = curves.get("candidate", match)
    found = candidate if scheme.estimate_decides else match  # estimates are verified; other rules decide
    candidates, stored = (wanted.documents - 1) * candidate[2], scheme.stored_bytes + WORD * scheme.key_count
    bucket = (wanted.documents - 1) * float(scheme.key_probability(wanted.values)[2])
    return Recommendation(
        scheme=scheme.name,
        parameters={name: getattr(scheme, name) for name in scheme.searched_numbers},
        layout=scheme.layout_numbers,
        recall=found[0],
        false_rate=candidate[1],
        matched_apart=curves.get("both", match)[1],
        candidates=candidates,
        signature_bytes=scheme.stored_bytes,
        keys=scheme.key_count,
        misses=1.0 - found[0],
        bucket=bucket,
        overflows=bucket > ROOM,
        bytes=stored,
        cost=stored + candidates * scheme.stored_bytes,
    )


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The probability of an event, *name*, at the *values* of a *measure*: resemblance, overlap or cosine."""

    name: str
    measure: str
    values: tuple[float, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Plan(AsDict):
    """The behaviour of a scheme with its parameters: its curves, at the same values, and the bytes that it stores.

    ``signature_bytes`` and ``keys`` (8 bytes each) are of one document; ``None`` is unknown. ``limit`` is what the
    curves leave out, or which documents they are about, in words. A plan with ``requirements`` has ``recommendations``
    that meet them (see ``Recommendation``); everything else describes the first of these, the cheapest whose buckets do
    not overflow, and ``unreached`` has the best recall of each other scheme. A plan of a scheme for a number of
    documents has ``expected``, the expected candidates if two unrelated documents have the resemblance ``background``,
    and if these fill the buckets, ``smaller``: parameters with smaller buckets. ``features`` are what the scheme
    compares: shingles or sentences. Printed, a plan is a table, after the ``answer`` for a number of documents or for
    recommendations whose buckets all overflow.
    """

    scheme: str
    parameters: dict[str, float]
    layout: dict[str, float]
    measure: str
    threshold: float | None
    signature_bytes: int | None
    keys: int | None
    curves: tuple[Curve, ...]
    limit: str = ""
    requirements: Requirements | None = None
    recommendations: tuple[Recommendation, ...] = ()
    unreached: tuple[Unreached, ...] = ()
    expected: ExpectedCandidates | None = None
    background: float | None = None
    smaller: Recommendation | None = None
    features: str = SHINGLES

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        if self.recommendations:
            return _COLUMNS
        return (self.measure, *(curve.name for curve in self.curves))

    @property
    def table(self) -> list[tuple[Any, ...]]:
        """The rows of the table: recommendations, or the probability of each curve from the highest value down."""
        if self.recommendations:
            return [tuple(getattr(one, name.replace(" ", "_")) for name in _COLUMNS) for one in self.recommendations]
        values = self.curves[0].values
        step = max(1, (len(values) - 1) // _ROWS)
        rows = zip(values, *(curve.probabilities for curve in self.curves), strict=True)
        return list(rows)[::-step]

    def __str__(self) -> str:
        rows = [_recommendation_cells(one) for one in self.recommendations] or self._curve_cells()
        head = [_WORDS.get(name, name) for name in self.header]
        table = aligned([head, *rows])
        answer = [*self.answer, ""] if self.answer else []
        return "\n".join([*answer, self.heading, "", *table, *([""] if self.notes else []), *self.notes])

    @property
    def heading(self) -> str:
        """The title of the table."""
        wanted = self.requirements
        if wanted:
            heading = f"At threshold {wanted.threshold:g}, recall {str(wanted.recall).removesuffix('.0')}"
            if wanted.false_rate is not None:
                heading += f", false rate {wanted.false_rate:g}"
            order = "smallest buckets first" if self.recommendations[0].overflows else "cheapest first"
            return f"{heading}, among {counted(wanted.documents, 'document')}; {order}"
        if self.is_classic:
            return (
                "Probability in percent that 2 of 6 trials agree, by hashes per trial (columns) and resemblance (rows)"
            )
        given = ", ".join(f"{name} {value:g}" for name, value in {**self.parameters, **self.layout}.items())
        return f"{self.scheme}: {given}" if given else self.scheme

    @property
    def notes(self) -> list[str]:
        """Notes on the table."""
        if self.requirements:
            full = [f">: more than this, because unrelated documents fill the buckets (room: {ROOM})"]
            unrelated = f"unrelated documents (at {self.requirements.background:g})"
            return [
                *(f"Not listed: {one.scheme}, whose recall is {one.recall:.4f} at best" for one in self.unreached),
                "misses: of the pairs at the threshold, in simhash a cosine, else a resemblance",
                *(full if self.recommendations[-1].overflows else []),
                f"false rate: of the pairs at {self.requirements.apart:g}, how many become candidates",
                f"candidates: {unrelated} that share a key with a document",
                "bytes: of a document's signature and keys; cost: these and the bytes read to compare it",
            ]
        if self.is_classic:
            return ["14 hashes are the default."]
        notes = [self.limit] if self.limit else []
        if self.signature_bytes is not None and self.keys is not None:
            notes.append(f"{self.signature_bytes:,} bytes per document, and {self.keys:,} keys of {WORD}")
        return notes

    @property
    def answer(self) -> list[str]:
        """Whether the buckets have room for the number of documents, and better parameters; empty without a number.

        Of recommendations, it is empty if the buckets of the first one do not overflow.
        """
        if self.requirements and self.recommendations[0].overflows:
            number, fewest = counted(self.requirements.documents, "document"), self.recommendations[0].bucket
            found = f"each bucket has {amount(fewest)} or more unrelated documents, and room for {ROOM}"
            ways = "a higher threshold, a lower recall, or longer shingles (unrelated documents share fewer of them)"
            missed = f"All of these parameters miss more pairs than listed among {number}: {found}."
            return [missed, f"For smaller buckets, use {ways}."]
        expected = self.expected
        if expected is None:
            return []
        number = counted(expected.documents, "document")
        found = f"each bucket has {amount(expected.bucket)} unrelated documents, and room for {ROOM}"
        assumed = f"This assumes that the {self.measure} of any two unrelated documents is {self.background:g}."
        if not expected.overflows:
            return [f"The buckets have room for {number}: {found}.", assumed]
        lines = [f"With these parameters, pairs are missed among {number}: {found}."]
        if self.smaller is None:
            advice = fewer_shared(self.features)
            return [*lines, f"{advice[0].upper()}{advice[1:]}.", assumed]
        each, stored = amount(self.smaller.bucket), f"{self.smaller.bytes:,} bytes per document"
        lines += [f"Better: {self.smaller.words}", f"Then there are {each} in each bucket, and {stored}."]
        return [*lines, assumed]

    @property
    def is_classic(self) -> bool:
        """Whether this is the table of ``plan()``."""
        return self.scheme == _CLASSIC_SCHEME and len(self.curves) == len(_CLASSIC)

    def _curve_cells(self) -> list[list[str]]:
        places = 1 if self.is_classic else 2
        return [
            [f"{100 * value:g} %", *(f"{100 * chance:.{places}f}" for chance in chances)]
            for value, *chances in self.table
        ]


def plan(  # noqa: PLR0913 - the parts of the requirements, each a keyword
    scheme: str | Scheme | None = None,
    *,
    threshold: float | None = None,
    recall: float | None = None,
    false_rate: float | None = None,
    documents: int | None = None,
    apart: float | None = None,
    background: float | None = None,
    **parameters: float,
) -> Plan:
    """Return the probability of a match by resemblance, or recommend parameters.

    Without arguments, it returns the classic table of enterprise search: the match probability of ``trials`` for 10 to
    20 hashes and resemblances of 80 to 100 %.

    With a *scheme*, a name or a scheme object, and any of its numbers, it returns the scheme's curves. ``trials`` has
    *hashes*, *trials*, *needed*; ``minhash`` *permutations*, *threshold*, *bands*; ``simhash`` *distance*, *bits*,
    *blocks*, and its measure is the cosine; ``sentences`` *size*, *threshold*; ``fracminhash`` *scaled*, *size*,
    *threshold*; ``combined`` and ``checksum`` none.

    With *recall* and *threshold*, it returns recommendations of all schemes whose parameters can be searched, or of the
    given scheme. The requirements are these and *false_rate*, *documents*, *apart*, *background* (see
    ``Requirements``).

    With *documents* and no *recall*, the plan of the scheme (default: ``minhash``) has the expected candidates of a
    document if any two documents are at the *background* (0.05), and a warning if they fill the buckets.

    Raises ``ParameterError`` for a number that is out of range, cannot be used with the scheme, or cannot be reached.

    >>> classic = plan()
    >>> classic.curves[4].name, round(100 * classic.curves[4].probabilities[0], 2)  # 80 %; in print once 3.0
    ('14', 2.58)
    >>> [round(chance, 3) for chance in plan("minhash", permutations=112, threshold=0.8, bands=14).table[4]]
    [0.8, 0.519, 0.924, 0.511]
    >>> print(plan(threshold=0.8, recall=0.99, documents=30_000_000).recommendations[0].words)
    minhash with permutations 160, threshold 0.8, recall 0.99
    """
    further = {"false_rate": false_rate, "documents": documents, "apart": apart, "background": background}
    given = {name: plain_value(value) for name, value in further.items() if value is not None}
    threshold, recall = plain_value(threshold), plain_value(recall)
    parameters = {name: plain_value(value) for name, value in parameters.items()}
    if recall is not None:
        rule = "requires a threshold, such as 0.8: the recall is that of pairs at the threshold"
        require(threshold is not None, "recall", recall, rule)
        for name, value in parameters.items():
            raise ParameterConflict(name, value, "recall", recall, "a plan for a recall chooses it; leave it out")
        wanted = Requirements(threshold=threshold, recall=recall, **given)
        return _recommended(wanted, scheme)
    for name, value in given.items():
        if name in {"false_rate", "apart"}:
            raise ParameterError(
                name, value, "requires a recall" if threshold is not None else "requires a threshold and a recall"
            )
        require(documents is not None, name, value, "requires a recall or a number of documents")
    if threshold is not None:
        parameters["threshold"] = threshold
    if scheme is None:
        default = registry.default() if documents is not None else None
        _require_of(default, parameters)
        if default is None:
            return _classic()
        scheme = default.name
    if isinstance(scheme, str):
        scheme = _of_numbers(scheme, parameters)
        parameters = {}
    for name, value in parameters.items():
        raise ParameterError(name, value, "is already set by the given scheme; leave it out")
    return _drawn(scheme, **_expected(scheme, **given))


def _require_of(default: Any, parameters: dict[str, Any]) -> None:
    """Raise ``ParameterError`` for a parameter that needs a scheme, but for those of the *default* one, if any."""
    for name, value in parameters.items():
        if default is None or name not in default.plan_numbers:
            able = ", ".join(kind.name for kind in registry.kinds() if name in kind.plan_numbers)
            more = " a recall, a number of documents, or" if name == "threshold" else ""
            raise ParameterError(name, value, f"requires{more} a scheme{able and f': {able}'}")


def _expected(scheme: Any, documents: int | None = None, background: float = 0.05) -> dict[str, Any]:
    """Return the expected candidates among this many documents, and better parameters if they fill the buckets."""
    if documents is None:
        return {}
    require_scheme(scheme, "probability")
    own = scheme.rule == scheme.measure  # otherwise its threshold is one of another measure
    limit = (scheme.threshold, f"below the threshold, {scheme.threshold:g}") if own else (1.0, "below 1")
    background = require_background(background, *limit)
    expected = candidates_by_law(scheme, documents, background)
    smaller = smaller_buckets(scheme, documents, background) if expected.overflows else None
    return {"expected": expected, "background": background, "smaller": smaller}


def fewer_shared(features: str) -> str:
    """Return what helps where unrelated documents share too many *features*: the words for what a scheme compares."""
    if features == SHINGLES:
        return "longer shingles help: with them, unrelated documents share less"
    return f"ignoring common {features} helps: unrelated documents share few others"


def smaller_buckets(scheme: Any, documents: int, background: float) -> Recommendation | None:
    """Return parameters with which unrelated documents, of the resemblance *background*, do not fill the buckets.

    They have the threshold of the scheme, and its recall, or the highest of a few lower ones. ``None`` if there are
    none.
    """
    if not {"threshold", "recall"} <= set(scheme.searched_numbers) or background >= scheme.threshold:
        return None
    for recall in (scheme.recall, *(one for one in _RECALLS if one < scheme.recall)):
        wanted = Requirements(threshold=scheme.threshold, recall=recall, documents=documents, background=background)
        try:
            found, _ = recommend(wanted, [scheme.name])
        except ParameterError:
            continue
        if not found[0].overflows:
            return found[0]
    return None


def _of_numbers(name: str, numbers: dict[str, float]) -> Scheme:
    kind = registry.named(name)
    for number, value in numbers.items():
        if number in kind.plan_numbers:
            continue
        why = f"its parameters are {', '.join(kind.plan_numbers)}"
        if not kind.plan_numbers:
            why = f"a plan of {name} uses its defaults; leave out this number"
        elif number == "threshold":
            why += "; a threshold also requires a recall"
        raise ParameterConflict(number, value, "scheme", name, why)
    made: Scheme = kind(**numbers)
    return made


def _drawn(scheme: Any, **more: Any) -> Plan:
    require_scheme(scheme, "probability")
    values = spread(*scheme.curve_range)
    layout = scheme.layout_numbers
    parameters = {name: getattr(scheme, name) for name in scheme.plan_numbers if name not in layout}
    return Plan(
        scheme=scheme.name,
        parameters=parameters,
        layout=layout,
        measure=scheme.measure,
        threshold=more.pop("threshold", parameters.get("threshold")),
        signature_bytes=scheme.stored_bytes,
        keys=scheme.key_count,
        limit=scheme.law_limit or scheme.curves_of,
        features=scheme.features_in_words,
        curves=tuple(
            curve_of(name, scheme.measure, values, chances) for name, chances in scheme.curves(values).items()
        ),
        **more,
    )


def curve_of(name: str, measure: str, values: Values, chances: npt.ArrayLike) -> Curve:
    """Return a curve of arrays."""
    probabilities = np.asarray(chances, np.float64).tolist()
    return Curve(name=name, measure=measure, values=tuple(values.tolist()), probabilities=tuple(probabilities))


def _classic() -> Plan:
    values = spread(0, 100)[80:]
    kind = registry.named(_CLASSIC_SCHEME)
    first = kind()
    laws = {str(hashes): kind(hashes=hashes).probability(values) for hashes in _CLASSIC}
    curves = tuple(curve_of(name, first.measure, values, chances) for name, chances in laws.items())
    return replace(_drawn(first), parameters={"trials": first.trials, "needed": first.needed}, layout={}, curves=curves)


def _recommended(wanted: Requirements, scheme: str | Scheme | None) -> Plan:
    require(scheme is None or isinstance(scheme, str), "scheme", scheme, "must be a name, or None for all")
    found, unreached = recommend(wanted, searched_schemes() if scheme is None else [str(scheme)])
    best = registry.named(found[0].scheme)(**found[0].parameters)
    return _drawn(best, threshold=wanted.threshold, requirements=wanted, recommendations=found, unreached=unreached)


def spread(first: int, last: int) -> Values:
    """Return 101 values between two percentages, each the float nearest to its decimal fraction.

    >>> spread(0, 100)[[0, 55, 100]]
    array([0.  , 0.55, 1.  ])
    """
    return np.asarray((np.linspace(first, last, 101) / 100).round(6))


def _recommendation_cells(one: Recommendation) -> list[str]:
    hidden = {"threshold", "recall", "bits", *one.layout}
    shown = {name: value for name, value in one.parameters.items() if name not in hidden}
    return [
        one.scheme,
        " ".join(f"{name} {value:g}" for name, value in shown.items()),
        " ".join(f"{name} {value:g}" for name, value in one.layout.items()) or f"keys {one.keys}",
        f"{'> ' if one.overflows else ''}{100 * one.misses:.2g} %",
        f"{100 * one.false_rate:.2g} %",
        amount(one.candidates),
        f"{one.bytes:,}",
        amount(one.cost),
    ]


def amount(value: float) -> str:
    """Return a number as text: a whole one from 10 on, otherwise with two digits."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"  # noqa: PLR2004 - two digits tell enough


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of aligned columns: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = [all(not cell[:1].isdigit() for cell in column[1:]) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, words, strict=True)
        ).rstrip()
        for row in rows
    ]
