"""Unicode normalisation of the few documents that need it, with the same result in every version of Python."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from neardup.kernels import folding
from neardup.model.arrays import Bytes, Flags, TextBatch
from neardup.text.analysis import Normalization
from neardup.text.unicode import unicode_tables

_CLASS: Final = np.uint16(0xFF)  # bits of the normal table: the combining class
BITS: Final[Mapping[Normalization, np.uint16]] = {"NFC": np.uint16(1 << 8), "NFKC": np.uint16(1 << 9)}


def normalized(batch: TextBatch, form: Normalization | None) -> TextBatch:
    """Normalise a batch; it is returned unchanged without a form, or if every document is already normalised."""
    if form is None:
        return batch
    flags = may_change(batch, form)
    if not flags.any():
        return batch
    lengths, parts, begin = np.diff(batch.offsets), [], batch.offsets[0]
    for document in np.flatnonzero(flags).tolist():
        text = normalize(batch.bytes_at(document).decode("utf-8", "replace"), form).encode()
        parts += [batch.data[begin : batch.offsets[document]].tobytes(), text]
        lengths[document], begin = len(text), batch.offsets[document + 1]
    parts.append(batch.data[begin : batch.offsets[-1]].tobytes())
    return TextBatch(np.frombuffer(b"".join(parts), np.uint8), np.concatenate([[0], np.cumsum(lengths)]))


def may_change(batch: TextBatch, form: Normalization) -> Bytes:
    """Return 1 for each document that normalisation may change, and 0 for the others: see the kernel ``may_change``."""
    flags = np.empty(len(batch), np.uint8)
    folding.may_change(batch.data, batch.offsets, *unicode_tables().normal, BITS[form], leads(form), flags)
    return flags


@cache
def leads(form: Normalization) -> Flags:
    """Flag the first bytes, in UTF-8, of combining marks and of code points that normalisation may change."""
    index, data = unicode_tables().normal
    unsettled = ((data & (BITS[form] | _CLASS)) != 0).reshape(-1, 2, 64).any(axis=2)[index]  # 64 have one first byte
    return np.isin(np.arange(256), [chr(64 * place).encode()[0] for place in np.flatnonzero(unsettled).tolist()])


def normalize(text: str, form: Normalization) -> str:
    """Normalise a text by Unicode 14.0, regardless of the version of the interpreter.

    Code points that 14.0 does not assign do not combine and are not changed, so the text between two of them is
    normalised separately. Versions agree about text that all of them assign.
    """
    if text.isascii() or not _unassigned().search("".join({*text})):  # the pattern is slow: each character once
        return unicodedata.normalize(form, text)
    pieces = _unassigned().split(text)
    pieces[::2] = [unicodedata.normalize(form, piece) for piece in pieces[::2]]
    return "".join(pieces)


@cache
def _unassigned() -> re.Pattern[str]:
    """Return a pattern for a run of code points that Unicode 14.0 does not assign."""
    index, data = unicode_tables().normal
    codes = data.reshape(-1, 128)[index].ravel() & folding.BEYOND != 0
    edges = np.flatnonzero(np.diff(codes, prepend=False, append=False)).tolist()
    ranges = (rf"\U{begin:08x}-\U{end - 1:08x}" for begin, end in zip(edges[::2], edges[1::2], strict=True))
    return re.compile(f"([{''.join(ranges)}]+)")
