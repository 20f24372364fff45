"""What is done with matches. Changing it costs nothing."""

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
    """Which copy stays, how a candidate is verified, and how matches gather.

    ``keep``
        the rank of documents, best first: ``first``, ``last`` (by position), ``longest``,
        ``shortest`` (by bytes of text), ``max:FIELD``, ``min:FIELD`` (documents without a value
        rank last). Ties go to the smallest position.
    ``verify``
        ``exact``: the scheme's rule on the documents themselves (for MinHash the resemblance of the
        two feature sets); ``estimate``: on their signatures; ``none``: every candidate is a match,
        sensible only where keys are the rule (``Trials``, ``Checksum``): others may share one by chance.
        Fingerprints of ``SimHash``, and the second scheme of ``Combined``, must match in any case.
    ``gather``
        ``kept``: a document is dropped only for a kept document that it matches itself;
        ``components``: whatever is connected by matches is one cluster, chains included.
    ``representative``
        the kept document that a dropped one is recorded with, of those that it matches: ``best-ranked``, or
        ``closest``, the one of the highest measure (the best-ranked of equally close ones). Which documents are kept
        does not depend on it.
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
        """The column that ranks the documents, if one does."""
        return self.keep.partition(":")[2] or None


def require_representative(representative: object) -> None:
    """Raise ``ParameterError`` unless this is one of ``Representative``."""
    known = representative in get_args(Representative)
    require(known, "representative", representative, "must be best-ranked or closest")
