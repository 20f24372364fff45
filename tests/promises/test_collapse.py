"""The promises of a collapse, whatever finds near duplicates: against the definition, hit by hit and pair by pair."""

import random
import threading
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import collapsed as by_definition

from neardup import (
    Analysis,
    Checksum,
    Combined,
    Field,
    FracMinHash,
    Index,
    MinHash,
    NearDuplicates,
    SameValue,
    Sentences,
    SimHash,
    Trials,
    collapse,
    dedup,
)
from neardup.collapsing import JudgedSets
from neardup.kernels.collapse import HEADS
from neardup.model.hits import group_id
from neardup.urls import host

SCHEMES = {
    "minhash": MinHash(permutations=64, shingle=2, threshold=0.5),
    "minhash, letters": MinHash(analysis=Analysis(unit="letter"), permutations=136, threshold=0.8),
    "minhash, keyed": MinHash(permutations=128, shingle=2, key=bytes(16)),
    "trials": Trials(hashes=4),
    "trials, three of nine": Trials(hashes=3, trials=9, needed=3),
    "sentences": Sentences(size=5, min_length=2),
    "sentences, of the smaller": Sentences(relative_to="smaller", threshold=0.6, min_length=2),
    "fracminhash": FracMinHash(shingle=2, threshold=0.6),
    "simhash": SimHash(distance=12),
    "simhash, wide": SimHash(bits=256, distance=60),
    "combined": Combined(Trials(hashes=4), SimHash(distance=12)),
    "checksum": Checksum(fields=(Field(name="text"),)),
}
POOL = 40
SITES = [None, "https://a.example/x", "https://a.example/y", "http://b.example/", "no address"]
FIELDS = {"url": str, "kind": int}


def make_text(rng, words=30):
    chosen = [f"word{rng.randrange(400)}" for _ in range(words)]
    return ". ".join(" ".join(chosen[begin : begin + 3]) for begin in range(0, len(chosen), 3))


@dataclass(frozen=True)
class Pool:
    """Documents, of which any may be hits; and of each pair whether it matches."""

    scheme: Any
    texts: list[str]
    urls: list[str | None]
    kinds: list[int | None]
    signatures: Any
    matches: dict[str, list[list[bool]]]  # by what decides: "estimate" or "exact"
    values: dict[str, list[list[float]]]
    contents: dict[str, list[object]]  # of which equal ones are equal documents

    def records(self, chosen):
        return [{"id": f"d{d}", "text": self.texts[d], "url": self.urls[d], "kind": self.kinds[d]} for d in chosen]

    def column(self, name):
        return {"url": [host(url) for url in self.urls], "kind": self.kinds}[name]

    def admit_to(self, index, chosen):
        fields = {"url": [self.urls[d] for d in chosen], "kind": [self.kinds[d] for d in chosen]}
        texts = [self.texts[d] for d in chosen]
        index.admit([f"d{d}" for d in chosen], texts, fields | dict.fromkeys(self.scheme.columns, texts))


@lru_cache
def pool(name):
    scheme, rng = SCHEMES[name], random.Random(name)
    texts = [make_text(rng)]
    while len(texts) < POOL - 4:
        words = rng.choice(texts).split(" ")
        for _ in range(rng.choice([0, 1, 1, 2, 3, 5, 9])):
            words[rng.randrange(len(words))] = f"other{rng.randrange(99)}."
        texts.append(" ".join(words) if rng.random() < 0.85 else make_text(rng))
    texts += ["", "", "!", "word"]
    urls, kinds = rng.choices(SITES, k=POOL), rng.choices([None, 0, 1, 2, 3], k=POOL)
    signatures = scheme.sign(pa.table(dict.fromkeys(scheme.columns, texts)) if scheme.columns else texts)
    left, right = (found.ravel() for found in np.indices((POOL, POOL)))
    matches = scheme.matches(signatures[right], signatures[left]).reshape(POOL, POOL).tolist()
    estimates = scheme.estimate(signatures[right], signatures[left]).reshape(POOL, POOL).tolist()
    values = {"estimate": estimates, "exact": exact_values(scheme, texts)}
    decided = {"estimate": matches, "exact": exact_matches(scheme, texts)}
    contents = {"estimate": [row.tobytes() for row in signatures.rows], "exact": features_of(scheme, texts)}
    return Pool(scheme, texts, urls, kinds, signatures, decided, values, contents)


def features_of(scheme, texts):
    """The features of each text, of both schemes of a combined one; of a checksum the text."""
    if scheme.columns:
        return texts
    found = []
    for shingling in filter(None, (scheme.shingling, scheme.second_shingling)):
        features = shingling.features(texts)
        found.append([(*features.values[begin:end].tolist(),) for begin, end in pairwise(features.offsets.tolist())])
    return [*zip(*found, strict=True)]


