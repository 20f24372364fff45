"""What decides about near duplicates among hits: their texts where they are at hand, within bounds, or an estimate."""

import numpy as np
import pytest

from neardup import (
    Checksum,
    Combined,
    Field,
    FracMinHash,
    Index,
    MinHash,
    NearDuplicates,
    SameValue,
    Sentences,
    Signatures,
    SimHash,
    collapse,
)
from neardup.collapsing import JudgedSets
from neardup.errors import ParameterError
from neardup.pipeline.query import near_hits
from neardup.schemes import plausibility, ranked_parts

WORDS = [f"word{number}" for number in range(60)]
ONE = " ".join(WORDS)
OTHER = " ".join(["changed" if place in {7, 23, 41} else word for place, word in enumerate(WORDS)])
UNRELATED = " ".join(WORDS[::-1])
SCHEME = MinHash(threshold=0.7)
SCHEMES = [MinHash(), Sentences(), SimHash(shingle=2), SimHash(shingle=2, rule="cosine"), FracMinHash(scaled=1)]


def lies(text):
    """The signature of one text under the name of another."""
    return SCHEME.sign([text, text])


def hits(**more):
    texts = [ONE, UNRELATED]
    return [{"id": own, "text": text, **more} for own, text in zip("ab", texts, strict=True)]


def decided(found):
    return [(hidden.id, hidden.verified) for group in found.page for hidden in group.hidden]


def matched(found):
    return {hidden.id: hidden.of for group in found.page for hidden in group.hidden}


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "index", SCHEME, texts=True) as made:
        made.admit(["a", "b", "c"], [ONE, ONE, UNRELATED])
        yield made


def test_a_forged_signature_hides_no_hit_if_the_texts_are_there():
    """Every signature matches: that is what a forger achieves against a public recipe."""
    by = NearDuplicates(scheme=SimHash(distance=63))
    victim = [{"id": 1, "text": "five odd words of mine"}, {"id": 2, "text": ONE}]
    assert decided(collapse(victim, by, verify="estimate")) == [(2, False)]
    assert decided(collapse(victim, by)) == []
    assert decided(collapse(victim, by, verify="exact")) == []


@pytest.mark.parametrize(("threshold", "hidden"), [(0.89, {"b": "a"}), (0.91, {})])  # the cosine is 0.898
def test_a_plausible_hit_is_hidden_only_if_its_cosine_is_sufficient(threshold, hidden):
    rule = NearDuplicates(scheme=SimHash(shingle=2, rule="cosine", distance=20, threshold=threshold))
    assert matched(collapse([{"id": "a", "text": ONE}, {"id": "b", "text": OTHER}], rule)) == hidden


def test_a_record_with_another_text_than_was_signed_is_not_compared():
    rule = NearDuplicates(scheme=SCHEME)
    signed = lies(ONE)
    assert decided(collapse(hits(), rule, signatures=signed)) == [("b", False)]  # for example, a summary of each
    assert decided(collapse([{"id": own, "text": ONE} for own in "ab"], rule, signatures=signed)) == [("b", True)]
    for text in (["a list"], 7, None):
        assert decided(collapse([*hits(), {"id": "c", "text": text}], rule, signatures=signed[[0, 1, 1]])) == [
            ("b", False),
            ("c", False),
        ]


def test_the_texts_of_an_index_decide(index):
    assert decided(collapse(["a", "b", "c", "gone"], index=index, verify="exact")) == [("b", True)]


@pytest.mark.parametrize(
    ("bound", "value", "rule"),
    [
        ("_BYTES", len(ONE) - 1, "64 MiB for all\\); pass the text"),
        ("_LONGEST", len(ONE), "hit 0 has no text, or its text in the index is too long \\(below 4 MiB"),
        ("_FEATURES", 0, "compares at most .* features of texts: examine fewer hits"),
    ],
)
def test_pairs_beyond_the_bounds_are_estimated_or_refused(index, monkeypatch, bound, value, rule):
    monkeypatch.setattr(near_hits, bound, value)
    assert decided(collapse(["a", "b", "c"], index=index)) == [("b", False)]
    with pytest.raises(ParameterError, match=rule):
        collapse(["a", "b"], index=index, verify="exact")
    assert decided(collapse(["a", "b"], index=index, verify="estimate")) == [("b", False)]


