"""The reasons for which a run missed pairs that match."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.evaluation.audit import NO_KEY, OVERSIZED, REFUSED, UNEXPLAINED
from neardup.model.arrays import Positions, Words
from neardup.model.candidates import ROOM
from neardup.schemes.plausibility import plausible_tests
from neardup.schemes.scheme import Scheme
from neardup.schemes.signing import signed_features

_TOGETHER: Final = 1 << 12  # documents that are signed at a time


class MissedPair(NamedTuple):
    """The *texts* and the *sites* of a document and of a better one that it matches, and the *rank* of the better."""

    texts: tuple[bytes, bytes]
    sites: tuple[int, int]
    rank: int


class Ranked(NamedTuple):
    """Some documents of a run, their sites, and their ranks; documents that equal better ones have none, -1."""

    texts: pa.ChunkedArray
    sites: Words
    ranks: Positions


class _SharedKey(NamedTuple):
    """A *key* in a *column* that the documents of a pair share; *pair* is the number of the pair."""

    column: int
    key: int
    pair: int


def reasons(
    pairs: Sequence[MissedPair], scheme: Scheme, documents: Iterable[Ranked], *, estimated: bool = False
) -> list[str]:
    """Return the reason of each pair. *documents* are all of the run; with *estimated*, signatures decided there.

    The documents are only signed if a pair was plausible, to count those with its keys: a bucket has ``ROOM`` members
    that all others are compared with; see ``neardup.model.candidates``.
    """
    found: list[str] = []
    shared: list[_SharedKey] = []  # of plausible pairs
    left, right = np.array([0]), np.array([1])  # the better document is on the right, as in runs
    for number, pair in enumerate(pairs):
        _, signatures = signed_features(
            scheme, pa.chunked_array([pa.array(pair.texts, pa.large_binary())]), np.array(pair.sites, np.uint64)
        )
        tests = [*plausible_tests(scheme, signatures)]
        if estimated:
            tests.append(lambda left, right, signatures=signatures: scheme.match_pairs(signatures, left, right))  # type: ignore[misc]
        keys = _shared_keys(scheme.keys(signatures), number, position_independent=scheme.position_independent)
        if not keys:
            found.append(NO_KEY)
        elif not all(test(left, right)[0] for test in tests):
            found.append(REFUSED)
        else:
            found.append(UNEXPLAINED)
            shared += keys
    if shared:
        for number in _past_the_room(shared, pairs, scheme, documents):
            found[number] = OVERSIZED
    return found


def _past_the_room(
    shared: Sequence[_SharedKey], pairs: Sequence[MissedPair], scheme: Scheme, documents: Iterable[Ranked]
) -> list[int]:
    """Return the numbers of the pairs whose better document has ``ROOM`` better ones in every bucket of the two."""
    columns, numbers = np.array([(one.column, one.pair) for one in shared], np.int64).T
    wanted = np.array([one.key for one in shared], np.uint64)
    limits = np.array([pairs[one.pair].rank for one in shared], np.int64)
    better = np.zeros(len(shared), np.int64)
    for keys, ranks in _keys_of_leaders(documents, scheme):
        for column in np.unique(columns).tolist():
            own = np.flatnonzero(columns == column)
            of, each = np.unique(wanted[own], return_inverse=True)
            for place, key in enumerate(of):
                holders = (keys == key).any(axis=1) if scheme.position_independent else keys[:, column] == key
                if holders.any():
                    asking = own[each == place]
                    better[asking] += np.searchsorted(np.sort(ranks[holders]), limits[asking])
    least = np.full(len(pairs), np.iinfo(np.int64).max)
    np.minimum.at(least, numbers, better)
    return [number for number in np.unique(numbers).tolist() if least[number] >= ROOM]


def _keys_of_leaders(documents: Iterable[Ranked], scheme: Scheme) -> Iterator[tuple[Words, Positions]]:
    """Yield the keys and the ranks of documents that equal no better ones, some at a time."""
    for part in documents:
        for begin in range(0, len(part.texts), _TOGETHER):
            some = slice(begin, begin + _TOGETHER)
            _, signatures = signed_features(scheme, part.texts.slice(begin, _TOGETHER), part.sites[some])
            leads = signatures.present & (part.ranks[some] >= 0)
            yield scheme.keys(signatures)[leads], part.ranks[some][leads]


def _shared_keys(keys: Words, pair: int, *, position_independent: bool) -> list[_SharedKey]:
    """Return the keys that the two rows of a pair share; *position_independent* ones have the column 0."""
    if position_independent:
        return [_SharedKey(0, int(key), pair) for key in np.intersect1d(keys[0], keys[1])]
    columns = np.flatnonzero(keys[0] == keys[1]).tolist()
    return [_SharedKey(column, int(keys[0, column]), pair) for column in columns]
