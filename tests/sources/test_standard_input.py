import os
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import DataError
from neardup.sources import standard_input as module
from neardup.sources.standard_input import arriving, check_same, standard_input


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


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    ends = [reading, writing]
    yield reading, writing, lambda: os.close(ends.pop())
    for end in ends:
        os.close(end)


def lines_of(path, most=module.MOST_BYTES):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return [line for lines in arriving(descriptor, "it", most) for line in lines]
    finally:
        os.close(descriptor)


def test_a_line_is_given_as_soon_as_it_is_there(pipe):
    reading, writing, end = pipe
    given = arriving(reading, "it")
    for sent, expected in ((b"one\n", [b"one"]), (b"two\nthree\nfo", [b"two", b"three"]), (b"ur\n", [b"four"])):
        os.write(writing, sent)
        assert next(given) == expected
    os.write(writing, b"last")
    end()
    assert next(given) == [b"last"]
    assert list(given) == []


def test_a_line_may_come_in_pieces(pipe):
    reading, writing, end = pipe

    def send():
        for piece in (b"a", b"bc", b"d\ne"):
            os.write(writing, piece)
            time.sleep(0.02)
        end()

    sender = threading.Thread(target=send)
    sender.start()
    assert list(arriving(reading, "it")) == [[b"abcd"], [b"e"]]
    sender.join()


def test_what_waits_is_given_at_once(pipe):
    reading, writing, end = pipe
    os.write(writing, b"x\n" * 1000)
    end()
    assert [len(lines) for lines in arriving(reading, "it")] == [1000]


def test_lines_that_are_too_long_are_not_kept(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"12345\n123456\n12345\n" + b"x" * 100 + b"\n2\n" + b"y" * 6)
    assert lines_of(path, 5) == [b"12345", None, b"12345", None, b"2", None]


@given(
    pieces=st.lists(st.sampled_from([b"", b"\n", b"a", b"\r\n", b"bcd", b"\n\n", b"xyzxyz"]), max_size=12),
    size=st.integers(1, 5),
)
def test_lines_are_those_of_the_whole(tmp_path_factory, pieces, size):
    whole = b"".join(pieces)
    path = tmp_path_factory.mktemp("lines") / "lines"
    path.write_bytes(whole)
    expected = [line if len(line) <= 4 else None for line in whole.split(b"\n")]
    if not whole.endswith(b"\n") and whole:
        expected.append(b"")
    before = module._MOST, module.TOGETHER
    module._MOST, module.TOGETHER = size, 2 * size
    try:
        assert lines_of(path, 4) == expected[:-1]
    finally:
        module._MOST, module.TOGETHER = before


def test_what_cannot_be_read_is_reported(tmp_path):
    with pytest.raises(DataError, match="it cannot be read: Is a directory"):
        lines_of(tmp_path)
