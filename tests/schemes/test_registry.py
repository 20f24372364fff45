import pytest

from neardup import MinHash, ParameterError
from neardup.schemes import registry


def test_names_find_kinds():
    assert [kind.name for kind in registry.kinds()] == [
        "minhash",
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


def test_an_unknown_name_is_refused():
    with pytest.raises(ParameterError, match="scheme='minhsh' must be one of minhash, trials, sentences"):
        registry.named("minhsh")


def test_a_name_is_taken_once():
    taken = type("Taken", (MinHash,), {"name": "trials"})
    nameless = type("Nameless", (), {"name": ""})
    for kind, rule in ((taken, "must not be the name of another scheme"), (nameless, "must be an identifier")):
        with pytest.raises(ParameterError, match=rule):
            registry.register(kind)
