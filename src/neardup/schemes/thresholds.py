"""What two documents need to match: the threshold of their scheme, or a stricter one."""

from typing import Any

from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import Words
from neardup.text.sites import NO_SITES, STRICTER


def thresholds_of(scheme: Any, sites: Words = NO_SITES) -> Thresholds:
    """Return what pairs of documents need, by the scheme and by the sites that the documents belong to."""
    return Thresholds(float(scheme.threshold), sites, STRICTER)
