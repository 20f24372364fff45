import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import DataError, InputRefused
from neardup.sources import lines
from neardup.sources.compression import Contents
from neardup.sources.lines import Spans, find, invalid_utf8, line_ends, read_names, runs

BYTES = st.lists(st.sampled_from([b"\n", b"\r", b"a", "ü".encode(), b"\xff"]), max_size=30).map(b"".join)


def spans(data):
    stop = line_ends(memoryview(data))
    start = np.concatenate([np.zeros(1, np.int64), stop[:-1]])[: stop.size]
    return start, stop


@given(BYTES)
def test_line_ends_equal_splitting(data):
    start, stop = spans(data)
    pieces = [data[first:last] for first, last in zip(start, stop, strict=True)]
    assert pieces == [line + b"\n" for line in data.split(b"\n")[:-1]] + [
        tail for tail in data.split(b"\n")[-1:] if tail
    ]


@given(BYTES)
def test_lone_returns_end_lines_as_python_has_it(data):
    stop = line_ends(memoryview(data), lone_returns=True)
    assert stop.tolist() == np.cumsum([len(line) for line in data.splitlines(keepends=True)]).astype(int).tolist()


@given(BYTES)
def test_invalid_lines_are_those_python_cannot_decode(data):
    start, stop = spans(data)
    bad = []
    for index, (first, last) in enumerate(zip(start, stop, strict=True)):
        try:
            data[first:last].decode()
        except UnicodeDecodeError:
            bad.append(index)
    assert invalid_utf8(memoryview(data), start, stop) == bad


@given(BYTES, st.integers(1, 5))
def test_blocks_do_not_show(data, block):
    whole = find(memoryview(data), ord("a")).tolist()
    scan, lines._SCAN = lines._SCAN, block
    try:
        assert find(memoryview(data), ord("a")).tolist() == whole
    finally:
        lines._SCAN = scan


@given(BYTES, st.booleans(), st.data())
def test_writing_copies_the_chosen_lines_and_closes_the_last(data, lone_returns, draw):
    start, stop = spans(data)
    chosen = np.array(draw.draw(st.lists(st.booleans(), min_size=start.size, max_size=start.size)), np.bool_)
    out = io.BytesIO()
    Spans(Contents("x", memoryview(data)), start, stop, start, lone_returns).where(chosen).write(out)
    expected = b"".join(data[first:last] for first, last in zip(start[chosen], stop[chosen], strict=True))
    if chosen.size and chosen[-1] and data.endswith(b"\r"):
        expected += b"" if lone_returns else b"\n"
    elif chosen.size and chosen[-1] and not data.endswith(b"\n"):
        expected += b"\n"
    assert out.getvalue() == expected


def test_neighbours_are_one_run():
    positions = np.arange(0, 1000, 10)
    assert list(runs(positions, positions + 10)) == [(0, 1000)]
    assert list(runs(positions[:0], positions[:0])) == []


def test_names_are_lines(tmp_path):
    path = tmp_path / "names"
    path.write_bytes("\ufeffa\r\n \nä b \n\nlast".encode())
    assert read_names(str(path)) == ["a", "ä b ", "last"]
    path.write_bytes(b"")
    assert read_names(str(path)) == []


def test_invalid_names_are_refused(tmp_path):
    path = tmp_path / "names"
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(DataError, match="names:2: it is not valid UTF-8") as caught:
        read_names(str(path))
    assert caught.value.code == "encoding"
    path.write_text('{"id":"a","position":4}\n{"id":"b","position":9}\n')
    with pytest.raises(DataError, match="names: its lines are JSON objects"):
        read_names(str(path))
    with pytest.raises(InputRefused):
        read_names(str(tmp_path / "none"))
