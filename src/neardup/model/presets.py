"""Named settings for common purposes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Settings for one purpose.

    ``about`` describes what the preset finds. ``settings`` maps names of parameters of ``MinHash`` and ``Analysis`` to
    values; ``ignore_common`` is the parameter of ``dedup``, or ``None``.
    """

    about: str
    settings: Mapping[str, Any]
    ignore_common: float | None = None


PRESETS: Final[Mapping[str, Preset]] = {
    "rewrites": Preset(
        about="the same content in other words or another order; merges most documents of one template",
        settings={"shingle": 2, "threshold": 0.5},
    ),
    "copies": Preset(about="copies with light edits", settings={"shingle": 5, "threshold": 0.8}),
    "strict": Preset(about="copies in which hardly a word differs", settings={"shingle": 5, "threshold": 0.95}),
    "code": Preset(
        about="copies of source files with light edits, ignoring shared licence headers",
        settings={"shingle": 5, "threshold": 0.8},
        ignore_common=0.002,
    ),
    "short": Preset(
        about="titles, names and messages with other spelling",
        settings={"unit": "letter", "shingle": 4, "threshold": 0.6},
    ),
}