def test_beyond_the_bounds_the_closest_is_estimated_or_refused(monkeypatch):
    """Ten hits match all five that are shown, of which the last is the closest."""
    rng, words, by = (
        np.random.default_rng(1),
        [f"w{number}" for number in range(100)],
        MinHash(shingle=1, threshold=0.5),
    )
    records = []
    for rank, common in enumerate([68, 68, 68, 68, 82, *[99] * 10]):
        own = [f"own{rank}x{number}" for number in range(100 - common)]
        records.append({"id": rank, "text": " ".join([*rng.choice(words, common, replace=False), *own])})

    def last(**ways):
        found = collapse(records, NearDuplicates(scheme=by), **ways)
        assert found.kept == [0, 1, 2, 3, 4]
        return next((hit.of, hit.verified) for group in found.page for hit in group.hidden if hit.id == 14)

    assert last(verify="exact", representative="closest") == (4, True)
    monkeypatch.setattr(near_hits, "_FEATURES", 5_000)  # each comparison takes 200 of them
    assert last(verify="exact") == (0, True)
    assert last(representative="closest") == (4, False)
    with pytest.raises(ParameterError, match="examine fewer hits"):
        last(verify="exact", representative="closest")


def test_the_value_of_what_is_estimated_is_the_estimate(tmp_path, monkeypatch):
    edited, scheme = ONE.replace(ONE.split()[0], "another", 1), MinHash(threshold=0.3)
    monkeypatch.setattr(near_hits, "_LONGEST", 4)
    with Index.create(tmp_path / "index", scheme, texts=True) as index:
        index.admit(["a", "b"], [ONE, edited])
        (hidden,) = collapse(["a", "b"], index=index).page[0].hidden
    assert (hidden.verified, hidden.value) == (False, scheme.estimate(scheme.sign([ONE]), scheme.sign([edited]))[0])
    assert hidden.value < 1


def test_documents_of_unknown_lengths_may_be_short(tmp_path, monkeypatch):
    """Pairs without texts need what short documents need, by their estimate."""
    edited = ONE.replace(ONE.split()[0], "another", 1)
    scheme = MinHash(short=1000, short_threshold=1.0, threshold=0.3)
    with Index.create(tmp_path / "index", scheme, texts=True) as index:
        index.admit(["a", "b", "c"], [ONE, edited, ONE])
        assert index.scheme.estimate(index.scheme.sign([ONE]), index.scheme.sign([edited]))[0] >= 0.3
        assert decided(collapse(["a", "b", "c"], index=index)) == [("c", True)]
        monkeypatch.setattr(near_hits, "_LONGEST", 4)
        assert decided(collapse(["a", "b", "c"], index=index)) == [("c", False)]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda one: f"{one.name}-{one.rule}")
@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("verify", [None, "estimate"])
def test_hits_that_an_index_does_not_have_are_signed_by_their_texts(tmp_path, scheme, texts, verify):
    news = [ONE, UNRELATED, "", None, ["a list"]]
    hits = [{"id": "a"}, {"id": "b"}, {"id": "c", "text": ONE}, *({"id": n, "text": t} for n, t in enumerate(news))]
    with Index.create(tmp_path / "index", scheme, texts=texts) as index:
        index.admit(["a", "b", "c"], [ONE, ONE, UNRELATED])
        for cache in (None, JudgedSets()):
            found = collapse(hits if cache is None else hits[:-1], index=index, cache=cache, verify=verify)
            assert {hidden: of for hidden, of in matched(found).items() if of == "a"} == {"b": "a", 0: "a"}
            assert matched(found)[1] == "c"  # the text of c in the index
            assert found.unsigned == len(found.outcome.of) - 5
        assert dict(decided(found))[1] == (texts and verify is None)
        if texts:
            assert found.explain(0).evidence.a_in_b == 1
            assert set(decided(collapse(hits, index=index, verify="exact"))) == {("b", True), (0, True), (1, True)}


def test_hits_that_an_index_of_fields_does_not_have_are_signed_by_their_fields(tmp_path):
    hits = [{"id": "a"}, {"id": "x", "title": "T", "body": "B"}, {"id": "y", "title": "T", "text": "B"}, {"id": "z"}]
    with Index.create(tmp_path / "index", Checksum()) as index:
        index.admit(["a"], ["B"], {"title": ["T"]})
        cache = JudgedSets()
        assert collapse(hits, index=index, cache=cache).kept == ["a", "y", "z"]
        assert collapse([*hits[:1], *hits[2:]], index=index).kept == ["a", "z"]
        changed = [hits[0], hits[1] | {"title": "another"}, *hits[2:]]
        assert collapse(changed, index=index, cache=cache).kept == ["a", "x", "y", "z"]


