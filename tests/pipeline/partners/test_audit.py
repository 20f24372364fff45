"""Audits against the brute force of their definition, and against what is planted."""

import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from audits import LEAKY, TEXTS, collection

from neardup import Checksum, Combined, FracMinHash, MinHash, Sentences, SimHash, TermWeights, Trials, audit, dedup
from neardup.decisions.evidence import WeightedSets
from neardup.errors import DataError, ParameterError
from neardup.evaluation.measures import resemblance
from neardup.pipeline.corpus.documents import SITE
from neardup.pipeline.partners import audit as module
from neardup.text.analysis import Analysis
from neardup.text.columns import whole_batch
from neardup.text.sites import site


def by_definition(result, texts):
    """Return which documents are duplicates, by comparing each with all better-ranked kept ones."""
    kept = [place for place in range(len(texts)) if result.mask[place]]
    return [
        any(other < place and resemblance(texts[place], texts[other]) >= 0.6 for other in kept)
        for place in range(len(texts))
    ]


def test_an_audit_of_everything_is_the_definition():
    result = dedup(TEXTS, scheme=LEAKY)
    found = audit(result, scheme=LEAKY, sample=len(TEXTS))
    duplicates = np.array(by_definition(result, TEXTS))
    missed = np.flatnonzero(duplicates & result.mask)
    assert len(missed) > 3
    assert (found.recall.of, found.recall.found) == (duplicates.sum(), (duplicates & ~result.mask).sum())
    assert found.recall.low == found.recall.value == found.recall.high
    assert found.precision.value == 1.0
    assert {one.position for one in found.missed} <= {*missed.tolist()}
    assert len(found.missed) == min(len(missed), module.SHOWN)
    for one in found.missed:
        assert one.value == pytest.approx(resemblance(one.text, one.partner_text))
        assert (one.text, one.partner_text) == (TEXTS[one.position], TEXTS[one.partner_position])
        assert one.reason == "no shared key"
    assert [one.value for one in found.missed] == sorted((one.value for one in found.missed), reverse=True)
    assert abs(found.predicted - found.recall.value) < 0.1


def test_without_a_scheme_it_is_that_of_the_run():
    result = dedup(TEXTS, scheme=LEAKY, ignore_common=0.5)
    found = audit(result, sample=len(TEXTS))
    assert found.predicted == audit(result, scheme=LEAKY, sample=len(TEXTS)).predicted < 0.99
    assert found.scheme == LEAKY.name


def test_a_secret_key_is_not_in_a_result():
    scheme = MinHash(permutations=64, bands=4, key=bytes(range(16)))
    for one in (scheme, Combined(scheme, SimHash(key=scheme.key))):
        result = dedup(TEXTS[:20], scheme=one)
        assert bytes(range(16)) not in pickle.dumps(result)
        with pytest.raises(ParameterError, match="has a secret key, which is not recorded"):
            audit(result)
        assert audit(result, scheme=one).documents == 20


def test_a_scheme_with_other_parameters_than_those_of_the_run_is_refused():
    texts = TEXTS[:20]
    run = MinHash(threshold=0.5, short=9, short_threshold=0.7)
    others = [
        ({"recall": 0.5}, "recall was .* and is 0.5"),
        ({"threshold": 0.6}, "threshold was 0.5 and is 0.6"),
        (
            {"short": None, "short_threshold": None},
            "short was 9 and is not set; short_threshold was 0.7 and is not set",
        ),
        ({"seed": 2}, "seed was 1 and is 2"),
        ({"analysis": Analysis(unit="letter")}, "unit was .* and is letter"),
    ]
    result, keyed = (dedup(texts, scheme=one, ignore_common=0.9) for one in (run, replace(run, key=bytes(range(16)))))
    assert audit(result, scheme=run) == audit(result)
    changed = [(replace(run, **change), words) for change, words in others]
    for other, words in [(Trials(), "scheme was minhash and is trials"), *changed]:
        with pytest.raises(ParameterError, match=f"is not the scheme of the run: {words}; leave it out"):
            audit(result, scheme=other)
    for key, threshold, words in [(bytes(16), 0.5, "recipe was"), (bytes(range(16)), 0.6, "threshold was 0.5 and is")]:
        with pytest.raises(ParameterError, match=f"run: {words} .*; pass the scheme of the run, with its secret key"):
            audit(keyed, scheme=replace(run, key=key, threshold=threshold))


