import pytest

from neardup import MinHash, NearDuplicates, ParameterError, SameValue
from neardup.urls import host, path_levels


class Unhashable:
    __hash__ = None

    def __call__(self, value):
        return value


@pytest.mark.parametrize(
    "make",
    [
        lambda: NearDuplicates(scheme="minhash"),
        lambda: NearDuplicates(scheme=MinHash),
        lambda: NearDuplicates(text=""),
        lambda: NearDuplicates(text=None),
        lambda: NearDuplicates(keep=0),
        lambda: NearDuplicates(keep=True),
        lambda: NearDuplicates(keep=1.5),
        lambda: SameValue(""),
        lambda: SameValue(7),
        lambda: SameValue("site", of="host"),
        lambda: SameValue("site", of=Unhashable()),
        lambda: SameValue("site", keep=-1),
    ],
)
def test_what_breaks_its_rule_is_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_unknown_names_are_refused():
    with pytest.raises(TypeError):
        NearDuplicates(threshold=0.5)


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (SameValue("site"), "same site"),
        (SameValue("url", of=host), "same host of url"),
        (SameValue("url", of=path_levels(1)), "same first 1 path level of url"),
        (SameValue("url", of=path_levels(3)), "same first 3 path levels of url"),
        (SameValue("url", of=lambda value: value), "same <lambda> of url"),
    ],
)
def test_rules_have_names(rule, name):
    assert rule.name == name


def test_equal_rules_are_one_in_a_cache():
    assert {SameValue("url", of=path_levels(2)), NearDuplicates(scheme=MinHash())} == {
        SameValue("url", of=path_levels(2)),
        NearDuplicates(scheme=MinHash()),
    }
