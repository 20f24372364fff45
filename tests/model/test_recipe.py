from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import ParameterError
from neardup.model.recipe import Hashing, recipe_id

KEY = bytes(range(16))


@given(
    st.text(max_size=10),
    st.integers(0, 200),
    st.none() | st.binary(min_size=16, max_size=16),
    st.integers(0, 2**64 - 1),
)
def test_derived_bytes_equal_their_definition(purpose, size, key, seed):
    purpose = purpose.encode("utf-8", "replace").decode()
    name = "" if key is not None else str(seed)
    blocks = [
        blake2b(f"neardup:{purpose}:{name}:{block}".encode(), key=key or b"").digest()
        for block in range(size // 64 + 1)
    ]
    hashing = Hashing(seed=seed) if key is None else Hashing(key=key)
    assert hashing.derive(purpose, size) == b"".join(blocks)[:size]


def test_more_bytes_begin_with_the_fewer():
    assert Hashing().derive("x", 1000)[:100] == Hashing().derive("x", 100)


def test_seeds_keys_and_purposes_differ():
    hashings = [Hashing(), Hashing(seed=2), Hashing(key=KEY), Hashing(key=KEY[::-1])]
    derived = [hashing.derive(purpose, 16) for hashing in hashings for purpose in ("tokens", "minhash")]
    assert len({*derived}) == len(derived)
    assert len({hashing.identity for hashing in hashings}) == len(hashings)


def test_a_key_of_zeros_is_a_key():
    assert Hashing(key=bytes(16)).keyed
    assert not Hashing().keyed
    assert Hashing(key=bytes(16)).derive("tokens", 16) != Hashing().derive("tokens", 16)


def test_a_seed_does_not_go_with_a_key():
    with pytest.raises(ParameterError, match="seed=2 cannot be used with a key"):
        Hashing(key=KEY, seed=2)


def test_a_key_is_not_shown():
    key = b"secret key 16 by"
    hashing = Hashing(key=key)
    for shown in (repr(hashing), hashing.identity, recipe_id(hashing=hashing.identity)):
        assert "secret" not in shown
        assert key.hex() not in shown


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", None])
def test_a_seed_has_64_bits(seed):
    with pytest.raises(ParameterError) as caught:
        Hashing(seed=seed)
    assert (caught.value.name, caught.value.value) == ("seed", seed)


@pytest.mark.parametrize("key", [b"", b"secret", b"secret" * 10, "a secret string!", bytearray(b"secret key 16 by")])
def test_a_key_has_16_bytes_and_its_error_does_not_show_it(key):
    with pytest.raises(ParameterError, match="16 bytes") as caught:
        Hashing(key=key)
    assert "secret k" not in str(caught.value)
    assert key not in caught.value.args


def test_a_recipe_id_has_16_hex_digits_and_depends_on_every_value():
    one = recipe_id(scheme="minhash", shingle=3)
    assert one == recipe_id(shingle=3, scheme="minhash")
    assert len(one) == 16
    assert int(one, 16) >= 0
    assert one != recipe_id(scheme="minhash", shingle=4)
    assert one != recipe_id(scheme="minhash", shingle="3")
    assert one != recipe_id(scheme="minhash", shingle=3, bag=False)
