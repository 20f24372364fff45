import pytest

from neardup.model.errors import InputRefused
from neardup.sources.keys import key_in

KEY = bytes(range(240, 256))


@pytest.mark.parametrize("content", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\r\n"])
def test_a_key_is_bytes_or_hexadecimal(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    assert key_in(str(tmp_path / "key")) == KEY


@pytest.mark.parametrize("content", [b"", KEY[:-1], KEY + b"\n", b"g" * 32, b"g" * 65])
def test_any_other_key_is_refused_and_not_shown(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    length = f"{len(content)}" if len(content) < 64 else "64 or more"
    with pytest.raises(InputRefused, match=f"16 bytes or 32 hexadecimal digits, not {length} bytes"):
        key_in(str(tmp_path / "key"))
