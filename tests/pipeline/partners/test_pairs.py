import numpy as np
import pyarrow as pa
import pytest
from audits import TEXTS

from neardup import Checksum, FracMinHash, MinHash, SimHash, TermWeights, Trials, containment, dedup, pairs, resemblance
from neardup.decisions.evidence import WeightedSets
from neardup.errors import DataError, ParameterError
from neardup.text.columns import whole_batch

TEXTS = [*TEXTS[:60], "", "...", TEXTS[3], f"{TEXTS[5]} {TEXTS[6]}"]


def ends(table):
    return [*zip(table["left_position"].to_pylist(), table["right_position"].to_pylist(), strict=True)]


def test_all_pairs_by_definition():
    found = pairs(TEXTS, threshold=0.4)
    number = range(len(TEXTS))
    values = {(a, b): resemblance(TEXTS[a], TEXTS[b]) for b in number for a in range(b)}
    wanted = sorted(pair for pair, value in values.items() if value >= 0.4)
    assert len(wanted) > 10
    assert ends(found) == wanted
    assert found["resemblance"].to_pylist() == [values[pair] for pair in wanted]
    assert found["left"].to_pylist() == [str(a) for a, _ in wanted]
    for one in found.slice(0, 5).to_pylist():
        left, right = TEXTS[one["left_position"]], TEXTS[one["right_position"]]
        assert one["left_in_right"] == containment(left, right)
        assert one["right_in_left"] == containment(right, left)
    assert all(pairs(TEXTS, threshold=0.4, threads=threads).equals(found) for threads in (1, 2))


@pytest.mark.parametrize(
    ("scheme", "least"), [(None, 0.6), (MinHash(threshold=0.4), 0.4), (FracMinHash(), 0.8), (SimHash(), 0.8)]
)
@pytest.mark.parametrize("measure", ["resemblance", "containment"])
def test_the_default_threshold_is_that_of_the_scheme(scheme, least, measure):
    given = [
        "a b c d e f g h",
        "a b c d e f g x y z",
        "a b c d e x",
        "a b c d e f g h i",
        "a b c x",
        "a b c q r s t u v w",
    ]
    found = pairs(given, measure=measure, scheme=scheme)
    assert found.equals(pairs(given, measure=measure, scheme=scheme, threshold=least))
    everything = pairs(given, measure=measure, scheme=scheme, threshold=0.01)
    assert 0 < len(found) < len(everything)


def test_between_two_collections():
    one, other = TEXTS[:40], TEXTS[30:]
    found = pairs(one, other, threshold=0.6)
    wanted = [(a, b) for a in range(40) for b in range(len(other)) if resemblance(one[a], other[b]) >= 0.6]
    assert ends(found) == wanted
    inside = pairs(other, TEXTS[5:7], measure="containment", threshold=0.9)
    assert ends(inside) == [(a, b) for a, b in ends(inside) if containment(other[a], TEXTS[5 + b]) >= 0.9]
    assert (len(other) - 1) not in inside["left_position"].to_pylist()  # it contains them, not the other way round


def test_cosines_are_those_that_dedup_verifies():
    words = [text.split() for text in TEXTS]
    weights = TermWeights.fitted(TEXTS)
    for scheme in (SimHash(), SimHash(shingle=2), SimHash(weights=weights), MinHash(shingle=1)):
        found = pairs(TEXTS, measure="cosine", threshold=0.7, scheme=scheme, clusters=True)
        number = range(len(TEXTS))
        measured = scheme if isinstance(scheme, SimHash) else SimHash()
        features = measured.shingling.batch_features(whole_batch(pa.chunked_array([TEXTS])))
        sets = WeightedSets(features, np.arange(len(TEXTS)), measured.weight_table)
        every = np.array([(a, b) for a in number for b in range(a + 1, len(TEXTS))])
        values = sets.cosines(*every.T)
        assert ends(found) == [tuple(pair) for pair in every[values >= 0.7].tolist()]
        assert found["cosine"].to_pylist() == values[values >= 0.7].tolist()
        for one in found.slice(0, 5).to_pylist() if measured.shingle == 1 else []:
            left, right = (set(words[one[f"{side}_position"]]) for side in ("left", "right"))
            assert one["resemblance"] == len(left & right) / len(left | right)
        assert len(found) > 10
    between = pairs(TEXTS[:30], TEXTS[30:], measure="cosine", threshold=0.7, scheme=SimHash())
    alone = pairs(TEXTS, measure="cosine", threshold=0.7, scheme=SimHash())
    assert [(a, b + 30) for a, b in ends(between)] == [(a, b) for a, b in ends(alone) if a < 30 <= b]


