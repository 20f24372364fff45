"""Integers by which any engine that gathers hits of equal values gathers near duplicates."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from neardup.model.arrays import Signatures
from neardup.model.errors import require, require_kind, require_sequence
from neardup.model.hits import group_id
from neardup.model.protocols import Scheme
from neardup.schemes.registry import kinds

_RULE: Final = (
    "must be {names}: the matches of other schemes cannot be expressed as equal integers. Use collapse "
    "or collapse_response for the engine's answer, or store the representative from an Index as a field"
)


def group_keys(
    signatures: Signatures, scheme: Scheme, *, ids: Sequence[Any] | None = None
) -> "np.ma.MaskedArray[Any, np.dtype[np.int64]]":
    """Return the integers, signed and of 64 bits, of which two documents share one in some column if they match.

    Those of ``Checksum`` are one column, the signature. Those of ``Trials`` are one for each choice of as many trials
    as are *needed*, 15 by default; documents match exactly if they share at least one, but for two hashes in 2**64
    that are equal by chance. An engine that compares a single column hides none that do not match, but not all that do.

    Documents without a signature match none: their keys are masked (``None`` in ``tolist()``). Most engines take all
    that have no value for one group, though. Given *ids*, one a row, such documents have keys of their own instead,
    made of their ids as ``group_id`` makes them, and nothing is masked.

    Raises ``ParameterError`` for other schemes and for *ids* that are not one a row, ``RecipeMismatch``.

    >>> from neardup import Trials
    >>> scheme = Trials()
    >>> keys = group_keys(scheme.sign(["a rose is a rose", "A rose, is a rose!", ""]), scheme)
    >>> keys.shape, bool((keys[0] == keys[1]).all()), keys[2].tolist() == [None] * 15
    ((3, 15), True, True)
    """
    require_kind("signatures", signatures, Signatures)
    names = " or ".join(kind.__name__ for kind in kinds() if kind.keys_decide)
    require(getattr(scheme, "keys_decide", False) is True, "scheme", scheme, _RULE.format(names=names))
    keys = scheme.keys(signatures).astype(np.uint64, copy=True).view(np.int64)
    absent = ~signatures.present
    if ids is not None:
        require(len(require_sequence("ids", ids, "ids")) == len(keys), "ids", ids, "must be one a row")
        for row in np.flatnonzero(absent).tolist():
            keys[row] = group_id(ids[row])
        absent = np.zeros_like(absent)
    masked: np.ma.MaskedArray[Any, np.dtype[np.int64]]
    masked = np.ma.array(keys, mask=np.repeat(absent[:, np.newaxis], keys.shape[1], axis=1))
    return masked
