"""What an index records about web pages: how they become texts, and which rules their ids follow."""

from typing import TYPE_CHECKING, Final

from neardup.model.errors import StorageRefused, require
from neardup.pipeline.index.fields import has_sites
from neardup.sources.url_rules import UrlRules
from neardup.text.extraction import Extraction, other_extraction

if TYPE_CHECKING:
    from neardup.pipeline.index.index import Index

_WITHOUT_TEMPLATES: Final = "was made without templates of hosts; create another index for pages with templates"


def require_extraction(index: "Index", extraction: Extraction) -> None:
    """Record how web pages become the texts of an index; call it before admitting texts of pages.

    Templates may have replaced those of earlier pages, which keep their texts. An index that was opened to read records
    nothing. Raises ``StorageRefused`` if earlier ones were extracted otherwise: they would differ from the same pages
    now; and for templates of an index without a field for them.
    """
    known, own, store = index.extraction, extraction.identity, index.store
    if extraction.templates is not None and not (index.scheme.columns or has_sites(store)):
        raise StorageRefused(str(store.folder), _WITHOUT_TEMPLATES)
    if known is None or extraction.follows(known):
        if store.writes and known != own:
            store.restate(extraction=own)
    else:
        raise StorageRefused(str(store.folder), other_extraction(known, own), "other extraction")


def require_url_rules(index: "Index", rules: UrlRules | None) -> None:
    """Record which rules of hosts the ids of pages in an index follow, if any; call it before using ids of URLs.

    Raises ``StorageRefused`` if there are documents whose ids follow other rules: they would not be found.
    """
    store = index.store
    known, own = store.manifest.terms.get("url_rules"), None if rules is None else rules.id
    if known == own:
        return
    if store.next_ordinal:
        reason = f"its ids follow {_rules(known)}, but {_rules(own)} would be used now"
        raise StorageRefused(str(store.folder), reason, "other URL rules")
    if store.writes:
        store.restate(url_rules=own)


def _rules(identity: str | None) -> str:
    return "no URL rules" if identity is None else f"the URL rules {identity}"


def require_different(*, text: str, url: str, id: str) -> None:  # noqa: A002 - the field's name, as everywhere
    """Raise ``ParameterError`` for a field that is to hold two of a page's text, URL and id."""
    require(text not in {url, id}, "text", text, "must be another field than the id and the URL")
    require(id != url, "id", id, "must be another field than the URL, by which pages that have one are identified")