def test_the_law_of_a_run_by_signatures_is_that_of_their_estimates():
    texts = collection(2, 300)
    scheme = MinHash(permutations=64)
    result = dedup(texts, scheme=scheme, verify="estimate")
    found = audit(result, scheme=scheme, sample=len(texts))
    assert 0.9 < found.recall.value < 0.99
    assert abs(found.predicted - found.recall.value) < 0.04
    low, high, _, predicted = found.bands[0]
    curve = scheme.curves(np.linspace(low, high, 50))["both"]
    assert curve.min() < predicted < curve.max()


@pytest.mark.parametrize("verify", ["exact", "estimate"])
@pytest.mark.parametrize("second", [MinHash(threshold=0.9, permutations=64), SimHash()], ids=["same", "other measure"])
def test_no_law_predicts_what_a_filter_rejects(second, verify):
    texts = collection(2, 300)
    found = audit(dedup(texts, scheme=Combined(MinHash(), second), verify=verify), sample=len(texts))
    assert found.recall.value < 0.8
    assert found.predicted is None
    assert {band.predicted for band in found.bands} == {None}


def test_no_law_of_long_texts_predicts_estimates_of_short_ones():
    texts = [
        " ".join(f"Herons {n // 2}x{s + (n % 2) * (s % 3 == 0) * 50} leave." for s in range(12)) for n in range(60)
    ]
    found = audit(dedup(texts, scheme=Sentences(), verify="estimate"))
    assert (found.recall.value, found.predicted) == (1.0, None)
    assert audit(dedup(texts, scheme=Sentences())).predicted == pytest.approx(1.0)


@pytest.mark.parametrize("weights", ["tf", TermWeights.fitted(TEXTS)])
def test_an_audit_by_cosine_is_the_definition(weights):
    scheme = SimHash(rule="cosine", threshold=0.75, weights=weights, distance=4)
    result = dedup(TEXTS, scheme=scheme)
    found = audit(result, scheme=scheme, sample=len(TEXTS))
    features = scheme.shingling.batch_features(whole_batch(pa.chunked_array([TEXTS])))
    sets = WeightedSets(features, np.arange(len(TEXTS)), scheme.weight_table)
    kept = [place for place in range(len(TEXTS)) if result.mask[place]]
    pairs = np.array([(place, other) for place in range(len(TEXTS)) for other in kept if other < place])
    duplicates = {*pairs[sets.cosines(*pairs.T) >= 0.75, 0].tolist()}
    missed = duplicates & {*kept}
    assert len(missed) > 3
    assert (found.recall.of, found.recall.found) == (len(duplicates), len(duplicates) - len(missed))
    assert (found.measure, found.precision.value) == ("cosine", 1.0)
    assert {one.position for one in found.missed} <= missed
    assert all(audit(result, scheme=scheme, sample=90, threads=threads).recall.of for threads in (1, 2))


def test_a_sample_holds_the_truth_and_does_not_depend_on_threads():
    result = dedup(TEXTS, scheme=LEAKY)
    whole = audit(result, scheme=LEAKY, sample=len(TEXTS)).recall.value
    found = [audit(result, scheme=LEAKY, sample=100, seed=3, threads=threads) for threads in (1, 2)]
    assert found[0] == found[1]
    assert found[0].recall.low <= whole <= found[0].recall.high
    assert found[0].sample == 100
    assert audit(result, scheme=LEAKY, sample=100, seed=4).recall != found[0].recall


def test_more_is_drawn_until_the_interval_is_narrow(monkeypatch):
    result = dedup(TEXTS, scheme=LEAKY)
    found = audit(result, scheme=LEAKY, sample=30, until=0.06)
    assert found.recall.width <= 0.06
    assert 30 < found.sample <= len(TEXTS)
    assert found.needed is None
    assert audit(result, scheme=LEAKY, sample=30, until=1e-200).sample == len(TEXTS)  # as many as there are
    monkeypatch.setattr(module, "MOST", 60)
    found = audit(result, scheme=LEAKY, sample=30, until=0.001)
    assert found.sample == 60
    assert found.needed == len(TEXTS)


