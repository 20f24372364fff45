import numpy as np
import pytest
from batches import set_arrays
from hypothesis import given
from hypothesis import strategies as st
from oracles import EMPTY, collapsed, read_only

from neardup.kernels import collapse

SEEDS = st.integers(0, 2**32)
NUMBERS = st.sampled_from([0, 1, 2, 3, 10, 31, 32, 33, 70])
NO_ROWS = np.zeros((0, 1), np.uint64)


@st.composite
def asked(draw):
    """Some hits: how many a group keeps under each rule, the codes of rules of equal values, and which are present."""
    rng, number = np.random.default_rng(draw(SEEDS)), draw(NUMBERS)
    rules = draw(
        st.sampled_from([["near"], ["equal"], ["equal", "near"], ["near", "equal"], ["equal", "near", "equal"]])
    )
    keeps = draw(st.lists(st.integers(1, 3), min_size=len(rules), max_size=len(rules)))
    few = draw(st.sampled_from([1, 3, 40]))
    codes = [None if rule == "near" else rng.integers(-1, max(min(few, number), 1), number) for rule in rules]
    present = rng.random(number) < draw(st.sampled_from([0, 0.8, 1]))
    return rng, number, keeps, codes, present


def run(kernel, rows, terms, case):
    _, number, keeps, codes, present = case
    near = next((rule for rule, own in enumerate(codes) if own is None), -1)
    equal = np.array([np.full(number, -1) if own is None else own for own in codes]).reshape(len(keeps), number)
    table = np.full((6, number), 77)
    rows = read_only(rows) if rows.dtype.kind == "u" else rows  # signatures
    stay, groups = kernel(rows, np.array(terms), present, near, equal, np.array(keeps), table)
    of, by, heads, ranks, members, begins = table.tolist()
    assert ranks == sorted(range(number), key=lambda hit: (of[hit] >= 0, hit))
    assert members == sorted(range(number), key=lambda hit: (heads[hit], hit))
    assert begins[:groups] == [place for place, hit in enumerate(members) if heads[hit] == hit]
    assert (stay, groups) == (of.count(-1), len({*heads}))
    return of, by, heads


def expected(case, near, *closest):
    """What the definition says where *near* tells of rows whether they match."""
    _, number, keeps, codes, present = case

    def matches(rule, better, hit):
        if codes[rule] is None:
            return bool(present[better] and present[hit] and near(better, hit))
        return codes[rule][better] == codes[rule][hit] >= 0

    return collapsed(number, keeps, matches, *closest)


def copies(rng, number, columns, draw_values):
    """Rows of which many are earlier ones with a few entries changed."""
    rows = draw_values((number, columns))
    for row in range(1, number):
        if rng.random() < 0.7:
            rows[row] = rows[rng.integers(row)]
            changed = rng.integers(0, columns + 1) if rng.random() < 0.5 else rng.integers(0, min(3, columns) + 1)
            rows[row, rng.permutation(columns)[:changed]] = draw_values(changed)
    return rows


def require_agreement(kernel, case, columns, share, *, values, dtype):
    """Compare with the definition: rows match if so many of their entries are equal."""
    rng, number, *_ = case
    rows = copies(rng, number, columns, lambda size: rng.integers(0, values, size, dtype))
    needed = max(1, round(share * columns))
    near = lambda one, other: sum(a == b for a, b in zip(rows[one], rows[other], strict=True)) >= needed  # noqa: E731
    assert run(kernel, rows, [needed], case) == expected(case, near)


@given(asked(), st.sampled_from([1, 2, 7, 63, 64, 65, 128, 130]), st.floats(0, 1), st.sampled_from([4, 2**32]))
def test_minima_are_compared_as_defined(case, columns, share, values):
    require_agreement(collapse.by_minima, case, columns, share, values=values, dtype=np.uint32)


@pytest.mark.parametrize("columns", [1, 65, 128])
def test_minima_that_only_look_equal(columns):
    """All agree in the bytes that are compared first, but not beyond them."""
    rows = (np.arange(300 * columns, dtype=np.uint32) << 8).reshape(300, columns)
    case = (None, 300, [1], [None], np.ones(300, np.bool_))
    assert run(collapse.by_minima, rows, [1], case) == ([-1] * 300, [-1] * 300, [*range(300)])
    rows[299] = rows[1]
    of, by, heads = run(collapse.by_minima, rows, [columns], case)
    assert (of[299], by[299], heads[299]) == (1, 0, 1)
    assert of[:299] == [-1] * 299


