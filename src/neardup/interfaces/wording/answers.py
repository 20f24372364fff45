"""Results of a search in words."""

from typing import Final

from neardup.interfaces.escaping import middle_shortened, shortened
from neardup.interfaces.wording.numbers import decimals
from neardup.model.answers import Answer, Repeat
from neardup.model.errors import counted

_VALUE: Final = 200  # characters


def total_of(answer: Answer) -> str:
    """Describe the numbers of results and repeats on all pages, and of examined hits if not all were examined."""
    results = answer.examined - answer.hidden
    parts = [_count(results, "result")]
    if answer.collapse == "off":
        parts.append("repeats shown")
    elif results:
        more = f"{answer.hidden:,} more from the same sites" if answer.hidden else "no others from the same sites"
        parts.append(f"{more if answer.collapse == 'site' else _count(answer.hidden, 'repeat')} hidden")
    if answer.total > answer.examined:
        parts.append(f"of the first {answer.examined:,} of {answer.total:,} matches")
    return _begun(", ".join(parts))


def hidden_of(collapse: str, number: int) -> str:
    """Name the hidden hits of a result: hits of the same site are not duplicates.

    >>> hidden_of("near", 3), hidden_of("site", 1200)
    ('Duplicates (3)', '1,200 more from this site')
    """
    return f"{number:,} more from this site" if collapse == "site" else f"Duplicates ({number:,})"


def because(one: Repeat) -> str:
    """Describe the rule that hides a hit, and its value.

    Examples: ``Near duplicate, verified: resemblance 0.83, at least 0.6 by minhash``, ``Same site: a.example``.
    """
    if one.threshold is None or one.value is None:
        known = "" if one.value is None else f": {middle_shortened(str(one.value), _VALUE)}"
        return _begun(f"{one.rule}{known}")
    verified = "verified" if one.verified else "not verified"
    if one.measure == "equality":
        return f"Near duplicate, {verified}: equal by {one.rule}"
    least = f"{one.threshold:.3g}"
    if float(least) > one.threshold:
        least = f"{one.threshold:.6g}"
    places = max(2, len(least.partition(".")[2]))  # as many as the threshold has, or it could seem to be missed
    value = f"{'' if one.verified else 'estimated '}{one.measure} {decimals(float(one.value), places)}"
    return f"Near duplicate, {verified}: {value}, at least {least} by {one.rule}"


def advice_of(answer: Answer, site: str | None) -> tuple[str, ...]:
    """Explain why a page of an answer has no results, and what to do; *site* is the only one that was searched."""
    if answer.results:
        return ()
    if answer.page > answer.pages > 0:
        return (f"There is no page {answer.page:,}: the last one is {answer.pages:,}.",)
    if not answer.query.strip():
        return "The query is empty.", "Name the words that a document must contain."
    if not any(map(str.isalnum, answer.query)):
        return "Only words and numbers are searched: signs and emoji are not.", "Type a word."
    return (
        f"No document {f'of {shortened(site, _VALUE)} ' if site else ''}has all of these words.",
        "Fewer words, or a * after the beginning of a word, find more. Words between quotes must follow each other.",
    )


def _count(number: int, word: str) -> str:
    return counted(number, word) if number else f"no {word}s"


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
