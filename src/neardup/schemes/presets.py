"""The schemes of presets."""

from dataclasses import replace
from typing import Any

from neardup.model.errors import require_choice
from neardup.model.presets import PRESETS
from neardup.schemes.minhash import MinHash


def preset(name: str, **parameters: Any) -> MinHash:
    """Return the scheme of a preset: ``rewrites``, ``copies``, ``strict``, ``code`` or ``short``.

    *parameters* of ``MinHash`` replace those of the preset. The preset ``code`` also has an ``ignore_common``, which
    requires a collection: ``dedup(..., preset="code")`` uses it. Raises ``ParameterError`` for another name.

    >>> scheme = preset("copies", threshold=0.9)
    >>> scheme.shingle, scheme.threshold
    (5, 0.9)
    """
    require_choice("preset", name, PRESETS, f"must be one of {', '.join(PRESETS)}")
    return replace(MinHash.from_options(PRESETS[name].settings), **parameters)
