"""A conformance suite for schemes."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import fields, replace
from hashlib import blake2b
from types import NoneType
from typing import Any, Final

import numpy as np

from neardup.decisions.collapse import collapse
from neardup.model.arrays import Flags, Positions, Signatures
from neardup.model.errors import NeardupError, ParameterError, RecipeMismatch
from neardup.model.options import ANALYSIS
from neardup.model.recipe import KEY_BYTES, RecipeId
from neardup.schemes import registry
from neardup.schemes.plausibility import share_a_key
from neardup.schemes.scheme import Scheme
from neardup.schemes.terms import is_whole, read, written
from neardup.text.columns import text_column, whole_batch

SAMPLE: Final = (
    "The ferry left the harbour at dawn. Forty passengers stood on deck.",
    "The ferry left the harbour at dawn; forty passengers stood on deck!",
    "The ferry left the harbour at dusk. Forty passengers stood on deck.",
    "Nothing in this text resembles any other. It describes apples, pears and plums.",
    "Two words",
    "你好世界你好世界",
    "The ferry left the harbour at dawn. Forty passengers stood on deck.",
)
_UNRELATED: Final = ((0, 3), (0, 5))  # if they have no common feature: two English texts may have the same letters
_COPIES: Final = (0, 6)
_MEASURES: Final = {"resemblance", "containment", "overlap", "cosine"}
_PAIRS: Final = 250  # for the law, for each share of changed words
_WORDS: Final = 240
_LONG: Final = (12, 4096)  # texts, and their words, to find parameters that the recipe lacks
_ENOUGH: Final = 0.8  # of the matching pairs must not be estimated below the floor
_SLACK: Final = 0.05  # laws hold for long texts
_OTHERS: Final[dict[type, Callable[[Any], tuple[Any, ...]]]] = {  # other values of parameters
    bool: lambda value: (not value,),
    int: lambda value: (value + 1, value + 8, 2 * value),
    float: lambda value: (value / 2, (value + 1) / 2),
    NoneType: lambda _: (1, 9, 0.5, True),
}


def check_scheme(scheme: Any, *, golden: str | None = None) -> str:
    """Check the promises of a scheme on texts; return the digest of its signatures of ``SAMPLE``.

    The promises:

    - Signatures have the shapes and dtypes of the protocol, also those of empty and short input. Copies match, and
      unrelated texts do not.
    - Batches, order and threads change no bit. Pairs, rows and ranked hits get the same answers.
    - Keys and estimates decide as the scheme states. At least half of the matching pairs share a key, unless its
      ``curves`` have a law of candidates.
    - The scheme can be serialised and read again, which requires a registered kind
      (``neardup.custom_schemes.register``). No number or flag among its parameters, which may be ``None``, changes
      bits of texts of up to 4,096 words without the recipe, and another seed or key changes both. Each of its options
      has a parameter.
    - If it measures resemblance, matches follow its law, ``probability``, and candidates theirs, or are fewer if it has
      a ``law_limit``. If it also verifies that, its ``floor`` is below the estimates of matching documents.

    *golden* is the digest of an earlier version: the bits must be the same. Raises ``AssertionError`` with the promise
    that is broken. A scheme that signs columns is checked on a column of texts (``Checksum.for_texts()``).

    >>> from neardup import Trials
    >>> len(check_scheme(Trials()))
    32
    """
    with _without_errors("its description"):
        _check_description(scheme)
    with _without_errors("sign"):
        signatures = scheme.sign(list(SAMPLE))
    _expect(isinstance(signatures, Signatures), "sign does not return Signatures")
    for about, check in _CHECKS.items():
        with _without_errors(about):
            check(scheme, signatures)
    digest = blake2b(np.ascontiguousarray(signatures.rows).tobytes(), digest_size=16).hexdigest()
    _expect(golden is None or digest == golden, f"its signatures have the digest {digest}, not {golden}")
    return digest


def _expect(holds: Any, otherwise: str) -> None:
    """Raise ``AssertionError`` unless a promise holds; unlike ``assert``, also under ``python -O``."""
    if not holds:
        raise AssertionError(otherwise)


@contextmanager
def _without_errors(about: str) -> Iterator[None]:
    """Raise ``AssertionError`` for any error of a check *about* something."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"the check of {about} raises {type(error).__name__}: {error}") from error


