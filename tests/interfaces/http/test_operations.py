from typing import get_type_hints

from neardup.interfaces.http.app import OPERATIONS


def test_every_operation_describes_itself():
    assert len({(one.method, one.path) for one in OPERATIONS}) == len(OPERATIONS)
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    for one in OPERATIONS:
        assert one.run.__doc__
        assert one.answer is get_type_hints(one.run, include_extras=True)["return"]
        assert one.has_body == (one.method == "POST")


def test_probes_need_no_token_to_be_answered():
    assert {one.path for one in OPERATIONS if one.probe} == {"/healthz", "/readyz", "/metrics"}
