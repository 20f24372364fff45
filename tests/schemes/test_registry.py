import pytest

from neardup import MinHash
from neardup.errors import ParameterError
from neardup.schemes import registry


def test_names_find_kinds():
    assert [kind.name for kind in registry.kinds()] == [
        "minhash",
        "fracminhash",
        "trials",
        "sentences",
        "simhash",
        "combined",
        "checksum",
    ]
    for kind in registry.kinds():
        assert registry.named(kind.name) is kind
        assert registry.register(kind) is kind
    assert registry.default() == MinHash()
    assert registry.default() is registry.default()


def test_an_unknown_name_is_refused():
    with pytest.raises(ParameterError, match="scheme='minhsh' must be one of minhash, fracminhash, trials"):
        registry.named("minhsh")


def test_a_name_is_taken_once():
    taken = type("Taken", (MinHash,), {"name": "trials"})
    nameless = type("Nameless", (), {"name": ""})
    foreign = type("Foreign", (), {"name": "foreign"})
    rules = {
        taken: "must not be the name",
        nameless: "must be an identifier",
        foreign: "must be a subclass of FeatureScheme or Scheme",
    }
    for kind, rule in rules.items():
        with pytest.raises(ParameterError, match=rule):
            registry.register(kind)