def _check_description(scheme: Any) -> None:
    _expect(not isinstance(scheme, type), "it is a class, and must be an instance of one, such as MinHash()")
    _expect(isinstance(scheme, Scheme), "it does not derive from neardup.custom_schemes.Scheme")
    known = [kind.name for kind in registry.kinds()]
    _expect(scheme.name in known, "its kind is not registered; call neardup.custom_schemes.register")
    _expect(registry.named(scheme.name) is type(scheme), "its name is registered for another kind")
    _expect(scheme.measure in _MEASURES, f"its measure is not one of {', '.join(sorted(_MEASURES))}")
    _expect(0 < scheme.threshold <= 1, "its threshold is not above 0 and at most 1")
    again = replace(scheme)
    _expect(hash(again) == hash(scheme) and again == scheme, "an equal scheme is not equal, or has another hash")
    _expect(again.recipe == scheme.recipe, "an equal scheme has another recipe")
    _expect(scheme.with_key(None) == scheme, "no key changes it")
    if getattr(type(scheme).from_options, "__func__", None) is vars(Scheme)["from_options"].__func__:
        names = {part.name for part in fields(scheme)}
        names |= {option.name for option in ANALYSIS} if "analysis" in names else set()
        unknown = [option.name for option in scheme.options if option.name not in names]
        _expect(not unknown, f"it has options without a parameter: {', '.join(unknown)}")
    if is_whole(given := written(scheme)):  # otherwise it has a table, which is not serialised
        _expect(written(read(given, where="it")) == given, "it is not the same after it was written down and read")


def _check_shapes(scheme: Any, signatures: Signatures) -> None:
    keys = scheme.keys(signatures)
    _expect(signatures.rows.ndim == 2, "its rows are not a table")  # noqa: PLR2004 - rows and columns
    _expect(len(signatures.rows) == len(signatures.present) == len(SAMPLE), "it has not one row for each document")
    row = (signatures.rows.shape[1], signatures.rows.dtype)
    _expect(row == tuple(scheme.row_format[:2]), "row_format is not that of its rows")
    _expect(signatures.present.dtype == np.bool_, "present is not an array of bool")
    _expect(_is_array(keys, np.uint64) and keys.ndim == 2, "its keys are not uint64[documents, keys]")  # noqa: PLR2004
    _expect(len(keys) == len(SAMPLE), "it has not one row of keys for each document")
    _expect(keys.shape[1] > 0, "its documents have no keys")
    _expect(len(np.unique(keys[signatures.present], axis=0)) > 1, "all documents have the same keys")
    if scheme.stored_bytes is not None:
        _expect(scheme.stored_bytes * len(SAMPLE) == signatures.rows.nbytes, "stored_bytes is not what a row takes")
    if scheme.key_count is not None:
        _expect(scheme.key_count == keys.shape[1], "key_count is not the number of keys")


