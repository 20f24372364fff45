import threading

import numpy as np
import pytest

from neardup import MinHash
from neardup.collapsing import JudgedSets
from neardup.decisions.collapse import alone, collapse
from neardup.errors import ParameterError
from neardup.pipeline.query.near_hits import NearHits
from neardup.pipeline.query.result_cache import Judged

SCHEME = MinHash()
TEXTS = ["a text of some words", "A text, of some words!", "", "another one that is quite different"]


def judged(number=4):
    signed = SCHEME.sign(TEXTS[:number])
    hits = NearHits(SCHEME, signed, SCHEME.ranked_rule(signed))
    return Judged(collapse(number, [1], [None], hits.ranked, signed.present), hits, [None])


def measured(found):
    return [column.tolist() for column in found.measured]


def test_what_is_known_of_signatures_stays_without_them():
    one, settled = judged(), judged().settle()
    assert settled.hits is None
    assert measured(settled) == measured(one) == [[1], [1.0], [1.0], [False]]
    assert settled.unsigned == one.unsigned == 1


def test_nothing_is_known_without_signatures():
    bare = Judged(alone(3), None, [])
    assert (bare.unsigned, measured(bare)) == (0, [[], [], [], []])


def test_hits_and_misses_are_counted():
    cache = JudgedSets()
    first = cache.judged("a", judged)
    assert cache.judged("a", lambda: pytest.fail("is known")) is first
    assert cache.judged("b", judged) is not first
    assert (cache.hits, cache.misses, len(cache), cache.held) == (1, 2, 2, 32)


def test_the_last_used_stay():
    cache = JudgedSets(32)
    for key in ("a", "b", "a", "c"):
        cache.judged(key, judged)
    assert (len(cache), cache.held) == (2, 32)
    cache.judged("a", lambda: pytest.fail("was used after b"))
    cache.judged("c", lambda: pytest.fail("is the last one"))
    misses = cache.misses
    cache.judged("b", judged)
    assert cache.misses == misses + 1


def test_a_set_too_large_is_not_kept_and_displaces_none():
    cache = JudgedSets(20)
    cache.judged("small", lambda: judged(2))
    cache.judged("large", lambda: Judged(alone(21), None, []))
    assert (len(cache), cache.held) == (1, 16)


@pytest.mark.parametrize("most", [0, 5])
@pytest.mark.parametrize("hits", [0, 1])
def test_small_sets_are_bounded_too(most, hits):
    cache = JudgedSets(16 * most)
    for key in range(20):
        cache.judged(key, lambda: Judged(alone(hits), None, []))
    assert len(cache) == most


def test_what_fails_is_not_kept():
    cache = JudgedSets()
    with pytest.raises(ZeroDivisionError):
        cache.judged("a", lambda: 1 / 0)
    assert (len(cache), cache.held, cache.misses) == (0, 0, 1)


def test_threads_share_it():
    cache, rng = JudgedSets(80), np.random.default_rng(1)
    keys = rng.integers(0, 9, (4, 300)).tolist()
    threads = [threading.Thread(target=lambda own=own: [cache.judged(key, judged) for key in own]) for own in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.hits + cache.misses == 1200
    assert cache.held == 16 * len(cache) <= 80


@pytest.mark.parametrize("most", [-1, 1.5, None, True])
def test_its_bound_is_a_number(most):
    with pytest.raises(ParameterError, match="most"):
        JudgedSets(most)


def test_a_set_of_just_as_many_hits_as_are_stored_is_stored():
    cache = JudgedSets(16)
    for _ in range(2):
        cache.judged("small", judged)
    assert (cache.hits, len(cache)) == (1, 1)
