from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.http.app import OPERATIONS
from neardup.interfaces.http.operations import rounded


@given(st.floats(0, 1))
def test_a_share_is_never_rounded_up_to_1(share):
    shown = rounded(share)
    assert shown == pytest.approx(share, abs=0.000101)
    assert (shown == 1) == (share == 1)


def test_none_stays_none():
    assert rounded(None) is None


def test_every_operation_describes_itself():
    assert len({(one.method, one.path) for one in OPERATIONS}) == len(OPERATIONS)
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    for one in OPERATIONS:
        assert one.run.__doc__
        assert one.answer is get_type_hints(one.run, include_extras=True)["return"]
        assert one.has_body == (one.method == "POST")


def test_probes_need_no_token_to_be_answered():
    assert {one.path for one in OPERATIONS if one.probe} == {"/healthz", "/readyz", "/metrics"}
