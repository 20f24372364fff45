"""What happens to matches. Changing it costs nothing."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from neardup.model.errors import ParameterConflict, require, require_choice

Verify = Literal["exact", "estimate", "none"]
Gather = Literal["kept", "components"]
Representative = Literal["best-ranked", "closest"]
_REPRESENTATIVES: Final = get_args(Representative)
CANONICAL: Final = "canonical"
HTTPS: Final = "https"
SHORTEST_ID: Final = "shortest-id"
NOINDEX: Final = "noindex"
SIMPLE_KEEPS: Final = ("first", "last", "longest", "shortest", CANONICAL, HTTPS, SHORTEST_ID)
FIELD_KEEPS: Final = ("max", "min")
_POSITIONS: Final = ("first", "last")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which copy is kept, how candidates are verified, and how matches form clusters.

    ``keep``
        the ranking of documents, best first: ``first``, ``last`` (by position), ``longest``, ``shortest`` (by
        bytes of text), ``max:FIELD``, ``min:FIELD`` (documents without a value rank last). Of documents whose ids
        are URLs, and of pages with a field for their URL, also ``canonical`` (the address that the most documents
        name, see below), ``https`` (before others) and ``shortest-id`` (by bytes of the address). Several, separated
        by commas, are in order of importance: ``canonical,max:score``. Ties go to the smallest position.

        ``canonical``: a document names the address in its field ``canonical``, which may be relative to its own one;
        without one, or with an invalid one, it names its own. It ranks by the number of documents that name its
        address, of all that are ranked together; http and https are the same. Ties at the end of the list go to https,
        then to documents that search engines may index, then to the shortest address. Search engines may not index a
        document whose field ``noindex``, if there is one, is 1 or true; no other value counts. It only ranks: no
        document is dropped without a match.
    ``verify``
        ``exact``: the scheme's rule on the documents themselves (for MinHash the resemblance of the two feature
        sets); ``estimate``: the rule on their signatures; ``none``: every candidate is a match. ``none`` is
        only useful if a shared key is the scheme's rule (``Trials``, ``Checksum``): with other schemes,
        unrelated documents may share a key by chance. Fingerprints of ``SimHash``, and the second scheme of
        ``Combined``, must match in any case.
    ``gather``
        ``kept``: a document is dropped only for a kept document that it matches itself; ``components``:
        documents that are connected by matches are one cluster, chains included.
    ``representative``
        the kept document that a dropped one is recorded with, of those that it matches: ``best-ranked``, or
        ``closest``, the one with the highest measure (the best-ranked of equally close ones; also if nothing is
        verified, because no measure is known then). It has no effect on which documents are kept.
    """

    keep: str = "first"
    verify: Verify = "exact"
    gather: Gather = "kept"
    representative: Representative = "best-ranked"

    def __post_init__(self) -> None:
        rule = f"must be {', '.join(SIMPLE_KEEPS)}, max:FIELD or min:FIELD, or several of these, separated by commas"
        require(isinstance(self.keep, str) and all(map(_is_keep, self.keep.split(","))), "keep", self.keep, rule)
        early = [each for each in self.keep.split(",")[:-1] if each in _POSITIONS]
        rule = "must have only one of first and last, at the end, because no two positions are equal"
        require(not early, "keep", self.keep, rule)
        require_choice("verify", self.verify, get_args(Verify), "must be exact, estimate or none")
        require_choice("gather", self.gather, get_args(Gather), "must be kept or components")
        require_representative(self.representative)
        alike = self.representative == "best-ranked" or self.gather == "kept"
        if not alike:
            why = "the representative of connected documents is the best-ranked one; leave out one of the two"
            raise ParameterConflict("representative", self.representative, "gather", self.gather, why)

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """The parts of *keep* in order of importance, each with its field (or nothing), and what decides ties."""
        named = self.keep.split(",")
        if CANONICAL in named and named[-1] not in _POSITIONS:
            ranks_it = any(each.partition(":")[2] == NOINDEX for each in named)
            named += [HTTPS, *([] if ranks_it else [NOINDEX]), SHORTEST_ID]
        return tuple((kind, field) for kind, _, field in (each.partition(":") for each in named))

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that rank the documents; only the ``required_fields`` must exist."""
        return tuple(dict.fromkeys([*self.required_fields, *self.written_fields]))

    @property
    def value_fields(self) -> tuple[str, ...]:
        """The columns that rank by their values: those that ``max`` and ``min`` name."""
        return tuple(dict.fromkeys(field for _, field in self.keys if field))

    @property
    def written_fields(self) -> tuple[str, ...]:
        """The columns that rank by what documents declare: ``canonical``, and ``noindex`` unless it ranks by value."""
        return tuple(kind for kind in (CANONICAL, NOINDEX) if (kind, "") in self.keys)

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The columns that must exist: all but the one that only decides ties where documents have it."""
        declared = [name for name in self.written_fields if name != NOINDEX]
        return tuple(dict.fromkeys([*declared, *self.value_fields]))

    @property
    def ranks_addresses(self) -> bool:
        """Whether the addresses of documents count."""
        return any(kind in {CANONICAL, HTTPS, SHORTEST_ID} for kind, _ in self.keys)


def _is_keep(named: str) -> bool:
    kind, colon, field = named.partition(":")
    return kind in FIELD_KEEPS and field != "" if colon else kind in SIMPLE_KEEPS


def require_representative(representative: object) -> None:
    """Raise ``ParameterError`` unless the value is one of ``Representative``."""
    require_choice("representative", representative, _REPRESENTATIVES, "must be best-ranked or closest")