def test_pairs_that_must_have_been_compared_are_unexplained():
    result = dedup(TEXTS)
    place = int(np.flatnonzero(~result.mask)[-1])  # nothing after it was dropped for one of its cluster
    decisions = result.decisions.to_pylist()
    decisions[place] |= {"representative_position": None, "rule": None}
    other = replace(
        result,
        representatives=np.where(np.arange(len(TEXTS)) == place, -1, result.representatives),
        decisions=pa.Table.from_pylist(decisions, result.decisions.schema),
    )
    found = audit(other)
    assert [(one.position, one.reason) for one in found.missed] == [(place, "unexplained")]
    assert found.reasons["unexplained"].found == 1


def test_copies_of_better_documents_take_no_room_in_buckets():
    words, scheme = [f"w{n}" for n in range(60)], Trials(hashes=8, trials=1, needed=1)  # with one key
    near = (" ".join([*words[:place], "x", *words[place + 1 :]]) for place in range(60))
    same = next(text for text in near if (keys := scheme.keys(scheme.sign([" ".join(words), text])))[0] == keys[1])
    texts = [*[" ".join(words)] * 80, same, f"{same}!"]
    result = dedup(texts, scheme=scheme)
    assert result.kept.tolist() == [0]
    decisions = result.decisions.to_pylist()
    for one in decisions[80:]:
        one |= {"representative_position": None, "rule": None}
    other = replace(
        result,
        representatives=np.where(np.arange(82) >= 80, -1, result.representatives),
        decisions=pa.Table.from_pylist(decisions, result.decisions.schema),
    )
    found = audit(other, scheme=scheme).missed
    assert [(one.position, one.partner_position, one.reason) for one in found] == [
        (81, 80, "unexplained"),
        (80, 0, "unexplained"),
    ]


def test_dropped_documents_without_a_match_are_not_duplicates():
    licence = " ".join(f"licence{n}" for n in range(30))
    texts = [f"{licence} {' '.join(f'own{n}x{m}' for m in range(60))}" for n in range(200)]
    scheme = MinHash(bands=64)
    result = dedup(texts, scheme=scheme, verify="none")
    assert audit(result, scheme=scheme).precision.value < 0.1


def test_other_ranks_other_schemes_and_giant_clusters():
    table = pa.table({"text": TEXTS, "score": np.arange(len(TEXTS)) % 7})
    for keep in ("last", "longest", "max:score"):
        result = dedup(table, keep=keep, scheme=LEAKY)
        found = audit(result, scheme=LEAKY, sample=len(TEXTS))
        assert found.precision.value == 1.0
    copies = dedup([f"{TEXTS[0]} {'x' * (n % 3)}" for n in range(300)])
    assert audit(copies).recall.value == 1.0
    assert audit(dedup(["one two three", "four five six"])).recall.value is None
    assert audit(dedup([])).sample == 0
    sentences = Sentences()
    result = dedup([f"{text}. And {n}." for n, text in enumerate(TEXTS[:30])], scheme=sentences)
    assert audit(result, scheme=sentences).measure in {"overlap", "resemblance"}


def test_what_is_not_that_of_the_run_is_refused():
    result = dedup(TEXTS)
    with pytest.raises(ParameterError, match="is not the scheme of the run"):
        audit(result, scheme=MinHash(shingle=4))
    with pytest.raises(DataError, match="documents were passed, but the run had"):
        audit(result, TEXTS[1:])
    fields = dedup([{"title": "a", "description": "b", "text": "c"}], scheme=Checksum())
    with pytest.raises(ParameterError, match="compares fields"):
        audit(fields, scheme=Checksum())
    with pytest.raises(ParameterError, match="from files or a stream"):
        audit(replace(result, source=None))
    with pytest.raises(ParameterError, match="documents=None must be the documents of the run: its result does not"):
        audit(dedup(iter(TEXTS)))
    assert audit(dedup(iter(TEXTS)), iter(TEXTS)) == audit(result)
    for wrong in ({"sample": 0}, {"until": 0.0}, {"until": 1.0}, {"seed": -1}):
        with pytest.raises(ParameterError):
            audit(result, **wrong)


