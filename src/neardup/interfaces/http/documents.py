"""Documents of the index: judged, admitted, told about, removed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from neardup.interfaces.http.bodies import Body, Id, Page, Size, Value, batch, rounded
from neardup.interfaces.http.operations import ANY, Operation
from neardup.interfaces.http.problems import INVALID, NO_DOCUMENT, READ_ONLY, UNAVAILABLE, UNWRITABLE, Refused
from neardup.interfaces.http.serving import Serving
from neardup.model.answers import written
from neardup.model.errors import StorageFailed
from neardup.model.verdicts import Verdict
from neardup.pipeline.living import Index

Fields = dict[str, Value]


class Judged(Body):
    """A document to judge: its text, its fields if the scheme signs such, and its id if it has one."""

    text: str
    id: Id | None = None
    fields: Fields = msgspec.field(default_factory=dict)


class Admitted(Body):
    """A document to admit."""

    id: Id
    text: str
    fields: Fields = msgspec.field(default_factory=dict)


class JudgeBody(Body):
    """Documents to judge: with ids all, or none."""

    documents: batch(Judged)  # type: ignore[valid-type]


class AdmitBody(Body):
    """Documents to admit."""

    documents: batch(Admitted)  # type: ignore[valid-type]


class VerdictAnswer(msgspec.Struct, omit_defaults=True):
    """What a document is: *verdict* is ``new``, ``empty``, ``exact duplicate`` or ``near duplicate``.

    *of* is the document that it repeats, *kept* the one that stands for that, *value* the *measure* of both, and
    *verified* tells whether it is that of the texts.
    """

    verdict: str
    id: str | None = None
    of: str | None = None
    kept: str | None = None
    measure: str | None = None
    value: float | None = None
    verified: bool | None = None


class VerdictsAnswer(msgspec.Struct):
    """A verdict for each document, in their order."""

    verdicts: list[VerdictAnswer]


class DocumentQuery(Body):
    """Which document, and whether its text is wanted."""

    id: Id
    text: bool = False


class DocumentAnswer(msgspec.Struct):
    """A document as the index knows it; *kept* is the id of its representative."""

    id: str
    admitted: str
    seen: str
    kept: str
    fields: dict[str, Value]
    text: str | None = None


class GroupQuery(Body):
    """Which group, and which page of it."""

    id: Id
    page: Page = 1
    size: Size = 10


class GroupAnswer(msgspec.Struct):
    """The documents that stand under one: *total* in all, of which *members* are on this page, the *kept* one first."""

    id: str
    kept: str | None
    total: int
    page: int
    size: int
    members: list[str]


class RemoveQuery(Body):
    """Which document to remove."""

    id: Id


class RemovedAnswer(msgspec.Struct):
    """How many documents were removed, and how many are *promoted*: kept from now on, as their representative went."""

    removed: int
    promoted: int


def judge(serving: Serving, given: JudgeBody) -> VerdictsAnswer:
    """Say what documents repeat."""
    documents: Sequence[Judged] = given.documents
    named = [document.id for document in documents if document.id is not None]
    if named and len(named) != len(documents):
        raise Refused(INVALID, "Either every document has an id, or none.")
    verdicts = serving.index.judge([document.text for document in documents], _columns(documents), ids=named or None)
    return _answer(documents, verdicts)


def admit(serving: Serving, given: AdmitBody) -> VerdictsAnswer:
    """Remember documents."""
    documents: Sequence[Admitted] = given.documents
    texts = [document.text for document in documents]
    with changed(serving) as index:
        verdicts = index.admit([document.id for document in documents], texts, _columns(documents))
    return _answer(documents, verdicts)


def document(serving: Serving, given: DocumentQuery) -> DocumentAnswer:
    """Tell what is known of a document."""
    (found,) = serving.index.get([given.id])
    if found is None:
        raise Refused(NO_DOCUMENT)
    fields = {name: value if isinstance(value, Value) else str(value) for name, value in found.fields.items()}
    text = found.text if given.text else None
    return DocumentAnswer(found.id, written(found.admitted), written(found.seen), found.kept, fields, text)


def group(serving: Serving, given: GroupQuery) -> GroupAnswer:
    """List the documents that stand under the one of a document."""
    members = serving.index.group(given.id)
    if not members:
        raise Refused(NO_DOCUMENT)
    (found,) = serving.index.get([given.id])
    begin = (given.page - 1) * given.size
    shown = members[begin : begin + given.size]
    return GroupAnswer(given.id, found.kept if found else None, len(members), given.page, given.size, shown)


def remove(serving: Serving, given: RemoveQuery) -> RemovedAnswer:
    """Remove a document."""
    with changed(serving) as index:
        done = index.remove([given.id])
    if not done.removed:
        raise Refused(NO_DOCUMENT)
    return RemovedAnswer(done.removed, len(done.promoted))


@contextmanager
def changed(serving: Serving) -> Iterator[Index]:
    """Lend the index for a change, and bring the search table to where it is then."""
    writes = serving.writes
    if writes == "no":
        raise Refused(READ_ONLY)
    if not serving.index.store.writes:
        raise Refused(UNWRITABLE)
    try:
        yield serving.index
    except StorageFailed as error:
        raise Refused(UNWRITABLE) from error
    serving.keep_up()


def _columns(documents: Sequence[Any]) -> dict[str, list[Value]] | None:
    """Give the fields of documents as columns; what a document lacks is null."""
    names = dict.fromkeys(name for document in documents for name in document.fields)
    return {name: [document.fields.get(name) for document in documents] for name in names} or None


def _answer(documents: Sequence[Any], verdicts: Sequence[Verdict]) -> VerdictsAnswer:
    return VerdictsAnswer([_told(document.id, verdict) for document, verdict in zip(documents, verdicts, strict=True)])


def _told(name: str | None, verdict: Verdict) -> VerdictAnswer:
    return VerdictAnswer(
        verdict.name,
        name,
        getattr(verdict, "of", None),
        verdict.kept,
        getattr(verdict, "measure", None),
        rounded(getattr(verdict, "value", None)),
        getattr(verdict, "verified", None),
    )


OPERATIONS: Final = (
    Operation(
        name="judge",
        method="POST",
        path="/v1/judge",
        summary="Say of documents what they repeat; changes nothing",
        run=judge,
        body=JudgeBody,
        answer=VerdictsAnswer,
        refuses=[UNAVAILABLE],
    ),
    Operation(
        name="admit",
        method="POST",
        path="/v1/admit",
        summary="Remember documents, and say what they repeat",
        explained="What is answered is acknowledged. The same id with another text takes the old one's place.",
        run=admit,
        body=AdmitBody,
        answer=VerdictsAnswer,
        scope="write",
        short=-1,
        refuses=[READ_ONLY, UNAVAILABLE, UNWRITABLE],
    ),
    Operation(
        name="document",
        method="GET",
        path="/v1/documents/{id}",
        summary="Tell what the index knows of a document",
        run=document,
        query=DocumentQuery,
        answer=DocumentAnswer,
        short=ANY,
        refuses=[NO_DOCUMENT, UNAVAILABLE],
    ),
    Operation(
        name="remove",
        method="DELETE",
        path="/v1/documents/{id}",
        summary="Remove a document; the documents that it represents are judged again",
        run=remove,
        query=RemoveQuery,
        answer=RemovedAnswer,
        scope="write",
        short=-1,
        refuses=[NO_DOCUMENT, READ_ONLY, UNAVAILABLE, UNWRITABLE],
    ),
    Operation(
        name="group",
        method="GET",
        path="/v1/groups/{id}",
        summary="List the documents under the one that stands for a document",
        run=group,
        query=GroupQuery,
        answer=GroupAnswer,
        short=ANY,
        refuses=[NO_DOCUMENT, UNAVAILABLE],
    ),
)
