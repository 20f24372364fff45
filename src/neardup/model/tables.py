"""How tables of 64-bit fingerprints are laid out, so that one probe of each finds all that are near."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from math import comb, inf, log2
from typing import Final, Literal, Self

from neardup.model.errors import ParameterError, is_number, require, require_whole

BITS: Final = 64
MOST_DISTANCE: Final = 7
MOST_TABLES: Final = 64
KINDS: Final = ("blocks", "nested", "probes")
STORED_BITS: Final = 32  # the low bits of an entry, which are scanned first
CODES: Final = 1 << 13  # bytes to read the codes of a compressed table
CODE_BITS: Final = 3.0  # of a compressed entry among n random ones, beyond 64 - log2(n)
# Microseconds of a lookup among many, measured on one core of an AMD EPYC (Zen 4, AVX-512) with 1 to 80 million
# fingerprints in all designs for distance 3.
PROBE: Final = 0.05  # to reach a bucket of small tables, which is not in the processor's nearest caches
SPREAD: Final = 0.03  # how much longer that takes whenever the tables, beyond a gibibyte, take twice the memory
COMPARE: Final = 0.0005  # to read and compare a fingerprint of the bucket

_GIBIBYTE: Final = 1 << 30
_NARROW: Final = 1 << 32  # what can be numbered with 4 bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What the parts of a lookup cost on one core, in microseconds.

    To reach a bucket takes ``probe + spread * log2(1 + bytes / 2**30)``, if the index takes so many *bytes*: the
    larger it is, the less of it, and of the pages that say where it is in memory, the processor's caches hold. To
    *compare* a query with a fingerprint of the bucket takes so much more.

    >>> Costs(probe=0.05, spread=0.03).of_probe(3 * 2**30)
    0.11
    """

    probe: float = PROBE
    spread: float = SPREAD
    compare: float = COMPARE

    def __post_init__(self) -> None:
        for name, cost in asdict(self).items():
            require(is_number(cost) and 0 <= cost < inf, name, cost, "must be 0 or more microseconds")

    def of_probe(self, size: float) -> float:
        """Tell what it takes to reach a bucket of an index of this *size* in bytes."""
        return self.probe + self.spread * log2(1 + size / _GIBIBYTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintTable:
    """All fingerprints, sorted by their *leading* bits.

    Bits are numbered from the most significant one, 0. The table is asked for every word that differs from
    the leading bits of a query in at most *radius* places.
    """

    leading: tuple[int, ...]
    radius: int = 0

    @property
    def lead(self) -> int:
        """How many bits lead."""
        return len(self.leading)

    @property
    def mask(self) -> int:
        """The leading bits, as they stand in a fingerprint."""
        return sum(_bit(bit) for bit in self.leading)

    @property
    def moves(self) -> dict[int, int]:
        """How to read a fingerprint in the table's order: rotate the bits of each mask left, and join them.

        >>> FingerprintTable(leading=tuple(range(16, 32))).moves == {
        ...     16: 0x0000_FFFF_0000_0000, 48: 0xFFFF_0000_0000_0000, 0: 0x0000_0000_FFFF_FFFF
        ... }
        True
        """
        rest = sorted(set(range(BITS)).difference(self.leading))
        moves: dict[int, int] = {}
        for place, bit in enumerate([*self.leading, *rest]):
            rotation = (bit - place) % BITS
            moves[rotation] = moves.get(rotation, 0) | _bit(bit)
        return moves

    @property
    def flips(self) -> list[int]:
        """What to change in the leading bits of a query, in the table's order; they fill the high bits."""
        return [
            sum(_bit(place) for place in places)
            for changes in range(self.radius + 1)
            for places in combinations(range(self.lead), changes)
        ]

    @property
    def probes(self) -> int:
        """How many words the table is asked for: C(lead, 0) + ... + C(lead, radius)."""
        return sum(comb(self.lead, changes) for changes in range(self.radius + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDesign:
    """A set of tables that together miss no fingerprint within *distance* bits of a query, at most 7.

    Each *kind* is complete for the same reason: so few differing bits cannot spoil every choice of pieces.

    - ``"blocks"`` cuts the 64 bits into *pieces* blocks, and C(pieces, distance) tables have all the ways to
      choose ``pieces - distance`` of them to lead. At most *distance* blocks differ; the others lead one of
      the tables (Manku, Jain, Das Sarma 2007).
    - ``"nested"`` cuts twice: of *pieces* > distance blocks one is equal, and of the other bits, where all
      differences then lie, cut into as many pieces again, one is equal, too. A table for each of the pieces²
      choices has both lead.
    - ``"probes"`` has a table for each of *pieces* <= distance + 1 parts, asked for all words at most a radius
      away. The radii sum up to ``distance + 1 - pieces``; if every part differed in more places than its
      radius, there would be ``distance + 1`` differences or more. Few tables, many probes: two halves
      of 32 bits are the compact design.

    Pieces are as equal as can be, the first ones longer. The first table is in the fingerprints' own order.

    >>> design = TableDesign(kind="blocks", distance=3, pieces=6)
    >>> len(design.tables), sorted({table.lead for table in design.tables})
    (20, [31, 32, 33])
    >>> nested = TableDesign(kind="nested", distance=3, pieces=4)
    >>> len(nested.tables), {table.lead for table in nested.tables}
    (16, {28})
    >>> [table.probes for table in TableDesign(kind="probes", distance=3, pieces=2).tables]
    [33, 33]
    """

    kind: Literal["blocks", "nested", "probes"]
    distance: int
    pieces: int

    def __post_init__(self) -> None:
        require(self.kind in KINDS, "kind", self.kind, "must be 'blocks', 'nested' or 'probes'")
        distance = require_whole("distance", self.distance, 0, MOST_DISTANCE)
        object.__setattr__(self, "distance", distance)
        least, most = (min(2, distance + 1), distance + 1) if self.kind == "probes" else (distance + 1, BITS)
        object.__setattr__(self, "pieces", require_whole("pieces", self.pieces, least, most))
        number = self._number()
        rule = f"must give at most {MOST_TABLES} tables, and {self.pieces} give {number}"
        require(number <= MOST_TABLES, "pieces", self.pieces, rule)

    def _number(self) -> int:
        """Count the tables."""
        if self.kind == "blocks":
            return comb(self.pieces, self.distance)
        return self.pieces**2 if self.kind == "nested" else self.pieces

    @property
    def tables(self) -> tuple[FingerprintTable, ...]:
        """The tables, in the order in which a match belongs to the first that finds it."""
        pieces = _cut(tuple(range(BITS)), self.pieces)
        if self.kind == "blocks":
            chosen = combinations(pieces, self.pieces - self.distance)
            return tuple(FingerprintTable(leading=sum(blocks, ())) for blocks in chosen)
        if self.kind == "nested":
            return tuple(
                FingerprintTable(leading=block + piece)
                for block in pieces
                for piece in _cut(_without(block), self.pieces)
            )
        whole, more = divmod(self.distance + 1 - self.pieces, self.pieces)
        return tuple(
            FingerprintTable(leading=part, radius=whole + (number < more)) for number, part in enumerate(pieces)
        )

    def bucket_bits(self, fingerprints: int, *, compressed: bool = False) -> int:
        """How many of the leading bits choose a bucket by one look: all, or two less than number the fingerprints.

        Compressed, it is four less: larger buckets take more time, and less memory.
        """
        shortest = min(table.lead for table in self.tables)
        return max(1, min(shortest, STORED_BITS, fingerprints.bit_length() - (5 if compressed else 3)))

    def candidates(self, fingerprints: int) -> float:
        """How many fingerprints a query is compared with, expected of so many random ones.

        >>> TableDesign(kind="nested", distance=3, pieces=4).candidates(2**34) / 16
        64.0
        """
        return fingerprints * sum(table.probes / float(2**table.lead) for table in self.tables)

    def bytes_each(self, fingerprints: int, *, compressed: bool = False) -> float:
        """How much memory a fingerprint takes, if all are different: table entries, directories, its position.

        Positions and directories count the fingerprints with 4 bytes, or 8 where there are more than 2**32. Those of
        compressed tables are expected to be random; similar ones take less.
        """
        bits = self.bucket_bits(fingerprints, compressed=compressed)
        number = 4 if fingerprints <= _NARROW else 8
        directory = number * ((1 << bits) + 1) / max(1, fingerprints)
        if compressed:
            entry = (BITS - log2(max(1, fingerprints)) + CODE_BITS) / 8 + CODES / max(1, fingerprints)
            return len(self.tables) * (entry + directory) + directory + number
        return len(self.tables) * (4 + high_bytes(bits) + directory) + number

    def microseconds(self, fingerprints: int, costs: Costs | None = None) -> float:
        """Predict the time of a lookup: ``probes * costs.of_probe(bytes) + candidates * costs.compare``."""
        costs = costs or Costs()
        probes = sum(table.probes for table in self.tables)
        probe = costs.of_probe(fingerprints * self.bytes_each(fingerprints))
        return probes * probe + self.candidates(fingerprints) * costs.compare

    @classmethod
    def choose(
        cls, *, distance: int, fingerprints: int, memory: float | None = None, costs: Costs | None = None
    ) -> Self:
        """Take the design with the smallest product of predicted time and memory, of those that fit into *memory*.

        Half the time is worth twice the memory, and no more.

        >>> TableDesign.choose(distance=3, fingerprints=20_000_000)
        TableDesign(kind='blocks', distance=3, pieces=4)
        >>> TableDesign.choose(distance=3, fingerprints=20_000_000, memory=400e6)
        TableDesign(kind='probes', distance=3, pieces=2)
        """
        sizes = {design: fingerprints * design.bytes_each(fingerprints) for design in cls.choices(distance)}
        fitting = [design for design, size in sizes.items() if memory is None or size <= memory]
        if not fitting:
            least = min(sizes.values())
            raise ParameterError("memory", memory, f"must be at least {least:,.0f} bytes, the smallest design's size")
        return min(
            fitting, key=lambda design: design.microseconds(fingerprints, costs) * design.bytes_each(fingerprints)
        )

    @classmethod
    def choices(cls, distance: int) -> Iterator[Self]:
        """All designs worth a thought."""
        distance = require_whole("distance", distance, 0, MOST_DISTANCE)
        for pieces in range(distance + 1, distance + 5 if distance else 2):
            if comb(pieces, distance) <= MOST_TABLES:
                yield cls(kind="blocks", distance=distance, pieces=pieces)
        if distance:
            yield cls(kind="nested", distance=distance, pieces=distance + 1)
        for pieces in range(2, distance + 1):
            yield cls(kind="probes", distance=distance, pieces=pieces)


def high_bytes(bucket_bits: int) -> int:
    """How many bytes hold what neither the bucket nor the stored low bits tell of a fingerprint."""
    return -(-(BITS - STORED_BITS - bucket_bits) // 8)


def _bit(number: int) -> int:
    """Give the value of a bit, counted from the most significant one."""
    return 1 << (BITS - 1 - number)


def _without(bits: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(bit for bit in range(BITS) if bit not in bits)


def _cut(bits: tuple[int, ...], pieces: int) -> list[tuple[int, ...]]:
    """Cut a run of bits into pieces as equal as can be, the longer ones first."""
    size, longer = divmod(len(bits), pieces)
    edges = [number * size + min(number, longer) for number in range(pieces + 1)]
    return [bits[begin:end] for begin, end in pairwise(edges)]