def with_giant_clusters(seed):
    """A collection where a third of the documents are rewritten copies of two others."""
    random = np.random.default_rng(seed)
    texts = collection(seed, 250)
    for first in texts[:2]:
        for _ in range(120):
            words = first.split()
            for place in random.integers(0, len(words), random.integers(0, 6)):
                words[place] = f"g{random.integers(10**9)}"
            texts.append(" ".join(words))
    random.shuffle(texts)
    return texts


@pytest.mark.soak
@pytest.mark.parametrize("made", [collection, with_giant_clusters])
def test_intervals_hold_the_truth(made):
    """The recall of whole collections, in 500 audits of samples."""
    held = trials = 0
    for seed in range(10):
        texts = made(seed) if made is with_giant_clusters else made(seed, 400)
        result = dedup(texts, scheme=LEAKY)
        whole = audit(result, scheme=LEAKY, sample=len(texts)).recall.value
        assert whole < 1
        for drawn in range(50):
            recall = audit(result, scheme=LEAKY, sample=200, seed=drawn).recall
            held += recall.low <= whole <= recall.high
            trials += 1
    assert 0.93 <= held / trials <= 0.97


@pytest.mark.soak
def test_intervals_always_hold_a_recall_of_one_and_an_unknown_one():
    found = dedup(collection(3, 400))
    alone = dedup([f"w{n} x{n} y{n} z{n}" for n in range(500)])
    for drawn in range(250):
        assert audit(found, sample=200, seed=drawn).recall.high == 1.0
        recall = audit(alone, sample=200, seed=drawn).recall
        assert (recall.value, recall.low, recall.high) == (None, 0.0, 1.0)


def test_a_document_exactly_a_tenth_below_the_threshold_is_just_below_it():
    texts = ["a b c d e f g h i j", "a b c d e f g"]  # resemblance 0.7, and 0.8 - 0.1 is more in binary
    found = audit(dedup(texts, scheme=MinHash(shingle=1, threshold=0.8)), sample=2)
    assert (found.below.found, found.below.of) == (1, 2)


@pytest.mark.parametrize("kind", [None, pa.binary(), pa.large_binary(), pa.binary_view()])
def test_texts_that_are_not_utf8_are_audited(kind):
    broken = [f"{text} \ud800" for text in TEXTS]
    raw = [text.encode("utf-8", "surrogatepass") for text in broken]
    documents = (
        broken if kind is None else pa.table({"text": pa.array(raw).cast(kind), "id": [*map(str, range(len(raw)))]})
    )
    found = audit(dedup(documents, scheme=LEAKY), scheme=LEAKY, sample=len(raw))
    usual = audit(dedup(TEXTS, scheme=LEAKY), scheme=LEAKY, sample=len(raw))
    assert found.recall == usual.recall
    assert found.missed
    for one, plain in zip(found.missed, usual.missed, strict=True):
        assert (one.text, one.partner_text) == (
            f"{plain.text} \ufffd\ufffd\ufffd",
            f"{plain.partner_text} \ufffd\ufffd\ufffd",
        )


@pytest.mark.parametrize("scheme", [FracMinHash(scaled=1), SimHash(distance=12), MinHash()], ids=lambda own: own.name)
def test_other_texts_are_refused_if_signatures_decided(scheme):
    text = " ".join(f"w{number}" for number in range(80))
    texts = [text, text.replace("w10 ", "x ")]
    result = dedup(texts, scheme=scheme, verify="estimate")
    assert result.kept.tolist() == [0]
    assert audit(result, texts, scheme=scheme).documents == 2
    with pytest.raises(DataError, match="the run had other texts or other options: '1' and its representative had"):
        audit(result, [text, " ".join(f"z{number}" for number in range(80))], scheme=scheme)


