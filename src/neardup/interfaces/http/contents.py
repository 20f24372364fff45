"""Operations on the whole index: its description, and the end of documents."""

from typing import Annotated, Any

import msgspec

from neardup.interfaces.http.documents import RemovedAnswer, changing
from neardup.interfaces.http.requests import Input, Nothing, characters
from neardup.interfaces.http.service import Service, Writes
from neardup.model.moments import moment_in
from neardup.schemes.terms import written


class IndexAnswer(msgspec.Struct):
    """The *documents* and *kept* documents of the index, its scheme and the recipe of its signatures, and its *fields*.

    *extraction* is how HTML became texts of the index: the view, the library and the id of its templates; null if there
    were no pages. *settings* are the parameters of the scheme, without its key, *signs* the fields that it signs,
    *texts* whether texts are stored, *addresses* the identity of the normal form of URLs, *next* the number of the next
    admission.
    *writes* is as in ``/readyz``.
    """

    documents: int
    kept: int
    scheme: str
    recipe: str
    settings: dict[str, Any]
    fields: dict[str, str]
    signs: list[str]
    texts: bool
    addresses: str
    extraction: dict[str, str | None] | None
    next: int
    writes: Writes


class ExpireBody(Input):
    """A moment, and the time that counts.

    *before* is a date or time in UTC, such as ``2026-01-31`` or ``2026-01-31T12:00:00Z``, or an age, such as ``90d``,
    ``12h`` or ``4w``; neither in the future nor an age of 0, which would remove everything. *by* is ``last_seen``,
    ``first_seen``, ``changed_at`` or a field of times, with which *before* may be any time or age.
    """

    before: Annotated[str, characters(1, 64)]
    by: Annotated[str, characters(1, 1024)] = "last_seen"


def index(service: Service, _: Nothing) -> IndexAnswer:
    """Describe the index."""
    own, stats = service.index, service.index.stats()
    return IndexAnswer(
        documents=stats.documents,
        kept=stats.kept,
        scheme=stats.scheme,
        recipe=stats.recipe,
        settings=written(own.scheme),
        fields=own.fields,
        signs=list(own.scheme.columns),
        texts=own.keeps_texts,
        addresses=service.addresses.id,
        extraction=own.extraction,
        next=own.next_admission,
        writes=service.writes,
    )


def expire(service: Service, given: ExpireBody) -> RemovedAnswer:
    """Remove the documents that were last seen before a moment; those that they represent are decided again."""
    before = moment_in(given.before, recorded=given.by not in service.index.fields)
    with changing(service) as own:
        done = own.expire(before, by=given.by)
    return RemovedAnswer(done.removed, len(done.promoted))
