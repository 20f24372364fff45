"""The laws of the schemes made visible: how likely documents match at which resemblance, and which parameters do."""

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from neardup.evaluation.designs import DESIGNS, WORD, Design, TrialsDesign, spread
from neardup.evaluation.proposals import SEARCHES, Proposal, Unreached, Wish, propose
from neardup.model.errors import ParameterError, require

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from neardup.model.protocols import Scheme

_CLASSIC: Final = range(10, 21)
_ROWS: Final = 20  # steps of a table


@dataclass(frozen=True, kw_only=True)
class Curve:
    """How likely something, *name*, is at each of the *values* of a *measure*: resemblance, overlap or cosine."""

    name: str
    measure: str
    values: tuple[float, ...]
    probabilities: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a scheme does with its parameters: its curves, at the same values, and what it stores.

    ``signature_bytes`` and ``keys`` (8 bytes each) are of one document; None is not known. With ``proposals`` (see
    ``Proposal``), which fulfil a ``wish``, everything else is of the first of them, the cheapest; ``unreached`` tells
    how far the other schemes come. Printed, a plan is a table.
    """

    scheme: str
    parameters: dict[str, float]
    layout: dict[str, float]
    measure: str
    threshold: float | None
    signature_bytes: int | None
    keys: int | None
    curves: tuple[Curve, ...]
    wish: Wish | None = None
    proposals: tuple[Proposal, ...] = ()
    unreached: tuple[Unreached, ...] = ()

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        if self.proposals:
            return tuple(_COLUMNS)
        return (self.measure, *(curve.name for curve in self.curves))

    @property
    def table(self) -> list[tuple[Any, ...]]:
        """Rows of the table: proposals, or from the highest value down the probability of each curve."""
        if self.proposals:
            return [tuple(one.as_dict()[name] for name in _COLUMNS.values()) for one in self.proposals]
        values = self.curves[0].values
        step = max(1, (len(values) - 1) // _ROWS)
        rows = zip(values, *(curve.probabilities for curve in self.curves), strict=True)
        return list(rows)[::-step]

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            **asdict(self),
            "proposals": [one.as_dict() for one in self.proposals],
        }

    def __str__(self) -> str:
        rows = [_proposal_cells(one) for one in self.proposals] or self._curve_cells()
        head = [_WORDS.get(name, name) for name in self.header]
        table = aligned([head, *rows])
        return "\n".join([self.heading, "", *table, *([""] if self.notes else []), *self.notes])

    @property
    def heading(self) -> str:
        """One line that says what the table is."""
        if self.wish:
            wished = f"At threshold {self.wish.threshold:g}, recall {str(self.wish.recall).removesuffix('.0')}"
            if self.wish.false_rate is not None:
                wished += f", false rate {self.wish.false_rate:g}"
            return f"{wished}, among {self.wish.documents:,} documents; cheapest first"
        if self.is_classic:
            return "Probability in percent that 2 of 6 trials agree, by hashes a trial (columns) and resemblance (rows)"
        given = ", ".join(f"{name} {value:g}" for name, value in {**self.parameters, **self.layout}.items())
        return f"{self.scheme}: {given}" if given else self.scheme

    @property
    def notes(self) -> list[str]:
        """What there is to know about the table."""
        if self.wish:
            return [
                *(f"Not listed: {one.scheme}, whose recall is {one.recall:.4f} at best" for one in self.unreached),
                "misses: of the pairs at the threshold, in simhash a cosine, else a resemblance",
                f"false rate: of the pairs at {self.wish.apart:g}, how many become candidates",
                f"candidates: strangers, at {self.wish.background:g}, that a document is compared with",
                "bytes: of a document's signature and keys; cost: these and the bytes read to compare it",
            ]
        if self.is_classic:
            return ["14 hashes are the default."]
        if self.signature_bytes is None or self.keys is None:
            return []
        return [f"{self.signature_bytes:,} bytes a document, and {self.keys:,} keys of {WORD}"]

    @property
    def is_classic(self) -> bool:
        """Whether this is the table of ``plan()``."""
        return self.scheme == "trials" and len(self.curves) == len(_CLASSIC)

    def _curve_cells(self) -> list[list[str]]:
        places = 1 if self.is_classic else 2
        return [
            [f"{100 * value:g} %", *(f"{100 * chance:.{places}f}" for chance in chances)]
            for value, *chances in self.table
        ]


def plan(  # noqa: PLR0913 - the parts of a wish, each a keyword
    scheme: "str | Scheme | None" = None,
    *,
    threshold: float | None = None,
    recall: float | None = None,
    false_rate: float | None = None,
    documents: int | None = None,
    apart: float | None = None,
    background: float | None = None,
    **parameters: float,
) -> Plan:
    """Say how likely documents match at which resemblance, or propose parameters.

    Without arguments: the classic table of enterprise search, the match probability of ``trials`` for 10 to 20
    hashes and resemblances of 80 to 100 %.

    With a *scheme* (``"trials"``, ``"minhash"``, ``"simhash"``, ``"sentences"``, or one made already) and any of its
    numbers: its curves. ``trials`` takes *hashes*, *trials*, *needed*; ``minhash`` *permutations*, *threshold*,
    *bands*; ``simhash`` *distance*, *bits*, *blocks*, and its measure is the cosine; ``sentences`` *size*, *threshold*.

    With *recall* and *threshold*: proposals of all schemes that can be searched, or of the one named, for a wish of
    these and *false_rate*, *documents*, *apart*, *background* (see ``Wish``).

    Raises ``ParameterError`` for a number that is out of range, does not go with the scheme, or cannot be reached.

    >>> classic = plan()
    >>> classic.curves[4].name, round(100 * classic.curves[4].probabilities[0], 2)  # 80 %; in print once 3.0
    ('14', 2.58)
    >>> [round(chance, 3) for chance in plan("minhash", permutations=112, threshold=0.8, bands=14).table[4]]
    [0.8, 0.519, 0.924, 0.511]
    >>> print(plan(threshold=0.8, recall=0.99, documents=30_000_000).proposals[0].options)
    --scheme minhash --permutations 160 --threshold 0.8 --recall 0.99
    """
    wishes = {"false_rate": false_rate, "documents": documents, "apart": apart, "background": background}
    given = {name: _plain(value) for name, value in wishes.items() if value is not None}
    threshold, recall = _plain(threshold), _plain(recall)
    parameters = {name: _plain(value) for name, value in parameters.items()}
    if recall is not None:
        require(threshold is not None, "recall", recall, "needs threshold, the resemblance at which it is wanted")
        for name, value in parameters.items():
            raise ParameterError(name, value, "is what a plan for a recall proposes; leave it out")
        wish = Wish(threshold=threshold, recall=recall, **given)
        return _wished(wish, scheme)
    for name, value in given.items():
        raise ParameterError(name, value, "needs threshold and recall")
    if threshold is not None:
        parameters["threshold"] = threshold
    if scheme is None:
        for name, value in parameters.items():
            raise ParameterError(name, value, "needs recall" if name == "threshold" else "needs a scheme")
        return _classic()
    if isinstance(scheme, str):
        return _drawn(_design(scheme, parameters))
    for name, value in parameters.items():
        raise ParameterError(name, value, "is a number of the scheme that was given; leave it out")
    return _made(scheme)


def _plain(value: Any) -> Any:
    """Turn a NumPy number into Python's, which JSON knows."""
    return value.item() if isinstance(value, np.generic) else value