def test_only_the_texts_of_plausible_pairs_are_read(index, monkeypatch):
    read = []
    strings = index.store.strings

    def noted(name, places, *most):
        read.extend(places.tolist() if name == "text" else [])
        return strings(name, places, *most)

    monkeypatch.setattr(index.store, "strings", noted)
    assert decided(collapse(["a", "c"], index=index)) == []
    assert read == []
    collapse(["a", "b", "c"], index=index)
    assert len(read) == 2


@pytest.mark.parametrize("verify", [None, "exact", "estimate"])
def test_hits_without_a_text_match_nothing_and_are_counted(verify):
    records = [*hits(), {"id": "c", "text": None}, {"id": "d"}, {"id": "e", "text": ""}, {"id": "f", "text": ONE}]
    found = collapse(records, NearDuplicates(scheme=SCHEME), verify=verify)
    assert (found.kept, found.unsigned) == (["a", "b", "c", "d", "e"], 3)


def edited(number):
    """Texts of which many are others, mostly with a word changed."""
    rng = np.random.default_rng(1)
    made = [rng.permutation(WORDS).tolist() for _ in range(3)]
    for _ in range(number - len(made)):
        words = list(made[rng.integers(len(made))])
        if rng.random() < 0.8:
            words[rng.integers(len(words))] = f"new{rng.integers(3)}"
        made.append(words)
    return [" ".join(words) for words in made]


@pytest.mark.parametrize(
    "scheme", [SCHEME, SimHash(), Checksum(fields=(Field(name="text"),))], ids=lambda own: own.name
)
@pytest.mark.parametrize(
    "rules", [{"keep": 1}, {"keep": 3}, {"keep": 1, "field": "site"}, {"keep": 3, "field": "site"}]
)
@pytest.mark.parametrize("representative", ["best-ranked", "closest"])
def test_parts_decide_like_the_whole(tmp_path, monkeypatch, scheme, rules, representative):
    texts = edited(60)
    records = [{"id": str(rank), "text": text, "site": rank % 29} for rank, text in enumerate(texts)]
    by = [NearDuplicates(scheme=scheme, keep=rules["keep"]), *([SameValue(rules["field"])] if "field" in rules else [])]
    found = []
    with Index.create(tmp_path / "index", MinHash(threshold=0.7), texts=True) as index:
        index.admit([record["id"] for record in records], texts)
        ways = [{}, {"index": index}] if scheme.recipe == index.scheme.recipe else [{}]
        for together in (256, 7):
            monkeypatch.setattr(ranked_parts, "_TOGETHER", together)
            every = [collapse(records, by, **way, representative=representative) for way in ways]
            found.append([(decided(one), matched(one)) for one in every])
    assert found[0] == found[1]
    assert found[0][0][0]


@pytest.mark.parametrize("keep", [1, 100])
def test_hits_that_are_hidden_or_equal_are_not_compared_with_all_that_follow(monkeypatch, keep):
    tested = []
    monkeypatch.setattr(ranked_parts, "_TOGETHER", 10)
    original = plausibility.plausible_tests

    def noted(left, _):
        tested.append(len(left))
        return np.ones(len(left), np.bool_)

    monkeypatch.setattr(plausibility, "plausible_tests", lambda *given: [noted, *original(*given)])
    records = [{"id": number, "text": f"{ONE} {number if keep == 1 else ''}"} for number in range(100)]
    found = collapse(records, NearDuplicates(keep=keep))
    assert (found.groups, len(found.kept)) == (1, keep)
    assert sum(tested) == 10 * 45 + 90  # within each part, and with the only hit that stays, or the first equal one


def test_the_text_is_the_body_of_records_without_one():
    by = NearDuplicates(scheme=Checksum(fields=(Field(name="body"),)))
    assert collapse([{"id": "a", "text": "one"}, {"id": "b", "text": "one"}], by).kept == ["a"]
    assert collapse([{"id": "a", "text": "one", "body": "x"}, {"id": "b", "text": "one", "body": "y"}], by).hidden == 0


