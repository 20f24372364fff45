"""What happens to matches. Changing it costs nothing."""

from dataclasses import dataclass
from typing import Literal, get_args

from neardup.model.errors import ParameterConflict, require

Verify = Literal["exact", "estimate", "none"]
Gather = Literal["kept", "components"]
Representative = Literal["best-ranked", "closest"]
SIMPLE_KEEPS = ("first", "last", "longest", "shortest")
FIELD_KEEPS = ("max", "min")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which copy is kept, how candidates are verified, and how matches form clusters.

    ``keep``
        the ranking of documents, best first: ``first``, ``last`` (by position), ``longest``, ``shortest`` (by
        bytes of text), ``max:FIELD``, ``min:FIELD`` (documents without a value rank last). Ties go to the
        smallest position.
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
        ``closest``, the one with the highest measure (the best-ranked of equally close ones). It has no effect
        on which documents are kept.
    """

    keep: str = "first"
    verify: Verify = "exact"
    gather: Gather = "kept"
    representative: Representative = "best-ranked"

    def __post_init__(self) -> None:
        kind, colon, field = self.keep.partition(":") if isinstance(self.keep, str) else ("", "", "")
        known = kind in FIELD_KEEPS and field != "" if colon else kind in SIMPLE_KEEPS
        require(known, "keep", self.keep, f"must be {', '.join(SIMPLE_KEEPS)}, max:FIELD or min:FIELD")
        require(self.verify in get_args(Verify), "verify", self.verify, "must be exact, estimate or none")
        require(self.gather in get_args(Gather), "gather", self.gather, "must be kept or components")
        require_representative(self.representative)
        alike = self.representative == "best-ranked" or self.gather == "kept"
        if not alike:
            raise ParameterConflict("representative", self.representative, "gather", self.gather)

    @property
    def field(self) -> str | None:
        """The column that ranks the documents; ``None`` if no column does."""
        return self.keep.partition(":")[2] or None


def require_representative(representative: object) -> None:
    """Raise ``ParameterError`` unless the value is one of ``Representative``."""
    known = representative in get_args(Representative)
    require(known, "representative", representative, "must be best-ranked or closest")
