import pickle

import pytest

from neardup.model.errors import ParameterError
from neardup.model.labels import LabelledPair

RIGHT = {"a": "1", "b": "2", "label": "same"}


def test_a_pair_has_no_direction():
    assert LabelledPair(**RIGHT).pair == LabelledPair(a="2", b="1", label="unsure").pair == ("1", "2")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a", 1),
        ("b", None),
        ("b", "1"),
        ("label", "maybe"),
        ("label", None),
        ("resemblance", 1.01),
        ("resemblance", float("nan")),
        ("resemblance", "0.5"),
        ("weight", 0),
        ("weight", float("inf")),
        ("weight", float("nan")),
        ("weight", 1e308),
        ("weight", 1e-300),
        ("weight", None),
        ("text_a", b"x"),
        ("text_b", 1),
    ],
)
def test_invalid_values_are_refused_by_name(name, value):
    with pytest.raises(ParameterError) as caught:
        LabelledPair(**{**RIGHT, name: value})
    assert caught.value.name == name
    assert pickle.loads(pickle.dumps(caught.value)).name == name  # noqa: S301
