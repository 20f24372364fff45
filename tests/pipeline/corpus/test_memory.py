import tracemalloc
import warnings

import numpy as np
import pyarrow as pa
import pytest

from neardup import Analysis, Checksum, Combined, Field, MinHash, Sentences, SimHash, Trials, dedup
from neardup.pipeline.corpus import memory
from neardup.pipeline.corpus.memory import ANY, EACH, needed_memory, warn_if_short

TINY = pa.chunked_array([[f"one two three four word{n}" for n in range(500)]] * 4)


def test_what_a_run_takes_grows_with_its_documents_and_features():
    one, two = needed_memory(MinHash(), TINY), needed_memory(MinHash(), pa.chunked_array([*TINY.chunks, *TINY.chunks]))
    assert two - ANY == pytest.approx(2 * (one - ANY), rel=0.01)
    long_texts = pa.chunked_array([[" ".join(f"word{n}" for n in range(2000))] * 20])
    assert needed_memory(MinHash(), long_texts) - ANY == pytest.approx(20 * (EACH + 256 + 8 * 1998), rel=0.02)
    letters = MinHash(shingle=5, analysis=Analysis(unit="letter"))
    assert needed_memory(letters, long_texts) > 10 * (needed_memory(MinHash(), long_texts) - ANY)
    assert needed_memory(MinHash(), pa.chunked_array([], pa.string())) == 0
    assert needed_memory(MinHash(), pa.chunked_array([["", ""]])) >= 2 * EACH


SIZES = {
    MinHash(): 256,
    MinHash(permutations=512): 1024,
    Trials(): 48 + 8 * 15,
    SimHash(): 8 + 8 * SimHash().keys(SimHash().sign(["a"])).shape[1],
    Sentences(): Sentences().sign(["a"]).rows.nbytes,
    Checksum(fields=[Field(name="body")]): 16,
    Combined(): 48 + 48 + 8 * 15,
}


@pytest.mark.parametrize(("scheme", "size"), SIZES.items(), ids=lambda value: getattr(value, "name", str(value)))
def test_a_signature_and_its_keys_count(scheme, size):
    blank = pa.chunked_array([["?"] * 10])
    assert needed_memory(scheme, blank) == ANY + 10 * (EACH + size)


def test_estimates_need_whole_rows_and_all_keys():
    blank = pa.chunked_array([["?"] * 10])
    bands = MinHash().layout.bands
    assert needed_memory(MinHash(), blank, exact=False) == ANY + 10 * (EACH + 512 + 8 * bands)


def test_too_little_memory_is_reported_before_the_run(monkeypatch):
    monkeypatch.setattr(memory, "_LARGE", 1000)
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 20)
    with pytest.warns(RuntimeWarning, match=r"about 0\.0 GB of memory will be needed .* only 0\.0 GB are available"):
        dedup(TINY)
    for there in (None, 1 << 40):
        monkeypatch.setattr(memory, "available_memory", lambda there=there: there)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_if_short(MinHash(), TINY)


def test_small_runs_are_not_estimated(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: pytest.fail("asked"))
    warn_if_short(MinHash(), TINY)


def test_a_run_over_tiny_documents_stays_below_the_estimate():
    """NumPy tells tracemalloc what it allocates, also where no page is ever touched."""
    random = np.random.default_rng(3)
    words = np.array([f"w{n:03}" for n in range(200)])
    texts = pa.chunked_array([[" ".join(row) for row in words[random.integers(0, 200, (40_000, 8))]]])
    dedup(texts.slice(0, 100), threads=1)
    tracemalloc.start()
    try:
        dedup(texts, threads=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < needed_memory(MinHash(), texts)
    assert peak - ANY < 700 * len(texts)
