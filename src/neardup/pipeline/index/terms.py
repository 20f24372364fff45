"""The terms of a new index, made of its scheme; and the scheme and lookup of an existing one, made of its terms."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import expect, understood
from neardup.index.disk.columns import Lookup
from neardup.index.disk.files import Disk
from neardup.index.disk.folder import COMMON, open_
from neardup.index.disk.manifest import MANIFEST, Manifest, Terms
from neardup.index.disk.store import Store, Usage
from neardup.model.arrays import Flags, Signatures, Words
from neardup.model.errors import DataError, StorageDamaged, StorageRefused, require
from neardup.model.memory import LEAST_OF_INDEX
from neardup.model.policy import Representative
from neardup.model.seen import Stats
from neardup.model.tables import TableDesign
from neardup.pipeline.index.fields import field_kinds
from neardup.schemes import terms as schemes
from neardup.schemes.recorded_scheme import RecordedScheme, other_settings
from neardup.schemes.scheme import require_scheme
from neardup.schemes.thresholds import require_texts
from neardup.text.common_shingles import CommonShingles


def lookup(scheme: Any, layout: Any, *, chosen: bool) -> Lookup:
    """Return how a scheme finds candidates; for an existing index, the scheme that it was created with.

    Fingerprints of 64 bits are found by tables, of a given design or the best one for their number, unless a layout of
    blocks was *chosen*.
    """
    if layout is not None:
        _require_layout(scheme, layout)
    by_keys = None if isinstance(layout, TableDesign) else layout

    def keyed(rows: npt.NDArray[Any], present: Flags) -> Words:
        signatures = Signatures(rows, present, scheme.recipe)
        keys: Words = scheme.keys(signatures) if by_keys is None else scheme.keys(signatures, by_keys)
        return keys

    def design(fingerprints: int) -> TableDesign:
        if isinstance(layout, TableDesign):
            return layout
        return TableDesign.choose(distance=scheme.table_distance, fingerprints=fingerprints)

    by_tables = scheme.table_distance is not None and (isinstance(layout, TableDesign) or not chosen)
    return Lookup(keyed, scheme.position_independent, design if by_tables else None)


def _require_layout(scheme: Any, layout: Any) -> None:
    """Raise ``ParameterError`` for a layout that a scheme cannot have."""
    own = getattr(scheme, "layout", None)
    kinds = [*([] if own is None else [type(own)]), *([] if scheme.table_distance is None else [TableDesign])]
    names = " or ".join(f"a {kind.__name__}" for kind in kinds)
    rule = f"must be {names}" if kinds else "cannot be used with this scheme"
    require(isinstance(layout, tuple(kinds)), "layout", layout, rule)
    for name in ("permutations", "bits", "distance"):
        if hasattr(layout, name):
            wanted = getattr(own, name, None) or getattr(scheme, name)
            require(getattr(layout, name) == wanted, "layout", layout, f"must have the scheme's {name}, {wanted}")


def lookup_of(folder: Path, manifest: Manifest) -> Lookup:
    """Return how an existing index finds candidates; its key is not needed for that.

    Raises ``StorageRefused`` if its scheme is not registered, and ``StorageDamaged`` for terms that make no sense.
    """
    terms = manifest.terms
    with understood(folder / MANIFEST):
        made: Any = schemes.read(terms.scheme, where=folder)
        expect(field_kinds(dict(terms.fields)) == terms.fields, "invalid fields")
        expect(_row(made) == terms.row, "its columns are not those of its scheme")
        return lookup(made, _layout(made, terms), chosen=terms.chosen)


def opened(folder: Path) -> Store:
    """Open an index to read what needs no key; its candidates are those of its own keys."""
    return open_(folder, partial(lookup_of, folder), Usage("commit", LEAST_OF_INDEX, Disk()), writes=False)


def stats_of(store: Store) -> Stats:
    """Return the contents and the size of an index with these files."""
    with store.busy:
        store.require_open()
        return Stats(
            documents=len(store),
            kept=sum(part.kept for part in store.parts),
            segments=len(store.segments),
            bytes=sum(segment.stored.size for segment in store.segments) + store.log_bytes,
            bytes_in_log=store.log_bytes,
            removed_in_files=sum(int((~segment.alive).sum()) for segment in store.segments),
            oversized_buckets=store.oversized_buckets,
            discarded_bytes=store.discarded_bytes or store.torn,
            scheme=store.manifest.terms.name,
            recipe=store.manifest.terms.recipe,
            generation=store.next_ordinal,
            extraction=store.manifest.terms.extraction,
        )


def _row(scheme: Any) -> tuple[str, int]:
    """Return the type and the number of values in a row of signatures."""
    width, kind, *_ = scheme.row_format
    return np.dtype(kind).str, int(width)


def terms_of(
    scheme: Any, layout: Any, fields: Mapping[str, str], representative: Representative, *, texts: bool
) -> Terms:
    """Return the terms of a new index; the key is not part of them."""
    common, used = schemes.common_of(scheme), layout or getattr(scheme, "layout", None)
    return Terms(
        scheme=schemes.written(scheme),
        name=scheme.name,
        recipe=scheme.recipe,
        key=scheme.key_identity,
        common=None if common is None else common.identity,
        layout=None if used is None else asdict(used),
        chosen=layout is not None,
        row=_row(scheme),
        fields=tuple(fields.items()),
        texts=texts,
        representative=representative,
        extraction=None,
    )


def scheme_of(folder: Path, manifest: Manifest, scheme: Any, key: bytes | None, disk: Disk) -> Any:
    """Return the scheme that an index was created with, or the given *scheme* if it has the same recipe.

    ``lookup_of`` must have accepted the manifest.

    Raises ``StorageRefused`` for another recipe or key, for a scheme that needs more keys than the index has, and
    without the *scheme* of an index that does not store it as a whole.
    """
    terms, where = manifest.terms, str(folder)
    recorded = RecordedScheme(terms.scheme, terms.recipe, terms.key)
    made: Any = schemes.read(terms.scheme, where=folder)
    if scheme is None:
        if not schemes.is_whole(terms.scheme):
            rule = f"has a scheme {terms.name!r} with a table of weights, which is not stored; open it with that scheme"
            raise StorageRefused(where, rule, "scheme needed")
        own = made.with_key(key)
        recorded.require_key(where, own)
        with understood(folder / MANIFEST):
            own = own.with_common(common_in(folder, manifest, disk))
    else:
        require_scheme(scheme)
        own = scheme.with_key(key)
        recorded.require_key(where, own)
    if not terms.texts:
        require_texts(own)
    if own.recipe != recorded.recipe:
        changes = recorded.recipe_changes(RecordedScheme.of(own))
        raise StorageRefused(where, other_settings(changes), "other settings")
    lacks = made.keys_lack(own, chosen=terms.chosen)
    if lacks is not None:
        raise StorageRefused(where, lacks, "too few keys")
    return own


def common_in(folder: Path, manifest: Manifest, disk: Disk) -> CommonShingles | None:
    """Read the list of common shingles of an index; ``None`` if it has none.

    Raises ``StorageDamaged`` if the list is missing or is not the one that the manifest names.
    """
    identity = manifest.terms.common
    if identity is None:
        return None
    path = folder / COMMON
    try:
        common = CommonShingles.from_bytes(disk.read(path), str(path))
    except FileNotFoundError:
        raise StorageDamaged(str(path), "is missing: the index was created with a list of common shingles") from None
    except DataError as error:
        raise StorageDamaged(str(path), error.rule) from error
    if common.identity != identity:
        raise StorageDamaged(str(path), "is not the list of common shingles that the index was created with")
    return common


def _layout(scheme: Any, terms: Terms) -> Any:
    """Return the layout of an index; ``None`` if its *scheme* has none."""
    if terms.layout is None:
        return None
    return (TableDesign if "kind" in terms.layout else type(scheme.layout))(**terms.layout)
