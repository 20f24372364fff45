"""Decisions equal their definition (``canonical.py``) on random collections of every kind.

Keys, estimates and filters are those of the scheme's full signatures, asked pair by pair.
"""

from collections import Counter
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa
import pytest
from canonical import ROOM, candidates, representatives

from neardup import (
    Analysis,
    Checksum,
    Combined,
    Field,
    FracMinHash,
    MinHash,
    Sentences,
    SimHash,
    TermWeights,
    Trials,
    dedup,
)
from neardup.index.memory import buckets
from neardup.model.arrays import Corpus, Features
from neardup.pipeline.corpus.documents import SITE

KEEPS = ("first", "last", "longest", "shortest", "max:score", "min:score")
SCHEMES = (
    MinHash(),
    MinHash(shingle=1, permutations=64, threshold=0.5),
    MinHash(shingle=2, permutations=64, threshold=0.8, bag=True),
    MinHash(shingle=1, permutations=32, threshold=0.3, recall=0.9),
    MinHash(shingle=1, permutations=128, threshold=0.06),
    Trials(),
    Trials(words=1, hashes=4, trials=8),
    Sentences(),
    Sentences(relative_to="smaller", threshold=0.8),
    FracMinHash(),
    FracMinHash(shingle=1, scaled=2, size=16, threshold=0.6),
    FracMinHash(shingle=2, measure="overlap", threshold=0.7),
    SimHash(),
    SimHash(distance=20),
    SimHash(distance=24, rule="cosine", threshold=0.6),
    SimHash(distance=24, rule="cosine", threshold=0.9, weights=TermWeights.given({"word1": 4.0}, otherwise=0.5)),
    Combined(),
    Combined(MinHash(shingle=1, permutations=64, threshold=0.4), SimHash(distance=24)),
    Combined(MinHash(analysis=Analysis(symbols=False)), MinHash(shingle=1, permutations=64, threshold=0.9)),
    Combined(MinHash(shingle=1, permutations=64, threshold=0.4), Sentences()),
    Checksum(fields=[Field(name="title", required=False), Field(name="body", limit=20)]),
    Checksum(fields=[Field(name="title")]),
)
WORDS = np.array([*(f"word{number}" for number in range(24)), "é", "你好", "C++", "5", "-"])
ODD = ["", " ", None, "\n\t", "...", "?", "one", "One!", "\u00a0", "-"]


def sentence(random):
    words = WORDS[random.integers(0, len(WORDS), int(random.integers(1, 13)))]
    return " ".join(words).capitalize() + random.choice([".", "!", "", " ?"])


def edited(random, text):
    """A text with a few words changed, left out or moved, or written in another way."""
    words = text.split()
    for _ in range(int(random.integers(0, 4))):
        if words:
            place = int(random.integers(len(words)))
            words[place : place + int(random.integers(2))] = [str(random.choice(WORDS))] * int(random.integers(2))
    changed = " ".join(words)
    return random.choice([changed, changed.upper(), changed + ".", text])


def collection(random):
    texts = []
    for _ in range(int(random.integers(1, 16))):
        kind = random.random()
        known = [text for text in texts if text]
        if kind < 0.5 and known:
            texts.append(str(edited(random, known[int(random.integers(len(known)))])))
        elif kind < 0.62:
            texts.append(ODD[int(random.integers(len(ODD)))])
        else:
            texts.append(" ".join(sentence(random) for _ in range(int(random.integers(1, 6)))))
    scores = [None if random.random() < 0.2 else int(random.integers(3)) for _ in texts]
    titles = [str(random.choice(["a", "b", ""])) for _ in texts]
    columns = {"text": pa.array(texts, pa.string()), "score": pa.array(scores, pa.int64()), "title": titles}
    return pa.table(columns)


