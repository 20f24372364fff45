"""A comparison of the designs of fingerprint tables: memory and time."""

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Final

from neardup.evaluation.plain_results import AsDict
from neardup.evaluation.plans import aligned, amount
from neardup.kernels.hamming import POSITION_BITS
from neardup.model.errors import ParameterError, counted, is_number, plain_value, require, require_kind, require_whole
from neardup.model.tables import MOST_DISTANCE, Costs, TableDesign

MOST: Final = 1 << POSITION_BITS  # fingerprints of an index
_LARGEST: Final = 1 << 48  # fingerprints of a plan
_COLUMNS: Final = (
    *("kind", "pieces", "tables", "leading bits", "probes", "candidates per probe", "candidates"),
    *("bytes each", "memory", "machines", "microseconds", ""),
)
_MACHINES: Final = _COLUMNS.index("machines")
_UNITS: Final = ("B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB")
_STEP: Final = 1000
_MORE_SHARDS: Final = 4  # times as many as necessary, if fewer machines have room for these
_TRIED: Final = 200  # smaller numbers of machines


@dataclass(frozen=True, kw_only=True)
class DesignPlan:
    """A design and its costs, for a number of random fingerprints.

    ``leading_bits`` are the fewest and the most of its tables; ``candidates_a_probe`` likewise, among all fingerprints.
    ``probes`` are per lookup in a shard, ``candidates`` per lookup in all shards. ``bytes`` is the memory of all
    shards, ``bytes_each`` the memory per fingerprint. Each of the *machines* has as many *shards* as the others, and
    looks up in them one after another, which takes ``microseconds``.
    """

    kind: str
    pieces: int
    tables: int
    leading_bits: tuple[int, int]
    probes: int
    candidates_a_probe: tuple[float, float]
    candidates: float
    bytes_each: float
    bytes: float
    shards: int
    machines: int
    microseconds: float
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class TablePlan(AsDict):
    """The designs for a number of fingerprints within a distance that fit into *memory*, the fastest first.

    If there are more than an index can have, they are divided among as few machines of this *memory* as possible, each
    with the fewest shards that have room; with ``None``, among the shards of one machine. One design is chosen
    (``TableDesign.choose``). *left_out* counts those that do not fit. Printed, it is a table.
    """

    fingerprints: int
    distance: int
    memory: float | None
    costs: Costs
    designs: tuple[DesignPlan, ...]
    left_out: int

    def __str__(self) -> str:
        rows = [_COLUMNS, *map(_cells, self.designs)]
        if self.fingerprints <= MOST:
            rows = [(*row[:_MACHINES], *row[_MACHINES + 1 :]) for row in rows]
            return "\n".join([self.heading, "", *aligned(rows), "", *self.notes])
        least = min(one.shards for one in self.designs)
        shards = f"An index has at most 2^30 fingerprints: divide these into at least {least:,} shards, each an index."
        return "\n".join([self.heading, shards, "", *aligned(rows), "", *self.notes])

    @property
    def heading(self) -> str:
        """The title of the table."""
        place = "in at most" if self.fingerprints <= MOST else "on machines of"
        fits = "" if self.memory is None else f", {place} {_size(self.memory)}"
        number = counted(self.fingerprints, "fingerprint")
        return f"Designs for {number} within distance {self.distance}{fits}; fastest first"

    @property
    def notes(self) -> list[str]:
        """Notes on the table."""
        costs, shards = self.costs, "" if self.fingerprints <= MOST else " of each machine, in all its shards"
        return [
            *([f"Not listed: {self.left_out}, which do not fit"] if self.left_out else []),
            "candidates: fingerprints that a query is compared with, if all are random",
            "bytes: of table entries, directories and positions, if all are different",
            *([] if self.fingerprints <= MOST else ["memory: of all machines together"]),
            f"microseconds: of a lookup among many on one core{shards}, where",
            f"  a probe takes {costs.probe:.3g} + {costs.spread:.3g} * log2(1 + bytes / 2^30) and",
            f"  a comparison {costs.compare:.3g}",
            "chosen: the smallest product of time and memory",
        ]


