"""The terms of an index: its scheme, layout and columns, as its manifest states them."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy.typing as npt
import pyarrow as pa

from neardup.index.disk.arrays import expect, understood
from neardup.index.disk.columns import Columns, Lookup, Terms
from neardup.index.disk.files import Disk
from neardup.index.disk.folder import ATTACHED, open_
from neardup.index.disk.manifest import MANIFEST, Manifest
from neardup.index.disk.store import Store, Ways
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


def terms(scheme: Any, layout: Any, columns: Columns, *, chosen: bool) -> Terms:
    """Return what a store must know about a scheme; for an existing index, about the scheme that it was created with.

    Fingerprints of 64 bits are found by tables, of a given design or the best one for their number, unless a layout of
    blocks was *chosen*.
    """
    own = getattr(scheme, "layout", None)
    tabled = scheme.table_distance is not None
    kinds = (*((type(own),) if own is not None else ()), *((TableDesign,) if tabled else ()))
    names = " or ".join(f"a {kind.__name__}" for kind in kinds)
    rule = f"must be {names}" if kinds else "cannot be used with this scheme"
    require(layout is None or isinstance(layout, kinds), "layout", layout, rule)
    for name in ("permutations", "bits", "distance"):
        if layout is not None and hasattr(layout, name):
            wanted = getattr(own, name, None) or getattr(scheme, name)
            require(getattr(layout, name) == wanted, "layout", layout, f"must have the scheme's {name}, {wanted}")
    by_keys = None if isinstance(layout, TableDesign) else layout

    def keyed(rows: npt.NDArray[Any], present: Flags) -> Words:
        signatures = Signatures(rows, present, scheme.recipe)
        keys: Words = scheme.keys(signatures) if by_keys is None else scheme.keys(signatures, by_keys)
        return keys

    def design(fingerprints: int) -> TableDesign:
        if isinstance(layout, TableDesign):
            return layout
        return TableDesign.choose(distance=scheme.table_distance, fingerprints=fingerprints)

    by_tables = tabled and (isinstance(layout, TableDesign) or not chosen)
    return Terms(columns, Lookup(keyed, scheme.position_independent, design if by_tables else None))


def terms_of(folder: Path, manifest: Manifest) -> Terms:
    """Return what a store must know to read an existing index; its key is not needed for that.

    Raises ``StorageRefused`` if its scheme is not registered.
    """
    made: Any = schemes.read(manifest.terms["scheme"], where=folder)
    return terms(made, layout_of(made, manifest), columns_of(manifest), chosen=bool(manifest.terms["chosen"]))


def opened(folder: Path) -> Store:
    """Open an index to read what needs no key; its candidates are those of its own keys."""
    return open_(folder, partial(terms_of, folder), Ways("commit", LEAST_OF_INDEX, Disk()), writes=False)


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
            scheme=store.manifest.terms["name"],
            recipe=store.manifest.terms["recipe"],
            generation=store.next_ordinal,
            extraction=store.manifest.terms["extraction"],
        )


def columns(scheme: Any, fields: tuple[tuple[str, str], ...], *, texts: bool) -> Columns:
    """Return the columns of an index of this scheme."""
    nothing = pa.table({name: pa.array([], pa.string()) for name in scheme.columns}) if scheme.columns else []
    blank = scheme.sign(nothing).rows
    return Columns(blank.dtype.str, int(blank.shape[1]), fields, texts)


def stated(scheme: Any, layout: Any, own: Columns, representative: Representative) -> dict[str, Any]:
    """Return the terms of an index for its manifest; the key is not part of them."""
    return {
        "scheme": schemes.written(scheme),
        "name": scheme.name,
        "recipe": scheme.recipe,
        "key": scheme.key_identity,
        "common": None if (common := schemes.common_of(scheme)) is None else common.identity,
        "layout": None if (used := layout or getattr(scheme, "layout", None)) is None else asdict(used),
        "chosen": layout is not None,
        "row": [own.row_kind, own.row_width],
        "fields": [list(field) for field in own.fields],
        "texts": own.texts,
        "representative": representative,
        "extraction": None,
    }


def scheme_of(folder: Path, manifest: Manifest, scheme: Any, key: bytes | None, disk: Disk) -> Any:
    """Return the scheme that a manifest states, or the given *scheme* if it has the same recipe."""
    given, where = manifest.terms, str(folder)
    with understood(folder / MANIFEST):
        made: Any = schemes.read(given["scheme"], where=folder)
        layout, whole = layout_of(made, manifest), schemes.is_whole(given["scheme"])
        stated = columns_of(manifest)
        expect(columns(made, stated.fields, texts=stated.texts) == stated, "its columns are not those of its scheme")
        _ = terms(made, layout, stated, chosen=bool(given["chosen"])), given["recipe"], given["key"], given["name"]
        chosen = bool(given["chosen"])
    if scheme is not None:
        require_scheme(scheme)
    elif not whole:
        raise StorageRefused(
            where,
            f"has a scheme {given['name']!r} with a table of weights, which is not stored; open it with that scheme",
            "scheme needed",
        )
    own = (made if scheme is None else scheme).with_key(key)
    recorded = RecordedScheme(given["scheme"], given["recipe"], str(given["key"]))
    recorded.require_key(where, own)
    if scheme is None:
        with understood(folder / MANIFEST):
            own = own.with_common(common_in(folder, manifest, disk))
    if not stated.texts:
        require_texts(own)
    if own.recipe != recorded.recipe:
        changes = recorded.changes(RecordedScheme.of(own), in_recipe=True)
        raise StorageRefused(where, other_settings(changes), "other settings")
    lacks = made.keys_lack(own, chosen=chosen)
    if lacks is not None:
        raise StorageRefused(where, lacks, "too few keys")
    return own


def common_in(folder: Path, manifest: Manifest, disk: Disk) -> CommonShingles | None:
    """Read the list of common shingles of an index; ``None`` if it has none.

    Raises ``StorageDamaged`` if the list is missing or is not the one that the manifest names.
    """
    identity = manifest.terms.get("common")
    if identity is None:
        return None
    path = folder / ATTACHED
    try:
        common = CommonShingles.from_bytes(disk.read(path), str(path))
    except FileNotFoundError:
        raise StorageDamaged(str(path), "is missing: the index was created with a list of common shingles") from None
    except DataError as error:
        raise StorageDamaged(str(path), error.rule) from error
    if common.identity != identity:
        raise StorageDamaged(str(path), "is not the list of common shingles that the index was created with")
    return common


def layout_of(scheme: Any, manifest: Manifest) -> Any:
    """Return the layout that a manifest states, regardless of a given scheme; ``None`` if it has none."""
    given = manifest.terms["layout"]
    if given is None:
        return None
    return (TableDesign if "kind" in given else type(scheme.layout))(**given)


def columns_of(manifest: Manifest) -> Columns:
    """Return the columns that a manifest states."""
    given = manifest.terms
    fields = tuple((name, kind) for name, kind in given["fields"])
    expect(isinstance(given["texts"], bool), "whether it keeps texts is not recorded")
    expect(given["representative"] in get_args(Representative), "invalid choice of representatives")
    expect(field_kinds(dict(fields)) == fields, "invalid fields")
    expect(isinstance(given.get("extraction"), dict | None), "invalid extraction of pages")
    expect(isinstance(given.get("url_rules"), str | None), "invalid URL rules")
    return Columns(given["row"][0], given["row"][1], fields, given["texts"])
