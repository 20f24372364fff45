import pytest

from neardup.model.errors import DataError, InputRefused
from neardup.sources.listing import listed


def test_names_are_lines(tmp_path):
    path = tmp_path / "names"
    path.write_bytes("\ufeffa\r\n \nä b \n\nlast".encode())
    assert listed(str(path)) == ["a", "ä b ", "last"]
    path.write_bytes(b"")
    assert listed(str(path)) == []


def test_what_are_no_names(tmp_path):
    path = tmp_path / "names"
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(DataError, match="names:2: it is not valid UTF-8") as caught:
        listed(str(path))
    assert caught.value.code == "encoding"
    with pytest.raises(InputRefused):
        listed(str(tmp_path / "none"))
