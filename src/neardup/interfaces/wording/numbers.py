"""Numbers in words: shares, lists of names, and rows of summaries."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from neardup.model.errors import plural

if TYPE_CHECKING:
    from neardup.pipeline.files.ingestion import Added
    from neardup.pipeline.spilled.stored_documents import StoredDocuments
    from neardup.sources.record_faults import QuotedLines, RecordFaults, Rejected, WithoutText
    from neardup.sources.whole_inputs import WholeInputs


def any_of(names: Sequence[str]) -> str:
    """Return names as a list with "or" before the last; empty without names."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def decimals(share: float, places: int = 2) -> str:
    """Return a share as a decimal; a share below 1 never reads as 1, and a share above 0 never as 0.

    >>> decimals(0.755), decimals(0.9999), decimals(1.0), decimals(0.00001, 4)
    ('0.76', '0.99', '1.00', '0.0001')
    """
    least = 10.0**-places
    return f"{min(max(share, least), 1 - least) if 0 < share < 1 else share:.{places}f}"


def percent(share: float) -> str:
    """Return a share as whole percent; only 0 and 1 are shown as 0 % and 100 %.

    >>> percent(0.0), percent(0.004), percent(0.755), percent(0.999), percent(1.0)
    ('0 %', 'under 1 %', '76 %', 'over 99 %', '100 %')
    """
    whole = round(100 * share)
    if whole == 100 and share < 1:  # noqa: PLR2004 - all of it
        return "over 99 %"
    return "under 1 %" if whole == 0 and share > 0 else f"{whole} %"


def percentage(share: float) -> str:
    """Return a share in percent with two digits after the point at most; only 0 and 1 are shown as 0 and 100 %.

    >>> percentage(1.0), percentage(0.99999), percentage(0.5), percentage(0.0)
    ('100 %', '99.99 %', '50 %', '0 %')
    """
    rounded = round(100 * share, 2)
    if share < 1 and rounded == 100:  # noqa: PLR2004 - all of it
        rounded = 99.99
    if share > 0 and rounded == 0:
        rounded = 0.01
    return f"{rounded:g} %"


class Row(NamedTuple):
    """A number of a summary, and its description; it is shown if it is not 0, or *always*."""

    number: int
    words: str
    always: bool = False


def row(number: int, noun: str, rest: str = "") -> Row:
    """Return the row of a number of things; their *noun* is in the plural unless the number is 1.

    >>> row(2, "id", " not in the index").words
    'ids not in the index'
    """
    return Row(number, f"{plural(number, noun)}{rest}")


def total(number: int, noun: str, rest: str = "") -> Row:
    """Return the row of a number of things that is also shown if it is 0."""
    return row(number, noun, rest)._replace(always=True)


def reading_rows(
    read: "WholeInputs | StoredDocuments | Added | RecordFaults", rejected: "Sequence[Rejected]", where: str = ""
) -> list[Row]:
    """Return what reading left out, or read in part or in an unusual way: numbers with their descriptions.

    *where* names the outputs that have or lack the rejected records.
    """
    skipped, faults = sum(read.skipped.values()), sum(read.body_faults.values())
    return [
        *rejected_rows(rejected, where),
        *quoted_rows(read.quoted_lines),
        row(read.ignored, "other file", " ignored"),
        row(skipped, "record", f" not read as pages: {_reasons(read.skipped)}"),
        row(faults, "page", f" not read completely: {_reasons(read.body_faults)}"),
    ]


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))


def rejected_rows(rejected: "Sequence[Rejected]", where: str = "") -> list[Row]:
    """Return the number of rejected records, with *where* they are, and of archives that only lack an end."""
    endless = sum(one.code == "endless" for one in rejected)
    number = len(rejected) - endless
    return [
        row(number, "record", f" rejected{where}"),
        row(endless, "archive", " without the line ends after the last record, which was read"),
    ]


def quoted_rows(found: "QuotedLines | None") -> list[Row]:
    """Return the number of records with line ends inside quotes, with its description, if there are any."""
    return [] if found is None else [row(found.records, "record", " with line ends inside quotation marks")]


def without_text(found: "WithoutText | None", outcome: str = "") -> list[Row]:
    """Return the number of records without the text field, with the place of the first one, if there are any."""
    if found is None:
        return []
    place = f"{found.source}:{found.position}"
    return [Row(found.records, f"without text{outcome}: field {found.field!r} missing or null, first in {place}")]


def repeated_row(number: int) -> Row:
    """Return the row of documents that a later one with the same id replaces in the same inputs."""
    return row(number, "document", " left out: a later document has the same id")


def promoted_row(number: int, happened: str) -> Row:
    """Return the row of documents whose representatives were removed or lost."""
    whose = "its representative was" if number == 1 else "their representatives were"
    return row(number, "document", f" became {plural(number, 'representative')}: {whose} {happened}")
