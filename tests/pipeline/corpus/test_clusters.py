"""The largest clusters: their size, what they share, and whether that is a template."""

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.pipeline.corpus import clusters

OPENING = (
    "Welcome to the harbour news. Subscribe, share, follow us, and read our privacy policy before you go on. Cookies"
    " help us to show you what you like; you can refuse them at the foot of each page. Write to us with questions. "
)
STORIES = [
    "A storm took three fishing boats",
    "Bakers ask for more rye this year",
    "Seven herons stood in the shallow water",
    "The mayor opened a bridge on Sunday",
]
WORDS = [f"w{number}" for number in range(500)]


def prose(seed, words):
    return np.random.default_rng(seed).choice(WORDS, words).tolist()


ARTICLE = " ".join(prose(10_000, 120))
OTHERS = [" ".join(prose(seed, 60)) for seed in range(10_002, 10_012)]


def edited(seed):
    words = ARTICLE.split()
    words[np.random.default_rng(seed).integers(len(words))] = "changed"
    return " ".join(words)


def clusters_of(texts, **parameters):
    return neardup.dedup(texts, **parameters).summary.largest_clusters


def test_a_template_is_recognised():
    (found,) = clusters_of([*OTHERS, *(OPENING + story for story in STORIES)])
    assert (found.representative, found.documents, found.share_of_drops) == ("10", 4, 1.0)
    assert found.template
    assert found.beginning == OPENING[:80]
    assert found.shared == len(OPENING.split()) - 2
    assert found.ignore_common == 0.1
    assert clusters_of([*OTHERS, *(OPENING + story for story in STORIES)], ignore_common=found.ignore_common) == ()


def test_what_the_run_has_left_out_is_not_recommended_again():
    texts = [*OTHERS, *(OPENING + story for story in STORIES)]
    common = neardup.CommonShingles.fitted(OTHERS, neardup.MinHash().shingling, 0.1)
    (found,) = clusters_of(texts, ignore_common=common)
    assert (found.template, found.ignore_common) == (True, None)


def test_no_passage_is_shown_if_common_features_are_left_out():
    form = " ".join(prose(20_000, 30))
    own = [" ".join(prose(seed, 6)) for seed in range(20_001, 20_005)]
    texts = [*OTHERS, *(OPENING + story for story in STORIES), *(f"{OPENING}{form} {words}" for words in own)]
    (found,) = clusters_of(texts, ignore_common=0.3)
    assert found.template
    assert found.beginning == ""


@pytest.mark.parametrize("copies", [[ARTICLE] * 9, [edited(seed) for seed in range(40)]], ids=["equal", "edited"])
def test_copies_of_one_text_are_no_template(copies):
    (found,) = clusters_of([*OTHERS, *copies])
    assert found.documents == len(copies)
    assert (found.template, found.beginning, found.ignore_common) == (False, "", None)


def test_a_chain_of_documents_without_a_common_block_is_no_template():
    words = prose(7, 200)
    (found,) = clusters_of([" ".join(words[begin : begin + 60]) for begin in range(0, 140, 10)], gather="components")
    assert (found.documents, found.shared, found.template, found.ignore_common) == (14, 0, False, None)


def test_the_largest_come_first_and_what_to_try_fits_their_size():
    many = [f"{ARTICLE} and page {number} says {' '.join(prose(number, 12))}" for number in range(40)]
    others = [" ".join(prose(seed, 60)) for seed in range(100, 700)]
    texts = [*others, *many, *["twice twice twice"] * 2, *[OTHERS[0]] * 3]
    table = {"id": [f"d{number}" for number in range(645)], "text": texts}
    found = clusters_of(pa.table(table))
    assert [(one.representative, one.documents) for one in found] == [("d600", 40), ("d642", 3), ("d640", 2)]
    assert [one.template for one in found] == [True, False, False]
    assert found[0].share_of_drops == 39 / 42
    assert found[0].ignore_common == 0.02
    assert found[1].shared == 0  # equal byte by byte: not looked into


def test_a_small_cluster_of_a_large_collection_is_not_looked_into():
    others = [" ".join(prose(seed, 60)) for seed in range(100, 196)]
    large = [OPENING + story for story in STORIES]
    assert clusters_of([*others[:76], *large])[0].template
    assert clusters_of([*others, *large])[0].shared == 0


