import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from neardup.errors import DataError, StorageFailed
from neardup.sources.copies import copied, needs_copy
from neardup.sources.formats import display, is_pipe, is_read_once

LINES = b'{"text": "one"}\n' * 10_000


@pytest.fixture
def pipe(tmp_path):
    """A named pipe that another thread writes to."""
    path = tmp_path / "of pages.jsonl"
    os.mkfifo(path)

    def write():
        with suppress(FileNotFoundError):  # it waits for a reader, and a test may end without one
            path.write_bytes(LINES)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    return path


def test_pipes_and_what_is_elsewhere_need_a_copy(tmp_path, pipe):
    file = tmp_path / "x.jsonl"
    file.write_bytes(LINES)
    needing = [one for one in ("-", "memory://x.jsonl", str(pipe), str(file), str(tmp_path), "none") if needs_copy(one)]
    assert needing == ["-", "memory://x.jsonl", str(pipe)]
    assert is_pipe(str(pipe))
    assert not is_pipe("-")
    pipe.read_bytes()


def test_a_copy_of_a_pipe_has_its_bytes_and_its_name(tmp_path, pipe):
    (tmp_path / "copies").mkdir()
    copies = copied({str(pipe): "jsonl", str(tmp_path): "folder"}, str(tmp_path / "copies"))
    assert [*copies] == [str(pipe)]
    copy = copies[str(pipe)]
    assert copy.read_bytes() == LINES
    assert (display(str(copy)), copy.suffix) == (str(pipe), ".jsonl")
    assert is_read_once(str(copy))
    assert not is_read_once(str(tmp_path))


def test_a_folder_that_cannot_be_written_and_a_pipe_that_cannot_be_read(tmp_path, pipe, monkeypatch):
    monkeypatch.setattr("neardup.sources.standard_input.available", lambda _: iter([LINES]))
    with pytest.raises(StorageFailed, match="cannot be written"):
        copied({str(pipe): "jsonl"}, "/proc/none")
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(Path, "open", _refused(Path.open))
    with pytest.raises(DataError, match="of pages"):
        copied({str(pipe): "jsonl"}, str(tmp_path / "copies"))


def _refused(opened):
    def own(path, mode="r", *rest, **named):
        if mode == "rb":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, mode, *rest, **named)

    return own
