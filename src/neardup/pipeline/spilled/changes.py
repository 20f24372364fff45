"""The terms of a run in pieces, and how they differ from those of a run that it is to continue."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neardup import __version__
from neardup.engines.journal import Journal, OtherTerms, read_header
from neardup.model.changes import Change
from neardup.model.errors import (
    DataError,
    ExtraMissing,
    OutputError,
    ParameterError,
    RunChanged,
    StorageDamaged,
    StorageRefused,
    plural,
)
from neardup.pipeline.spilled.job import Job
from neardup.schemes import terms as schemes
from neardup.schemes.recorded_scheme import RecordedScheme
from neardup.schemes.scheme import Scheme
from neardup.sources.formats import display
from neardup.sources.output_places import require_outside
from neardup.sources.shards import Shards

LEARNED: Final = "learned from the inputs"  # instead of the identity of templates that a run learns

_RESTORABLE: Final = ("changed", "earlier input")  # codes of errors about inputs that were changed during a run
_READING: Final = ("common", "sign", "shingle")  # stages that read inputs
_TIMED: Final = 3  # parts of the identity of a file: the last is its time of change
_PAGES: Final = "extraction"


@dataclass(frozen=True, kw_only=True)
class Continuation:
    """What a run that is continued in its *folder* has finished.

    *read* is the number of *shards* of its inputs that it has read. *compared* and *decided* are true if it has done
    this with all documents; *again* if it does so again, because the settings of the decisions were changed.
    """

    folder: str
    read: int
    shards: int
    compared: bool
    decided: bool
    again: bool

    def __str__(self) -> str:
        parts = f"{self.read:,} of {self.shards:,} {plural(self.shards, 'part')} of the inputs have been read"
        steps = [parts]
        if self.compared:
            steps.append("documents have been compared")
        if self.decided:
            steps.append("decisions have been made")
        if self.again:
            steps.append("settings have changed, so documents are compared again")
        return f"the run in {self.folder} is continued: {'; '.join(steps)}"


def report_continuation(job: Job, journal: Journal, report: Callable[[Continuation], None]) -> None:
    """Call a function with what a run has finished, if it is continued."""
    if not journal.continued:
        return
    compared = bool(journal.intact(job.stage("arrange")) | journal.intact(job.stage("propose")))
    report(
        Continuation(
            folder=str(journal.folder),
            read=len(journal.done(job.stage("sign"))),
            shards=len(job.shards.shards),
            compared=compared,
            decided=compared and bool(journal.intact(job.stage("decide"))),
            again=journal.has_begun("rank") and not journal.done(job.stage("rank")),
        )
    )


def terms_of(
    shards: Shards, scheme: Scheme, pages: dict[str, str | None] | None, changeable: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """Return the terms of a run over inputs, which are not cut yet, and how texts of *pages* are extracted.

    Terms that are *changeable*, and *more* that are not, are added.
    """
    reading = shards.request.to_dict()
    del reading["whole_texts"], reading["needs_text"]  # which the outputs and the policy decide
    return {
        "inputs": [list(one) for one in zip(shards.inputs, shards.identities, strict=True)],
        "compared": 0,
        "state": None,
        "reading": {**reading, "columns": None, "full_names": None, "extraction": pages},
        "recipe": scheme.recipe,
        "key": scheme.key_identity,
        "ignore_common": None,
        "changeable": {"scheme": schemes.written(scheme), **changeable},
        **more,
    }


def journal_of(folder: Path, terms: dict[str, Any], *, restart: bool) -> Journal:
    """Open the journal of a run; see ``Journal.open``, but for ``RunChanged`` with the differences of the terms.

    Raises ``OutputRefused`` for a folder inside another one of neardup, and ``StorageRefused`` for that of a run that
    does something else, also to *restart* it: it may have been kept.
    """
    require_outside(folder)
    with suppress(StorageDamaged):  # which a run that is restarted replaces
        earlier, now = read_header(folder), task_of(terms)
        if earlier is not None and (was := task_of(earlier.terms)) != now:
            rule = f"it has a run of {was}, and cannot have one of {now}, too; use another folder"
            raise StorageRefused(str(folder), rule)
    try:
        return Journal.open(folder, terms, restart=restart)
    except OtherTerms as error:
        raise RunChanged(error.where, changes(error)) from None


def task_of(terms: Mapping[str, Any]) -> str:
    """Return what the run with these terms does, as messages call it."""
    return "pairs" if "pairs" in terms else "dedup"


@contextmanager
def abandoning(journal: Journal) -> Iterator[None]:
    """Abandon a run that is refused, or that needs another input, before its decisions.

    It continues after failures of the system, and after errors that are repaired by restoring a file. What it has read
    in an earlier process stays: it counts with another policy, such as without the field that is missing.
    """
    stays = journal.kept is None and has_read(journal)
    try:
        yield
    except (DataError, OutputError, ParameterError, ExtraMissing) as error:
        if not stays and error.code not in _RESTORABLE and getattr(error.__cause__, "errno", None) is None:
            journal.abandon()
        raise


def has_read(journal: Journal) -> bool:
    """Return whether a run has read some of its inputs, perhaps for another policy."""
    return any(map(journal.has_begun, _READING))


def changes(error: OtherTerms) -> list[Change]:
    """Return the differences between the run that an error is about and the new one."""
    before, now = error.earlier.terms, error.wanted
    if error.earlier.version != __version__:  # its terms may be of another kind
        return [Change("version", "", error.earlier.version, __version__)]
    found = [
        Change("setting", name, before["reading"][name], value)
        for name, value in now["reading"].items()
        if name != _PAGES and before["reading"][name] != value
    ]
    found += _of_pages(before["reading"][_PAGES] or {}, now["reading"][_PAGES] or {})
    if before["recipe"] != now["recipe"]:
        found += recorded_in(before).changes(recorded_in(now))
    one, other = (
        {**_state(terms), "ignore_common": terms["ignore_common"], **terms.get("pairs", {})} for terms in (before, now)
    )
    found += [
        Change("setting", name, one.get(name), other.get(name))
        for name in {**one, **other}
        if one.get(name) != other.get(name)
    ]
    return [*found, *_of_inputs(before, now)]


def _of_pages(before: dict[str, str], now: dict[str, str]) -> Iterator[Change]:
    if before.get("text_view") != now.get("text_view"):
        yield Change("setting", "text_view", before.get("text_view"), now.get("text_view"))
    elif before.get("templates") != now.get("templates"):
        yield Change("templates", "", before.get("templates"), now.get("templates"))
    elif before != now:
        yield Change("changed", f"the text of pages, which {before['extractor']} extracted")


def _state(terms: dict[str, Any]) -> dict[str, Any]:
    if terms["state"] is None:
        return {}
    path, adds, for_index = terms["state"]
    return {"state" if adds else "against": path} | ({"for_index": True} if for_index else {})


def recorded_in(terms: Mapping[str, Any]) -> RecordedScheme:
    """Return the scheme in the terms of a run."""
    return RecordedScheme(terms["changeable"]["scheme"], terms["recipe"], terms["key"])


def _of_inputs(before: dict[str, Any], now: dict[str, Any]) -> Iterator[Change]:
    old, new = (
        {(number < terms["compared"], name): known for number, (name, known) in enumerate(terms["inputs"])}
        for terms in (before, now)
    )
    if set(old) == set(new) and [name for name, _ in before["inputs"]] != [name for name, _ in now["inputs"]]:
        yield Change("order")
    yield from (Change("left out", display(name[1])) for name in old if name not in new)
    yield from (Change("added", display(name[1])) for name in new if name not in old)
    for name, one in old.items():
        other = new.get(name)
        if other is None or one == other:
            continue
        if len(one) == len(other) == _TIMED and one[:-1] == other[:-1]:
            yield Change("time", display(name[1]), one[-1], other[-1])
        else:
            yield Change("changed", display(name[1]))
