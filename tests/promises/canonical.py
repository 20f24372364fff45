"""The canonical answer by brute force, in plain Python: the oracle of everything that decides."""

from collections import defaultdict

ROOM, DEPTH = 64, 2
WORD = 2**64


def chained(key, further):
    return ((key * 0x9E3779B97F4A7C15) ^ further) * 0xD6E8FEB86659FD93 % WORD


def chains(row, *, position_independent, depth=DEPTH):
    """The keys of a document's buckets, from the whole ones to the finest: one list for each of its keys."""
    if position_independent:
        return [[(None, 0, key)] for key in {*row}]
    lists = []
    for column, key in enumerate(row):
        keys = [key]
        for further in range(1, depth + 1):
            keys.append(chained(keys[-1], row[(column + further) % len(row)]))
        lists.append([(column, level, key) for level, key in enumerate(keys)])
    return lists


def candidates(rows, *, position_independent=False, room=ROOM, depth=DEPTH):
    """The candidates of each leader: *rows* are their keys by rank, ``None`` for a leader without a signature.

    A bucket within one of *room* members proposes nothing more, so every bucket counts here, divided or not.
    """
    buckets = defaultdict(list)
    found = []
    for rank, row in enumerate(rows):
        own = set()
        for bucket in (
            []
            if row is None
            else [key for keys in chains(row, position_independent=position_independent, depth=depth) for key in keys]
        ):
            own |= {*buckets[bucket][:room]}
            buckets[bucket].append(rank)
        found.append(own)
    return found


def representatives(order, leaders, pairs, closeness=None):
    """The representative of each document, ``None`` for a kept document.

    *order* lists the documents by rank, *leaders* maps each to the best-ranked equal one, and *pairs* has ``(worse,
    better)`` for each candidate pair of leaders that matches. With *closeness*, a dropped leader's representative is
    the kept match of the highest ``closeness(worse, better)``, the best-ranked among equally close ones.
    """
    chosen, kept = {}, []
    for document in order:
        leader = leaders[document]
        if leader != document:
            chosen[document] = leader if chosen[leader] is None else chosen[leader]
            continue
        matches = [other for other in kept if (document, other) in pairs]
        if closeness is not None:
            matches.sort(key=lambda other: -closeness(document, other))
        chosen[document] = matches[0] if matches else None
        if not matches:
            kept.append(document)
    return chosen
