"""Everything that is intact in a damaged index, as a new index."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from neardup.engines.files import naming
from neardup.index.disk.buffers import taken
from neardup.index.disk.check import require_permission
from neardup.index.disk.columns import NEVER, Batch, decoded
from neardup.index.disk.files import Disk
from neardup.index.disk.folder import create
from neardup.index.disk.manifest import Manifest
from neardup.index.disk.rescue import Loss, Salvage, manifest_of
from neardup.index.disk.store import Store, Usage
from neardup.model.arrays import Signatures, TextBatch
from neardup.model.engine import StageProgress
from neardup.model.errors import StorageDamaged, StorageRefused
from neardup.model.folders import TEMPLATES, URL_RULES
from neardup.model.memory import OF_INDEX
from neardup.model.recipe import RecipeId
from neardup.pipeline.index import terms
from neardup.pipeline.index.decisions import Judge
from neardup.pipeline.index.fields import has_sites, taken_rows
from neardup.pipeline.index.inputs import TOGETHER
from neardup.pipeline.index.page_terms import rules_in, templates_in
from neardup.pipeline.index.verification import Asked
from neardup.schemes.terms import common_of
from neardup.sources.collection import SITE
from neardup.sources.formats import local_folder
from neardup.sources.output import new_folder
from neardup.sources.output_places import require_outside
from neardup.text.sites import NO_SITES

_IN_LOG: Final = 1 << 32  # documents: more than a log has that no manifest counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescued:
    """The result of a rescue.

    *promoted* of the *documents* are kept now, because their representative is lost. *repeated* were left out, because
    a later document has the same id: the change that removed them is lost.
    """

    documents: int
    promoted: int
    repeated: int
    losses: list[Loss]


def rescue(
    folder: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    key: bytes | None = None,
    scheme: Any = None,
    progress: StageProgress | None = None,
) -> Rescued:
    """Make a new index of the intact documents of a damaged one, which is not changed.

    They are admitted again in the order of their admission, with their signatures, times, fields and texts. So the
    documents of a representative that is lost are judged again. ``Index.changes`` of the new index refuses generations
    of the damaged one. *key* and *scheme* are as in ``Index.open``. The new index appears whole or not at all; after an
    interruption, the same call begins again.

    Raises ``StorageRefused`` if there is no index, or *to* is not empty or cannot be replaced by a new folder,
    ``StorageDamaged`` if both manifests, or the list of common shingles, are lost, and ``StorageFailed`` for files that
    the user may not read.
    """
    source, target, disk = local_folder("index", folder), local_folder("to", to), Disk()
    require_outside(target, source)
    require_permission(source, disk)
    manifest, losses = manifest_of(disk, source)
    lookup = terms.lookup_of(source, manifest)
    chosen = terms.scheme_of(source, manifest, scheme, key, disk)
    common = common_of(chosen)
    target = Path(os.path.realpath(target))
    disk.make_folder(target)
    if disk.names(target):
        raise StorageRefused(str(target), "is not empty: an index needs a folder of its own", "not empty")
    if target.is_mount() or target.samefile(os.curdir):
        raise StorageRefused(
            str(target), "is a mount point or the current folder, which cannot be replaced; name a new folder"
        )
    with naming(target.parent), new_folder(target) as made:
        store = create(
            made / target.name,
            lookup,
            manifest.terms,
            Usage("bulk", OF_INDEX, disk),
            common=None if common is None else common.to_bytes(),
            mark=bytes.fromhex(manifest.mark),
        )
        with closing(store):
            losses += _keep_attached(store, manifest, source, disk)
            _begin_after(store, manifest)
            judge, salvage = Judge(store, chosen), Salvage(source, disk, manifest)
            repeated = promoted = 0
            for batch in salvage.batches(progress):
                for begin in range(0, len(batch["ordinal"]), TOGETHER):
                    one, other = _admit(store, judge, batch, begin, chosen.recipe)
                    repeated, promoted = repeated + one, promoted + other
            documents = len(store)
            store.flush()  # with the ordinal from which all removals are known
        disk.rename(made / target.name, target)
        disk.sync_folder(target.parent)
    return Rescued(documents=documents, promoted=promoted, repeated=repeated, losses=losses + salvage.losses)


def _begin_after(store: Store, manifest: Manifest) -> None:
    """Let the ordinals of a new index begin above all of the damaged one: what has changed since then is unknown."""
    store.next_ordinal = store.removals.complete_from = manifest.next_ordinal + _IN_LOG


def _keep_attached(store: Store, manifest: Manifest, source: Path, disk: Disk) -> Iterator[Loss]:
    """Write the templates and URL rules of hosts that the damaged index keeps to the new one; yield their loss."""
    readers: dict[str, Callable[..., Any]] = {TEMPLATES: templates_in, URL_RULES: rules_in}
    for name, read in readers.items():
        try:
            found = read(source, manifest, disk)
            if found is not None:
                store.restate({name: found.to_bytes()})
        except StorageDamaged as error:
            yield Loss(str(source / name), error.rule, None)


def _admit(store: Store, judge: Judge, batch: Batch, begin: int, recipe: RecipeId) -> tuple[int, int]:
    """Admit some documents; return how many were replaced by them, and how many are kept that were not."""
    ids = decoded(taken(cast("TextBatch", batch["id"]), np.arange(begin, min(begin + TOGETHER, len(batch["ordinal"])))))
    last = {name: row for row, name in enumerate(ids)}
    rows = np.array(sorted(last.values()), np.int64) + begin
    columns: dict[str, Any] = taken_rows(batch, rows)
    numbers = {name: columns.pop(name) for name in ("ordinal", "representative", "decided", "reported")}
    present, signed = columns.pop("present"), columns.pop("rows")
    contents, equals = columns.pop("content"), columns.pop("equal")
    columns.pop("leads")
    text = columns.pop("text", None)
    sites = columns[f"field.{SITE}"].view(np.uint64) if has_sites(store) else NO_SITES
    asked = Asked(Signatures(signed, present, recipe), contents, equals, text, sites)
    before = store.with_ids([ids[row - begin] for row in rows.tolist()])
    dropped = numbers["representative"] != numbers["ordinal"]
    first = store.next_ordinal
    judge.admit(asked, columns, before[before >= 0], reported=numbers["reported"] > NEVER)
    places = store.with_ordinals(first + np.arange(len(rows)))
    kept = store.take("representative", places) == store.take("ordinal", places)
    return len(ids) - len(rows) + int((before >= 0).sum()), int((kept & dropped).sum())
