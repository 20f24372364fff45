"""Short documents, which need a higher threshold: the same decisions in every way, and the rules of the parameter."""

import random

import numpy as np
import pyarrow as pa
import pytest
from json_lines import write_lines
from test_definition import answer, with_short

import neardup
from neardup import Combined, FracMinHash, Index, MinHash, NearDuplicates, Sentences, SimHash, Trials
from neardup.interfaces.wording.runs import threshold_words
from neardup.model.errors import ParameterConflict, ParameterError
from neardup.model.verdicts import NearDuplicate, New
from neardup.pipeline.spilled import files

SHORT = MinHash(short=50, short_threshold=0.85)
SCHEMES = [
    SHORT,
    MinHash(shingle=1, threshold=0.4, short=40, short_threshold=0.8, bag=True),
    Trials(words=1, hashes=2, trials=8, needed=1, threshold=0.4, short=50, short_threshold=0.8),
    FracMinHash(scaled=1, threshold=0.5, short=50, short_threshold=0.85),
    FracMinHash(scaled=1, threshold=0.5, measure="overlap", short=50, short_threshold=0.85),
    Sentences(threshold=0.3, short=6, short_threshold=0.6),
    SimHash(distance=24, rule="cosine", threshold=0.5, short=50, short_threshold=0.9),
    SimHash(distance=24, threshold=0.5, short=50, short_threshold=0.8),
    Combined(MinHash(threshold=0.5, short=50, short_threshold=0.85), SimHash(distance=24)),
]
NAMES = [f"{scheme.name} by {scheme.rule}" for scheme in SCHEMES]


def sentence(chance):
    return " ".join(f"w{chance.randrange(3000)}" for _ in range(chance.choice([3, 8, 12]))).capitalize() + "."


def collection(seed, number=70):
    """Texts of a few or of many sentences, most of them copies of others with a few other words or sentences."""
    chance, texts = random.Random(seed), []
    for _ in range(number):
        text = [sentence(chance) for _ in range(chance.choice([1, 2, 4, 6, 10]))]
        if texts and chance.random() < 0.75:
            text = list(chance.choice(texts))
            for _ in range(chance.randrange(3)):
                place = chance.randrange(len(text))
                text[place] = chance.choice([text[place][:-1] + " more.", f"{sentence(chance)} {text[place]}"])
        texts.append(text)
    return [" ".join(text) for text in texts]


def defined(texts, scheme):
    table = pa.table({"text": texts, "score": [0] * len(texts), "title": [""] * len(texts)})
    return answer(table, scheme, "first", "exact")


def saved(path, texts, first=0):
    return write_lines(path, [{"id": f"{first + at}", "text": text} for at, text in enumerate(texts)])


@pytest.mark.parametrize("scheme", SCHEMES, ids=NAMES)
def test_every_way_has_the_decisions_of_the_definition(tmp_path, monkeypatch, scheme):
    monkeypatch.setattr(files, "_share", lambda *_: 8000)
    texts = collection(7)
    expected = defined(texts, scheme)
    assert expected != defined(texts, with_short(scheme, None, None))  # short documents make a difference
    found = neardup.dedup(texts, scheme=scheme)
    assert found.representatives.tolist() == expected
    path = saved(tmp_path / "all.jsonl", texts)
    whole = neardup.dedup_files([path], scheme=scheme).result
    in_pieces = neardup.dedup_files([path], scheme=scheme, work=tmp_path / "work").result
    assert repr(in_pieces.decisions.to_pylist()) == repr(whole.decisions.to_pylist())
    assert whole.representatives.tolist() == expected
    parts = []
    for begin in range(0, 70, 20):
        part = saved(tmp_path / f"{begin}.jsonl", texts[begin : begin + 20], begin)
        parts += neardup.dedup_files([part], scheme=scheme, state=tmp_path / "state").result.decisions.to_pylist()
    names = [None if one < 0 else str(one) for one in expected]
    assert [row["representative"] for row in parts] == names
    with Index.create(scheme=scheme, texts=True) as index:
        ids = [str(place) for place in range(70)]
        for begin in range(0, 70, 15):
            index.admit(ids[begin : begin + 15], texts[begin : begin + 15])
        kept = [document.representative for document in index.get(ids)]
        assert [None if own == one else own for own, one in zip(kept, ids, strict=True)] == names
        by_index = neardup.collapse(ids, NearDuplicates(), index=index)
        assert by_index.kept == [one for one, name in zip(ids, names, strict=True) if name is None]
    hits = [{"id": one, "text": text} for one, text in zip(ids, texts, strict=True)]
    collapsed = neardup.collapse(hits, NearDuplicates(scheme=scheme))
    assert collapsed.kept == by_index.kept
    thresholds = {row["id"]: row["threshold"] for row in whole.decisions.to_pylist() if row["threshold"] is not None}
    assert {*thresholds.values()} == {scheme.threshold, scheme.short_threshold}
    for group in collapsed.page:
        for hit in group.hidden:
            assert hit.verified
            assert thresholds.get(hit.id, hit.threshold) == hit.threshold


