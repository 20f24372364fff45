import numpy as np
import pytest

from neardup.errors import ParameterError
from neardup.model.requirements import Requirements


def test_pairs_apart_have_half_the_threshold():
    assert Requirements(threshold=0.8, recall=0.9).apart == 0.4
    assert Requirements(threshold=0.8, recall=0.9, apart=0.1, background=0.0).values.tolist() == [0.8, 0.1, 0.0]


def test_numbers_of_numpy_are_those_of_python_in_their_shortest_form():
    numbers = {"threshold": 0.9, "recall": 0.95, "false_rate": 0.1, "apart": 0.3, "background": 0.05}
    found = Requirements(documents=np.int64(9), **{name: np.float32(value) for name, value in numbers.items()})
    assert found == Requirements(documents=9, **numbers)
    assert {type(value) for value in vars(found).values()} == {float, int}


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"threshold": 0}, "must be a number above 0 and at most 1"),
        ({"threshold": True}, "must be a number above 0 and at most 1"),
        ({"recall": 1}, "must be a number above 0 and below 1"),
        ({"false_rate": 1.0}, "must be a number above 0 and below 1"),
        ({"documents": 0}, "must be an integer from 1"),
        ({"apart": 0.8}, "must be a number above 0 and below the threshold, 0.8"),
        ({"background": 0.8}, "must be a number of at least 0 and below the threshold, 0.8"),
        ({"background": -0.1}, "must be a number of at least 0 and below the threshold, 0.8"),
    ],
)
def test_numbers_out_of_range(wrong, rule):
    with pytest.raises(ParameterError, match=rule) as caught:
        Requirements(**{"threshold": 0.8, "recall": 0.9} | wrong)
    assert caught.value.name == next(iter(wrong))