def _design(scheme: str, parameters: dict[str, float]) -> Design:
    require(scheme in DESIGNS, "scheme", scheme, f"must be one of {', '.join(DESIGNS)}")
    known = [field.name for field in fields(DESIGNS[scheme])]
    for name, value in parameters.items():
        rule = f"does not go with {scheme}, which has {', '.join(known)}"
        if name == "threshold":
            rule = f"goes with {scheme} only if recall is given, too"
        require(name in known, name, value, rule)
    design: Design = DESIGNS[scheme](**parameters)
    if parameters:
        design.check()
    return design


def _drawn(design: Design, **more: Any) -> Plan:
    return Plan(
        scheme=design.name,
        parameters=design.parameters,
        layout=design.layout,
        measure=design.measure,
        threshold=more.pop("threshold", design.parameters.get("threshold")),
        signature_bytes=design.signature_bytes,
        keys=design.keys,
        curves=tuple(
            _curve(name, design.measure, design.values, chances)
            for name, chances in design.curves(design.values).items()
        ),
        **more,
    )


def _curve(name: str, measure: str, values: Any, chances: Any) -> Curve:
    return Curve(name=name, measure=measure, values=tuple(values.tolist()), probabilities=tuple(chances.tolist()))


def _classic() -> Plan:
    values = spread(0, 100)[80:]
    first = TrialsDesign()
    curves = []
    for hashes in _CLASSIC:
        chances = TrialsDesign(hashes=hashes).curves(values)["match"]
        curves.append(_curve(str(hashes), first.measure, values, chances))
    return Plan(
        scheme=first.name,
        parameters={"trials": first.trials, "needed": first.needed},
        layout={},
        measure=first.measure,
        threshold=None,
        signature_bytes=first.signature_bytes,
        keys=first.keys,
        curves=tuple(curves),
    )


