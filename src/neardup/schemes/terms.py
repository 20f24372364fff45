"""Schemes written down, so that an index can be opened again by whoever knows nothing but its key."""

from dataclasses import fields, replace
from typing import Any, Final

from neardup.model.errors import ParameterError
from neardup.model.recipe import Hashing
from neardup.schemes.checksum import Checksum, Field
from neardup.schemes.combined import Combined
from neardup.schemes.minhash import MinHash
from neardup.schemes.sentences import Sentences
from neardup.schemes.simhash import SimHash
from neardup.schemes.trials import Trials
from neardup.text.analysis import Analysis

_SCHEMES: Final[dict[str, type]] = {
    kind.name: kind for kind in (MinHash, Trials, Sentences, SimHash, Checksum, Combined)
}
_VALUES: Final[dict[str, type]] = {"analysis": Analysis, "field": Field}


def written(scheme: Any) -> dict[str, Any] | None:
    """Write a scheme down without its key; ``None`` for one with a table of weights, which is no small matter."""
    parts = {name: _written(value) for name, value in _parameters(scheme).items()}
    return None if any(part is NotImplemented for part in parts.values()) else {"scheme": scheme.name, **parts}


def read(given: dict[str, Any], key: bytes | None = None) -> Any:
    """Make the scheme that was written down, with this key."""
    own = dict(given)
    kind = _SCHEMES[own.pop("scheme")]
    return keyed(kind(**{name: _read(value) for name, value in own.items()}), key)


def keyed(scheme: Any, key: bytes | None) -> Any:
    """Give the same scheme with another key; ``None`` leaves it as it is."""
    if key is None:
        return scheme
    if isinstance(scheme, Combined):
        return replace(scheme, first=keyed(scheme.first, key), second=keyed(scheme.second, key))
    if not hasattr(scheme, "key"):
        raise ParameterError("key", "(secret)", "does not go with this scheme, which has none")
    return replace(scheme, key=key)


def key_identity(scheme: Any) -> str:
    """Tell keys, or seeds, apart, and nothing else of them."""
    if isinstance(scheme, Combined):
        return f"{key_identity(scheme.first)}, {key_identity(scheme.second)}"
    return Hashing(seed=scheme.seed, key=scheme.key).identity if hasattr(scheme, "key") else ""


def _parameters(value: Any) -> dict[str, Any]:
    return {part.name: getattr(value, part.name) for part in fields(value) if part.name != "key"}


def _written(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    if isinstance(value, tuple | list):
        return [_written(part) for part in value]
    if isinstance(value, tuple(_SCHEMES.values())):
        inner = written(value)
        return NotImplemented if inner is None else inner
    for name, kind in _VALUES.items():
        if isinstance(value, kind):
            return {"value": name, **{part: _written(own) for part, own in _parameters(value).items()}}
    return NotImplemented


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(part) for part in value)
    if not isinstance(value, dict):
        return value
    if "scheme" in value:
        return read(value)
    own = dict(value)
    return _VALUES[own.pop("value")](**{name: _read(part) for name, part in own.items()})
