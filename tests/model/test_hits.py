import pickle
from hashlib import blake2b

import pytest

from neardup.model.hits import HiddenHit, Hit, HitGroup, group_id

GROUP = HitGroup(7, (Hit("a", 0, {}),), (HiddenHit("b", 1, {}, "a", "minhash", "resemblance", 0.9, 0.6, False),), 1)


@pytest.mark.parametrize("name", ["", "a", "\u00e4\U0001f600", "\ud800", 7, -1, 2**80])
def test_ids_of_groups_are_digests_that_every_engine_can_hold(name):
    digest = blake2b(str(name).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    assert group_id(name) == int.from_bytes(digest, "little") // 2
    assert 0 <= group_id(name) < 2**63


def test_ids_of_groups_never_change():
    assert [group_id("a"), group_id(7)] == [1702698405120146464, group_id("7")]


def test_what_is_answered_is_a_value():
    assert pickle.loads(pickle.dumps(GROUP)) == GROUP  # noqa: S301 - our own
    assert hash(Hit("a", 0, None)) == hash(Hit("a", 0, None))
    with pytest.raises(AttributeError):
        GROUP.hides = 2