@pytest.mark.parametrize("number", range(1, 40))
def test_cosines_at_the_threshold_are_pairs(number):
    words = [f"w{turn}" for turn in range(number)]
    equal, twice = " ".join(words), " ".join(words * 2)
    scheme = SimHash(rule="cosine", threshold=1.0)
    assert pairs([equal, equal, twice], measure="cosine", threshold=1.0, scheme=scheme).num_rows == 3
    assert dedup([equal, twice], scheme=scheme).kept.tolist() == [0]
    other = " ".join([*words[1:], "else"])
    share = (number - 1) / number
    found = pairs([equal, other], measure="cosine", threshold=share or 0.5, scheme=scheme)
    assert found["cosine"].to_pylist() == [share] * (number > 1)


def test_clusters_are_of_connected_documents():
    chain = [" ".join(f"w{n}" for n in range(begin, begin + 40)) for begin in (0, 8, 16, 500)]
    found = pairs([*reversed(chain), ""], threshold=0.6, clusters=True)
    assert ends(found) == [(1, 2), (2, 3)]
    assert found["cluster"].to_pylist() == [1, 1]


def test_ids_bags_and_empty_collections():
    table = pa.table({"id": ["a", "b", "a"], "text": ["x y z x y z", "x y z", "x y z x y z"]})
    assert [*zip(*(pairs(table, threshold=0.9)[name].to_pylist() for name in ("left", "right")), strict=True)] == [
        ("a", "a")
    ]
    bags = pairs(["a b", "a b a b a b"], scheme=MinHash(shingle=1, bag=True), threshold=0.3)
    assert bags["resemblance"].to_pylist() == [1 / 3]
    assert len(pairs([])) == len(pairs(["a b c"], [])) == len(pairs(["", ""])) == 0
    assert pairs([]).schema.field("left_position").type == pa.int64()
    assert ends(pairs(["a b c"] * 3, scheme=Trials())) == [(0, 1), (0, 2), (1, 2)]


def test_invalid_arguments_are_refused():
    for wrong in ({"measure": "distance"}, {"threshold": 0.0}, {"threshold": 1.1}, {"scheme": Checksum()}):
        with pytest.raises(ParameterError):
            pairs(TEXTS, **wrong)
    for neither in ((None,), (None, TEXTS)):
        with pytest.raises(DataError, match="must be a list of texts"):
            pairs(*neither)
    with pytest.raises(ParameterError, match="two collections"):
        pairs(TEXTS, TEXTS, clusters=True)
    assert np.all(pairs(["a b", "a b"], ["a b"])["right_position"].to_numpy() == 0)


def test_containment_is_in_either_direction_in_one_collection_and_of_the_left_between_two():
    whole, part = "a b c d e f g h i j", "a b c d e f"
    for texts in ([whole, part], [part, whole]):
        found = pairs(texts, measure="containment", threshold=0.9)
        assert ends(found) == [(0, 1)]
        assert pairs(texts, measure="overlap", threshold=0.9).equals(found)
        assert len(pairs(texts[:1], texts[1:], measure="containment", threshold=0.9)) == (texts[0] == part)
    assert len(pairs(["a b c d e f"], ["a b c d x"], measure="containment", threshold=0.5)) == 1  # two of four shingles
