"""Rows of summaries that several verbs have: a number and its description."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from neardup.model.errors import plural

if TYPE_CHECKING:
    from neardup.pipeline.files.ingestion import Added
    from neardup.pipeline.spilled.stored_documents import StoredDocuments
    from neardup.sources.record_faults import QuotedLines, RecordFaults, Rejected, WithoutText
    from neardup.sources.whole_inputs import WholeInputs


def reading_rows(
    read: "WholeInputs | StoredDocuments | Added | RecordFaults", rejected: "Sequence[Rejected]", where: str = ""
) -> list[tuple[int, str]]:
    """Return what reading left out, or read in part or in an unusual way: numbers with their descriptions.

    *where* names the outputs that have or lack the rejected records.
    """
    skipped, faults = sum(read.skipped.values()), sum(read.body_faults.values())
    return [
        *rejected_rows(rejected, where),
        *quoted_rows(read.quoted_lines),
        (read.ignored, f"other {plural(read.ignored, 'file')} ignored"),
        (skipped, f"{plural(skipped, 'record')} not read as pages: {_reasons(read.skipped)}"),
        (faults, f"{plural(faults, 'page')} not read completely: {_reasons(read.body_faults)}"),
    ]


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))


def rejected_rows(rejected: "Sequence[Rejected]", where: str = "") -> list[tuple[int, str]]:
    """Return the number of rejected records, with *where* they are, and of archives that only lack an end."""
    endless = sum(one.code == "endless" for one in rejected)
    number = len(rejected) - endless
    return [
        (number, f"{plural(number, 'record')} rejected{where}"),
        (endless, f"{plural(endless, 'archive')} without the line ends after the last record, which was read"),
    ]


def quoted_rows(found: "QuotedLines | None") -> list[tuple[int, str]]:
    """Return the number of records with line ends inside quotes, with its description, if there are any."""
    if found is None:
        return []
    return [(found.records, f"{plural(found.records, 'record')} with line ends inside quotation marks")]


def without_text(found: "WithoutText | None", outcome: str = "") -> list[tuple[int, str]]:
    """Return the number of records without the text field, with the place of the first one, if there are any."""
    if found is None:
        return []
    place = f"{found.source}:{found.position}"
    return [(found.records, f"without text{outcome}: field {found.field!r} missing or null, first in {place}")]


def repeated_row(number: int) -> tuple[int, str]:
    """Return the row of a summary for documents that a later one with the same id replaces in the same inputs."""
    return number, f"{plural(number, 'document')} left out: a later document has the same id"


def promoted_words(number: int, happened: str) -> str:
    """Describe documents whose representatives were removed or lost; the number itself is shown before this."""
    whose = "its representative was" if number == 1 else "their representatives were"
    return f"{plural(number, 'document')} became {plural(number, 'representative')}: {whose} {happened}"