def exact_values(scheme, texts):
    """What a better text and a worse one have in common, of sets of numbers; of a checksum, whether they are equal."""
    if scheme.columns:
        return [[float(one == other) for other in texts] for one in texts]
    features = scheme.shingling.features(texts)
    ends = features.offsets.tolist()
    sets = [{*features.values[begin:end].tolist()} for begin, end in pairwise(ends)]

    def share(one, other):
        whole = {"overlap": min(one, other, key=len), "containment": other}.get(scheme.rule, one | other)
        return len(one & other) / len(whole) if whole else 0.0

    return [[share(one, other) for other in sets] for one in sets]


def exact_matches(scheme, texts):
    """Which pairs match by the rule of ``dedup``: the estimate and filters only rule out what is far off."""
    signatures = scheme.sign(pa.table(dict.fromkeys(scheme.columns, texts)) if scheme.columns else texts)
    keys, values = scheme.keys(signatures).tolist(), exact_values(scheme, texts)

    def match(one, other):
        pair = np.array([one]), np.array([other])
        if not signatures.present[[one, other]].all() or values[one][other] < scheme.threshold:
            return False
        if scheme.estimate_pairs(signatures, *pair)[0] < scheme.floor:
            return False
        if scheme.likely is not None and not scheme.likely(signatures, *pair[::-1])[0]:
            return False
        if isinstance(scheme, SimHash | Combined) and not scheme.passes(signatures, *pair)[0]:
            return False
        if scheme.position_independent:
            return bool({*keys[one]} & {*keys[other]})
        return any(a == b for a, b in zip(keys[one], keys[other], strict=True))

    return [[match(one, other) for other in range(len(texts))] for one in range(len(texts))]


@st.composite
def asked(draw):
    """Which documents are hits, the rules in turn (the near ones, or a field), and how many each keeps."""
    chosen = draw(st.lists(st.integers(0, POOL - 1), unique=True, max_size=25))
    rules = draw(st.lists(st.sampled_from(["near", "url", "kind"]), unique=True, min_size=1))
    keeps = draw(st.lists(st.integers(1, 3), min_size=len(rules), max_size=len(rules)))
    return chosen, rules, keeps


def rules_of(documents, rules, keeps):
    made = {
        "near": lambda keep: NearDuplicates(scheme=documents.scheme, keep=keep),
        "url": lambda keep: SameValue("url", of=host, keep=keep),
        "kind": lambda keep: SameValue("kind", keep=keep),
    }
    return [made[rule](keep) for rule, keep in zip(rules, keeps, strict=True)]


def definition(documents, chosen, rules, keeps, *, verify, representative):
    def matches(rule, better, hit):
        one, other = chosen[better], chosen[hit]
        if rules[rule] == "near":
            return documents.matches[verify][one][other]
        values = documents.column(rules[rule])
        return values[one] is not None and values[one] == values[other]

    def closeness(rule, better, hit):
        return documents.values[verify][chosen[better]][chosen[hit]] if rules[rule] == "near" else 1

    contents = [documents.contents[verify][document] for document in chosen]
    closest = (closeness, [*map(contents.index, contents)]) if representative == "closest" else ()
    return by_definition(len(chosen), keeps, matches, *closest)


