"""The start: a box to search, and how much there is to find."""

from typing import NamedTuple


class StartView(NamedTuple):
    """What there is, whether it can be searched, and the *command* that helps where it cannot."""

    documents: str
    searches: bool
    advice: str = ""
    command: str = ""


def start_view(documents: int, *, searches: bool, keeps_texts: bool = True) -> StartView:
    """Show the start of an index of so many documents.

    >>> start_view(1, searches=True).documents
    '1 document is here.'
    """
    number = f"{documents:,} {'document is' if documents == 1 else 'documents are'} here."
    if not documents:
        number = "No document is here yet."
    if searches:
        return StartView(number, searches)
    if keeps_texts:
        return StartView(number, searches, "There is no search table. Build one:", "neardup reindex DIR")
    advice = "This index keeps no texts and cannot be searched. Make one that can be:"
    return StartView(number, searches, advice, "neardup index INPUT --to DIR --texts --search")
