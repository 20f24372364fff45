import pytest

from neardup.model.errors import ParameterError
from neardup.model.policy import Policy


@pytest.mark.parametrize(
    ("keep", "field"),
    [
        ("first", None),
        ("last", None),
        ("longest", None),
        ("shortest", None),
        ("max:score", "score"),
        ("min:a:b", "a:b"),
        ("max: ", " "),
    ],
)
def test_what_is_kept(keep, field):
    assert Policy(keep=keep).fields == (() if field is None else (field,))


@pytest.mark.parametrize(
    ("keep", "required", "optional"),
    [
        ("canonical,max:score", ["canonical", "score"], ["noindex"]),
        ("canonical,min:noindex", ["canonical", "noindex"], []),
        ("canonical,first", ["canonical"], []),
        ("https,shortest-id", [], []),
        ("max:noindex", ["noindex"], []),
    ],
)
def test_only_the_field_that_decides_ties_may_be_missing(keep, required, optional):
    policy = Policy(keep=keep)
    assert [*policy.required_fields] == required
    assert [*policy.fields] == required + optional


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("keep", ""),
        ("keep", "best"),
        ("keep", "First"),
        ("keep", "max"),
        ("keep", "min:"),
        ("keep", "first:x"),
        ("keep", ":x"),
        ("keep", None),
        ("keep", 5),
        ("keep", "first,longest"),
        ("keep", "longest,"),
        ("keep", "longest, first"),
        ("keep", "canonical:x"),
        ("verify", "yes"),
        ("verify", None),
        ("verify", True),
        ("gather", "clusters"),
        ("gather", None),
    ],
)
def test_every_parameter_has_a_rule(name, value):
    with pytest.raises(ParameterError) as caught:
        Policy(**{name: value})
    assert (caught.value.name, caught.value.value) == (name, value)


def test_a_policy_is_a_frozen_value():
    policy = Policy(keep="last", verify="none", gather="components")
    assert policy == Policy(keep="last", verify="none", gather="components")
    with pytest.raises(AttributeError):
        policy.keep = "first"
    with pytest.raises(TypeError):
        Policy(threshold=0.5)
