"""Trials: keys that turn "enough trials agree" into an equality. A document has one row of uint64."""

import numpy as np

from neardup.kernels.compile import kernel
from neardup.kernels.shingles import absorbed


@kernel
def choice_keys(trials, choices, keys):
    """Hash each choice of trials ``trials[:, choices[c]]`` to ``keys[:, c]`` (uint64).

    ``h = c + 1``, then for each chosen trial ``h = (h ^ trial) * SPREAD``, ``h ^= h >> 32``, mod 2**64.
    """
    for row in range(trials.shape[0]):
        for choice in range(choices.shape[0]):
            key = np.uint64(choice + 1)
            for trial in choices[choice]:
                key = absorbed(key, trials[row, trial])
            keys[row, choice] = key
