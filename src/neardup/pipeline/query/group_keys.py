"""Integer keys with which an engine that groups hits by equal values groups near duplicates."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from neardup.model.arrays import Signatures
from neardup.model.errors import require, require_kind, require_sequence
from neardup.model.hits import group_id
from neardup.schemes.registry import kinds
from neardup.schemes.scheme import Scheme

_RULE: Final = (
    "must be {names}: the matches of other schemes cannot be expressed as equal integers. Use collapse "
    "or collapse_response for the engine's answer, or store the representative from an Index as a field"
)


def group_keys(
    signatures: Signatures, scheme: Scheme, *, ids: Sequence[Any] | None = None
) -> "np.ma.MaskedArray[Any, np.dtype[np.int64]]":
    """Return signed 64-bit integers, int64[n, K]: documents that match share one in at least one column.

    For ``Checksum`` this is one column, the signature. For ``Trials`` it is one column per choice of *needed* trials,
    15 by default. Documents match if and only if they share at least one key, except for two hashes in 2**64 that are
    equal by chance. An engine that compares a single column hides only documents that match, but not all of them.

    Documents without a signature match none: their keys are masked (``None`` in ``tolist()``). But most engines treat
    all documents without a value as one group. With *ids*, one per row, such documents have keys made of their ids as
    by ``group_id``, and nothing is masked.

    Raises ``ParameterError`` for other schemes and unless there is one id per row, ``RecipeMismatch`` for signatures of
    another recipe.

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
        require(len(require_sequence("ids", ids, "ids")) == len(keys), "ids", ids, "must have one id per row")
        for row in np.flatnonzero(absent).tolist():
            keys[row] = group_id(ids[row])
        absent = np.zeros_like(absent)
    masked: np.ma.MaskedArray[Any, np.dtype[np.int64]]
    masked = np.ma.array(keys, mask=np.repeat(absent[:, np.newaxis], keys.shape[1], axis=1))
    return masked
