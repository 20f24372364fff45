import argparse

import pytest

from neardup import ParameterError
from neardup.interfaces.cli.work_folders import add_work_options, refuse_without_work


def test_the_options():
    parser = argparse.ArgumentParser()
    add_work_options(parser, "large inputs: keep files")
    assert vars(parser.parse_args([])) == {"restart": False}
    given = parser.parse_args(["--work", "w", "--memory", "2M", "--restart"])
    assert vars(given) == {"work": "w", "memory": 2_000_000, "restart": True}
    assert "for large inputs: keep files in DIR" in " ".join(parser.format_help().split())


def test_none_of_them_is_used_without_a_folder():
    refuse_without_work({"restart": False}, ("memory",))
    for given, name in (({"restart": True}, "restart"), ({"restart": False, "memory": 5}, "memory")):
        with pytest.raises(ParameterError, match="can only be used with a work folder") as caught:
            refuse_without_work(given, ("memory",))
        assert caught.value.name == name
