"""Settling: the pairs of one block are compared, and what both documents share is counted.

A unit is a document that is compared: a leader, by its number; where fields are signed, any document, by its rank.

A block is decided in order, by one task. First, the parts of a large block are compared, each by its own task: they
find the first match of each document, kept or not. Later candidates are compared only if that match is dropped.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from neardup.decisions.drops import UNKNOWN, ExactResemblance, represented
from neardup.decisions.evidence import FeatureSets, count_shared
from neardup.index.memory.buckets import BLOCK
from neardup.kernels import sets as kernels
from neardup.model.arrays import AnyPositions, Flags, Positions
from neardup.model.candidates import Candidates, Ranks, joined
from neardup.pipeline.corpus.comparison import exact_matcher, feature_sets
from neardup.pipeline.spilled.candidates import ASKING, ASKING_BOUNDS, BLOCKS, LEADERS, PARTS, StoredPairs
from neardup.pipeline.spilled.features import FeatureSpans, load, spans_of
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.ranking import thresholds

_BYTES: Final = 8  # of a feature
_OF_PAIR: Final = 48  # bytes of a pair and of what is computed of it
_BEST: Final = 4  # candidates of a document that are compared before the others are read
ROWS: Final = 5  # of what is settled


def match(job: Job, part: int) -> dict[str, Any]:
    """Find and store the first matches of the documents in one part of a large block; see ``PARTS``."""
    block, begin, end = job.array(PARTS, np.int64, shape=(-1, 3))[part].tolist()
    places, stored = job.array(ASKING, np.int64)[begin:end], StoredPairs(job)
    wanted = np.zeros(len(job.array(BLOCKS, np.int32)), np.bool_)
    asking: list[Ranks] = []
    for pairs in map(stored.at, _slices(places)):
        wanted[pairs.asking], wanted[pairs.candidates] = True, True
        asking.append(pairs.asking)
    found, units = spans_of(job, block, wanted), np.concatenate(asking)
    numbering, first = _Numbering(len(wanted), found.units), _FirstMatches(job, found)
    own = numbering.of_units(units)
    for window in first.windows(_nth(numbering.of(stored.at(some)), 0, _BEST) for some in _slices(places)):
        first.compare(window)
    places = places[first.matched[own] < 0]  # features that these do not need are not read
    for window in first.windows(_nth(numbering.of(stored.at(some)), _BEST) for some in _slices(places)):
        first.compare(window)
    matched = first.matched[own]
    rows = np.stack([units, np.where(matched < 0, -1, found.units[matched]), *first.counts[:, own]])
    return {"compared": first.compared, "files": job.save(_first_name(part), rows.astype(np.int32))}


def settle(job: Job, block: int) -> dict[str, Any]:
    """Decide the documents of one block; store each dropped one, its match, and what they share."""
    found = spans_of(job, block)
    settling = _Settling(job, found)
    if job.scheme.columns:  # decided before
        own = job.array(LEADERS, np.int64)
        leaders = np.searchsorted(found.units, own[found.units])
        settling.matched = np.where(leaders == np.arange(len(leaders)), -1, leaders)
        settling.measure()
    else:
        for pairs in _undecided_pairs(job, block, found, settling):
            for window in settling.windows(pairs):
                settling.compare(window)
        settling.finish()
    return {"compared": settling.compared, "files": job.save(settled_name(block), settling.dropped())}


def settled_name(block: int) -> str:
    """Return the name of the file with the decisions of a block: int64[5, n].

    The rows are: the dropped unit, the one that it is dropped for, the number of features that they share, and the
    numbers of different features that each of them has.
    """
    return f"settled-{block:06}.raw"


def _first_name(part: int) -> str:
    """Return the name of the file with the first matches in a part of a block: int32[5, n].

    The rows are the documents, and those of ``settled_name`` for their first matches; without one, the match is -1.
    """
    return f"first-{part:06}.raw"


def _undecided_pairs(
    job: Job, block: int, found: FeatureSpans, settling: "_Settling"
) -> Iterator[Iterable[Candidates]]:
    """Yield the pairs of a block that must be compared, some before the next ones are known.

    Documents are numbered within the block.
    """
    asking, stored = job.array(ASKING, np.int64), StoredPairs(job)
    numbering = _Numbering(int(found.units[-1]) + 1, found.units)
    parts = job.array(PARTS, np.int64, shape=(-1, 3))
    own = np.flatnonzero(parts[:, 0] == block).tolist()
    if not own:
        begin, end = job.array(ASKING_BOUNDS, np.int64)[block : block + 2].tolist()
        yield (numbering.of(stored.at(places)) for places in _slices(asking[begin:end]))
    for part in own:
        _, begin, end = parts[part].tolist()
        matches = job.array(_first_name(part), np.int32, shape=(ROWS, -1))
        for places in _slices(np.arange(end - begin)):
            units, firsts, *counts = matches[:, places]
            firsts = np.where(firsts < 0, -1, numbering.of_units(firsts))
            left = settling.decide(numbering.of_units(units), firsts, np.stack(counts))
            if len(left):
                pairs = numbering.of(stored.at(asking[begin + places[left]]))
                least = np.repeat(firsts[left], np.diff(pairs.bounds))
                yield [pairs.where(pairs.candidates >= least)]  # earlier ones were compared


def _slices(places: Positions) -> Iterator[Positions]:
    """Yield places, some at a time."""
    for begin in range(0, len(places), BLOCK):
        yield np.asarray(places[begin : begin + BLOCK])


class _Numbering:
    """Numbers some of many documents; a table of all of them is faster than searches among those that are numbered."""

    def __init__(self, documents: int, members: AnyPositions | None = None) -> None:
        self._numbers = np.full(documents, -1, np.int32)
        if members is not None:
            self.assign(members)

    def assign(self, members: AnyPositions) -> None:
        """Assign the numbers from 0 on to these documents; if a document occurs twice, either number stays."""
        self._numbers[members] = np.arange(len(members))

    def of(self, pairs: Candidates) -> Candidates:
        """Return the pairs with the numbers of their documents, which must have some."""
        return Candidates(self._numbers[pairs.asking], pairs.bounds, self._numbers[pairs.candidates])

    def of_units(self, units: AnyPositions) -> Positions:
        """Return the numbers of these documents."""
        return self._numbers[units].astype(np.int64)

    def distinct(self, *documents: AnyPositions) -> Positions:
        """Return each of these documents once, ascending; none has a number then."""
        every = np.concatenate(documents)
        self.assign(every)
        own: Positions = np.sort(every[self._numbers[every] == np.arange(len(every))]).astype(np.int64)
        return own


def _some(pairs: Candidates, begin: int, end: int) -> Candidates:
    """Return the pairs of some asking documents."""
    bounds = pairs.bounds[begin : end + 1]
    return Candidates(pairs.asking[begin:end], bounds - bounds[0], pairs.candidates[bounds[0] : bounds[-1]])


def _nth(pairs: Candidates, begin: int, end: float = np.inf) -> Candidates:
    """Return some candidates of each document, the best being number 0."""
    numbers = np.arange(len(pairs.candidates)) - np.repeat(pairs.bounds[:-1], np.diff(pairs.bounds))
    return _left(pairs, (numbers >= begin) & (numbers < end))


def _left(pairs: Candidates, holds: Flags) -> Candidates:
    """Return the pairs that *holds* marks, and the asking documents that have some."""
    left = pairs.where(holds)
    asking = np.diff(left.bounds) > 0
    return Candidates(left.asking[asking], np.append(left.bounds[:-1][asking], left.bounds[-1]), left.candidates)


class _FirstMatches:
    """The first matches of documents of a block, dropped or not, found window by window."""

    def __init__(self, job: Job, found: FeatureSpans) -> None:
        self._job, self._spans = job, found
        self._thresholds = thresholds(job).at(found.units)
        number = len(found.units)
        self._numbering = _Numbering(number)
        self.compared = 0
        self.matched: Positions = np.full(number, -1, np.int64)
        self.counts: Positions = np.full((3, number), UNKNOWN, np.int64)
        """What documents share with their matches, as the last rows of ``settled_name``."""

    def windows(self, pairs: Iterable[Candidates]) -> Iterator[Candidates]:
        """Join pairs that are still open as long as they and the features of all their documents fit into memory."""
        window: list[Candidates] = []
        members: Positions = np.empty(0, np.int64)
        for part in pairs:
            waiting = [part]
            while waiting:
                some = self._open(waiting.pop())
                together = self._numbering.distinct(members, some.asking, some.candidates)
                if self._fits([*window, some], together):
                    window, members = [*window, some], together
                elif window:
                    yield joined(window)
                    window, members = [], members[:0]
                    waiting.append(some)
                elif len(some.asking) > 1:
                    half = len(some.asking) // 2
                    waiting += [_some(some, half, len(some.asking)), _some(some, 0, half)]
                else:
                    yield some
        if window:
            yield joined(window)

    def _open(self, pairs: Candidates) -> Candidates:
        """Return the pairs that may still decide something."""
        return pairs

    def _fits(self, window: Sequence[Candidates], members: Positions) -> bool:
        pairs = sum(len(part.candidates) for part in window)
        features = int((self._spans.ends[members] - self._spans.starts[members]).sum())
        return _BYTES * features + _OF_PAIR * pairs <= 2 * self._job.block

    def compare(self, pairs: Candidates) -> None:
        """Compare the documents of one window."""
        members = self._numbering.distinct(pairs.asking, pairs.candidates)
        sets, local = self._loaded(pairs, members)
        matcher = exact_matcher(self._job.scheme, self._job.policy, sets, self._thresholds.at(members))
        self._compare_with(matcher, local, members, sets)
        self.compared += matcher.compared

    def _compare_with(self, matcher: Any, local: Candidates, members: Positions, sets: FeatureSets) -> None:
        """Find the matches of one window; *local* has its pairs by the places of their documents in *members*."""
        matched = np.full(len(members), -1, np.int64)
        self._find(matcher, local, matched)
        found = np.flatnonzero(matched >= 0)
        if isinstance(matcher, ExactResemblance):
            common = matcher.common[found]
        else:
            common = count_shared(sets, found, matched[found])
        self._note(members, found, matched[found], common, sets)

    def _find(self, matcher: Any, local: Candidates, matched: Positions) -> None:
        matcher.find_first(local, matched)

    def _loaded(self, pairs: Candidates, members: Positions) -> tuple[FeatureSets, Candidates]:
        """Return the features of the *members*, the documents of some pairs, and the pairs by their places in these."""
        self._numbering.assign(members)
        features = load(self._job, self._spans.at(members))
        return feature_sets(self._job.scheme, features, np.arange(len(members))), self._numbering.of(pairs)

    def _note(
        self, members: Positions, left: Positions, right: Positions, common: Positions, sets: FeatureSets
    ) -> None:
        """Note what documents share with their matches; both are places in *members*."""
        own = members[left]
        self.matched[own] = members[right]
        self.counts[:, own] = common, sets.sizes[left], sets.sizes[right]


class _Settling(_FirstMatches):
    """The decisions on one block: no document is dropped for one that was dropped in an earlier window."""

    def __init__(self, job: Job, found: FeatureSpans) -> None:
        super().__init__(job, found)
        self._chains = job.policy.gather == "components"
        self._parents: Positions = np.arange(len(found.units) if self._chains else 0)
        self._undecided: Flags = np.zeros(len(found.units), np.bool_)

    def decide(self, documents: Positions, firsts: Positions, counts: Positions) -> Positions:
        """Decide documents by their first matches, and what both share; return the places of the undecided ones."""
        kernels.known_matches(documents, firsts, self._undecided, self.matched)
        undecided = self._undecided[documents]
        self._undecided[documents] = False
        self.counts[:, documents[~undecided]] = counts[:, ~undecided]
        return np.flatnonzero(undecided)

    def _open(self, pairs: Candidates) -> Candidates:
        return _left(pairs, self.matched[pairs.candidates] < 0)

    def _compare_with(self, matcher: Any, local: Candidates, members: Positions, sets: FeatureSets) -> None:
        if not self._chains:
            super()._compare_with(matcher, local, members, sets)
            return
        kernels.roots(self._parents)  # what earlier windows have connected is not compared again
        _, firsts, own = np.unique(self._parents[members], return_index=True, return_inverse=True)
        parents = firsts[own]
        _in_turn(local, matcher.connect, parents)
        kernels.roots(parents)
        bounds = np.arange(len(members) + 1)
        holds = np.ones(len(members), np.bool_)
        kernels.connect_given(members, bounds, members[parents].astype(np.int32), holds, self._parents)

    def _find(self, matcher: Any, local: Candidates, matched: Positions) -> None:
        _in_turn(local, matcher.settle, matched)

    def finish(self) -> None:
        """Decide what needs all windows: chains."""
        if self._chains:
            self.matched = represented(self._parents)
            self.measure()

    def measure(self) -> None:
        """Count what each dropped document shares with its match, which is known."""
        chosen = np.flatnonzero(self.matched >= 0).astype(np.int32)
        pairs = Candidates(chosen, np.arange(len(chosen) + 1), self.matched[chosen].astype(np.int32))
        parts = (_some(pairs, begin, begin + BLOCK) for begin in range(0, len(chosen), BLOCK))
        for some in self.windows(parts):
            members = self._numbering.distinct(some.asking, some.candidates)
            sets, local = self._loaded(some, members)
            sets.make_distinct(np.arange(len(members)))
            left, right = local.asking.astype(np.int64), local.candidates.astype(np.int64)
            self._note(members, left, right, count_shared(sets, left, right), sets)

    def dropped(self) -> Positions:
        """Return the decisions, as they are stored."""
        units, chosen = self._spans.units, np.flatnonzero(self.matched >= 0)
        return np.stack([units[chosen], units[self.matched[chosen]], *self.counts[:, chosen]])


def _in_turn(pairs: Candidates, decide: Callable[[Candidates, Positions], None], state: Positions) -> None:
    """Decide the pairs as a run in memory does, some documents at a time."""
    for begin in range(0, len(pairs.asking), BLOCK):
        decide(_some(pairs, begin, begin + BLOCK), state)