def test_fields_of_hits_may_be_numbers_as_those_of_documents():
    by = NearDuplicates(scheme=Checksum(fields=(Field(name="isbn"),)))
    isbns = [7, 7.0, "7", 8, float("nan"), float("nan"), None, True, True]
    records = [{"id": rank, "isbn": isbn} for rank, isbn in enumerate(isbns)]
    assert collapse(records, by).kept == [0, 3, 4, 5, 6, 7]
    with Index.create(scheme=by.scheme) as index:
        index.admit(["0"], [""], {"isbn": [7]})
        assert collapse(records, by, index=index).kept == [0, 3, 4, 5, 6, 7]
        index.admit([str(rank) for rank in range(9)], [""] * 9, {"isbn": isbns})
        assert collapse(records, by, index=index).kept == [0, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("scheme", "rule"),
    [
        (MinHash(), "needs the texts of the hits: in a field of records, or in an index that keeps texts"),
        (Checksum(fields=(Field(name="text"),)), "cannot be used with signatures or an index of the scheme checksum"),
    ],
)
def test_exact_needs_texts(tmp_path, scheme, rule):
    by, signed = NearDuplicates(scheme=scheme), scheme.sign([ONE, ONE])
    with Index.create(tmp_path / "index", scheme) as index:
        index.admit(["a", "b"], [ONE, ONE])
        for ways in ({"signatures": signed}, {"index": index}):
            with pytest.raises(ParameterError, match=rule):
                collapse(["a", "b"], by, verify="exact", **ways)
        assert collapse([], by, verify="exact", index=index).kept == []
        assert collapse(["a", "u"], by, verify="exact", index=index).kept == ["a", "u"]  # nothing is compared
    assert collapse([{"id": 1, "text": "!"}], signatures=MinHash().sign(["!"]), verify="exact").kept == [1]


def test_exact_needs_the_texts_that_were_signed():
    by, records, other = NearDuplicates(scheme=SCHEME), hits(), [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]
    with pytest.raises(ParameterError, match="needs the texts that were signed, but the records have different texts"):
        collapse(other, by, signatures=lies(ONE), verify="exact")
    with pytest.raises(ParameterError, match="but hit 1 has no text"):
        collapse(records, by, signatures=lies(ONE), verify="exact")


def test_fields_are_compared_byte_by_byte():
    records = [{"id": 1, "text": ONE}, {"id": 2, "text": ONE}, {"id": 3, "text": f"{ONE}."}]
    found = collapse(records, NearDuplicates(scheme=Checksum(fields=(Field(name="text"),))), verify="exact")
    (hidden,) = found.page[0].hidden
    assert (hidden.id, hidden.verified, hidden.measure, hidden.value) == (2, True, "equality", 1.0)


def test_the_measure_of_sentences_may_be_of_the_smaller():
    scheme = Sentences(relative_to="smaller", min_length=1)
    records = [{"id": 1, "text": "One is here. Two is there."}, {"id": 2, "text": "Two is there."}]
    (hidden,) = collapse(records, NearDuplicates(scheme=scheme)).page[0].hidden
    assert (hidden.measure, hidden.value, hidden.verified) == ("overlap", 1.0, True)


def test_hits_that_only_match_hidden_hits_are_shown():
    """B is close to A, and C to B, but C is not close to A: C has no visible hit that it matches."""
    words = [f"w{number}" for number in range(100)]

    def text(*changed):
        return " ".join(["new" if place in changed else word for place, word in enumerate(words)])

    a, b, c = text(), text(10, 30, 50), text(10, 30, 50, 70, 80, 90)
    found = collapse([{"id": 1, "text": a}, {"id": 2, "text": b}, {"id": 3, "text": c}], NearDuplicates(scheme=SCHEME))
    assert found.kept == [1, 3]
    assert collapse([{"id": 2, "text": b}, {"id": 3, "text": c}], NearDuplicates(scheme=SCHEME)).kept == [2]


def test_without_signatures_nothing_is_compared():
    blank = Signatures(np.full((2, 128), 0xFFFFFFFF, np.uint32), np.zeros(2, np.bool_), SCHEME.recipe)
    assert decided(collapse(hits(), NearDuplicates(scheme=SCHEME), signatures=blank)) == []


@pytest.mark.parametrize(
    "scheme", [FracMinHash(threshold=0.7), Combined(MinHash(), SimHash())], ids=lambda own: own.name
)
@pytest.mark.parametrize("keep", [1, 3])
@pytest.mark.parametrize("representative", ["best-ranked", "closest"])
def test_parts_of_hits_are_estimated_like_the_whole(monkeypatch, scheme, keep, representative):
    texts = edited(60)
    records = [{"id": str(rank), "text": text, "site": rank % 29} for rank, text in enumerate(texts)]
    by, found = [NearDuplicates(scheme=scheme, keep=keep), SameValue("site")], []
    for together in (256, 7):
        monkeypatch.setattr(ranked_parts, "_TOGETHER", together)
        one = collapse(records, by, verify="estimate", representative=representative)
        found.append((decided(one), matched(one)))
    assert found[0] == found[1]
    assert found[0][0]