@given(asked(), st.sampled_from([1, 5, 6, 7, 8, 9, 16, 19]), st.floats(0, 1), st.sampled_from([3, 2**64 - 1]))
def test_trials_are_compared_as_defined(case, columns, share, values):
    require_agreement(collapse.by_trials, case, columns, share, values=values, dtype=np.uint64)


@given(asked(), st.integers(1, 8), st.integers(0, 70))
def test_fingerprints_are_compared_as_defined(case, words, distance):
    rng, number, *_ = case
    rows = rng.integers(0, 2**64 - 1, (number, words), np.uint64, endpoint=True)
    for row in range(1, number):
        if rng.random() < 0.7:
            rows[row] = rows[rng.integers(row)]
            for bit in rng.integers(0, 64, rng.integers(0, distance + 2)).tolist():
                rows[row, rng.integers(words)] ^= np.uint64(1 << bit)
    near = lambda one, other: (  # noqa: E731
        sum((a ^ b).bit_count() for a, b in zip(rows[one].tolist(), rows[other].tolist(), strict=True)) <= distance
    )
    assert run(collapse.by_fingerprints, rows, [distance], case) == expected(case, near)


def overlap(one, other, columns, of_smaller):
    if not one or not other:
        return 0.0
    if of_smaller:
        return len(one & other) / min(len(one), len(other))
    union = {*sorted(one | other)[:columns]}
    return len(one & other & union) / len(union)


