"""simhash-pybind, which wraps seomoz' simhash-cpp: `with_simhash.py fingerprint_tables CORPUS FOLDER NUMBER`."""

import sys
from pathlib import Path
from time import process_time

import numpy as np
import simhash
from measuring import answer, best_of

DISTANCE = 3
BLOCKS = (4, 5, 6)


if __name__ == "__main__":
    _question, _corpus, folder, number = sys.argv[1:]
    fingerprints = set(np.load(Path(folder, "fingerprints.npy"))[: int(number)].tolist())
    for blocks in BLOCKS:
        seconds, found = best_of(
            lambda blocks=blocks: simhash.find_all(fingerprints, blocks, DISTANCE), clock=process_time
        )
        answer(way=f"{blocks} blocks", seconds=seconds, found=len(found))
