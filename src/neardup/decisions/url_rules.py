"""Differences between URLs that do not change the content, found in the pages of a crawl."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from neardup.model.arrays import Flags, Positions, Words, positions_in, run_starts

LEAST: Final = 10  # agreeing groups, and different contents in them
CONFIDENCE: Final = 0.9  # the least share of groups that agree


@dataclass(frozen=True, slots=True, eq=False)
class Forms:
    """URLs with one part left out.

    Form *f* is ``values[f]``, the hash of URL ``urls[f]`` without what rule ``rules[f]`` ignores.
    """

    rules: Positions
    values: Words
    urls: Positions


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """The evidence for each rule, int64 by its number.

    A group is at least two URLs that are equal without what the rule ignores, and it agrees if all have one content.
    ``agreeing`` and ``groups`` count them, and ``contents`` counts the different contents of agreeing groups. If one
    URL of each group is fetched, ``lost`` counts the other contents of the groups, which are missed, and ``saved`` the
    URLs that only repeat a content of their group.
    """

    agreeing: Positions
    groups: Positions
    contents: Positions
    lost: Positions
    saved: Positions

    @property
    def chosen(self) -> Flags:
        """The rules with at least 10 agreeing groups, at least 10 contents, and at least 90 % of groups in agreement.

        Contents must be different, or a host that answers every request with one page would make each parameter look
        irrelevant. One group may have most pages of a host, those that only this parameter distinguishes, so at most a
        tenth of the URLs that are not fetched may be lost.
        """
        enough = np.minimum(self.agreeing, self.contents) >= LEAST
        harmless = self.saved >= CONFIDENCE * (self.lost + self.saved)
        return np.asarray(enough & (self.agreeing >= CONFIDENCE * self.groups) & harmless)


def support(forms: Forms, own: Words, contents: Positions, number: int) -> Support:
    """Return the evidence for a *number* of rules.

    *own* are the hashes of the different URLs and *contents* their contents, a number of at least 0, or -1 for a URL
    that had several, which counts as a content of its own. A URL that equals a form of others is in their group, though
    the rule does not change it: a page without a parameter is a page where it has no effect. Time and memory are those
    of sorting the forms.
    """
    rules, values, urls = _with_unchanged(forms, own)
    found = contents[urls]
    order = np.lexsort((found, values, rules))
    rules, values, found = rules[order], values[order], found[order]
    if len(rules) == 0:
        return Support(*np.zeros((5, number), np.int64))
    first = run_starts(rules) | run_starts(values)
    different = first | run_starts(found) | (found < 0)
    begins = np.flatnonzero(first)
    sizes = np.diff(np.append(begins, len(rules)))
    lost = np.add.reduceat(different, begins, dtype=np.int64) - 1
    agree = (sizes > 1) & (lost == 0)
    of = rules[begins]
    own_contents = np.unique(np.stack([of[agree], found[begins][agree]]), axis=1)[0]
    counted = (np.bincount(rules, minlength=number) for rules in (of[agree], of[sizes > 1], own_contents))
    summed = (np.bincount(of, some, number).astype(np.int64) for some in (lost, sizes - 1 - lost))
    return Support(*counted, *summed)


def _with_unchanged(forms: Forms, own: Words) -> tuple[Positions, Words, Positions]:
    """Return the forms without repeats, and with them the URLs that equal one, as forms of the same rule."""
    order = np.argsort(own, kind="stable")
    places = positions_in(own[order], forms.values)
    equal = places >= 0
    rules = np.concatenate([forms.rules, forms.rules[equal]])
    values = np.concatenate([forms.values, forms.values[equal]])
    urls = np.concatenate([forms.urls, order[places[equal]]])
    _, first = np.unique(np.stack([rules, values.view(np.int64), urls]), axis=1, return_index=True)
    return rules[first], values[first], urls[first]
