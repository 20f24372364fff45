import io
import sys

import pytest

from neardup.model.errors import DataError
from neardup.sources.standard_input import check_same, standard_input


@pytest.fixture
def piped(monkeypatch):
    """Give these bytes on standard input."""

    def piped(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return piped


def test_a_copy_has_all_bytes(piped, tmp_path):
    data = b"\xff\n" * (1 << 20)
    piped(data)
    with (tmp_path / "copy").open("wb") as file:
        file.writelines(standard_input())
    assert (tmp_path / "copy").read_bytes() == data


def test_a_closed_standard_input_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", None)
    with (tmp_path / "copy").open("wb") as file, pytest.raises(DataError, match=r"^<stdin>: it is closed$"):
        file.writelines(standard_input())
    check_same(tmp_path / "copy")


@pytest.mark.parametrize(
    ("data", "same"), [(b"abc", True), (b"", True), (b"abd", False), (b"ab", False), (b"abcd", False)]
)
def test_a_run_continues_with_the_same_bytes_or_none(piped, tmp_path, data, same):
    (tmp_path / "copy").write_bytes(b"abc")
    piped(data)
    if same:
        check_same(tmp_path / "copy")
        return
    with pytest.raises(DataError, match=r"^<stdin>: it differs from what the run has read before"):
        check_same(tmp_path / "copy")
