from threading import Thread

import numpy as np

from neardup.text.scratch import KEPT, scratch


def test_a_thread_gets_its_array_again():
    first = scratch("test again", 100, np.uint32)
    assert (len(first), first.dtype) == (100, np.uint32)
    assert np.shares_memory(first, scratch("test again", 50, np.uint32))
    assert not np.shares_memory(first, scratch("test other", 50, np.uint32))
    assert len(scratch("test again", 200, np.uint32)) == 200


def test_threads_have_their_own():
    mine, found = scratch("test threads", 10, np.uint8), []
    thread = Thread(target=lambda: found.append(scratch("test threads", 10, np.uint8)))
    thread.start()
    thread.join()
    assert not np.shares_memory(mine, found[0])


def test_a_giant_is_given_back():
    giant = scratch("test giant", KEPT + 1, np.uint8)
    assert not np.shares_memory(giant, scratch("test giant", KEPT + 1, np.uint8))