def _check_pairs(scheme: Any, signatures: Signatures) -> None:
    left, right = _all_pairs(len(signatures))
    rows, others = signatures[left], signatures[right]
    matches, estimates = scheme.matches(rows, others), scheme.estimate(rows, others)
    _expect(_is_array(matches, np.bool_), "matches is not an array of bool")
    _expect(_is_array(estimates, np.floating), "estimate is not an array of numbers")
    _expect(((estimates >= 0) & (estimates <= 1)).all(), "an estimate is not from 0 to 1")
    if scheme.measure != "containment":
        _expect((matches == scheme.matches(others, rows)).all(), "whether two match depends on their order")
        _expect((estimates == scheme.estimate(others, rows)).all(), "an estimate depends on the order of a pair")
    _expect((matches == scheme.match_pairs(signatures, left, right)).all(), "match_pairs answers unlike matches")
    _expect(
        (estimates == scheme.estimate_pairs(signatures, left, right)).all(), "estimate_pairs answers unlike estimate"
    )
    present = signatures.present[left] & signatures.present[right]
    if scheme.estimate_decides:
        expected = (estimates >= scheme.threshold) & present
        _expect((matches == expected).all(), "its estimate does not decide, although estimate_decides is true")
        for estimate in np.unique(estimates[estimates > 0]).tolist():
            _check_least(scheme, estimate, rows, others, estimates >= estimate)
    if scheme.keys_decide:
        shared = _share_keys(scheme, signatures, left, right)
        _expect((matches == shared).all(), "its keys do not decide, although keys_decide is true")
    if scheme.match_estimate is not None:
        _expect((estimates[matches] >= scheme.match_estimate - 1e-9).all(), "a match is below match_estimate")


def _check_least(scheme: Any, estimate: float, rows: Signatures, others: Signatures, expected: Any) -> None:
    """Check that signatures match from a threshold on, and not only above it."""
    with suppress(ParameterError):  # its layout may not reach the recall at this threshold
        same = (scheme.with_threshold(estimate).matches(rows, others) == expected).all()
        _expect(same, "its estimate does not decide at a threshold that it equals, although estimate_decides is true")


def _check_copies(scheme: Any, signatures: Signatures) -> None:
    one, copied = (signatures[place : place + 1] for place in _COPIES)
    _expect(scheme.matches(one, copied).all(), "a document does not match its copy")
    _expect(scheme.estimate(one, copied)[0] == 1.0, "the estimate of copies is not 1")
    _expect((scheme.keys(one) == scheme.keys(copied)).all(), "copies have other keys")
    left, right = (np.array(places) for places in zip(*_UNRELATED, strict=True))
    apart = _resemblances(scheme, [SAMPLE[place] for place in (*left, *right)]) == 0
    _expect(not scheme.match_pairs(signatures, left[apart], right[apart]).any(), "unrelated documents match")


def _check_ranked(scheme: Any, signatures: Signatures) -> None:
    number = len(signatures)
    done = collapse(number, [1], [None], scheme.ranked_rule(signatures), signatures.present)
    kept: list[int] = []
    for document in range(number):
        better = np.array(kept, np.int64)
        if not scheme.match_pairs(signatures, np.full(len(kept), document), better).any():
            kept.append(document)
    _expect(done.kept == kept, f"ranked_rule keeps the hits {done.kept}, and matches {kept}")


def _check_recipe(scheme: Any, signatures: Signatures) -> None:
    _expect(signatures.recipe == scheme.recipe, "its signatures have another recipe")
    foreign = Signatures(signatures.rows, signatures.present, RecipeId("0" * 16))
    questions: tuple[Callable[[], object], ...] = (
        lambda: scheme.keys(foreign),
        lambda: scheme.matches(signatures, foreign),
        lambda: scheme.estimate(foreign, signatures),
        lambda: scheme.ranked_rule(foreign),
    )
    for question in questions:
        _expect(_raised(question) is RecipeMismatch, "it takes signatures of another recipe without RecipeMismatch")
    random = np.random.default_rng(7)
    texts = [*SAMPLE, *map(_text, random.integers(0, 10**6, _LONG))]
    bits = _bits(scheme.sign(texts))
    for name, signed in _signed_alike(scheme, texts):
        _expect(_bits(signed) == bits, f"{name} changes the bits of signatures, but not the recipe")
    for name, other in _hashed_otherwise(scheme):
        differs = other.recipe != scheme.recipe and _bits(other.sign(texts)) != bits
        _expect(differs, f"another {name} does not change the recipe and the bits of signatures")


