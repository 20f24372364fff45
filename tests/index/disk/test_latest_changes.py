import numpy as np

from neardup.index.disk.latest_changes import LatestChanges


def test_the_documents_that_changed_since_a_step():
    latest = LatestChanges(5)
    assert latest.number == 5
    latest.add(np.array([3, 9]))
    latest.add(np.array([1, 9]))
    assert latest.number == 7
    assert [latest.since(number) if number < 5 else latest.since(number).tolist() for number in (4, 5, 6, 7)] == [
        None,
        [1, 3, 9],
        [1, 9],
        [],
    ]
