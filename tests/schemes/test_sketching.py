import numpy as np
import pytest

from neardup.model.recipe import Hashing
from neardup.schemes.sketching import rounds


@pytest.mark.parametrize("bins", [1, 64, 84])
def test_multipliers_are_odd_and_all_numbers_differ(bins):
    multipliers, addends = rounds(Hashing(), "minhash", bins)
    assert len(multipliers) == len(addends) == 2 * bins
    assert (multipliers & np.uint64(1)).all()
    assert len({*multipliers.tolist(), *addends.tolist()}) == 4 * bins


def test_every_purpose_and_key_has_its_own():
    chosen = [rounds(hashing, purpose, 2) for hashing in (Hashing(), Hashing(key=bytes(16))) for purpose in "ab"]
    assert len({number for pair in chosen for part in pair for number in part.tolist()}) == 4 * 8


def test_they_are_the_derived_bytes():
    derived = Hashing(seed=3).derive("trials", 64)
    numbers = [int.from_bytes(derived[at : at + 8], "little") for at in range(0, 64, 8)]
    multipliers, addends = rounds(Hashing(seed=3), "trials", 2)
    assert multipliers.tolist() == [number | 1 for number in numbers[:4]]
    assert addends.tolist() == numbers[4:]
