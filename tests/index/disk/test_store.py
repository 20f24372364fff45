"""The store of an index, opened to write."""

import pytest

from neardup import Index, StorageError


def test_a_closed_store_is_refused(tmp_path):
    index = Index.create(tmp_path / "index")
    index.close()
    for question in (lambda: index.judge(["a"]), lambda: len(index), index.flush):
        with pytest.raises((StorageError, ValueError)):
            question()
