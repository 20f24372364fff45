"""Clusters of an index, a page at a time."""

import pytest

from neardup import Index
from neardup.errors import ParameterError
from neardup.model.seen import GroupPage

TEXTS = ["the storm broke over the harbour at dawn", "rye and water and salt and a good deal of time"]


def test_pages_of_a_group(tmp_path):
    with Index.create(tmp_path / "index") as index:
        index.admit([f"d{number}" for number in range(9)], [TEXTS[0]] * 9)
        index.flush()
        index.admit(["e", "other"], [TEXTS[0], TEXTS[1]])
        whole = index.group("d3")
        assert whole == ["d0", *(f"d{number}" for number in range(1, 9)), "e"]
        for skip, most in ((0, 1), (0, 0), (3, 4), (8, 5), (99, 2), (2, None)):
            end = None if most is None else skip + most
            assert index.group_page("e", skip, most) == GroupPage("d0", 10, whole[skip:end])
        assert index.group_page("other") == GroupPage("other", 1, ["other"])
        assert index.group_page("nobody") is None
        index.remove(["d3"])
        assert index.group_page("e", 2, 2) == GroupPage("d0", 9, ["d2", "d4"])
        with pytest.raises(ParameterError, match="skip"):
            index.group_page("e", -1)
