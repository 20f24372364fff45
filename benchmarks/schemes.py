"""Question: which scheme for what."""

from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

import neardup
from corpus import corpus, text_bytes
from figures import publish_table
from peers.measuring import best_of
from truth import left_over, planted, true_resemblance

METHOD = """
Each scheme deduplicates the same collection, with its default settings unless its row names others. *Exact* decides by
the scheme's rule on the documents; *signatures* decides by signatures alone, like the systems that made the scheme
known. One thread, the best of three. The truth is the exact resemblance of word 5-grams of every pair of documents.

- *Right* is the share of the dropped documents that reach the resemblance with the kept document, or are equal byte by
  byte.
- *Pairs found* is the share of all pairs with a resemblance of 0.8 or more that have at most one kept document. Most
  of these pairs are in families of very many pages of one template.
- *Copies found* is the share of the planted edited copies with at least the resemblance that are dropped, or whose
  original is. If the original is dropped for a third document, its copy remains unless it matches that one, because
  nothing is dropped through a chain.
- *Bytes* are those of a signature.

Schemes do not compare 5-grams only: a drop that is not right here may have the same words in another order, or the
same sentences.
"""
HEADINGS: Final = (
    "scheme",
    "time, s",
    "dropped",
    "right at 0.5, %",
    "right at 0.8, %",
    "pairs found, %",
    "copies found at 0.5, %",
    "copies found at 0.8, %",
    "bytes",
)
ALIKE: Final = 0.5  # the least that the truth holds
STRONG: Final = 0.8
TEXT: Final = "text"
SCHEMES: Final = {
    "MinHash": neardup.MinHash(),
    "MinHash, 5 words, 0.8": neardup.MinHash(shingle=5, threshold=STRONG),
    "Trials": neardup.Trials(),
    "Sentences": neardup.Sentences(),
    "SimHash": neardup.SimHash(),
    "Combined": neardup.Combined(),
    "Checksum, whole text": neardup.Checksum(fields=(neardup.Field(name=TEXT),)),
    "Checksum, first 1,024 bytes": neardup.Checksum(fields=(neardup.Field(name=TEXT, limit=1024),)),
}
DECIDED: Final[dict[str, Literal["exact", "estimate"]]] = {"exact": "exact", "signatures": "estimate"}


def main() -> None:
    table = corpus()
    rows = [
        (f"{name}, {decided}", *cells(table, scheme, verify))
        for name, scheme in SCHEMES.items()
        for decided, verify in DECIDED.items()
    ]
    title = f"Every scheme on {table.num_rows:,} documents, {text_bytes(table) / 1e6:.0f} MB"
    publish_table("schemes", title, METHOD, [HEADINGS, *rows])


def cells(table: pa.Table, scheme: Any, verify: Literal["exact", "estimate"]) -> tuple[str, ...]:
    """Clear the collection, and tell how well that went as a row of the table."""
    seconds, result = best_of(
        lambda: neardup.dedup(table, text=TEXT, id="id", scheme=scheme, keep="first", verify=verify, threads=1)
    )
    kept = result.representatives < 0
    dropped = np.flatnonzero(~kept)
    reached = true_resemblance(dropped, result.representatives[dropped])
    reached[result.decisions["exact"].to_numpy()[dropped]] = 1.0  # they may be too short for a 5-gram
    shares = (
        np.mean(reached >= ALIKE),
        np.mean(reached >= STRONG),
        1.0 - left_over(kept, STRONG),
        copies_found(result.representatives, ALIKE),
        copies_found(result.representatives, STRONG),
    )
    percentages = (f"{100.0 * share:.1f}" for share in shares)
    return f"{seconds:.2f}", f"{len(dropped):,}", *percentages, str(bytes_a_document(table, scheme))


def copies_found(representatives: np.ndarray, threshold: float) -> float:
    """Return the share of the planted copies, as like their originals as this, that are found."""
    return float(planted().found(representatives)[planted().resemblance >= threshold].mean())


def bytes_a_document(table: pa.Table, scheme: Any) -> int:
    """Sign some documents: every signature of a scheme is as long as any other."""
    some = table.slice(0, 100)
    rows = scheme.sign(some if scheme.columns else some[TEXT]).rows
    return rows.nbytes // len(rows)


if __name__ == "__main__":
    main()
