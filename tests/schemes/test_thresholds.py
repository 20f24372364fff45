import numpy as np
import pytest

from neardup import Checksum, Combined, MinHash, SimHash
from neardup.model.errors import ParameterConflict
from neardup.model.policy import Policy
from neardup.schemes.thresholds import require_policy, thresholds_of

PAIRS = np.array([0, 0, 1]), np.array([1, 2, 2])


def test_a_scheme_has_one_threshold_unless_documents_are_short():
    assert not thresholds_of(MinHash()).vary
    assert thresholds_of(MinHash(threshold=0.7)).of(*PAIRS, np.arange(3)).tolist() == [0.7] * 3
    scheme = MinHash(short=2, short_threshold=0.9)
    for one in (scheme, Combined(scheme, SimHash())):
        assert thresholds_of(one).of(*PAIRS, np.arange(3)).tolist() == [0.9, 0.9, 0.6]


def test_sites_and_lengths_both_count():
    sites = np.array([4, 4, 5], np.uint64)  # an even one, whose pages need 0.8
    found = thresholds_of(MinHash(short=9, short_threshold=0.7), sites)
    assert found.of(*PAIRS, np.array([3, 3, 9])).tolist() == [0.8, 0.7, 0.6]


def test_lengths_are_required_only_where_they_count():
    for scheme in (MinHash(), Checksum(), Combined()):
        require_policy(scheme, Policy(verify="none"))
    with pytest.raises(ParameterConflict, match="short=9 cannot be used with verify='none'"):
        require_policy(MinHash(short=9, short_threshold=1.0), Policy(verify="none"))
