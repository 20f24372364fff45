import os
import subprocess
import sys

import pytest

from neardup.model.errors import PERMISSION, DataError, InputRefused, OutputError, ParameterError
from neardup.text.files import load, save


def test_a_file_is_replaced_as_a_whole(tmp_path):
    for content in (b"first", b"", b"second"):
        save(tmp_path / "a", content)
        assert load(tmp_path / "a", "the list", 9) == content
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_links_permissions_and_pipes_stay(tmp_path):
    (tmp_path / "a").write_bytes(b"first")
    (tmp_path / "a").chmod(0o600)
    (tmp_path / "link").symlink_to("a")
    save(tmp_path / "link", b"second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"second"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    save(tmp_path / "pipe", b"content")
    assert os.read(reading, 99) == b"content"
    os.close(reading)
    assert (tmp_path / "pipe").is_fifo()
    command = "from neardup.text.files import save; save('/dev/stdout', b'content')"
    done = subprocess.run([sys.executable, "-c", command], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"content"
    with (tmp_path / "out").open("wb") as out:
        out.write(b"before ")
        out.flush()
        subprocess.run([sys.executable, "-c", command], stdout=out, check=True)
        out.seek(0, os.SEEK_END)
        out.write(b" behind")
    assert (tmp_path / "out").read_bytes() == b"before content behind"


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="folder: it cannot be written: Is a directory"):
        save(tmp_path / "folder", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(OutputError, match="its name is too long"):
        save(tmp_path / ("a" * 250), b"content")
    with pytest.raises(ParameterError, match="must be a path"):
        save("", b"content")


@pytest.mark.usefixtures("permissions")
def test_what_the_user_may_not_use_is_not_wrong_usage(tmp_path):
    save(tmp_path / "a", b"content")
    (tmp_path / "a").chmod(0)
    with pytest.raises(DataError, match="the list cannot be read: Permission denied") as caught:
        load(tmp_path / "a", "the list", 9)
    assert not isinstance(caught.value, InputRefused)
    assert caught.value.code == PERMISSION
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="b: it cannot be written: Permission denied"):
        save(tmp_path / "b", b"content")


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputRefused, match="the list cannot be read: No such file"):
        load(tmp_path / "a", "the list", 9)
    save(tmp_path / "a", b"12345")
    assert load(tmp_path / "a", "the list", 5) == b"12345"
    with pytest.raises(DataError, match="it is larger than 4 bytes"):
        load(tmp_path / "a", "the list", 4)
    with pytest.raises(DataError, match="it is larger than 3,000,000 bytes"):
        load("/dev/zero", "the list", 3_000_000)
