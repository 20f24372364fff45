"""An index of several parts."""

import pytest

from neardup import Index, SimHash

TEXTS = [f"text of document number {number}, unlike all the others {number * 7919}" for number in range(30)]


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "index", SimHash(), durability="bulk") as index:
        for begin in range(0, 30, 10):
            index.admit([f"d{number}" for number in range(begin, begin + 10)], TEXTS[begin : begin + 10])
            if begin < 20:
                index.flush()
        yield index