def ranked(table, keep):
    positions = range(len(table))
    lengths = [len((text or "").encode()) for text in table["text"].to_pylist()]
    scores = table["score"].to_pylist()
    sign = -1 if keep.startswith("max") else 1
    keys = {
        "first": lambda place: place,
        "last": lambda place: -place,
        "longest": lambda place: (-lengths[place], place),
        "shortest": lambda place: (lengths[place], place),
    }
    by_score = lambda place: (scores[place] is None, sign * (scores[place] or 0), place)  # noqa: E731
    return sorted(positions, key=keys.get(keep, by_score))


def with_sites(table, random):
    """The documents as pages of two hosts, some of these thin or with little main text, and of others."""
    return table.append_column(SITE, pa.array(random.choice([0, 4, 4, 5, 7, 7, 8, 11], len(table)), pa.uint64()))


def of_site(feature, site):
    """A feature of a document: those of thin pages, whose sites have the second bit, are others for each site."""
    return feature ^ site if site & 2 else feature


def least(sites, one, other):
    """What the measure of a pair must reach, in addition to the scheme's rule."""
    return (0.9 if sites[one] % 2 else 0.8) if sites[one] == sites[other] != 0 else 0


def least_by_length(scheme, one, other):
    """What the measure of two documents with these features must reach."""
    short = scheme.short is not None and min(len({*one}), len({*other})) < scheme.short
    return scheme.short_threshold if short else scheme.threshold


def all_features(scheme, texts):
    """What equal documents share, of both schemes of a combined one; ``None`` if a scheme finds nothing."""
    found = []
    for shingling in filter(None, (scheme.shingling, scheme.second_shingling)):
        features = shingling.features(texts)
        found.append([(*features.values[begin:end].tolist(),) for begin, end in pairwise(features.offsets.tolist())])
    return [own if all(own) else None for own in zip(*found, strict=True)]


def answer(table, scheme, keep, verify, *, gather="kept", room=ROOM, representative="best-ranked"):
    """Return the representative of each document by the definition, or -1; the column ``SITE`` may have sites."""
    order = ranked(table, keep)
    texts = table["text"].to_pylist()
    features = scheme.shingling.features(table["text"])
    lists = [features.values[begin:end].tolist() for begin, end in pairwise(features.offsets.tolist())]
    plain = all_features(scheme, table["text"])
    sites = table[SITE].to_pylist() if SITE in table.column_names and not scheme.columns else [0] * len(texts)
    lists = [[of_site(one, site) for one in features] for features, site in zip(lists, sites, strict=True)]
    if scheme.columns:
        signatures = scheme.sign(table.rename_columns(["body", *table.column_names[1:]]))
    else:
        changed = Features(np.array([*chain.from_iterable(lists)], np.uint64), features.offsets, features.recipe)
        column = pa.chunked_array([[text or "" for text in texts]], pa.string())
        signatures = scheme.sign_at(Corpus(changed, None, column), np.arange(len(texts)))
    keys = scheme.keys(signatures).tolist()
    present = signatures.present.tolist()
    equals, leaders = {}, {}
    for place in order:
        if scheme.columns:
            same = keys[place][0] if present[place] and verify == "exact" else None
        else:
            same = plain[place] or ((texts[place] or "").strip() and texts[place]) or None
        leaders[place] = place if same is None else equals.setdefault(same, place)
    own = [place for place in order if leaders[place] == place]
    found = candidates(
        [keys[place] if present[place] else None for place in own],
        position_independent=scheme.position_independent,
        room=room,
    )
    pairs = [(own[worse], own[better]) for worse, betters in enumerate(found) for better in sorted(betters)]
    matches = matching(scheme, signatures, lists, pairs, verify, sites=sites)
    if gather == "components":
        chosen = decided_as_components(order, matches | {*leaders.items()})
    else:
        closeness = closenesses(scheme, signatures, lists, verify) if representative == "closest" else None
        chosen = representatives(order, leaders, matches, closeness)
    return [-1 if chosen[place] is None else chosen[place] for place in range(len(order))]


def closenesses(scheme, signatures, lists, verify):
    """What tells how close a pair is, as far as it is verified."""
    if scheme.columns or verify == "none":
        return lambda *_: 1
    if verify == "estimate":
        return lambda worse, better: scheme.estimate_pairs(signatures, np.array([worse]), np.array([better]))[0]
    return lambda worse, better: share(scheme, lists[worse], lists[better])


