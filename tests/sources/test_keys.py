import pytest

from neardup.model.errors import InputRefused
from neardup.sources.keys import key_in

KEY = bytes(range(240, 256))


@pytest.mark.parametrize("content", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\r\n"])
def test_a_key_is_bytes_or_hexadecimal(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    assert key_in(str(tmp_path / "key")) == KEY


@pytest.mark.parametrize("content", [b"", KEY[:-1], KEY + b"\n", b"g" * 32])
def test_any_other_key_is_refused_and_not_shown(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(InputRefused, match="16 bytes or 32 hexadecimal digits"):
        key_in(str(tmp_path / "key"))
