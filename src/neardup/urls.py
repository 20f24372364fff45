"""Web addresses: their normal form, host, registered domain and path levels."""

from neardup.pipeline.crawl.mirrors import find_mirrors
from neardup.pipeline.crawl.url_rules import find_url_rules
from neardup.sources.addresses import Addresses
from neardup.sources.hosts import host, path_levels, registered_domain
from neardup.sources.url_rules import UrlRules

__all__ = [
    "Addresses",
    "UrlRules",
    "find_mirrors",
    "find_url_rules",
    "host",
    "path_levels",
    "registered_domain",
]