def matching(scheme, signatures, lists, pairs, verify, *, sites):
    """The candidate pairs that match."""
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T.copy()  # each contiguous, for which kernels are compiled
    passes = scheme.passes(signatures, left, right) if scheme.passes is not None else np.ones(len(left), bool)
    needed = np.array([least(sites, a, b) for a, b in pairs])
    if scheme.columns or verify == "estimate":
        holds = scheme.match_pairs(signatures, left, right)
        if any(sites):
            holds = holds & ((scheme.estimate_pairs(signatures, left, right) >= needed) | (needed == 0))
    elif verify == "none":
        holds = passes
    else:
        low = scheme.shortened(signatures) if scheme.shortened is not None else signatures
        holds = passes & (scheme.estimate_pairs(low, left, right) >= scheme.floor)
        if scheme.likely is not None:
            holds &= scheme.likely(signatures, left, right)
        by_length = [least_by_length(scheme, lists[a], lists[b]) for a, b in pairs]
        holds &= np.array([share(scheme, lists[a], lists[b]) for a, b in pairs]) >= np.maximum(needed, by_length)
    return {pair for pair, match in zip(pairs, holds, strict=True) if match}


def share(scheme, one, other):
    """The measure of the features of two documents, *one* of the worse rank."""
    if scheme.rule == "cosine":
        return cosine(scheme, Counter(one), Counter(other))
    one, other = {*one}, {*other}
    whole = {"overlap": min(one, other, key=len), "containment": one}.get(scheme.rule, one | other)
    return len(one & other) / len(whole)


def cosine(scheme, one, other):
    """The cosine of the weights of features, which are whole numbers, so that their sums are exact."""
    terms, _, units, otherwise = scheme.weight_table
    table = dict(zip(terms.tolist(), units.tolist(), strict=True))
    one, other = (
        {value: count * table.get(value, int(otherwise)) for value, count in each.items()} for each in (one, other)
    )
    norms = [float(sum(weight**2 for weight in each.values())) for each in (one, other)]
    return min(1.0, sum(weight * other.get(value, 0) for value, weight in one.items()) / np.sqrt(np.prod(norms)))


def decided_as_components(order, pairs):
    group = {place: place for place in order}
    for a, b in pairs:
        old, new = group[a], group[b]
        group = {place: new if name == old else name for place, name in group.items()}
    best = {}
    for place in order:
        best.setdefault(group[place], place)
    return {place: None if best[group[place]] == place else best[group[place]] for place in order}


def with_short(scheme, short, threshold):
    """The scheme with another threshold for documents with fewer features."""
    if isinstance(scheme, Combined):
        return replace(scheme, first=with_short(scheme.first, short, threshold))
    return replace(scheme, short=short, short_threshold=threshold)


def assert_evidence(result, table, scheme):
    """Recompute the evidence of every dropped document, and the summary, of a run that verified texts exactly."""
    texts = table["text"].to_pylist()
    features = scheme.shingling.features(table["text"])
    lists = [features.values[begin:end].tolist() for begin, end in pairwise(features.offsets.tolist())]
    equal = all_features(scheme, table["text"])
    rows = result.decisions.to_pylist()
    assert [row["kept"] for row in rows] == [chosen < 0 for chosen in result.representatives]
    assert result.kept.tolist() == [place for place, row in enumerate(rows) if row["kept"]]
    for place, (row, chosen) in enumerate(zip(rows, result.representatives.tolist(), strict=True)):
        measured = [row["resemblance"], row["contained_in_kept"], row["contains_kept"]]
        if chosen < 0:
            assert (row["representative"], row["rule"], *measured, row["exact"]) == (None,) * 5 + (False,)
            continue
        assert rows[chosen]["kept"]
        assert row["representative"] == rows[chosen]["id"]
        assert row["exact"] == (texts[place] == texts[chosen])
        if row["exact"]:
            assert (row["rule"], *measured) == ("same text", 1.0, 1.0, 1.0)
            continue
        mine, kept = {*lists[place]}, {*lists[chosen]}
        assert measured == [len(mine & kept) / len(whole) for whole in (mine | kept, mine, kept)]
        below = share(scheme, lists[place], lists[chosen]) < least_by_length(scheme, lists[place], lists[chosen])
        named = (
            "same features" if equal[place] and equal[place] == equal[chosen] else "component" if below else scheme.rule
        )
        assert row["rule"] in {named, "component"} if scheme.passes is not None else row["rule"] == named
    summary, exact = result.summary, sum(row["exact"] for row in rows)
    assert (summary.documents, summary.kept) == (len(texts), len(result.kept))
    assert (summary.exact, summary.near) == (exact, len(texts) - len(result.kept) - exact)
    blank = [not (text or "").strip() for text in texts]
    unsigned = (~scheme.sign(table["text"]).present).tolist()
    assert (summary.empty, summary.empty + summary.too_short) == (sum(blank), sum(unsigned))