def plan_tables(
    fingerprints: int, distance: int = 3, *, memory: float | None = None, costs: Costs | None = None
) -> TablePlan:
    """Return the memory and time of each design for this many 64-bit *fingerprints*, and the design to choose.

    *distance* is in bits. *memory*, in bytes, excludes larger designs; *costs* are those of another machine
    (``measured_costs`` measures this one's). An index has at most 2**30 fingerprints; more are divided into equal
    shards, on as few machines with this *memory* as possible. Each has at most four times as many shards as necessary,
    because directories of smaller shards may take less. Raises ``ParameterError`` for numbers out of range, and if no
    design fits.

    >>> plan = plan_tables(2**34, distance=3)
    >>> [(one.tables, one.leading_bits, one.candidates_a_probe) for one in plan.designs if one.tables in (4, 16, 20)]
    [(16, (28, 28), (64.0, 64.0)), (20, (31, 33), (2.0, 8.0)), (4, (16, 16), (262144.0, 262144.0))]
    """
    fingerprints = require_whole("fingerprints", fingerprints, 1, _LARGEST)
    distance = require_whole("distance", distance, 0, MOST_DISTANCE)
    if memory is not None:
        require(is_number(memory) and memory > 0, "memory", memory, "must be more than 0 bytes")
        memory = plain_value(memory)
    costs = Costs() if costs is None else costs
    require_kind("costs", costs, Costs)
    designs = [*TableDesign.choices(distance)]
    divided = {design: _divided(design, fingerprints, memory) for design in designs}
    plans = [_planned(design, fingerprints, *parts, costs) for design, parts in divided.items() if all(parts)]
    if not plans:
        together = _together(fingerprints)
        least = together * min(design.bytes_each(together) for design in designs)
        raise ParameterError("memory", memory, f"must be at least {least:,.0f} bytes, for the smallest design")
    best = min(plans, key=lambda one: one.microseconds * one.bytes)
    return TablePlan(
        fingerprints=fingerprints,
        distance=distance,
        memory=memory,
        costs=costs,
        designs=tuple(sorted((replace(one, chosen=one is best) for one in plans), key=lambda one: one.microseconds)),
        left_out=len(designs) - len(plans),
    )


def _together(fingerprints: int) -> int:
    """Return how many of the fingerprints must be on one machine."""
    return fingerprints if fingerprints <= MOST else 1


def _divided(design: TableDesign, fingerprints: int, memory: float | None) -> tuple[int, int]:
    """Return the fewest machines of this *memory* that have all fingerprints, and the shards of each; 0 if none fit."""

    def shards(machines: int) -> int:
        """Return the fewest shards of a machine that fit: smaller shards may need less memory for their directories."""
        part = -(-fingerprints // machines)
        fewest = -(-part // MOST)
        most = _MORE_SHARDS * fewest if fingerprints > MOST else fewest
        fitting = (
            number
            for number in range(fewest, most + 1)
            for size in [-(-part // number)]
            if memory is None or number * size * design.bytes_each(size) <= memory
        )
        return next(fitting, 0)

    numbers = range(1, -(-fingerprints // _together(fingerprints)) + 1)
    if not shards(numbers[-1]):
        return 0, 0
    found = numbers[bisect_left(numbers, x=True, key=lambda number: shards(number) > 0)]
    below = range(found - min(found // 8, _TRIED), found)  # more machines do not always need less memory each
    machines = next(filter(shards, below), found)
    return machines, shards(machines)


def _planned(design: TableDesign, fingerprints: int, machines: int, shards: int, costs: Costs) -> DesignPlan:
    tables = design.tables
    leads = [table.lead for table in tables]
    size = -(-fingerprints // (machines * shards))
    return DesignPlan(
        kind=design.kind,
        pieces=design.pieces,
        tables=len(tables),
        leading_bits=(min(leads), max(leads)),
        probes=sum(table.probes for table in tables),
        candidates_a_probe=(fingerprints / 2 ** max(leads), fingerprints / 2 ** min(leads)),
        candidates=design.candidates(fingerprints),
        bytes_each=design.bytes_each(size),
        bytes=design.bytes_each(size) * fingerprints,
        shards=shards * machines,
        machines=machines,
        microseconds=shards * design.microseconds(size, costs),
        chosen=False,
    )


def _cells(one: DesignPlan) -> list[str]:
    return [
        one.kind,
        f"{one.pieces}",
        f"{one.tables}",
        _range(*(f"{lead}" for lead in one.leading_bits)),
        f"{one.probes:,}",
        _range(*map(amount, one.candidates_a_probe)),
        amount(one.candidates),
        f"{one.bytes_each:.1f}",
        _size(one.bytes),
        f"{one.machines:,}",
        f"{one.microseconds:,.2f}",
        "chosen" if one.chosen else "",
    ]


def _range(least: str, most: str) -> str:
    return least if least == most else f"{least}-{most}"


def _size(value: float) -> str:
    """Return a number of bytes as text with three digits.

    >>> _size(999.4), _size(561e6), _size(1.5e12)
    ('999 B', '561 MB', '1.5 TB')
    """
    unit = 0
    while value >= _STEP - 0.5 and unit < len(_UNITS) - 1:
        value /= _STEP
        unit += 1
    return f"{value:.3g} {_UNITS[unit]}"