@given(
    asked(),
    st.sampled_from([1, 5, 64, 80]),
    st.booleans(),
    st.sampled_from([0.01, 0.3, 0.5, 2 / 3, 0.9, 1.0]),
    st.sampled_from([512, 64, 3]),
)
def test_sentences_are_compared_as_defined(case, columns, of_smaller, threshold, bits):
    rng, number, *_ = case
    rows = np.full((number, columns), EMPTY, np.uint32)
    sets = []
    for row in range(number):
        drawn = rng.integers(0, 300, rng.integers(0, 2 * columns)).tolist()
        values = {value % bits + value // bits * 512 for value in drawn}  # of few bits, many have the same
        if row and rng.random() < 0.7:
            share, other = rng.choice([0.9, 0.2]), sets[rng.integers(row)]
            values = {value for value in sorted(other) if rng.random() < share} | {*sorted(values)[: rng.integers(3)]}
        if rng.random() < 0.2:
            values = {value + 512 * int(rng.integers(3)) for value in values}  # others of the same bit
        sets.append({*sorted(values)[:columns]})
        rows[row, : len(sets[row])] = sorted(sets[row])
    counts = [
        next(count for count in range(whole + 1) if count / whole >= threshold) for whole in range(1, columns + 1)
    ]
    near = lambda one, other: overlap(sets[one], sets[other], columns, of_smaller) >= threshold  # noqa: E731
    assert run(collapse.by_sentences, rows, [of_smaller, 1, *counts], case) == expected(case, near)


@pytest.mark.parametrize("of_smaller", [False, True])
def test_sentences_of_one_bit_are_not_overlooked(of_smaller):
    rows = np.array([[512 * value for value in range(64)]] * 2 + [[512 * value + 1 for value in range(64)]], np.uint32)
    case = (None, 3, [1], [None], np.ones(3, np.bool_))
    of, _, _ = run(collapse.by_sentences, rows, [of_smaller, *[max(1, count) for count in range(65)]], case)
    assert of == [-1, 0, -1]


@pytest.mark.parametrize("closest", [False, True])
@given(asked(), st.booleans(), st.sampled_from([0.3, 0.5, 1.0]), st.sampled_from([0, 9, 1 << 40]), st.integers(1, 40))
def test_sets_are_compared_as_defined(closest, case, of_smaller, threshold, most, together):  # noqa: PLR0917 - drawn
    """Pairs of the list are measured while values are left and where both sets are known; else the estimate counts.

    The parts are decided in turn, and only need the pairs whose better hit stays or is of the same part.
    """
    rng, number, keeps, codes, _ = case
    few = len(keeps) == 1 and not closest
    most = most if few or most != 9 else 0  # the definition asks rules that the kernel no longer asks
    sets = [set(rng.integers(0, 9, rng.integers(1, 7)).tolist()) for _ in range(number)]
    known = rng.random(number) < 0.8
    listed = {
        (hit, better): float(rng.choice([0, 0, 0.3, 0.5, 1]))
        for hit in range(number)
        for better in range(hit)
        if rng.random() < 0.6
    }
    leaders = np.array([rng.choice([hit, rng.integers(hit + 1)]) for hit in range(number)], np.int64)
    least = {pair: max(threshold, float(rng.choice([0, 0.6]))) for pair in sorted(listed)}
    left, spent, shares = most, {}, {}

    def near(better, hit):
        nonlocal left
        if (hit, better) not in listed:
            return False
        if not (known[hit] and known[better]) or left <= 0:
            spent[hit, better], shares[hit, better] = False, listed[hit, better]
            return listed[hit, better] > 0
        few, many = sorted([len(sets[hit]), len(sets[better])])
        if not (of_smaller or few / many >= least[hit, better]):
            return False
        left -= few + many
        shared = len(sets[hit] & sets[better])
        whole = few if of_smaller else few + many - shared
        spent[hit, better], shares[hit, better] = True, shared / whole
        return bool(shared and shared / whole >= least[hit, better])

    def closeness(rule, better, hit):
        return shares[hit, better] if codes[rule] is None else 1

    of, by, heads = expected(case, near, *((closeness, leaders) if closest else ()))
    measured, verified, required = np.ones(number), np.zeros(number, np.bool_), np.ones(number)
    own = set_arrays(sets), known, int(of_smaller), (measured, required, verified)

    def in_parts(rows, *rest):
        groups, found = np.full((3, len(keeps), number), 77), (0, 0)
        for begin in range(0, max(number, 1), together):
            end = min(begin + together, number)
            pairs = [(hit, other) for hit, other in sorted(listed) if begin <= hit < end]
            pairs = [(hit, other) for hit, other in pairs if other >= begin or of[other] < 0]
            bounds = np.searchsorted(np.array([hit for hit, _ in pairs], np.int64), np.arange(begin, end + 1))
            compared = bounds, *(np.array([by_pair[pair] for pair in pairs], float) for by_pair in (listed, least))
            compared = *compared, leaders[begin:end]
            better = np.array([other for _, other in pairs], np.int64)
            found = collapse.by_sets((begin, end, groups), compared, *own, better, *rest)
            assert end == number or found == (0, 0)
        return found

    assert run(in_parts, np.empty(0, np.int64), [most] * (1 + closest), case) == (of, by, heads)
    near_rule = next((rule for rule, own in enumerate(case[3]) if own is None), None)
    for hit in range(number):
        if by[hit] == near_rule and of[hit] >= 0:
            assert verified[hit] == spent[hit, of[hit]]
            assert measured[hit] == shares[hit, of[hit]]
            assert required[hit] == least[hit, of[hit]]


@given(asked())
def test_equal_values_need_no_rows(case):
    rng, number, keeps, codes, _ = case
    equal = [np.full(number, -1) if own is None else own for own in codes]
    case = (rng, number, keeps, equal, np.zeros(number, np.bool_))
    assert run(collapse.by_fingerprints, NO_ROWS, [0], case) == expected(case, None)


def test_groups_that_join_again_and_again_stay_one():
    """Two rules chain all hits together, from the last group to the first."""
    groups = 5_000
    places = np.arange(groups)
    nowhere, back = np.full(groups, -1), places[::-1]
    one = np.concatenate([places, nowhere, back, back])
    other = np.concatenate([nowhere, places, back, (back + 1) % groups])
    case = (None, 4 * groups, [4 * groups] * 2, [one, other], np.zeros(4 * groups, np.bool_))
    of, _, heads = run(collapse.by_fingerprints, NO_ROWS, [0], case)
    assert set(of) == {-1}
    assert set(heads) == {0}


def test_the_kernels_leave_what_they_are_given():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 4, (40, 8), np.uint64)
    before = rows.copy()
    case = (rng, 40, [1], [None], np.ones(40, np.bool_))
    for kernel in (collapse.by_fingerprints, collapse.by_trials):
        run(kernel, rows, [1], case)
    assert (rows == before).all()
