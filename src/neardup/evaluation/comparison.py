"""A comparison of two texts: every measure, the match decision of every scheme, and the shared passages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from neardup.evaluation.match_decisions import MatchDecision, match_decision
from neardup.evaluation.measures import in_common, require_texts
from neardup.evaluation.passages import RUN, Passage, Passages, Span, passages_of_words
from neardup.evaluation.plain_results import AsDict
from neardup.kernels import shingles
from neardup.model.arrays import Features, Signatures
from neardup.model.errors import counted, require, require_kind, require_sequence, require_whole
from neardup.schemes import registry
from neardup.schemes.scheme import Scheme, require_scheme
from neardup.text.columns import text_column, whole_batch
from neardup.text.spans import WordSpans, word_spans

SIZES: Final = (1, 2, 3, 4, 5)


def default_schemes() -> tuple[Scheme, ...]:
    """Return the schemes of ``compare``, each with its defaults for texts; the checksum is of the whole text."""
    return tuple(kind.for_texts() for kind in registry.kinds())


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Resemblance and containment of two texts' shingles of *shingle* words, as sets or, with *bag*, as bags."""

    shingle: int
    bag: bool
    resemblance: float
    a_in_b: float
    b_in_a: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(AsDict):
    """The result of ``compare``: exact *measures*, the decisions of *schemes*, and the texts' *passages*.

    Spans are character offsets ``(begin, end)`` in the original texts. *only_in_a* and *only_in_b* are the stretches of
    words that are in no run of *run* words common to both texts.
    """

    measures: tuple[Measure, ...]
    schemes: tuple[MatchDecision, ...]
    run: int
    passages: tuple[Passage, ...]
    only_in_a: tuple[Span, ...]
    only_in_b: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(MatchDecision):
    """The decision of ``dedup`` by a scheme, with the evidence.

    *resemblance*, *a_in_b* and *b_in_a* (containment) are exact, on the scheme's own features. *passages*, *only_in_a*,
    *only_in_b* and *run* are as in ``Comparison``; *run* is the length of the scheme's shingles if these are of words.
    They compare words as they are written, by the default ``Analysis``, also for a scheme that stems words, leaves some
    out or reads no words: texts that match may share no passage.
    """

    resemblance: float
    a_in_b: float
    b_in_a: float
    run: int
    passages: tuple[Passage, ...]
    only_in_a: tuple[Span, ...]
    only_in_b: tuple[Span, ...]

    def __str__(self) -> str:
        """Return the decision, the result of the signatures alone, and the evidence in brief."""
        words = sum(passage.words for passage in self.passages)
        decided = "dedup, verified" if self.verified else "dedup, not verified"
        measured = self.value
        value = "" if measured is None else f"; {_directed(self.measure)} {self.told_apart(f'{measured:.4g}')}"
        reason = f"; {self.reason}" if self.reason else ""
        found = f"shared passages: {len(self.passages):,}, of {counted(words, 'word')}"
        shared = found if self.passages else "no shared passages"
        estimate = self.estimate
        alone = f"; {_directed(estimate.measure)} {estimate.value:.4g}" if estimate.value is not None else ""
        return (
            f"{self.scheme} ({decided}): {_decided(self.matches)}{value}{reason}; rule: {self.rule}\n"
            f"signatures alone: {_decided(estimate.matches)}{alone}; rule: {estimate.rule}\n"
            f"exact resemblance {self.resemblance:.4f};"
            f" {100 * self.a_in_b:.1f} % of a is in b, {100 * self.b_in_a:.1f} % of b is in a\n"
            f"{shared}; stretches only in a: {len(self.only_in_a):,}, only in b: {len(self.only_in_b):,}"
        )


def compare(a: str, b: str, schemes: Sequence[Scheme] | None = None) -> Comparison:
    """Compare two texts by every measure and by the rule of every scheme (``None``: those of ``default_schemes``).

    The measures are exact, of shingles of 1 to 5 words under the default ``Analysis``. Texts without words have the
    measure 0 with every text. By containment, *a* counts as the better-ranked document: *b* matches if enough of it is
    in *a*. Raises ``DataError`` unless both texts are strings.
    """
    require_texts(a, b)
    chosen = default_schemes() if schemes is None else require_sequence("schemes", schemes, "schemes")
    for scheme in chosen:
        require_scheme(scheme)
    words = word_spans(a), word_spans(b)
    return Comparison(
        measures=tuple(_measures(*words)),
        schemes=tuple(match_decision(scheme, a, b) for scheme in chosen),
        **_marks(passages_of_words(*words)),
    )


