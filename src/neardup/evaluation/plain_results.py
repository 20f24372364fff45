"""Results as plain values."""

from typing import Any

import msgspec


class AsDict:
    """A result that can be returned as plain values."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return plain
