"""Web addresses: their normal form, host, registered domain and path levels."""

from neardup.pipeline.crawl.mirrors import Mirror, Mirrors, find_mirrors
from neardup.pipeline.crawl.url_rules import find_url_rules
from neardup.sources.addresses import Addresses
from neardup.sources.hosts import host, path_levels, registered_domain
from neardup.sources.url_rules import HostRules, RuleEvidence, UrlRules

__all__ = [
    "Addresses",
    "HostRules",
    "Mirror",
    "Mirrors",
    "RuleEvidence",
    "UrlRules",
    "find_mirrors",
    "find_url_rules",
    "host",
    "path_levels",
    "registered_domain",
]
