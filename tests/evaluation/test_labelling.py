import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.labelling import BANDS, FLOOR, MOST, bands_of, likely_same, next_band
from neardup.model.labels import LabelledPair

PLENTY = [True] * len(BANDS)


def answered(*told):
    return [
        LabelledPair(a="", b=str(number), label=label, resemblance=resemblance)
        for number, (resemblance, label) in enumerate(told)
    ]


@given(st.floats(0, 1), st.floats(0, 1))
def test_each_pair_is_in_one_band(resemblance, overlap):
    overlap = max(resemblance, overlap)
    band = BANDS[int(bands_of(np.array([resemblance]), np.array([overlap]))[0])]
    assert band.low <= resemblance < band.high
    assert band.contained == (resemblance < FLOOR and overlap >= 0.5)


def test_bands_cover_the_whole_range():
    rising = [band for band in BANDS if not band.contained]
    assert rising[0].low == 0
    assert [band.high for band in rising[:-1]] == [band.low for band in rising[1:]]


def test_the_curve_rises_and_follows_the_answers():
    places = np.linspace(0, 1, 21)
    for told in ([], answered((0.9, "different"), (0.3, "same")), answered((0.5, "unsure"))):
        curve = likely_same(told, places, 0.6)
        assert (np.diff(curve) > 0).all()
        assert 0 < curve[0] < curve[-1] < 1
    strict = answered(*((place, "same" if place > 0.85 else "different") for place in (0.4, 0.6, 0.7, 0.8, 0.9, 0.95)))
    assert likely_same(strict, np.array([0.75, 0.95]), 0.6)[0] < 0.3
    loose = answered(*((place, "same" if place > 0.35 else "different") for place in (0.25, 0.3, 0.4, 0.5, 0.6)))
    assert likely_same(loose, np.array([0.5]), 0.6)[0] > 0.7


def test_unknown_resemblances_do_not_count():
    told = [LabelledPair(a="1", b="2", label="same")]
    assert (likely_same(told, np.array([0.5]), 0.6) == likely_same([], np.array([0.5]), 0.6)).all()


def drawn(border, number, threshold=0.6):
    """How many pairs of each band are drawn if pairs are the same from *border* on."""
    counts, told = [0] * len(BANDS), []
    for one in range(number):
        band = next_band(told, counts, PLENTY, threshold)
        counts[band] += 1
        place = min((BANDS[band].low + BANDS[band].high) / 2, 1.0)
        label = "same" if place >= border else "different"
        told.append(LabelledPair(a="", b=str(one), label=label, resemblance=place))
    return counts


def test_the_whole_range_is_drawn_and_more_where_the_answers_change():
    for border in (0.3, 0.5, 0.8):
        counts = drawn(border, 60)
        assert min(counts) >= 1
        assert counts[0] <= MOST
        assert counts[-1] <= MOST
        middle = BANDS.index(next(band for band in BANDS if band.low <= border < band.high and not band.known))
        assert max(counts) in counts[middle - 1 : middle + 2]


def test_empty_bands_are_passed_over_until_nothing_is_left():
    left = [False] * len(BANDS)
    assert next_band([], [0] * len(BANDS), left, 0.6) is None
    left[4] = True
    assert next_band([], [100] * len(BANDS), left, 0.6) == 4
    known = [True, *[False] * (len(BANDS) - 2), True]
    assert next_band([], [MOST] * len(BANDS), known, 0.6) is None


def test_the_curve_is_the_same_where_numpy_raises_for_small_numbers():
    answers = [
        LabelledPair(a="a", b=str(number), label="same" if number > 500 else "different", resemblance=number / 1000)
        for number in range(1000)
    ]
    usual = likely_same(answers, np.array([0.2, 0.9]), 0.6).tolist()
    with np.errstate(all="raise"):
        assert likely_same(answers, np.array([0.2, 0.9]), 0.6).tolist() == usual


def test_the_answer_is_known_of_equal_features_and_of_pairs_with_little_in_common_only():
    assert [(band.low, band.contained) for band in BANDS if band.known] == [(0.0, False), (1.0, False)]