def explain(
    a: str, b: str, scheme: Scheme | None = None, *, signatures: Signatures | None = None, most: int | None = None
) -> Explanation:
    """Return the decision of ``dedup`` about two texts by a scheme (``None``: ``MinHash()``), with the evidence.

    By containment, *a* counts as the better-ranked document, so *b* matches if enough of it is in *a*.
    With *signatures* of both, the texts are not signed: use it if more than the texts was signed, or if only parts are
    compared. Passages are found in the first *most* characters of each text (``None``: all), of words as they are
    written, for every ``Analysis`` of the scheme. Raises ``DataError`` unless both texts are strings, and
    ``RecipeMismatch`` for signatures of another recipe.

    >>> a = "The ferry left the harbour at dawn with forty passengers and a cargo of salt"
    >>> print(explain(a, f"{a} and wine"))
    minhash (dedup, verified): match; resemblance 0.8667; rule: resemblance of sets of 3-word shingles at least 0.6
    signatures alone: match; estimated resemblance 0.8672; rule: estimated resemblance of sets of 3-word shingles at least 0.6
    exact resemblance 0.8667; 100.0 % of a is in b, 86.7 % of b is in a
    shared passages: 1, of 15 words; stretches only in a: 0, only in b: 1
    """  # noqa: E501 - as it prints
    require_texts(a, b)
    chosen: Scheme = registry.default() if scheme is None else scheme
    require_scheme(chosen)
    if signatures is not None:
        require_kind("signatures", signatures, Signatures)
        require(len(signatures) == len((a, b)), "signatures", signatures, "must be of both texts")
    if most is not None:
        most = require_whole("most", most, 0)
    features = chosen.shingling.batch_features(whole_batch(text_column([a, b])))
    run = run_of(chosen)
    passages = passages_of_words(word_spans(a[:most]), word_spans(b[:most]), run)
    decision = match_decision(chosen, a, b, signatures)
    return Explanation(
        **{name: getattr(decision, name) for name in MatchDecision.__slots__},
        **_shares(features),
        **_marks(passages),
    )


def run_of(scheme: Scheme) -> int:
    """Return the number of words in a scheme's shingles; ``RUN`` if its features are not runs of words."""
    shingling: Any = scheme.shingling
    analysis = getattr(shingling, "analysis", None)
    return int(shingling.size) if analysis is not None and analysis.unit == "word" else RUN


def _directed(measure: str) -> str:
    return f"{measure} of b in a" if measure.endswith("containment") else measure


def _decided(matches: bool) -> str:  # noqa: FBT001 - what is shown
    return "match" if matches else "no match"


def _measures(a: WordSpans, b: WordSpans) -> Iterator[Measure]:
    tokens = np.concatenate([a.hashes, b.hashes])
    offsets = np.array([0, len(a), len(tokens)], np.int64)
    for size in SIZES:
        values, bounds = np.empty(len(tokens), np.uint64), np.empty(3, np.int64)
        count = shingles.shingles(tokens, offsets, size, values, bounds)
        for bag in (False, True):
            content = values[:count].copy()
            if bag:
                shingles.label_repeats(content, bounds)
            yield Measure(shingle=size, bag=bag, **_shares(Features(content, bounds)))


def _shares(features: Features) -> dict[str, Any]:
    """Return resemblance and containment of two documents, 0 if they share nothing; the features are overwritten."""
    found = in_common(features)
    shares = {"resemblance": found.resemblance, "a_in_b": found.left_in_right, "b_in_a": found.right_in_left}
    return {name: float(share[0]) for name, share in shares.items()}


def _marks(found: Passages) -> dict[str, Any]:
    return {"run": found.run, "passages": found.shared, "only_in_a": found.only_in_a, "only_in_b": found.only_in_b}
