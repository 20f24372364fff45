"""Question: which edits does each scheme see through."""

import neardup
from corpus import corpus
from figures import publish_table
from schemes import SCHEMES, STRONG, TEXT
from truth import planted

METHOD = """
The share of the planted copies that each scheme finds, by kind of edit. Only copies with a resemblance of at least 0.8
by word 5-grams count. Decisions are exact; *found* is explained in [schemes](schemes.md).

- *Framed*: a footer of a site is appended. *Moved*: lines are in another order.
- *Reset*: line breaks, punctuation and case are changed, and no word. *Revised*: words are inserted, deleted and
  replaced.
- *Shortened*: a passage is removed. *Substituted*: single words are replaced.
"""


def main() -> None:
    table = corpus()
    strong = planted().resemblance >= STRONG
    edits = planted().edits
    kinds = sorted(set(edits.tolist()))
    rows = []
    for name, scheme in SCHEMES.items():
        found = planted().found(neardup.dedup(table, text=TEXT, id="id", scheme=scheme).representatives)
        rows.append((name, *(f"{100 * found[strong & (edits == kind)].mean():.1f}" for kind in kinds)))
    headings = ("scheme", *(f"{kind}, %" for kind in kinds))
    publish_table("kinds", f"What each scheme finds of {strong.sum():,} edited copies", METHOD, [headings, *rows])


if __name__ == "__main__":
    main()
