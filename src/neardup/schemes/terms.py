"""Serialised schemes, from which an index can be opened again with its key alone."""

import json
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np

from neardup.schemes.registry import kinds, named
from neardup.schemes.weights import TermWeights
from neardup.text.analysis import Analysis
from neardup.text.common_shingles import CommonShingles

_TABLE: Final = "a table of weights"
_COMMON: Final = "a list of common shingles"


def written(scheme: Any) -> dict[str, Any]:
    """Return a scheme as JSON has it, without its key; tables of weights and lists of shingles by identity only."""
    found = {"scheme": scheme.name, **{name: _written(value) for name, value in _parameters(scheme).items()}}
    plain: dict[str, Any] = json.loads(json.dumps(found))  # some numbers are of types of their own
    return plain


def is_whole(given: dict[str, Any]) -> bool:
    """Return whether a serialised scheme is complete, without a table of weights."""
    parts = [part for part in given.values() if isinstance(part, dict)]
    return all(part.get("value") != _TABLE and is_whole(part) for part in parts)


def read(given: dict[str, Any], key: bytes | None = None) -> Any:
    """Return a serialised scheme, with this key. Without its table of weights, only its keys are the same."""
    own = dict(given)
    kind = named(own.pop("scheme"))
    return kind(**{name: _read(value) for name, value in own.items()}).with_key(key)


def fitted_common(scheme: Any, texts: Any, share: float) -> CommonShingles:
    """Find the shingles that are common among these texts, for this scheme (see ``CommonShingles.fitted``).

    Raises ``ParameterError`` for a scheme of fields, for one that already has a list, and for an invalid share.
    """
    scheme.require_shingles(share)
    return CommonShingles.fitted(texts, scheme.shingling, share)


def common_of(scheme: Any) -> CommonShingles | None:
    """Return the list of shingles that do not count for a scheme; ``None`` if all count."""
    common: CommonShingles | None = getattr(scheme.shingling, "common", None)
    return common


def without_common(scheme: Any) -> Any:
    """Return the same scheme without its list: all shingles count."""
    own: dict[str, Any] = {
        name: without_common(value) if isinstance(value, kinds()) else None
        for name, value in _parameters(scheme).items()
        if isinstance(value, (CommonShingles, *kinds()))
    }
    return replace(scheme, **own)


def _value_types() -> dict[str, type[Any]]:
    """Return the types of parameters that have parameters of their own, by name."""
    own = (Analysis, *(value for kind in kinds() for value in kind.value_types))
    return {kind.__name__.lower(): kind for kind in own}


def _parameters(value: Any) -> dict[str, Any]:
    return {part.name: getattr(value, part.name) for part in fields(value) if part.name != "key"}


def _written(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [_written(part) for part in value]
    if isinstance(value, kinds()):
        return written(value)
    if isinstance(value, TermWeights | CommonShingles):
        return {"value": _TABLE if isinstance(value, TermWeights) else _COMMON, "identity": value.identity}
    for name, kind in _value_types().items():
        if isinstance(value, kind):
            return {"value": name, **{part: _written(own) for part, own in _parameters(value).items()}}
    return value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(part) for part in value)
    if not isinstance(value, dict):
        return value
    if "scheme" in value:
        return read(value)
    if value["value"] == _TABLE:
        return "tf"
    if value["value"] == _COMMON:
        return None
    own = dict(value)
    return _value_types()[own.pop("value")](**{name: _read(part) for name, part in own.items()})
