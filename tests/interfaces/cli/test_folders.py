import argparse

import pytest

from neardup import Index, MinHash, StorageError
from neardup.interfaces.cli.folders import add_index_argument, opened


def arguments(*given):
    parser = argparse.ArgumentParser()
    add_index_argument(parser)
    return parser.parse_args([*map(str, given)])


def test_it_opens_with_the_key_that_is_named(tmp_path):
    Index.create(tmp_path / "index", MinHash(key=bytes(16))).close()
    (tmp_path / "key").write_bytes(bytes(16))
    with opened(arguments(tmp_path / "index", "--key-file", tmp_path / "key"), "w") as index:
        index.admit(["a"], ["one two three"])
    with pytest.raises(StorageError, match="was created with a key"):
        opened(arguments(tmp_path / "index"), "r")


def test_a_verb_may_need_no_key():
    parser = argparse.ArgumentParser()
    add_index_argument(parser, with_key=False)
    assert vars(parser.parse_args(["folder"])) == {"index": "folder"}
    with pytest.raises(SystemExit):
        parser.parse_args(["folder", "--key-file", "key"])
