"""Maintenance of an index: checks and statistics without its key, and removing documents."""

from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from neardup.index import fulltext
from neardup.index.disk import check as checking
from neardup.index.disk import copies
from neardup.index.disk.files import Disk
from neardup.index.disk.manifest import Manifest
from neardup.index.fulltext import FullText
from neardup.model.engine import StageProgress
from neardup.model.errors import PERMISSION, StorageError, StorageRefused
from neardup.model.seen import Removal, Stats
from neardup.pipeline.index import terms
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import addresses_for, rules_in, templates_in
from neardup.pipeline.query.search import keeping_up
from neardup.sources.addresses import Addresses
from neardup.sources.formats import AnyPath, is_url, local_folder
from neardup.sources.output_places import require_outside


def check_index(folder: AnyPath, progress: StageProgress | None = None) -> checking.Report:
    """Verify every byte of the committed files of an index, its terms, and the other files that it names or keeps.

    Of the search table, which is derived, the structure is verified. Raises ``StorageRefused`` if there is no index,
    and ``StorageFailed`` for files that the user may not read.
    """
    path, disk = local_folder("index", folder), Disk()
    if not any(path.glob("log-*")):
        Manifest.read(disk, path)
    report = checking.check(path, disk, progress)
    opens = () if report.problems else (_check_opening,)
    for read in (*opens, terms.common_in, templates_in, rules_in, _check_search_table):
        try:
            read(path, Manifest.read(disk, path), disk)
        except StorageError as error:
            if error.code == PERMISSION:
                raise
            if error.words() not in report.problems:
                report.problems.append(error.words())
    return report


def can_be_rebuilt(report: checking.Report) -> bool:
    """Return whether only the search table is damaged, which is made of the index."""
    return all(problem.endswith(fulltext.REBUILD) for problem in report.problems)


def _check_opening(folder: Path, *_: object) -> None:
    with suppress(StorageRefused):  # its scheme is not registered here
        terms.opened(folder).close()


def _check_search_table(folder: Path, manifest: Manifest, _: Disk) -> None:
    if (folder / fulltext.NAME).exists():
        with closing(FullText(folder / fulltext.NAME, manifest.mark)) as table:
            table.check()


def index_stats(folder: AnyPath) -> Stats:
    """Return the contents and the size of an index."""
    with closing(terms.opened(local_folder("index", folder))) as store:
        return terms.stats_of(store)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """The number of removed documents, the *unknown* ids, and the number of documents kept since then."""

    removed: int
    unknown: list[str]
    promoted: int


def remove_ids(index: Index, ids: Sequence[str], addresses: Addresses | None = None) -> Removed:
    """Remove documents in one step from the index, then from the search table.

    An id that is unknown may be another form of a URL: then the document at its normal form is removed. Raises
    ``StorageRefused`` if the ids of the index follow other URL rules than those of *addresses*.
    """
    unknown = _unknown(index, dict.fromkeys(ids))
    urls, forms = [name for name in unknown if is_url(name.lstrip())], dict[str, str]()
    if addresses is not None or urls:
        own = addresses_for(index, addresses)
        forms = {url: own.id_of(url) for url in urls}
    found = {*forms.values()}.difference(_unknown(index, forms.values()))
    with keeping_up(index) as catch_up:
        done = index.remove(found.union(ids).difference(unknown))
        catch_up()
    lost = [name for name in unknown if forms.get(name) not in found]
    return Removed(removed=done.removed, unknown=lost, promoted=len(done.promoted))


def _unknown(index: Index, names: Iterable[str]) -> list[str]:
    listed = [*names]
    with index.store.busy:
        places = index.store.with_ids(listed)
    return [name for name, place in zip(listed, places.tolist(), strict=True) if place < 0]


def expire(index: Index, before: datetime, by: str) -> Removal:
    """Remove documents by a time, as ``Index.expire`` does, in one step from the index, then from the search table."""
    with keeping_up(index) as catch_up:
        done = index.expire(before, by)
        catch_up()
    return done


def copy_index(folder: AnyPath, to: AnyPath, progress: StageProgress | None = None) -> copies.Copied:
    """Copy an index, as ``Index.copy`` does. Needs no key."""
    source, target = local_folder("index", folder), local_folder("to", to)
    Manifest.read(Disk(), source)
    require_outside(target, source)
    return copies.copy(source, target, Disk(), Disk(), progress)
