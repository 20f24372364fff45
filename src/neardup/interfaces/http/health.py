"""Operations on the service and the whole index: its description, its URL rules, probes and metrics."""

from typing import Any, Literal

import msgspec

from neardup.interfaces.http.problems import BROKEN, UNAVAILABLE, UNWRITABLE, Refusal
from neardup.interfaces.http.requests import Input, Nothing
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.writer import ReadyAnswer, Writes
from neardup.schemes.terms import written


class IndexAnswer(msgspec.Struct):
    """The *documents* and *kept* documents of the index, its scheme and the recipe of its signatures, and its *fields*.

    *extraction* is how HTML became texts of the index: the view, the library and the id of its templates; null if there
    were no pages. *settings* are the parameters of the scheme, without its key, *signs* the fields that it signs,
    *texts* whether texts are stored, *addresses* the identity of the normal form of URLs, *next* the number of the next
    admission. *writes* is as in ``/readyz``.
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


class RulesAnswer(msgspec.Struct):
    """The URL rules that the ids of pages follow, as a file of rules has them; null if they follow none."""

    rules: dict[str, Any] | None


class HealthAnswer(msgspec.Struct):
    """The process answers."""

    status: Literal["alive"] = "alive"


class ReadyQuery(Input):
    """What must be possible: to read the index or, with *writes*, to write it too."""

    writes: bool = False


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
        addresses=service.visits().addresses.now.id,
        extraction=own.extraction,
        next=own.next_admission,
        writes=service.writes,
    )


def rules(service: Service, _: Nothing) -> RulesAnswer:
    """Return the URL rules that the index keeps."""
    found = service.visits().addresses.now.rules
    return RulesAnswer(None if found is None else msgspec.json.decode(found.to_bytes()))


def healthz(service: Service, _: Any) -> HealthAnswer:
    """Report that the process answers, unless only a restart helps."""
    if not service.recovers:
        raise Refusal(BROKEN, "The service no longer watches its index; restart it.")
    return HealthAnswer()


def readyz(service: Service, given: ReadyQuery) -> ReadyAnswer:
    """Report whether the index can be read, and written."""
    if not service.readable:
        raise Refusal(UNAVAILABLE)
    writes = service.writes
    if given.writes and writes != "yes":
        raise Refusal(UNWRITABLE, UNWRITABLE.when if writes == "failed" else service.reason_not_to_write)
    return ReadyAnswer(writes)


def metrics(service: Service, _: Any) -> bytes:
    """Report the metrics, for Prometheus."""
    service.update_metrics()
    return service.metrics.text()
