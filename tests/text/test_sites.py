import numpy as np

from neardup.model.arrays import Features
from neardup.text.sites import separate, site

HOSTS = [f"h{number}.example" for number in range(500)]


def test_hosts_have_numbers_of_their_own_and_so_have_their_thin_pages():
    kinds = ({"thin": False}, {"thin": False, "whole": True}, {"thin": True}, {"thin": True, "whole": True})
    found = [site(host, **kind) for host in HOSTS for kind in kinds]
    assert len({*found}) == 1500
    assert [number & 3 for number in found] == [0, 1, 3, 3] * 500
    assert all(3 < number < 2**64 for number in found)
    assert site("\udc80", thin=True) != site("?", thin=True)  # any string


def test_only_thin_pages_of_one_site_share_features():
    values = np.array([1, 2, 3] * 6, np.uint64)
    numbers = [0, site("a", thin=False, whole=True), site("a", thin=True), site("a", thin=True), site("b", thin=True)]
    features = Features(values, np.arange(0, 19, 3))
    separate(features, np.array([*numbers, numbers[-1]], np.uint64), np.arange(5))
    sets = [{*values[begin : begin + 3].tolist()} for begin in range(0, 18, 3)]
    assert sets[0] == sets[1] == {1, 2, 3} == sets[5]  # the last document was not asked for
    assert sets[2] == sets[3]
    assert not sets[2] & sets[0]
    assert not sets[4] & (sets[0] | sets[2])