def told(groups):
    """What a page says, but for what the hits were given as."""
    return [
        (
            group.id,
            [(hit.id, hit.rank) for hit in group.kept],
            [
                (hit.id, hit.rank, hit.of, hit.rule, hit.measure, hit.value, hit.threshold, hit.verified)
                for hit in group.hidden
            ],
            group.hides,
        )
        for group in groups
    ]


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("verify", ["estimate", "exact"])
@settings(max_examples=10)
@given(
    case=asked(),
    top=st.none() | st.integers(1, 25),
    size=st.integers(1, 6),
    representative=st.sampled_from(["best-ranked", "closest"]),
)
def test_equals_its_definition(name, verify, case, top, size, representative):  # noqa: PLR0915, PLR0917 - in one case
    documents, (chosen, rules, keeps) = pool(name), case
    hits, by = documents.records(chosen), rules_of(documents, rules, keeps)
    number = len(chosen) if top is None else min(top, len(chosen))
    of, broken, heads = definition(
        documents, chosen[:number], rules, keeps, verify=verify, representative=representative
    )
    ways = {"verify": verify, "top": top, "representative": representative}
    if verify == "estimate":
        ways["signatures"] = documents.signatures[np.array(chosen, np.int64)]

    whole = collapse(hits, by, **ways)
    outcome = whole.outcome
    assert (outcome.of.tolist(), outcome.by.tolist(), outcome.table[HEADS].tolist()) == (of, broken, heads)

    # The totals.
    hidden = [rank for rank in range(number) if of[rank] >= 0]
    assert (whole.hits, whole.examined, whole.hidden) == (len(chosen), number, len(hidden))
    assert whole.groups == len(whole.page) == len(set(heads))
    assert whole.kept == [f"d{chosen[rank]}" for rank in range(number) if of[rank] < 0]
    assert whole.pages == (1 if number else 0)

    # Every hit is in one place, and a hidden hit names a better hit that stays and that it matches itself.
    assert sorted(hit.rank for group in whole.page for hit in (*group.kept, *group.hidden)) == list(range(number))
    assert [group.kept[0].rank for group in whole.page] == sorted(set(heads))
    for group in whole.page:
        assert group.id == group_id(group.kept[0].id)
        assert group.hides == len(group.hidden)
        kept = {hit.id: hit.rank for hit in group.kept}
        assert all(hit.given is hits[hit.rank] for hit in (*group.kept, *group.hidden))
        for hit in group.hidden:
            better, rule = chosen[kept[hit.of]], rules[broken[hit.rank]]
            assert kept[hit.of] < hit.rank
            if rule == "near":
                scheme = documents.scheme
                assert documents.matches[verify][better][chosen[hit.rank]]
                assert hit.value == documents.values[verify][better][chosen[hit.rank]]
                measure = "equality" if scheme.columns else {"exact": scheme.rule, "estimate": scheme.measure}[verify]
                assert (hit.rule, hit.measure, hit.verified) == (scheme.name, measure, verify == "exact")
                least = scheme.threshold if verify == "exact" else scheme.least_estimate
                assert hit.threshold == least <= hit.value + 1e-12
            else:
                values = documents.column(rule)
                assert hit.value == values[better] == values[chosen[hit.rank]]
                assert (hit.measure, hit.threshold, hit.verified) == ("equality", None, True)

    # The pages, one after the other, are the whole; and so are those of one group.
    pages = [collapse(hits, by, **ways, size=size, page=page) for page in range(1, 27 // size + 2)]
    assert [group for page in pages for group in page.page] == list(whole.page)
    assert {page.pages for page in pages} == {-(-whole.groups // size)}
    assert {(page.hits, page.groups, page.hidden) for page in pages} == {(whole.hits, whole.groups, whole.hidden)}
    for group in whole.page[:2]:
        parts = [
            collapse(hits, by, **ways, size=size, page=page, include=group.id) for page in range(1, 27 // size + 2)
        ]
        listed = [one for part in parts for one in part.page]
        assert [hit for one in listed for hit in one.kept] == list(group.kept)
        assert [hit for one in listed for hit in one.hidden] == list(group.hidden)
        assert {(one.id, one.hides) for one in listed} == {(group.id, group.hides)}
        ranks = [[hit.rank for hit in (*one.kept, *one.hidden)] for one in listed]
        assert all(max(one) < min(other) for one, other in pairwise(ranks))
        assert {part.pages for part in parts} == {-(-(len(group.kept) + len(group.hidden)) // size)}

    # Another representative hides the same hits, by the same rules.
    best = collapse(hits, by, **ways | {"representative": "best-ranked"}).outcome
    assert (best.kept, best.by.tolist(), best.groups) == (outcome.kept, broken, outcome.groups)

    # Turned off, all stay.
    off = collapse(hits, by, **ways, enabled=False)
    assert off.kept == [f"d{document}" for document in chosen[:number]]
    assert (off.groups, off.hidden) == (number, 0)


@pytest.mark.parametrize("name", SCHEMES)
def test_two_texts_collapse_where_dedup_drops_one(name):
    documents, rng = pool(name), random.Random(1)
    scheme, rule = documents.scheme, NearDuplicates(scheme=documents.scheme)
    for _ in range(60):
        pair = rng.sample(range(POOL), k=2)
        texts = [documents.texts[d] for d in pair]
        if not all(documents.signatures.present[pair]):
            continue  # an exact copy of a text without a signature is dropped, too
        kept = dedup(pa.table({"text": texts}), scheme=scheme, threads=1).kept.tolist()
        assert collapse([{"id": d, "text": text} for d, text in enumerate(texts)], rule).kept == kept


@pytest.fixture(scope="module", params=SCHEMES)
def admitted(request, tmp_path_factory):
    """Documents, an index that keeps their texts, and one that does not."""
    documents = pool(request.param)
    key = getattr(documents.scheme, "key", None)
    folder = tmp_path_factory.mktemp("admitted")
    ways = {"fields": FIELDS, "key": key}
    with (
        Index.create(folder / "texts", documents.scheme, texts=True, **ways) as texts,
        Index.create(folder / "signed", documents.scheme, **ways) as signed,
    ):
        for index in (texts, signed):
            documents.admit_to(index, range(0, POOL, 2))
            index.flush()
            documents.admit_to(index, range(1, POOL, 2))
        yield documents, texts, signed


@settings(max_examples=6)
@given(case=asked(), top=st.none() | st.integers(1, 25), representative=st.sampled_from(["best-ranked", "closest"]))
def test_it_does_not_matter_who_knows_the_hits(admitted, case, top, representative):
    (documents, texts, index), (chosen, rules, keeps) = admitted, case
    both = {"top": top, "representative": representative}
    by, records, ids = rules_of(documents, rules, keeps), documents.records(chosen), [f"d{d}" for d in chosen]
    signed = documents.signatures[np.array(chosen, np.int64)]
    without = [{name: value for name, value in hit.items() if name != "text"} for hit in records]
    estimated = told(collapse(records, by, signatures=signed, **both, verify="estimate").page)
    for hits, ways in (
        (records, {"verify": "estimate"}),
        (without, {"signatures": signed}),
        (without, {"index": index}),
        (records, {"index": texts, "verify": "estimate"}),
        (ids, {"index": index}),
        (ids, {"index": texts, "verify": "estimate"}),
    ):
        assert told(collapse(hits, by, **both, **ways).page) == estimated
    exact = told(collapse(records, by, **both).page)
    for hits, ways in (
        (records, {"verify": "exact"}),
        (records, {"signatures": signed}),
        (records, {"index": index}),
        (records, {"index": texts}),
        (ids, {"index": texts}),
    ):
        if not (documents.scheme.columns and len(ways) and "verify" not in ways):  # whose fields no index keeps
            assert told(collapse(hits, by, **both, **ways).page) == exact
    for kept, expected in ((index, estimated), (texts, estimated if documents.scheme.columns else exact)):
        cache = JudgedSets()
        for _ in range(2):
            found = collapse(ids, by, index=kept, **both, cache=cache)
            assert told(found.page) == expected
            assert found.unsigned == collapse(ids, by, index=kept, **both).unsigned
        assert (cache.hits, cache.misses) == (1, 1)
    if rules == ["near"]:
        assert told(collapse(ids, by, signatures=signed, **both).page) == estimated


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param(name, seed, marks=[] if place == seed else pytest.mark.soak)
        for place, name in enumerate(["minhash", "simhash", "checksum"])
        for seed in range(3)
    ],
)
def test_a_cache_never_gives_an_old_answer(name, seed, tmp_path):
    """A writer and readers who share one cache, while documents come, change and go."""
    documents, rng, cache = pool(name), random.Random(seed), JudgedSets(400)
    by = [NearDuplicates(), SameValue("kind", keep=2)]
    names = [f"d{number}" for number in range(12)]
    writer = Index.create(tmp_path / "index", documents.scheme, fields=FIELDS, durability="bulk", texts=seed > 0)
    with writer, Index.open(tmp_path / "index") as one, Index.open(tmp_path / "index") as other:
        for _ in range(40):
            does = rng.choice(["admit", "admit", "admit", "remove", "flush", "compact", "refresh", "nothing"])
            if does == "admit":
                chosen = rng.choices(range(POOL), k=2)
                texts = [documents.texts[d] for d in chosen]
                fields = {"url": [None] * 2, "kind": rng.choices([0, 1, 2], k=2)}
                writer.admit(rng.sample(names, 2), texts, fields | dict.fromkeys(documents.scheme.columns, texts))
            elif does == "remove":
                writer.remove(rng.sample(names, 2))
            elif does == "refresh":
                rng.choice([one, other]).refresh()
            elif does != "nothing":
                getattr(writer, does)()
            for index in (writer, one, other):
                for hits in (names, names[::-1]):
                    fresh = collapse(hits, by, index=index)
                    assert told(collapse(hits, by, index=index, cache=cache).page) == told(fresh.page)
        assert cache.held <= 400
        assert cache.hits > 0
        assert cache.misses > 0


def test_what_was_acknowledged_is_seen_while_others_ask(tmp_path):
    cache, ended, wrong = JudgedSets(), threading.Event(), []
    by = SameValue("kind")
    with Index.create(tmp_path / "index", SimHash(), fields=FIELDS, durability="bulk") as index:
        index.admit(["one", "two"], ["first text", "second text"], {"kind": [1, 1]})

        def ask():
            while not ended.is_set():
                found = collapse(["one", "two"], by, index=index, cache=cache)
                if found.kept not in (["one"], ["one", "two"]):
                    wrong.append(found.kept)

        others = [threading.Thread(target=ask) for _ in range(2)]
        for other in others:
            other.start()
        try:
            for turn in range(60):
                index.admit(["two"], [f"text {turn}"], {"kind": [turn % 2]})
                kept = ["one"] if turn % 2 else ["one", "two"]
                assert collapse(["one", "two"], by, index=index, cache=cache).kept == kept
        finally:
            ended.set()
            for other in others:
                other.join()
    assert wrong == []
