"""Schemes written down, so that an index can be opened again by whoever knows nothing but its key."""

from dataclasses import fields, replace
from typing import Any, Final

import numpy as np

from neardup.model.errors import ParameterError, require
from neardup.model.recipe import Hashing
from neardup.schemes.checksum import Checksum, Field
from neardup.schemes.combined import Combined
from neardup.schemes.minhash import MinHash
from neardup.schemes.sentences import Sentences
from neardup.schemes.simhash import SimHash
from neardup.schemes.trials import Trials
from neardup.schemes.weights import TermWeights
from neardup.text.analysis import Analysis
from neardup.text.templates import CommonShingles

_SCHEMES: Final[dict[str, type]] = {
    kind.name: kind for kind in (MinHash, Trials, Sentences, SimHash, Checksum, Combined)
}
_VALUES: Final[dict[str, type]] = {"analysis": Analysis, "field": Field}
_TABLE: Final = "a table of weights"
_COMMON: Final = "a list of common shingles"


def written(scheme: Any) -> dict[str, Any]:
    """Write a scheme down without its key; of a table of weights or a list of common shingles only the identity."""
    return {"scheme": scheme.name, **{name: _written(value) for name, value in _parameters(scheme).items()}}


def is_whole(given: dict[str, Any]) -> bool:
    """Say whether that is all of a scheme: no table of weights is missing."""
    parts = [part for part in given.values() if isinstance(part, dict)]
    return all(part.get("value") != _TABLE and is_whole(part) for part in parts)


def lacking(made: Any, other: Any, *, chosen: bool = False) -> str | None:
    """Say what the keys of a scheme lack for the policy of an *other* one of its recipe; ``None``: nothing.

    What a layout finds that was *chosen* by itself is what was wanted.
    """
    if isinstance(made, Combined):
        return lacking(made.first, other.first, chosen=chosen)
    if isinstance(made, SimHash) and other.distance > made.distance:
        return f"has keys for a distance of {made.distance}, not for {other.distance}"
    if isinstance(made, Trials) and other.needed < made.needed:
        return f"has keys for {made.needed} trials that agree, not for {other.needed}"
    if isinstance(made, MinHash) and not chosen:
        share = float(made.layout.meeting_probability(other.threshold))
        if share < other.recall and other.threshold < made.threshold:
            return (
                f"has keys for a threshold of {made.threshold}: of pairs at {other.threshold} they find "
                f"{share:.3f}, not {other.recall} (recall={int(share * 1000) / 1000} takes that)"
            )
    return None


def read(given: dict[str, Any], key: bytes | None = None) -> Any:
    """Make the scheme that was written down, with this key. Without its table of weights it has only the same keys."""
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


def with_common(scheme: Any, common: CommonShingles | None) -> Any:
    """Return the same scheme with a list of shingles that do not count; ``None`` leaves it as it is.

    Of two combined schemes the first one gets it. Raises ``ParameterError`` for a scheme of fields, for one that has a
    list already, and for a list of another shingling.
    """
    if common is None:
        return scheme
    if isinstance(scheme, Combined):
        return replace(scheme, first=with_common(scheme.first, common))
    require_shingles(scheme)
    return replace(scheme, common=common)


def fitted_common(scheme: Any, texts: Any, share: float) -> CommonShingles:
    """Find the shingles that are common among these texts, for this scheme (see ``CommonShingles.fitted``).

    Raises ``ParameterError`` for a scheme of fields, for one that has a list already, and for no share.
    """
    require_shingles(scheme.first if isinstance(scheme, Combined) else scheme)
    return CommonShingles.fitted(texts, scheme.shingling, share)


def common_of(scheme: Any) -> CommonShingles | None:
    """Return the list of shingles that do not count for a scheme; ``None`` if all count."""
    common: CommonShingles | None = getattr(scheme.shingling, "common", None)
    return common


def plain_shingling(scheme: Any) -> str:
    """Return the id of the shingling that a list of common shingles for this scheme is made with."""
    recipe: str = scheme.shingling.plain.recipe
    return recipe


def require_shingles(scheme: Any) -> None:
    """Raise ``ParameterError`` unless a scheme can be given a list of common shingles."""
    rule = f"does not go with {scheme.name}, which compares fields and no shingles"
    require(hasattr(scheme, "common"), "ignore_common", None, rule)
    require(scheme.common is None, "ignore_common", None, "does not go with a scheme that has a list already")


def key_identity(scheme: Any) -> str:
    """Tell keys, or seeds, apart, and nothing else of them."""
    if isinstance(scheme, Combined):
        return f"{key_identity(scheme.first)}, {key_identity(scheme.second)}"
    return Hashing(seed=scheme.seed, key=scheme.key).identity if hasattr(scheme, "key") else ""


def _parameters(value: Any) -> dict[str, Any]:
    return {part.name: getattr(value, part.name) for part in fields(value) if part.name != "key"}


def _written(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [_written(part) for part in value]
    if isinstance(value, tuple(_SCHEMES.values())):
        return written(value)
    if isinstance(value, TermWeights | CommonShingles):
        return {"value": _TABLE if isinstance(value, TermWeights) else _COMMON, "identity": value.identity}
    for name, kind in _VALUES.items():
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
    return _VALUES[own.pop("value")](**{name: _read(part) for name, part in own.items()})
