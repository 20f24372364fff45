"""Layouts of tables of 64-bit fingerprints in which a few lookups find all fingerprints within a distance."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from math import comb, inf, log2
from typing import Final, Literal, Self, get_args

from neardup.model.errors import ParameterError, is_number, plain_value, require, require_choice, require_whole

BITS: Final = 64
MOST_DISTANCE: Final = 7
MOST_TABLES: Final = 64
DesignKind = Literal["blocks", "nested", "probes"]
STORED_BITS: Final = 32  # the low bits of an entry, which are scanned first
CODES: Final = 1 << 13  # bytes to read the codes of a compressed table
CODE_BITS: Final = 3.0  # of a compressed entry among n random ones, beyond 64 - log2(n)

_GIBIBYTE: Final = 1 << 30
_NARROW: Final = 1 << 32  # numbers of 4 bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The time of each part of a lookup on one core, in microseconds.

    Reaching a bucket takes ``probe + spread * log2(1 + bytes / 2**30)`` in an index of this many *bytes*: the larger
    the index, the less of it, and of its page tables, fits into the processor's caches. Comparing a query with one
    fingerprint of the bucket takes *compare*.

    >>> Costs(probe=0.05, spread=0.03).of_probe(3 * 2**30)
    0.11
    """

    # Measured in long series on an AMD EPYC (Zen 4, AVX-512), with 1 to 80 million fingerprints in all designs for
    # distance 3.
    probe: float = 0.05  # for small tables whose buckets are not in the nearest processor caches
    spread: float = 0.03  # for each doubling of the memory of the tables beyond 1 GiB
    compare: float = 0.0005

    def __post_init__(self) -> None:
        for name, cost in asdict(self).items():
            require(is_number(cost) and 0 <= cost < inf, name, cost, "must be 0 or more microseconds")
            object.__setattr__(self, name, plain_value(cost))

    def of_probe(self, size: float) -> float:
        """Return the time to reach a bucket in an index of this *size* in bytes."""
        return self.probe + self.spread * log2(1 + size / _GIBIBYTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintTable:
    """All fingerprints, sorted by their *leading* bits.

    Bit 0 is the most significant one. A lookup probes the table with every word that differs from the leading bits of a
    query in at most *radius* bits.
    """

    leading: tuple[int, ...]
    radius: int = 0

    @property
    def lead(self) -> int:
        """The number of leading bits."""
        return len(self.leading)

    @property
    def mask(self) -> int:
        """The leading bits, at their places in a fingerprint."""
        return sum(_bit(bit) for bit in self.leading)

    @property
    def moves(self) -> dict[int, int]:
        """How to arrange the bits of a fingerprint in the table's order: rotate each mask left, and join the bits.

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
        """The changes of the leading bits of a query, in the table's order; they fill the high bits."""
        return [
            sum(_bit(place) for place in places)
            for changes in range(self.radius + 1)
            for places in combinations(range(self.lead), changes)
        ]

    @property
    def probes(self) -> int:
        """The number of probes per query: C(lead, 0) + ... + C(lead, radius)."""
        return sum(comb(self.lead, changes) for changes in range(self.radius + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDesign:
    """A set of tables that together find every fingerprint within *distance* bits of a query, at most 7.

    Each *kind* is complete because *distance* differing bits cannot affect all choices of pieces.

    - ``"blocks"`` cuts the 64 bits into *pieces* blocks. C(pieces, distance) tables have each choice of
      ``pieces - distance`` blocks as their leading bits. At most *distance* blocks differ; the others lead one
      of the tables (Manku, Jain, Das Sarma 2007).
    - ``"nested"`` cuts twice. Of *pieces* > distance blocks at least one is equal. All differences are then in
      the other bits; of these, cut into *pieces* pieces again, at least one is equal, too. Each of the pieces²
      choices has a table with both as its leading bits.
    - ``"probes"`` has a table for each of *pieces* <= distance + 1 parts and probes it with all words within a
      radius. The radii sum to ``distance + 1 - pieces``: if every part differed in more bits than its radius,
      there would be at least ``distance + 1`` differences. It has few tables and many probes; two halves of 32
      bits are the compact design.

    Pieces are as equal as possible, the first ones longer. The first table is in the fingerprints' own order.

    >>> design = TableDesign(kind="blocks", distance=3, pieces=6)
    >>> len(design.tables), sorted({table.lead for table in design.tables})
    (20, [31, 32, 33])
    >>> nested = TableDesign(kind="nested", distance=3, pieces=4)
    >>> len(nested.tables), {table.lead for table in nested.tables}
    (16, {28})
    >>> [table.probes for table in TableDesign(kind="probes", distance=3, pieces=2).tables]
    [33, 33]
    """

    kind: DesignKind
    distance: int
    pieces: int

    def __post_init__(self) -> None:
        require_choice("kind", self.kind, get_args(DesignKind), "must be 'blocks', 'nested' or 'probes'")
        distance = require_whole("distance", self.distance, 0, MOST_DISTANCE)
        object.__setattr__(self, "distance", distance)
        least, most = (min(2, distance + 1), distance + 1) if self.kind == "probes" else (distance + 1, BITS)
        object.__setattr__(self, "pieces", require_whole("pieces", self.pieces, least, most))
        number = {
            "blocks": comb(self.pieces, self.distance),
            "nested": self.pieces**2,
            "probes": self.pieces,
        }[self.kind]
        rule = f"must result in at most {MOST_TABLES} tables, but results in {number}"
        require(number <= MOST_TABLES, "pieces", self.pieces, rule)

    @property
    def tables(self) -> tuple[FingerprintTable, ...]:
        """The tables; a match belongs to the first table that finds it."""
        pieces = _cut(tuple(range(BITS)), self.pieces)
        if self.kind == "blocks":
            chosen = combinations(pieces, self.pieces - self.distance)
            return tuple(FingerprintTable(leading=sum(blocks, ())) for blocks in chosen)
        if self.kind == "nested":
            return tuple(
                FingerprintTable(leading=block + piece)
                for block in pieces
                for piece in _cut(tuple(bit for bit in range(BITS) if bit not in block), self.pieces)
            )
        whole, more = divmod(self.distance + 1 - self.pieces, self.pieces)
        return tuple(
            FingerprintTable(leading=part, radius=whole + (number < more)) for number, part in enumerate(pieces)
        )

    def bucket_bits(self, fingerprints: int, *, compressed: bool = False) -> int:
        """Return how many of the leading bits choose a bucket directly.

        These are all leading bits, or two fewer than the bits of the number of fingerprints; compressed, four fewer:
        larger buckets take more time and less memory.
        """
        shortest = min(table.lead for table in self.tables)
        return max(1, min(shortest, STORED_BITS, int(fingerprints).bit_length() - (5 if compressed else 3)))

    def candidates(self, fingerprints: int) -> float:
        """Return the expected number of fingerprints compared with a query, among this many random *fingerprints*.

        >>> TableDesign(kind="nested", distance=3, pieces=4).candidates(2**34) / 16
        64.0
        """
        return fingerprints * sum(table.probes / float(2**table.lead) for table in self.tables)

    def bytes_each(self, fingerprints: int, *, compressed: bool = False) -> float:
        """Return the bytes per fingerprint if all are different: table entries, directories and its position.

        Positions and directories take 4 bytes per number, or 8 for more than 2**32 fingerprints. Compressed tables are
        calculated for random fingerprints; similar ones take less. An index also has 8 bytes for each probe of a query,
        at most 88 kB for two tables: much more than its fingerprints if these are few.
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
        """Return the design with the smallest product of predicted time and memory, of those that fit into *memory*.

        That is, half the time is worth twice the memory. *memory* is in bytes; ``None`` allows any. Raises
        ``ParameterError`` if no design fits.

        >>> TableDesign.choose(distance=3, fingerprints=20_000_000)
        TableDesign(kind='blocks', distance=3, pieces=4)
        >>> TableDesign.choose(distance=3, fingerprints=20_000_000, memory=400e6)
        TableDesign(kind='probes', distance=3, pieces=2)
        """
        fingerprints = require_whole("fingerprints", fingerprints, 0)
        require(memory is None or is_number(memory), "memory", memory, "must be a number of bytes, or None")
        require(costs is None or isinstance(costs, Costs), "costs", costs, "must be Costs or None")
        sizes = {design: fingerprints * design.bytes_each(fingerprints) for design in cls.choices(distance)}
        fitting = [design for design, size in sizes.items() if memory is None or size <= memory]
        if not fitting:
            least = min(sizes.values())
            raise ParameterError("memory", memory, f"must be at least {least:,.0f} bytes, for the smallest design")
        return min(
            fitting, key=lambda design: design.microseconds(fingerprints, costs) * design.bytes_each(fingerprints)
        )

    @classmethod
    def choices(cls, distance: int) -> Iterator[Self]:
        """Yield all designs worth considering for a *distance*."""
        distance = require_whole("distance", distance, 0, MOST_DISTANCE)
        for pieces in range(distance + 1, distance + 5 if distance else 2):
            if comb(pieces, distance) <= MOST_TABLES:
                yield cls(kind="blocks", distance=distance, pieces=pieces)
        if distance:
            yield cls(kind="nested", distance=distance, pieces=distance + 1)
        for pieces in range(2, distance + 1):
            yield cls(kind="probes", distance=distance, pieces=pieces)


def high_bytes(bucket_bits: int) -> int:
    """Return how many bytes hold the bits that are neither implied by the bucket nor stored as the low bits."""
    return -(-(BITS - STORED_BITS - bucket_bits) // 8)


def _bit(number: int) -> int:
    """Return the value of a bit, counted from the most significant one."""
    return 1 << (BITS - 1 - number)


def _cut(bits: tuple[int, ...], pieces: int) -> list[tuple[int, ...]]:
    """Cut a run of bits into pieces as equal as possible, the longer ones first."""
    size, longer = divmod(len(bits), pieces)
    edges = [number * size + min(number, longer) for number in range(pieces + 1)]
    return [bits[begin:end] for begin, end in pairwise(edges)]
