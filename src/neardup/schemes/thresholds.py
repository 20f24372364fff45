"""What two documents need to match: the threshold of their scheme, or a stricter one."""

from typing import Any, Final

from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import Words
from neardup.model.errors import ParameterConflict, ParameterError
from neardup.model.policy import Policy
from neardup.text.sites import NO_SITES, STRICTER

_UNKNOWN: Final = "the length of a document is not in its signature"


def thresholds_of(scheme: Any, sites: Words = NO_SITES) -> Thresholds:
    """Return what pairs of documents need, by the scheme and by the sites that the documents belong to.

    The sets of these thresholds are the different features of documents.
    """
    same = float(scheme.threshold), sites, STRICTER
    return Thresholds(*same) if scheme.short is None else Thresholds(*same, scheme.short, float(scheme.short_threshold))


def require_policy(scheme: Any, policy: Policy) -> None:
    """Raise ``ParameterConflict`` for a policy that the scheme cannot be used with.

    Components of cosines have no cosine of unmatched documents as evidence. Signatures alone do not have the lengths of
    documents.
    """
    if policy.verify != "exact" and scheme.short is not None:
        raise ParameterConflict("short", scheme.short, "verify", policy.verify, _UNKNOWN)
    if scheme.rule == "cosine" and policy.gather == "components":
        raise ParameterConflict("gather", policy.gather, "measure", scheme.rule)


def require_texts(scheme: Any, needed: str = "an index that stores texts") -> None:
    """Raise ``ParameterError`` if the lengths of documents count, where only signatures decide; *needed* is missing."""
    if scheme.short is not None:
        raise ParameterError("short", scheme.short, f"needs {needed}: {_UNKNOWN}", "lengths unknown")