def test_other_texts_are_refused():
    result = dedup(TEXTS, scheme=LEAKY)
    others = [f"n{n} " * 40 for n in range(len(TEXTS))]
    with pytest.raises(
        DataError, match=r"the run had other texts or other options: '.*' and its representative had a resemblance of"
    ) as a:
        audit(result, others)
    assert "but have 0.0000 here; use the same documents, in the same order, and all options" in str(a.value)
    with pytest.raises(DataError, match="the run had other texts"):
        audit(result, TEXTS[1:] + TEXTS[:1])
    dropped = int(np.flatnonzero(~result.mask)[0])
    changed = [*TEXTS[:dropped], f"{TEXTS[dropped]} more", *TEXTS[dropped + 1 :]]
    with pytest.raises(DataError, match=f"other texts or other options: '{dropped}' and"):
        audit(result, changed)


@pytest.mark.parametrize("scheme", [MinHash(), MinHash(bag=True), SimHash(), Sentences(), Combined()])
def test_drops_for_equal_texts_are_compared_again(scheme):
    texts = ["one two three four five.", "One, two three four five.", "one two three four five.", "!!!", "!!!"]
    result = dedup(texts, scheme=scheme)
    assert result.decisions["rule"].to_pylist() == [None, "same features", "same text", None, "same text"]
    assert audit(result, scheme=scheme).recall.value == 1
    for position in (1, 2, 4):
        other = [*texts[:position], "another text is here.", *texts[position + 1 :]]
        with pytest.raises(DataError, match=f"or other options: '{position}' and .* of 1.0000, but have 0.0000 here"):
            audit(result, other, scheme=scheme)


@pytest.mark.parametrize("verify", ["estimate", "none"])
@pytest.mark.parametrize("scheme", [MinHash(), SimHash(), Sentences(), Combined(MinHash(), SimHash(shingle=3))])
def test_drops_by_signatures_are_compared_again(scheme, verify):
    result = dedup(TEXTS, scheme=scheme, verify=verify)
    assert (~result.mask).any()
    assert audit(result, scheme=scheme, sample=len(TEXTS)).sample == len(TEXTS)
    others = [" ".join(f"n{n}x{word}" for word in range(40)) for n in range(len(TEXTS))]
    has_estimates = result.decisions["resemblance"].null_count < len(TEXTS)
    if verify == "none" or has_estimates:
        with pytest.raises(DataError, match="the run had other texts or other options: '"):
            audit(result, others, scheme=scheme, sample=len(TEXTS))
    rule, said = ("shared key", "shared a key, but share none here")
    if verify == "estimate":
        rule, said = "estimate", "had (signatures that match, but have others|a resemblance of .*, but have .*) here"
    for one in np.flatnonzero(np.array(result.decisions["rule"].to_pylist()) == rule)[-1:].tolist():
        with pytest.raises(DataError, match=f"or other options: '{one}' and its representative {said}"):
            audit(result, [*TEXTS[:one], others[one], *TEXTS[one + 1 :]], scheme=scheme, sample=len(TEXTS))


def test_equal_pages_of_several_sites_are_those_of_the_run():
    words = [f"w{n}" for n in range(40)]
    near = " ".join([*words[:-1], "x"])
    sites = [site("a.example", thin=True), site("a.example", thin=True), site("b.example", thin=True)]
    table = pa.table({"text": [near, " ".join(words), " ".join(words)], SITE: np.array(sites, np.uint64)})
    result = dedup(table, threshold=0.6)
    assert result.representatives.tolist() == [-1, 0, 0]
    assert audit(result).sample == 3
    with pytest.raises(DataError, match="or other options: '1' and its representative had a resemblance"):
        audit(result, table.set_column(0, "text", [[near, near.replace("w1 ", "y "), " ".join(words)]]))


def test_the_documents_of_the_run_in_another_order_are_refused():
    texts = [f"text {number // 2} of many with its own words {number // 2}" for number in range(20)]
    table = pa.table({"id": [f"d{number}" for number in range(20)], "text": texts})
    result = dedup(table)
    assert audit(result, table) == audit(result)
    with pytest.raises(
        DataError, match=r"document 0 has the id 'd19', but 'd0' in the run; use the same documents, in the same"
    ):
        audit(result, table.take([*range(19, -1, -1)]))
