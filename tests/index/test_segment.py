"""What a file of documents is asked costs no more than what is wanted of it."""

import numpy as np
import pytest

from neardup import ExactDuplicate, Index, New, SimHash
from neardup.index.postings import ROOM
from neardup.index.segment import Segment

TEXT = "page not found on this server, sorry about that"


@pytest.fixture
def looked_at(monkeypatch):
    """Count, call by call, of how many documents the content is read."""
    numbers = []
    take = Segment.take

    def counted(segment, name, positions):
        numbers.extend([len(positions)] if name == "content" else [])
        return take(segment, name, positions)

    monkeypatch.setattr(Segment, "take", counted)
    return numbers


def test_a_content_that_many_have_costs_no_more_beside_a_new_one(tmp_path, looked_at):
    with Index.create(tmp_path / "index", SimHash(), durability="bulk") as index:
        index.admit([f"d{number}" for number in range(5000)], [TEXT] * 5000)
        index.flush()
        looked_at.clear()
        assert index.judge([TEXT, "quite another text, seen by nobody so far"]) == [ExactDuplicate("d0", "d0"), New()]
        assert max(looked_at) <= ROOM
