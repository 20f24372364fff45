"""The registry: all kinds of schemes by name."""

from functools import cache
from typing import Any, TypeVar

from neardup.model.errors import require, require_choice
from neardup.schemes.checksum import Checksum
from neardup.schemes.combined import Combined
from neardup.schemes.fracminhash import FracMinHash
from neardup.schemes.minhash import MinHash
from neardup.schemes.scheme import Scheme
from neardup.schemes.sentences import Sentences
from neardup.schemes.simhash import SimHash
from neardup.schemes.trials import Trials

SchemeClass = TypeVar("SchemeClass", bound=type[Any])

_KINDS: dict[str, type[Any]] = {}


def register(kind: SchemeClass) -> SchemeClass:
    """Add a kind of scheme (a class that derives from ``Scheme``) under its name; returns the class.

    From then on, ``dedup``, ``Index``, ``collapse``, ``compare``, ``plan`` and the command line accept it in this
    process. Raises ``ParameterError`` for anything else, and for a name that is empty or taken.
    """
    name = getattr(kind, "name", "")
    require(isinstance(name, str) and name.isidentifier(), "name", name, "must be an identifier")
    derived = isinstance(kind, type) and issubclass(kind, Scheme)
    require(derived, "kind", kind, "must be a subclass of FeatureScheme or Scheme")
    require(_KINDS.get(name, kind) is kind, "name", name, "must not be the name of another scheme")
    _KINDS[name] = kind
    return kind


def named(name: str) -> type[Any]:
    """Return the kind of scheme of this name; ``ParameterError`` if there is none."""
    require_choice("scheme", name, _KINDS, f"must be one of {', '.join(_KINDS)}")
    return _KINDS[name]


def kinds() -> tuple[type[Any], ...]:
    """Return all kinds of schemes, the default one first."""
    return tuple(_KINDS.values())


@cache
def default() -> Any:
    """Return the default scheme: one object, so that its recipe is computed once."""
    return kinds()[0]()


def measures() -> tuple[str, ...]:
    """Return the names of all exact measures."""
    return tuple(dict.fromkeys(measure for kind in kinds() for measure in kind.measures))


def for_measure(measure: str) -> Any:
    """Return the first scheme that can verify a measure, with its defaults; ``ParameterError`` for an unknown one."""
    require_choice("measure", measure, measures(), f"must be one of {', '.join(measures())}")
    return next(kind for kind in kinds() if measure in kind.measures)().with_measure(measure)


for _kind in (MinHash, FracMinHash, Trials, Sentences, SimHash, Combined, Checksum):
    register(_kind)
