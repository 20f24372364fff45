"""What an index records about web pages: how they become texts, and which rules their ids follow."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neardup.index.disk.files import Disk
from neardup.index.disk.manifest import Manifest
from neardup.model.errors import DataError, ParameterError, StorageDamaged, StorageRefused, require_kind
from neardup.model.folders import TEMPLATES, URL_RULES
from neardup.pipeline.index.fields import has_sites
from neardup.sources.addresses import Addresses
from neardup.sources.collection import SITE
from neardup.sources.url_rules import MAX_BYTES, UrlRules
from neardup.text.extraction import Extraction, other_extraction
from neardup.text.host_templates import HostTemplates, kept_templates

if TYPE_CHECKING:
    from neardup.pipeline.index.index import Index

_WITHOUT_TEMPLATES: Final = "was created without templates; create a new index for pages with templates"


def read_with(templates: HostTemplates) -> Extraction:
    """Return how pages are read with templates, in the view that these were learned in.

    Raises ``ParameterError`` for templates that were learned by another version.
    """
    require_kind("templates", templates, HostTemplates)
    return Extraction(view=templates.rule["extraction"]["text_view"], templates=templates)


def site_fields(templates: HostTemplates | None, scheme: Any) -> dict[str, str]:
    """Return the fields that a new index needs in addition to its own: that of the sites of pages with templates."""
    return {} if templates is None or scheme.columns else {SITE: "integer"}


def require_extraction(index: "Index", extraction: Extraction) -> None:
    """Record how web pages become the texts of an index; call it before admitting texts of pages.

    Templates may have replaced those of earlier pages, which keep their texts; the index keeps the latest. One that was
    opened to read records nothing, and may be used with templates that a writer has replaced since. Raises
    ``StorageRefused`` if earlier pages were extracted otherwise: they would differ from the same pages now; and for
    templates of an index without a field for them.
    """
    known, own, store = index.extraction, extraction.identity, index.store
    if extraction.templates is not None and not (index.scheme.columns or has_sites(store)):
        raise StorageRefused(str(store.folder), _WITHOUT_TEMPLATES)
    if known is None or extraction.follows(known):
        if store.writes and (known != own or not _are_kept(lambda: index.templates)):
            templates = extraction.templates
            store.restate({} if templates is None else {TEMPLATES: templates.to_bytes()}, extraction=own)
    elif store.writes or known["extractor"] != own["extractor"] or not kept_extraction(index).follows(own):
        raise StorageRefused(str(store.folder), *other_extraction(known, own))


def _are_kept(read: Callable[[], object]) -> bool:
    """Return whether an index has the templates or the rules that it states, by reading them."""
    try:
        read()
    except StorageDamaged:
        return False
    return True


def extraction_for(index: "Index", extraction: Extraction | None) -> Extraction:
    """Return how pages are read for an index: with the templates that it keeps, unless *extraction* has some.

    Without templates, and for an index whose pages had another view, this is *extraction*. ``None`` is how its pages
    were read.
    """
    if extraction is None:
        return kept_extraction(index)
    if extraction.templates is not None or index.extraction is None:
        return extraction
    kept = kept_extraction(index)
    return kept if kept.view == extraction.view else extraction


def kept_extraction(index: "Index") -> Extraction:
    """Return how the pages of an index became texts, with the templates that it keeps; without pages, the default."""
    return Extraction() if index.extraction is None else Extraction.of(index.extraction, lambda: index.templates)


def templates_in(folder: Path, manifest: Manifest, disk: Disk) -> HostTemplates | None:
    """Read the templates that an index keeps; ``None`` if no pages were read with any.

    Raises ``StorageDamaged`` if their file is missing, damaged, or has others.
    """
    identity = manifest.terms.templates
    return None if identity is None else kept_templates(folder, identity, disk.read)


def addresses_for(index: "Index", addresses: Addresses | None) -> Addresses:
    """Return how URLs become ids of an index: by *addresses*, with the rules of hosts that it keeps if these have none.

    Rules of *addresses* become those of an index that has had no documents, and replace the file of the same rules if
    it is lost, unless the index was opened to read. Raises ``StorageRefused`` if earlier ids follow other rules: pages
    would not be found by them.
    """
    store, given = index.store, Addresses() if addresses is None else addresses
    known = store.manifest.terms.url_rules
    if given.rules is None:
        return replace(given, rules=rules_in(store.folder, store.manifest, store.disk)) if known else given
    other = given.rules.id != known
    if other and store.next_ordinal:
        reason = f"its ids follow {_rules(known)}, but {_rules(given.rules.id)} would be used now"
        raise StorageRefused(str(store.folder), reason, "other URL rules")
    if store.writes and (other or not _are_kept(lambda: rules_in(store.folder, store.manifest, store.disk))):
        content = given.rules.to_bytes()
        UrlRules.from_bytes(content, "rules")  # evidence that was made by hand may be invalid
        store.restate({URL_RULES: content}, url_rules=given.rules.id)
    return given


class IndexAddresses:
    """How URLs become ids of an index: see ``addresses_for``."""

    def __init__(self, index: "Index", given: Addresses | None) -> None:
        self._index, self._given = index, given
        self._known = addresses_for(index, given)

    @property
    def now(self) -> Addresses:
        """The addresses with the rules that the index has now: a writer may have changed them."""
        rules = None if self._known.rules is None else self._known.rules.id
        if self._index.store.manifest.terms.url_rules != rules:
            self._known = addresses_for(self._index, self._given)
        return self._known


def _rules(identity: str | None) -> str:
    return "no URL rules" if identity is None else f"the URL rules {identity}"


def rules_in(folder: Path, manifest: Manifest, disk: Disk) -> UrlRules | None:
    """Read the rules of hosts that an index keeps; ``None`` if the ids of its pages follow none.

    Raises ``StorageDamaged`` if their file is missing, damaged, or has others.
    """
    identity, path = manifest.terms.url_rules, folder / URL_RULES
    if identity is None:
        return None
    what = "are damaged"
    try:
        if disk.size(path) <= MAX_BYTES:
            found = Addresses(rules=UrlRules.from_bytes(disk.read(path), str(path))).rules
            if found is not None and found.id == identity:
                return found
            what = "are others than those that the ids follow"
    except FileNotFoundError:
        what = "are missing"
    except (DataError, ParameterError):
        pass
    raise StorageDamaged(str(path), f"the URL rules {what}; copy the file of the rules {identity} here", "lost rules")
