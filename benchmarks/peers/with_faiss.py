"""faiss, run in the peers' environment: `with_faiss.py fingerprint_tables CORPUS FOLDER SETTING`.

Each setting is measured in a process of its own, because that tells its memory.
"""

import sys
import time
from pathlib import Path

import faiss
import numpy as np
from measuring import answer, best_of

DISTANCE = 3
SINGLE = 500
QUERIES = {(2, 32, 1): 100_000, (4, 16, 0): 4_000}  # of hashes, bits, flips


def resident():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line)


def measure(fingerprints, queries, hashes, bits, flips):
    number = QUERIES[hashes, bits, flips]
    before = resident()
    begin = time.process_time()
    index = faiss.IndexBinaryMultiHash(64, hashes, bits)
    index.nflip = flips
    index.add(fingerprints)
    build = time.process_time() - begin
    size = (resident() - before) * 1024
    asked = queries[:number]
    batched, (bounds, _, found) = best_of(lambda: index.range_search(asked, DISTANCE + 1), clock=time.process_time)
    times = []
    for place in range(SINGLE):
        begin = time.process_time()
        index.range_search(queries[place : place + 1], DISTANCE + 1)
        times.append(time.process_time() - begin)
    answer(
        way=f"MultiHash({hashes}, {bits}, {flips})",
        build=build,
        batched=batched / number,
        single=float(np.median(times)),
        bytes=size / len(fingerprints),
        queries=number,
        found=len(found),
        places=int(found.sum()),
        bounds=len(bounds),
    )


if __name__ == "__main__":
    _question, _corpus, folder, setting = sys.argv[1:]
    faiss.omp_set_num_threads(1)
    fingerprints, queries = (
        np.load(Path(folder, f"{name}.npy")).view(np.uint8).reshape(-1, 8) for name in ("fingerprints", "queries")
    )
    measure(fingerprints, queries, *map(int, setting.split(",")))