def _made(scheme: "Scheme") -> Plan:
    """Draw a scheme that exists: by its own law, and as far as its numbers are known by what follows from them."""
    for question in ("name", "measure", "probability"):
        require(hasattr(scheme, question), "scheme", scheme, f"must be a scheme: it has no {question}")
    if scheme.name in DESIGNS:
        layout = getattr(scheme, "layout", None)
        drawn = _drawn(_of_numbers(scheme.name, lambda name: getattr(scheme, name, getattr(layout, name, None))))
        values = np.asarray(drawn.curves[0].values)
        own = _curve("match", scheme.measure, values, np.asarray(scheme.probability(values), np.float64))
        others = drawn.curves[1:] if scheme.measure == drawn.measure else ()  # laws of what it does not measure
        return replace(drawn, measure=scheme.measure, curves=(own, *others))
    values = spread(0, 100)
    own = _curve("match", scheme.measure, values, np.asarray(scheme.probability(values), np.float64))
    return Plan(
        scheme=scheme.name,
        parameters={},
        layout={},
        measure=scheme.measure,
        threshold=None,
        signature_bytes=None,
        keys=None,
        curves=(own,),
    )


def _of_numbers(scheme: str, number: "Callable[[str], float | None]") -> Design:
    """Take a design's numbers from what is right already."""
    numbers = {field.name: number(field.name) for field in fields(DESIGNS[scheme])}
    design: Design = DESIGNS[scheme](**numbers)
    return design


def _wished(wish: Wish, scheme: "str | Scheme | None") -> Plan:
    require(scheme is None or isinstance(scheme, str), "scheme", scheme, "must be a name, or None for all")
    proposals, unreached = propose(wish, SEARCHES if scheme is None else [str(scheme)])
    best = proposals[0]
    design = _of_numbers(best.scheme, {**best.parameters, **best.layout}.get)
    return _drawn(design, threshold=wish.threshold, wish=wish, proposals=proposals, unreached=unreached)


_COLUMNS: Final = {
    "scheme": "scheme",
    "parameters": "parameters",
    "layout": "layout",
    "misses": "misses",
    "false rate": "false_rate",
    "candidates": "candidates",
    "bytes": "bytes",
    "cost": "cost",
}
_WORDS: Final = {"match": "match %", "candidate": "candidate %", "both": "both %"}


def _proposal_cells(one: Proposal) -> list[str]:
    hidden = {"threshold", "recall", "bits", *one.layout}
    shown = {name: value for name, value in one.parameters.items() if name not in hidden}
    return [
        one.scheme,
        " ".join(f"{name} {value:g}" for name, value in shown.items()),
        " ".join(f"{name} {value:g}" for name, value in one.layout.items()) or f"keys {one.keys}",
        f"{100 * one.misses:.2g} %",
        f"{100 * one.false_rate:.2g} %",
        _amount(one.candidates),
        f"{one.bytes:,}",
        _amount(one.cost),
    ]


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"  # noqa: PLR2004 - two digits tell enough


def aligned(rows: "Sequence[Sequence[str]]") -> list[str]:
    """Make columns: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = [all(not cell[:1].isdigit() for cell in column[1:]) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, words, strict=True)
        ).rstrip()
        for row in rows
    ]