def test_copies_byte_by_byte_are_not_looked_into(monkeypatch):
    monkeypatch.setattr(clusters, "different", None)  # its kernels would be compiled, or loaded, for nothing
    (found,) = clusters_of([*OTHERS, ARTICLE, ARTICLE])
    assert (found.documents, found.shared) == (2, 0)


def test_a_run_without_drops_has_no_clusters():
    assert clusters_of(OTHERS) == ()
    assert clusters_of([]) == ()


def test_only_the_beginning_of_long_texts_is_looked_at():
    long = [OPENING + story + " and on" * 40_000 for story in STORIES]
    (found,) = clusters_of(long)
    assert found.documents == 4
    assert neardup.dedup(long).summary.as_dict()["largest_clusters"][0]["documents"] == 4


def test_clusters_of_equal_fields_get_no_advice():
    texts = [OPENING + story for story in STORIES]
    scheme = neardup.Checksum(fields=(neardup.Field(name="title"),))
    (found,) = clusters_of(pa.table({"text": texts, "title": ["one title"] * 4}), scheme=scheme)
    assert found.documents == 4
    assert not found.template


BLOCK = " ".join(prose(20_000, 35))


def chats(number):
    """Return questions after one block, which resemble each other by about the threshold, and many unrelated texts."""
    questions = [f"{BLOCK} question {' '.join(prose(seed, 12))}" for seed in range(30_000, 30_000 + number)]
    return [*questions, *(" ".join(prose(seed, 60)) for seed in range(40_000, 40_000 + number))]


def test_a_template_of_many_small_clusters_is_recognised():
    texts = chats(400)
    summary = neardup.dedup(texts).summary
    assert summary.near > 100
    assert not any(cluster.template for cluster in summary.largest_clusters)
    found = summary.spread_template
    assert found.documents == summary.near
    assert 10 < found.clusters < summary.near
    assert found.shared == 34  # 33 shingles of the block, and one with the next word
    assert found.beginning == BLOCK[:80]
    assert summary.as_dict()["spread_template"]["ignore_common"] == found.ignore_common
    better = neardup.dedup(texts, ignore_common=found.ignore_common).summary
    assert (better.near, better.spread_template) == (0, None)


def test_near_duplicates_of_different_texts_share_no_template():
    others = [prose(seed, 60) for seed in range(50_000, 50_050)]
    texts = [" ".join(words) for words in others] + [" ".join(["changed", *words[1:]]) for words in others]
    summary = neardup.dedup(texts).summary
    assert (summary.near, summary.spread_template) == (50, None)


def test_a_template_is_reported_once():
    summary = neardup.dedup(chats(400), threshold=0.56).summary
    assert summary.largest_clusters[0].template
    assert summary.spread_template is None


def test_a_few_near_duplicates_are_not_examined():
    texts = chats(400)
    assert neardup.dedup(
        [*texts, *(" ".join(prose(seed, 20)) for seed in range(60_000, 63_000))]
    ).summary.spread_template
    few = chats(120)
    summary = neardup.dedup([*few, *texts[400:]]).summary
    assert 0 < summary.near < 26  # a twentieth
    assert summary.spread_template is None


@pytest.mark.parametrize("members", [31, 32, 33, 71, 500])
def test_the_examined_documents_are_evenly_spread_over_the_input(members):
    examined = []

    def raw_texts(positions):
        examined.extend(positions.tolist())
        return [None] * len(positions)

    representatives = np.full(3 * members, -1)
    own = np.arange(0, 3 * members, 3)  # every third document of the input
    representatives[own[1:]] = own[0]
    ids = pa.chunked_array([pa.array([str(place) for place in range(len(representatives))])])
    clusters.largest_clusters(ids, raw_texts, representatives, representatives < -1, neardup.MinHash())
    assert len(examined) == min(members, clusters.SAMPLE)
    assert {*examined} <= {*own.tolist()}
    assert (examined[0], examined[-1]) == (own[0], own[-1])
    gaps = np.diff(examined)
    assert gaps.max() - gaps.min() <= 3


def test_edited_copies_that_are_neighbours_do_not_hide_a_template():
    block = prose(1, 120)
    pages = [block + prose(seed, 20) for seed in range(10, 210)]
    versions = [" ".join([*page[:-1], f"v{number}"]) for page in pages for number in range(4)]
    [found] = clusters_of(versions)
    assert (found.documents, found.template) == (800, True)
