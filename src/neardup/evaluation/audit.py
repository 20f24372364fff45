"""What a run over a collection missed: estimated from a random sample of its documents."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from neardup.evaluation.intervals import Share, share_of_kind
from neardup.evaluation.plain_results import AsDict
from neardup.model.arrays import Flags, Values

STEP: Final = 0.1  # of the bands, and how far below the threshold a sample is looked at
NO_KEY, OVERSIZED, REFUSED, UNEXPLAINED = "no shared key", "oversized bucket", "signature", "unexplained"
REASONS: Final = (NO_KEY, OVERSIZED, REFUSED, UNEXPLAINED)


class Band(NamedTuple):
    """The duplicates whose closest kept document has a measure from *low* to less than *high*; 1 is a band of its own.

    *recall* is the share of them that was dropped; *predicted* is what the law of the scheme predicts for the same
    documents, or ``None`` if the law is about another measure, or leaves out a filter of the scheme.
    """

    low: float
    high: float
    recall: Share
    predicted: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed(AsDict):
    """A kept document of the sample with a better-ranked kept document, *partner*, that it matches.

    *position* and *partner_position* count the documents of the input from 0, *value* is their measure. *reason* is
    ``"no shared key"``: they are not candidates of each other; ``"signature"``: the signatures differ too
    much for a comparison; ``"oversized bucket"``: too many documents share their keys; or ``"unexplained"``: a run
    with these parameters compares them.
    """

    id: str
    partner: str
    position: int
    partner_position: int
    value: float
    reason: str
    text: str
    partner_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(AsDict):
    """What a run missed, estimated from *sample* of *documents* documents, drawn at random.

    A *duplicate* is a document with a better-ranked kept document that it matches: the exact *measure* of the two is at
    least *threshold*, or *short_threshold* if one has fewer than *short* features. *recall* is the share of the
    duplicates that were dropped, *bands* the same by the measure of the closest such document, and *predicted* the
    recall by the law of the scheme. *precision* is the share of dropped documents that are duplicates. *reasons* are
    the shares of the duplicates that were missed, by reason. *below* is the share of the kept documents whose closest
    better-ranked kept document is at most 0.1 below the threshold. *missed* are documents that were missed, the closest
    first, with their texts: what to look at. *needed* is how many documents must be drawn for the requested width of
    the interval, ``None`` if it has it. *rejected* is the number of records of files that could not be read as
    documents, *known* that of documents that were dropped for earlier ones, which are not among the documents of the
    audit; no other figure counts them. *without_text* is the number of documents of files whose text is missing or
    null, *quoted_lines* that of records with line ends inside quotes, unless quoting was requested or the run recorded
    how it read them.
    """

    documents: int
    sample: int
    scheme: str
    measure: str
    threshold: float
    recall: Share
    predicted: float | None
    precision: Share
    bands: tuple[Band, ...]
    reasons: dict[str, Share]
    below: Share
    missed: tuple[Missed, ...]
    needed: int | None = None
    rejected: int = 0
    without_text: int = 0
    quoted_lines: int = 0
    known: int = 0
    short: int | None = None
    short_threshold: float | None = None

    def __repr__(self) -> str:
        if self.recall.value is None:
            return f"Audit(sample={self.sample:,}, no duplicates)"
        return f"Audit(recall={self.recall.value:.4f} ({self.recall.low:.4f} to {self.recall.high:.4f}))"


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The sampled documents: which were *dropped*, and their *closest* better-ranked kept document.

    *closest* is the measure of that document, NaN without one; *allowed* whether such a document reaches the threshold
    of the pair, and *near* whether one is at most 0.1 below it; *predicted* the probability of a match with at least
    one such document by the law, NaN if the law does not apply.
    """

    dropped: Flags
    closest: Values
    allowed: Flags
    near: Flags
    predicted: Values


def audit_of(outcome: Outcome, documents: int, threshold: float, reasons: list[str], **about: Any) -> Audit:
    """Estimate everything from the outcome of a sample; *reasons* are those of the missed documents."""
    number = len(outcome.dropped)
    duplicate, dropped = outcome.allowed, outcome.dropped
    found = duplicate & dropped

    def among(part: Flags, whole: Flags) -> Share:
        """Estimate the share of *part* among all documents like *whole*."""
        return share_of_kind(int((part & whole).sum()), int(whole.sum()), number, documents)

    def predicted(part: Flags) -> float | None:
        values = outcome.predicted[part]
        return None if len(values) == 0 or np.isnan(values).any() else float(values.mean())

    edges = [*np.arange(np.floor(threshold / STEP + 1e-9) * STEP, 1 - 1e-9, STEP).round(9).tolist(), 1.0]
    bands = []
    for low, high in zip(edges, [*edges[1:], np.inf], strict=True):
        inside = duplicate & (outcome.closest >= low) & (outcome.closest < high)
        if inside.any():
            bands.append(Band(max(low, threshold), min(high, 1.0), among(found, inside), predicted(inside)))
    of = int(duplicate.sum())
    counts = {reason: reasons.count(reason) for reason in REASONS if reason in reasons}
    near = ~dropped & ~duplicate & outcome.near
    return Audit(
        documents=documents,
        sample=number,
        threshold=threshold,
        recall=among(found, duplicate),
        predicted=predicted(duplicate),
        precision=among(duplicate, dropped),
        bands=tuple(bands),
        reasons={reason: share_of_kind(count, of, number, documents) for reason, count in counts.items()},
        below=among(near, ~dropped),
        **about,
    )
