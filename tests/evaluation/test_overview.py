import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.overview import CLUSTERS, MEMBERS, SAMPLE, overview

UNKNOWN = float("nan")


@st.composite
def runs(draw):
    """Documents in their order: kept (None), or the kept document, resemblance and exactness."""
    kept = draw(st.lists(st.booleans(), max_size=60))
    heads = [position for position, stays in enumerate(kept) if stays]
    shares = st.one_of(st.sampled_from([0.0, 0.5, 0.6, 1.0, UNKNOWN]), st.floats(0, 1))
    drop = st.tuples(st.sampled_from(heads), shares, st.booleans()) if heads else st.none()
    return [None if stays or not heads else draw(drop) for stays in kept]


def seen(run):
    rows = [(-1, UNKNOWN, False) if row is None else row for row in run]
    return overview(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.float64),
        np.array([row[2] for row in rows], np.bool_),
    )


@given(runs())
def test_counts_are_those_of_a_plain_count(run):
    found = seen(run)
    near = [row[1] for row in run if row and not row[2]]
    members = [row[0] for row in run if row]
    sizes = [members.count(position) + 1 for position, row in enumerate(run) if row is None]
    assert found.counts.sum() == sum(share == share for share in near)  # noqa: PLR0124 - NaN differs from itself
    assert found.unmeasured == sum(share != share for share in near)  # noqa: PLR0124
    assert found.alone == sizes.count(1)
    assert dict(zip(found.sizes.tolist(), found.clusters.tolist(), strict=True)) == {
        size: sizes.count(size) for size in sizes if size > 1
    }
    assert (found.exact >= 0) == any(row and row[2] for row in run)


@pytest.mark.parametrize("percent", range(0, 102, 2))
def test_a_threshold_begins_a_bin_and_1_is_in_the_last_bin(percent):
    found = seen([None, (0, percent / 100, False)])
    assert found.edges[np.flatnonzero(found.counts)].tolist() == [min(percent, 98) / 100]


@given(runs())
def test_examples_are_dropped_documents_of_the_clusters_they_represent(run):
    found = seen(run)
    assert [cluster.size for cluster in found.largest] == sorted(
        (cluster.size for cluster in found.largest), reverse=True
    )
    assert len(found.largest) == min(CLUSTERS, int(found.clusters.sum()))
    for cluster in found.largest:
        assert 1 <= len(cluster.shown) <= MEMBERS
        assert len(set(cluster.shown.tolist())) == len(cluster.shown)
        assert all(run[position] and run[position][0] == cluster.kept for position in cluster.shown)
    sample = [run[position] for position in found.sample]
    assert len(sample) <= SAMPLE
    assert len({row[0] for row in sample}) == len(sample)
    assert not any(row[2] for row in sample)
    measured = any(row and not row[2] and not np.isnan(row[1]) for row in run)
    if measured:
        assert [row[1] for row in sample] == sorted(row[1] for row in sample)
    assert bool(sample) == any(row and not row[2] for row in run)


def test_the_sample_spans_the_range_evenly():
    number = 2_000
    run = [row for place in range(number) for row in (None, (2 * place, 0.5 + place / (2 * number - 2), False))]
    shares = [run[position][1] for position in seen(run).sample]
    assert shares == pytest.approx(np.linspace(0.5, 1.0, SAMPLE), abs=1e-3)


def test_of_a_cluster_the_least_the_middle_and_the_most_alike_are_shown_and_no_copies():
    run = [None, (0, 0.9, False), (0, 1.0, True), (0, 0.6, False), (0, 0.7, False), (0, 0.95, False), (0, 0.8, False)]
    (cluster,) = seen(run).largest
    assert cluster.shown.tolist() == [3, 6, 5]
    (copies,) = seen([None, (0, 1.0, True), (0, 1.0, True)]).largest
    assert copies.shown.tolist() == [1]


def test_the_first_of_equally_large_clusters_are_shown():
    representatives = np.array([-1, 0] * 500) + np.arange(1000) // 2 * 2 * np.array([0, 1] * 500)
    found = overview(representatives, np.ones(1000), np.zeros(1000, np.bool_))
    assert [one.kept for one in found.largest] == [*range(0, 2 * CLUSTERS, 2)]
