"""The start: a box to search, and how much there is to find."""

from typing import NamedTuple


class StartView(NamedTuple):
    """What there is, and whether it can be searched."""

    documents: str
    searches: bool


def start_view(documents: int, *, searches: bool) -> StartView:
    """Show the start of an index of so many documents.

    >>> start_view(1, searches=True).documents
    '1 document is here.'
    """
    if not documents:
        return StartView("No document is here yet.", searches)
    return StartView(f"{documents:,} {'document is' if documents == 1 else 'documents are'} here.", searches)
