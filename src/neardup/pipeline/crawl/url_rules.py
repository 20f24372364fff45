"""The rules of hosts for URLs, from the pages of a crawl."""

from array import array
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from neardup.decisions.url_rules import Forms, support
from neardup.model.arrays import AnyPositions
from neardup.pipeline.crawl.crawled_pages import addressed
from neardup.sources.url_forms import forms, web_address
from neardup.sources.url_rules import HostRules, RuleEvidence, UrlRules


def find_url_rules(urls: Sequence[str], contents: Sequence[int] | AnyPositions) -> UrlRules:
    """Return the rules that hold for the URLs of each host.

    *contents* are numbers, the same for pages of the same content: in a ``Result`` of ``dedup``, its ``clusters``. A
    rule holds if at least 10 groups of URLs that differ only in what it ignores have one content each, 10 different
    contents in all; at most a tenth of the groups has several; and at most a tenth of the URLs that need not be fetched
    by the rule has a content that is then missed. Values that are not URLs of the web are ignored.
    """
    number_of: dict[str, int] = {}
    content_of: list[int] = []
    rules, numbers, digests = array("q"), array("q"), bytearray()
    rule_of: dict[tuple[str, str, str], int] = {}
    pages, numbered = addressed(urls, contents)
    _, contents = np.unique(numbered, return_inverse=True)  # below, -1 is a URL with several contents
    for url, content in zip(pages, contents.tolist(), strict=True):
        if (known := web_address(url)) is None:
            continue
        host, normal = known
        number = number_of.setdefault(normal, len(content_of))
        if number < len(content_of):
            content_of[number] = content if content_of[number] == content else -1
            continue
        content_of.append(content)
        for kind, name, form in forms(normal):
            rule = rule_of.setdefault((host, kind, name), len(rule_of))
            rules.append(rule)
            numbers.append(number)
            digests += _digest(form)
    evidence = support(
        Forms(np.array(rules, np.int64), np.frombuffer(digests, np.uint64), np.array(numbers, np.int64)),
        np.frombuffer(b"".join(map(_digest, number_of)), np.uint64),
        np.array(content_of, np.int64),
        len(rule_of),
    )
    hosts: dict[str, dict[str, Any]] = {}
    keys = list(rule_of)
    for rule in sorted(np.flatnonzero(evidence.chosen).tolist(), key=keys.__getitem__):
        host, kind, name = keys[rule]
        agreeing, groups = int(evidence.agreeing[rule]), int(evidence.groups[rule])
        one = RuleEvidence(agreeing, int(evidence.contents[rule]), round(agreeing / groups, 4))
        if name:
            hosts.setdefault(host, {}).setdefault(kind, {})[name] = one
        else:
            hosts.setdefault(host, {})[kind] = one
    return UrlRules({host: HostRules(**own) for host, own in hosts.items()})


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()