@pytest.mark.parametrize("scheme", SCHEMES, ids=NAMES)
def test_two_texts_are_decided_by_their_threshold(scheme):
    texts = collection(7, 30)
    words = [{*text.split()} for text in texts]
    found = {0.0: 0, scheme.threshold: 0, scheme.short_threshold: 0}
    for place, text in enumerate(texts):
        related = [one for one in range(place) if 4 * len(words[one] & words[place]) > len(words[place])]
        for better in (texts[one] for one in {*related[:2], *related[-2:], place // 2} if one < place):
            told = neardup.explain(better, text, scheme)
            features = scheme.shingling.features([better, text])
            sizes = [len({*features.values[slice(*features.offsets[at : at + 2])].tolist()}) for at in range(2)]
            least = scheme.short_threshold if min(sizes) < scheme.short else scheme.threshold
            assert told.threshold == least
            assert told.matches == (neardup.dedup([better, text], scheme=scheme, threads=1).representatives[1] == 0)
            found[least if told.matches else 0.0] += 1
    assert all(found.values())


def test_the_size_is_that_of_the_smaller_document_and_does_not_count_itself():
    long = [f"w{number}" for number in range(60)]
    texts = [" ".join(long), " ".join([*long[:28], "x", "y"])]  # 28 of 30 and of 62 words
    for short, dropped in ((30, True), (31, False)):
        scheme = FracMinHash(shingle=1, scaled=1, short=short, short_threshold=0.95)
        assert (neardup.dedup(texts, scheme=scheme).representatives[1] == 0) == dropped
    repeated = [" ".join(["a", *long[:20]] * 2), " ".join([*["a", *long[:20]] * 2, "b"])]  # 21 and 22 different words
    for short, dropped in ((21, True), (22, False)):
        scheme = MinHash(shingle=1, short=short, short_threshold=0.99)
        assert (neardup.dedup(repeated, scheme=scheme).representatives[1] == 0) == dropped


def test_equal_features_need_nothing():
    found = neardup.dedup(["one two", "One, two!"], scheme=MinHash(short=100, short_threshold=1.0))
    assert found.representatives.tolist() == [-1, 0]
    assert found.decisions["threshold"].to_pylist() == [None, None]


@pytest.mark.parametrize("gather", ["kept", "components"])
def test_the_report_has_the_threshold_of_each_pair(gather):
    texts = collection(9)
    found = neardup.dedup(texts, scheme=SHORT, gather=gather)
    rows = [row for row in found.decisions.to_pylist() if not row["kept"]]
    met = {row["threshold"] for row in rows if row["rule"] == "resemblance"}
    assert met == {0.6, 0.85}
    assert all(row["resemblance"] >= row["threshold"] for row in rows if row["rule"] == "resemblance")
    assert "threshold" not in neardup.dedup(texts).decisions.column_names
    assert (found.summary.short, found.summary.short_threshold) == (50, 0.85)


def below(texts, scheme):
    """The number of kept documents with a better-ranked kept document that is at most 0.1 too far away."""
    kept = np.flatnonzero(neardup.dedup(texts, scheme=scheme).mask).tolist()
    said = [[neardup.explain(texts[better], texts[one], scheme) for better in kept if better < one] for one in kept]
    return sum(any(one.value is not None and one.value >= one.threshold - 0.1 for one in own) for own in said)


def test_an_audit_judges_pairs_by_their_threshold():
    texts = collection(10)
    perfect = neardup.audit(neardup.dedup(texts, scheme=SHORT))
    assert perfect.precision.value == 1.0
    assert perfect.recall.value == 1.0
    assert perfect == neardup.audit(neardup.dedup(texts, scheme=SHORT), scheme=SHORT)
    assert perfect.below.found == below(texts, SHORT)
    assert perfect.below.found > 0
    loose = neardup.dedup(texts)
    assert neardup.audit(loose).recall.of > perfect.recall.of
    cosine = SimHash(distance=63, rule="cosine", short=30, short_threshold=0.95)
    assert neardup.audit(neardup.dedup(texts, scheme=cosine), scheme=cosine).precision.value == 1.0


def test_documents_that_are_judged_by_their_signatures_need_the_threshold():
    text = " ".join(f"w{number}" for number in range(20))
    with Index.create(scheme=MinHash(shingle=1, short=50, short_threshold=0.99), texts=True) as index:
        index.admit(["a"], [text])
        changed = f"{text} x"
        assert index.judge([changed]) == [New()]
        assert isinstance(index.judge(index.scheme.sign([changed]))[0], NearDuplicate)


def test_lengths_that_are_unknown_are_refused():
    for verify in ("estimate", "none"):
        with pytest.raises(ParameterConflict, match=f"cannot be used with verify='{verify}': the length"):
            neardup.dedup(["a"], scheme=SHORT, verify=verify)
    with pytest.raises(ParameterError, match="needs an index that stores texts"):
        Index.create(scheme=SHORT)
    hits = [{"id": "a", "text": "one two three"}]
    with pytest.raises(ParameterError, match="short=50 needs the texts of hits: the length of a document is not in"):
        neardup.collapse(hits, NearDuplicates(scheme=SHORT), verify="estimate")
    with pytest.raises(ParameterError, match="short=50 needs the texts of hits"):
        neardup.collapse(["a"], NearDuplicates(scheme=SHORT), signatures=SHORT.sign(["one two three"]))


def test_it_is_policy(tmp_path):
    assert SHORT.recipe == MinHash().recipe
    with Index.create(tmp_path / "index", scheme=MinHash(), texts=True) as index:
        index.admit(["a"], ["one two three four five six seven eight nine ten"])
    changed = "one two three four five six seven eight nine ten eleven twelve"
    for scheme, kind in ((None, NearDuplicate), (SHORT, New)):
        with Index.open(tmp_path / "index", scheme=scheme) as index:
            assert isinstance(index.judge([changed])[0], kind)
    with Index.create(tmp_path / "strict", scheme=SHORT, texts=True) as index:
        pass
    with Index.open(tmp_path / "strict") as index:
        assert index.scheme == SHORT
    with Index.create(tmp_path / "plain", scheme=MinHash()) as index:
        pass
    with pytest.raises(ParameterError, match="needs an index that stores texts"):
        Index.open(tmp_path / "plain", scheme=SHORT)


def test_a_higher_threshold_raises_that_of_short_documents():
    assert SHORT.with_threshold(0.95).short_threshold == 0.95
    assert SHORT.with_threshold(0.7).short_threshold == 0.85
    both = Combined(SHORT, SimHash()).with_threshold(0.92)
    assert (both.threshold, both.short, both.short_threshold) == (0.92, 50, 0.92)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"short": 50}, "short_threshold"),
        ({"short_threshold": 0.9}, "short"),
        ({"short": 0, "short_threshold": 0.9}, "short"),
        ({"short": 2.5, "short_threshold": 0.9}, "short"),
        ({"short": 50, "short_threshold": 0.59}, "short_threshold"),
        ({"short": 50, "short_threshold": 1.1}, "short_threshold"),
        ({"short": 50, "short_threshold": "high"}, "short_threshold"),
    ],
)
def test_values_that_break_the_rule(values, name):
    with pytest.raises(ParameterError) as caught:
        MinHash(**values)
    assert caught.value.name == name


def test_the_rule_is_described():
    assert MinHash(short=50, short_threshold=0.85).exact_rule.endswith(
        " 0.6, or 0.85 if one of the two has fewer than 50 shingles"
    )
    assert "or 0.8 if one of the two has fewer than 5 sentences" in Sentences(short=5, short_threshold=0.8).exact_rule
    assert "fewer" not in MinHash(short=50, short_threshold=0.6).exact_rule
    for sentences in (Sentences(short=5, short_threshold=0.8), MinHash(short=5, short_threshold=0.6)):
        found = threshold_words(neardup.dedup(["a b c", "d e f"], scheme=sentences).summary)
        assert ("fewer than 5 sentences" if sentences.name == "sentences" else "0.6") in found
        assert ("fewer" in found) == (sentences.name == "sentences")


def test_numbers_of_numpy_are_fine():
    assert MinHash(short=np.int64(50), short_threshold=np.float64(0.85)) == SHORT