def _check_empty(scheme: Any, _: Signatures) -> None:
    nothing = scheme.sign([])
    _expect(len(nothing) == 0 and nothing.rows.ndim == 2, "sign([]) is not an empty table")  # noqa: PLR2004
    _expect(len(scheme.keys(nothing)) == 0, "no documents have keys")
    empty = scheme.sign(["", None, ""])
    _expect(not empty.present.any(), "an empty text has a signature")
    left, right = _all_pairs(len(empty))
    _expect(not scheme.match_pairs(empty, left, right).any(), "documents without a signature match")
    _expect(not scheme.estimate_pairs(empty, left, right).any(), "documents without a signature have an estimate")


def _check_batches(scheme: Any, _: Signatures) -> None:
    texts = [f"{text} {' '.join(f'w{n * m % 97}' for m in range(n % 30))}" for n, text in enumerate(SAMPLE * 20)]
    texts += ["", "..."]
    whole = scheme.sign(texts).rows
    singly = np.concatenate([scheme.sign([text]).rows for text in texts])
    _expect((whole == singly).all(), "signatures depend on the batch")
    _expect((whole[::-1] == scheme.sign(texts[::-1]).rows).all(), "signatures depend on the order")
    with ThreadPoolExecutor(4) as pool:
        signed = pool.map(lambda _: copy(scheme).sign(texts).rows, range(4))
        _expect(all((rows == whole).all() for rows in signed), "signatures depend on threads")


def _check_probability(scheme: Any, _: Signatures) -> None:
    curve = scheme.probability(np.linspace(0, 1, 101))
    _expect(_is_array(curve, np.floating) and curve.shape == (101,), "probability of an array is not an array")
    _expect(((curve >= 0) & (curve <= 1)).all(), "a probability is not from 0 to 1")
    _expect((np.diff(curve) >= -1e-9).all(), "its probability falls where the measure rises")  # noqa: PLR2004
    _expect(abs(float(curve[-1]) - 1) < 1e-9, "the probability of equal documents is not 1")  # noqa: PLR2004
    _expect(_raised(lambda: scheme.probability(1.5)) is ParameterError, "it takes a measure above 1")
    _expect("match" in scheme.curves(curve), "its curves have no match")


