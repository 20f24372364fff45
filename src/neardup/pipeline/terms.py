"""On what terms an index was made: its scheme, layout and columns, as its manifest states them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pyarrow as pa

from neardup.index.arrays import expect, understood
from neardup.index.columns import Columns
from neardup.index.manifest import NAME as MANIFEST
from neardup.index.manifest import Manifest
from neardup.index.opening import Terms
from neardup.model.arrays import Flags, Signatures, Words
from neardup.model.errors import StorageRefused, require
from neardup.model.protocols import require_scheme
from neardup.pipeline.fields import field_kinds
from neardup.schemes import terms as schemes


def terms(scheme: Any, layout: Any, columns: Columns) -> Terms:
    """Say what a store must know of a scheme; on opening, of that with which the index was made."""
    own = getattr(scheme, "layout", None)
    fits = layout is None or (own is not None and isinstance(layout, type(own)))
    rule = f"must be a {type(own).__name__}" if own is not None else "does not go with this scheme, which has none"
    require(fits, "layout", layout, rule)
    _require_fit(layout, own)

    def keyed(rows: npt.NDArray[Any], present: Flags) -> Words:
        signatures = Signatures(rows, present, scheme.recipe)
        keys: Words = scheme.keys(signatures) if layout is None else scheme.keys(signatures, layout)
        return keys

    return Terms(columns, keyed, scheme.pooled)


def columns(scheme: Any, fields: tuple[tuple[str, str], ...], *, texts: bool) -> Columns:
    """Say what an index of this scheme knows of a document."""
    blank = scheme.sign(_nothing(scheme)).rows
    return Columns(blank.dtype.str, int(blank.shape[1]), fields, texts)


def stated(scheme: Any, layout: Any, own: Columns) -> dict[str, Any]:
    """Write down what opening an index wants to know; the key is no part of it."""
    return {
        "scheme": schemes.written(scheme),
        "name": scheme.name,
        "recipe": scheme.recipe,
        "key": schemes.key_identity(scheme),
        "layout": None if (used := layout or getattr(scheme, "layout", None)) is None else asdict(used),
        "chosen": layout is not None,
        "row": [own.row_kind, own.row_width],
        "fields": [list(field) for field in own.fields],
        "texts": own.texts,
    }


def scheme_of(folder: Path, manifest: Manifest, scheme: Any, key: bytes | None) -> Any:
    """Make the scheme that a manifest states, or take the one given, if it has the same recipe."""
    given, where = manifest.terms, str(folder)
    with understood(folder / MANIFEST):
        made = scheme_of_keys(manifest)
        layout, whole = layout_of(made, manifest), schemes.is_whole(given["scheme"])
        stated = columns_of(manifest)
        expect(columns(made, stated.fields, texts=stated.texts) == stated, "its columns are not those of its scheme")
        _ = terms(made, layout, stated), given["recipe"], given["key"], given["name"]
        chosen = bool(given["chosen"])
    if scheme is not None:
        require_scheme(scheme)
        own = schemes.keyed(scheme, key)
    elif not whole:
        raise StorageRefused(where, f"has a scheme {given['name']!r} with a table of weights: open it with scheme=")
    else:
        own = schemes.keyed(made, key)
    if own.recipe == given["recipe"]:
        lacks = schemes.lacking(made, own, chosen=chosen)
        if lacks is not None:
            raise StorageRefused(where, lacks)
        return own
    if schemes.key_identity(own) != given["key"] and scheme is None:
        missing = "was made with a key: open it with key=" if key is None else "was made with another key"
        raise StorageRefused(where, missing)
    raise StorageRefused(where, f"was made by recipe {given['recipe']} ({given['name']}), not by {own.recipe}")


def scheme_of_keys(manifest: Manifest) -> Any:
    """Make the scheme whose keys the index has: another policy may have others, a secret and weights have none."""
    return schemes.read(manifest.terms["scheme"])


def layout_of(scheme: Any, manifest: Manifest) -> Any:
    """Make the layout that a manifest states, whatever that of a scheme given now; ``None`` for one that has none."""
    given = manifest.terms["layout"]
    return None if given is None else type(scheme.layout)(**given)


def columns_of(manifest: Manifest) -> Columns:
    """Say what an index knows of a document."""
    given = manifest.terms
    fields = tuple((name, kind) for name, kind in given["fields"])
    expect(isinstance(given["texts"], bool), "it does not say whether there are texts")
    expect(field_kinds(dict(fields)) == fields, "its fields are none")
    return Columns(given["row"][0], given["row"][1], fields, given["texts"])


def _require_fit(layout: Any, own: Any) -> None:
    """Raise ``ParameterError`` unless a layout is of as many minima, or bits, as the scheme's."""
    for name in ("permutations", "bits", "distance"):
        if layout is not None and hasattr(layout, name):
            same = getattr(layout, name) == getattr(own, name)
            require(same, "layout", layout, f"must be for the scheme's {name}, {getattr(own, name)}")


def _nothing(scheme: Any) -> Any:
    return pa.table({name: pa.array([], pa.string()) for name in scheme.columns}) if scheme.columns else []
