"""Question: which edits does each scheme see through."""

import neardup
from corpus import corpus
from figures import publish_table
from schemes import SCHEMES, STRONG, TEXT
from truth import planted

METHOD = """
The share of the planted copies, of those that kept a resemblance of 0.8 or more by word 5-grams, that each scheme
finds, by what was done to them; decided exactly, as in [schemes](schemes.md), where *found* is explained. *Framed*: a
site's footer appended. *Moved*: lines elsewhere. *Reset*: line ends, punctuation and upper case changed, and no word.
*Revised*: words inserted, deleted and replaced. *Shortened*: a run left out. *Substituted*: single words replaced.
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
