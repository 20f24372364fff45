"""Trials: hashes of several minima each, and keys that make "enough of them agree" an equality.

A document has one row of uint64, a column a trial. A row that begins with 0 belongs to a document
without a signature.
"""

import numpy as np

from neardup.kernels.compile import kernel

_HALF = np.uint64(32)


@kernel
def agreements(left, right, left_rows, right_rows, counts):
    """Count the equal columns of ``left[left_rows[i]]`` and ``right[right_rows[i]]``; none where one begins with 0."""
    for pair in range(left_rows.size):
        one = left[left_rows[pair]]
        other = right[right_rows[pair]]
        equal = np.int32(0)
        for column in range(one.size):
            equal += np.int32(one[column] == other[column])
        counts[pair] = equal if one[0] != 0 and other[0] != 0 else np.int32(0)


@kernel
def choice_keys(trials, choices, keys):
    """Hash each choice of trials ``trials[:, choices[c]]`` to ``keys[:, c]`` (uint64).

    ``h = c + 1``, then for each chosen trial ``h = (h ^ trial) * SPREAD``, ``h ^= h >> 32``, mod 2**64.
    """
    for row in range(trials.shape[0]):
        for choice in range(choices.shape[0]):
            key = np.uint64(choice + 1)
            for trial in choices[choice]:
                key = (key ^ trials[row, trial]) * np.uint64(0xD6E8FEB86659FD93)
                key ^= key >> _HALF
            keys[row, choice] = key