def _check_edits(scheme: Any, _: Signatures) -> None:
    """Check the matches, keys and estimates of texts and copies with some other words."""
    random = np.random.default_rng(7)
    words = max(_WORDS, scheme.law_features)
    number = max(_PAIRS * _WORDS // words, 10)
    left = np.arange(number)
    for changed in np.multiply((0, 2, 8, 24, 80), words) // _WORDS:
        lefts = random.integers(0, 10**6, (number, words))
        rights = lefts.copy()
        places = random.random(lefts.shape).argsort(axis=1)[:, :changed]
        np.put_along_axis(rights, places, random.integers(10**6, 2 * 10**6, places.shape), axis=1)
        texts = [_text(words) for words in (*lefts, *rights)]
        signed = scheme.sign(texts)
        matches = scheme.match_pairs(signed, left, left + number)
        candidates = _share_keys(scheme, signed, left, left + number)
        found = {"match": matches, "candidate": candidates}
        measured = _resemblances(scheme, texts)
        about = f"with {changed} of {words} words changed,"
        curves = scheme.curves(measured)
        if scheme.measure == "resemblance":  # other laws depend on weights, or on the number of features
            for name in sorted(found.keys() & curves.keys()):
                _check_rate(scheme, about, name, found[name], curves[name])
        if "candidate" not in curves:
            _expect(2 * candidates[matches].sum() >= matches.sum(), f"{about} most matching pairs share no key")
        if scheme.rule == scheme.measure == "resemblance":
            near = scheme.estimate_pairs(signed, left, left + number)[measured >= scheme.threshold]
            enough = (near >= scheme.floor).sum() >= _ENOUGH * len(near)
            _expect(enough, f"{about} matching pairs are estimated below its floor")


def _check_rate(scheme: Any, about: str, name: str, found: Flags, law: Any) -> None:
    """Compare a share of pairs with the mean of a law at their exact measures."""
    rate, expected = found.mean(), law.mean()
    error = _SLACK + 5 * np.sqrt(max(expected * (1 - expected), 1 / len(found)) / len(found))
    holds = rate <= expected + error and (rate >= expected - error or scheme.law_limit)
    _expect(holds, f"{about} {rate:.3f} of pairs are a {name}, but the law predicts {expected:.3f}")


_CHECKS: Final[dict[str, Callable[[Any, Signatures], None]]] = {  # of a scheme, and the signatures of ``SAMPLE``
    "rows and keys": _check_shapes,
    "pairs": _check_pairs,
    "copies": _check_copies,
    "ranked_rule": _check_ranked,
    "the recipe": _check_recipe,
    "empty documents": _check_empty,
    "batches": _check_batches,
    "probability": _check_probability,
    "edited texts": _check_edits,
}


def _signed_alike(scheme: Any, texts: list[str]) -> Iterator[tuple[str, Signatures]]:
    """Yield the signatures with other values of numbers and flags that do not change the recipe, and their names."""
    for part in fields(scheme):
        value, signed = getattr(scheme, part.name), None
        for other in _OTHERS.get(type(value), lambda _: ())(value):
            with suppress(Exception):  # the value may break a rule
                made = replace(scheme, **{part.name: other})
                signed = made.sign(texts) if made.recipe == scheme.recipe else None
            if signed is not None:
                yield part.name, signed


def _hashed_otherwise(scheme: Any) -> Iterator[tuple[str, Any]]:
    """Yield the scheme with another seed and with another key, as far as it can have them."""
    with suppress(AttributeError, NeardupError, TypeError):  # it has no seed, or a key or a table instead
        yield "seed", replace(scheme, seed=scheme.seed + 1)
    with suppress(NeardupError):  # it has no key, or a seed or a table instead
        yield "key", scheme.with_key(blake2b(scheme.recipe.encode(), digest_size=KEY_BYTES).digest())


def _bits(signatures: Signatures) -> tuple[Any, ...]:
    return signatures.rows.dtype, signatures.rows.shape, signatures.rows.tobytes()


def _text(words: Any) -> str:
    """Return numbers as sentences of one word, so that a text has as many sentences as words."""
    return " ".join([f"W{number}." for number in words.tolist()])


def _resemblances(scheme: Any, texts: list[str]) -> Any:
    """Return the exact resemblance of each text of the first half and the text at its place in the second half."""
    half = len(texts) // 2
    if scheme.columns:
        return np.array([float(left == right) for left, right in zip(texts[:half], texts[half:], strict=True)])
    features = scheme.shingling.batch_features(whole_batch(text_column(texts)))
    sets = [{*part.tolist()} for part in np.split(features.values, features.offsets[1:-1])]
    pairs = zip(sets[:half], sets[half:], strict=True)
    return np.array([len(left & right) / max(len(left | right), 1) for left, right in pairs])


def _is_array(given: Any, kind: type) -> bool:
    return isinstance(given, np.ndarray) and np.issubdtype(given.dtype, kind)


def _share_keys(scheme: Any, signatures: Signatures, left: Positions, right: Positions) -> Flags:
    """Return which pairs of documents share a key; those without a signature have none."""
    shared = share_a_key(scheme, signatures, left, right)
    return shared & signatures.present[left] & signatures.present[right]


def _all_pairs(number: int) -> tuple[Positions, Positions]:
    left, right = np.indices((number, number))
    return left.ravel(), right.ravel()


def _raised(question: Callable[[], object]) -> type[NeardupError] | None:
    try:
        question()
    except NeardupError as error:
        return type(error)
    return None