def differing(seeds, *, sites=False, short=False):
    """The random collections whose decisions are not those of the definition, and how many documents were dropped.

    With *short*, short documents need more, and only exact verification is asked.
    """
    wrong, dropped = [], 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        table = with_sites(collection(random), random) if sites else collection(random)
        scheme = SCHEMES[int(random.integers(len(SCHEMES)))]
        keep, gather = str(random.choice(KEEPS)), str(random.choice(["kept", "kept", "components"]))
        verify = str(random.choice(["exact", "exact", "estimate", "none"]))
        if short and not scheme.columns:
            stricter = scheme.threshold + (1 - scheme.threshold) * float(random.choice([0, 0.2, 0.5, 1]))
            verify, scheme = "exact", with_short(scheme, int(random.integers(1, 30)), stricter)
        room = int(random.choice([1, 2, 3, 64]))
        gather = "kept" if scheme.rule == "cosine" else gather
        representative = str(random.choice(["best-ranked", "closest"])) if gather == "kept" else "best-ranked"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(buckets, "ROOM", room)
            patch.setattr(buckets, "BLOCK", int(random.choice([1, 2, 4, buckets.BLOCK])))
            patch.setattr(buckets, "PAIRS", int(random.choice([1, buckets.PAIRS])))
            result = dedup(
                table, scheme=scheme, keep=keep, verify=verify, gather=gather, representative=representative, threads=1
            )
        if verify == "exact" and not sites and not scheme.columns:
            assert_evidence(result, table, scheme)
        expected = answer(table, scheme, keep, verify, gather=gather, room=room, representative=representative)
        dropped += sum(chosen >= 0 for chosen in expected)
        if result.representatives.tolist() != expected:
            wrong.append((seed, scheme.name, keep, verify, gather, room, result.representatives.tolist(), expected))
    return wrong, dropped


def test_random_collections_are_decided_as_defined():
    wrong, dropped = differing(range(80))
    assert wrong == []
    assert dropped > 80  # they have what they are made for


def test_random_pages_are_decided_as_defined():
    wrong, dropped = differing(range(5_000, 5_080), sites=True)
    assert wrong == []
    assert dropped > 40


@pytest.mark.parametrize("sites", [False, True])
def test_random_short_documents_are_decided_as_defined(sites):
    wrong, dropped = differing(range(7_000, 7_060), sites=sites, short=True)
    assert wrong == []
    assert dropped > 40


@pytest.mark.soak
@pytest.mark.parametrize("part", range(5))
def test_many_random_collections_are_decided_as_defined(part):
    wrong, dropped = differing(range(1_000_000 + 5_000 * part, 1_005_000 + 5_000 * part))
    wrong += differing(range(5_000_000 + 2_000 * part, 5_002_000 + 2_000 * part), sites=True)[0]
    wrong += differing(range(7_000_000 + 2_000 * part, 7_002_000 + 2_000 * part), short=True)[0]
    assert wrong == []
    assert dropped > 5_000
