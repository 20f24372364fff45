"""Web addresses: their normal form, host, registered domain and path levels."""

from neardup.sources.addresses import Addresses
from neardup.sources.domains import registered_domain
from neardup.sources.hosts import host, path_levels

__all__ = [
    "Addresses",
    "host",
    "path_levels",
    "registered_domain",
]
