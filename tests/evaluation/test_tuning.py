"""Tuning on scores and labels, without texts."""

import numpy as np
import pytest

from neardup.errors import ParameterError
from neardup.evaluation import tuning
from neardup.evaluation.tuning import GRID, Goal, Labels, ScoredRule, chosen, groups_of, held_out


def labels_of(same, weights=None, groups=None):
    number = len(same)
    weights = np.ones(number) if weights is None else np.array(weights, np.float64)
    groups = np.arange(number) if groups is None else np.array(groups)
    return Labels(np.array(same), weights, groups, np.ones(number, np.bool_))


def settings(choice):
    return {"scheme": "minhash", "threshold": 0.6 if choice is None else choice.threshold}


def tuned(rules, scores, labels, goal="f1", *, unsure=0, seed=1):
    number = len(labels.same)
    made = [ScoredRule.of(*rule, np.atleast_2d(own), number) for rule, own in zip(rules, scores, strict=True)]
    return tuning.tuned(made, labels, goal, unsure=unsure, seed=seed)


def tuned_alone(scores, labels, goal="f1", seed=1):
    """Tune with a single rule."""
    return tuned([("only", settings)], [scores], labels, goal, seed=seed)


def threshold_of(scores, labels, goal):
    return chosen(scores[None], labels, goal).threshold


@pytest.mark.parametrize(
    "goal",
    [
        *("", "F1", "precision", "precision>=0", "precision>=1.1", "recall>=nan", "f1>=0.5", "f1>=", 3, None),
        *("recall>=%", "recall>=101%", "recall>=1/0%", "precision>=nan%", "precision>=1e60000000%"),
    ],
)
def test_an_invalid_goal_is_refused(goal):
    with pytest.raises(ParameterError, match="goal"):
        Goal.of(goal)


def test_counts_equal_their_definition():
    random = np.random.default_rng(1)
    same, weights, scores = random.random(40) < 0.5, random.random(40) * 9, random.random(40)
    found = labels_of(same, weights).counts(scores, GRID)
    for place, threshold in enumerate(GRID):
        matches = scores >= threshold - 1e-9
        true, false = weights[matches & same].sum(), weights[matches & ~same].sum()
        missed = weights[~matches & same].sum()
        assert found.true[place] == pytest.approx(true)
        assert found.precision[place] == pytest.approx(true / (true + false) if true + false else 1)
        assert found.recall[place] == pytest.approx(true / (true + missed) if true + missed else 1)
        assert found.f1[place] == pytest.approx(2 * true / (2 * true + false + missed))


def test_counts_of_several_variants_are_those_of_each():
    random = np.random.default_rng(5)
    labels, rows = labels_of(random.random(30) < 0.5, random.random(30)), random.random((4, 30)).round(2)
    found = labels.counts(rows, GRID)
    for row, scores in enumerate(rows):
        one = labels.counts(scores, GRID)
        for name in ("true", "false", "missed", "f1"):
            assert getattr(found, name)[row].tolist() == pytest.approx(getattr(one, name).tolist())


def test_the_best_variant_is_chosen_and_the_middle_one_of_equally_good_ones():
    same = np.tile([True, False], 30)
    good, bad = np.where(same, 0.8, 0.3), np.full(60, 0.5)
    for rows, variant in (([bad, good, good, good], 2), ([good, bad], 0), ([bad, good], 1), ([bad] * 5, 2)):
        assert chosen(np.stack(rows), labels_of(same), Goal("f1")).variant == variant
    assert (
        chosen(np.stack([bad, good]), labels_of(same), Goal("f1")).decides(np.stack([bad, good])).tolist()
        == same.tolist()
    )


def varied(choice):
    return {**settings(choice), "variant": choice.variant}


@pytest.mark.parametrize(("gained", "is_chosen"), [(0, False), (1, False), (12, True)])
def test_a_rule_with_variants_must_be_clearly_better(gained, is_chosen):
    """Without variants, some pairs that are not the same have the scores of those that are."""
    same = np.tile([True, False], 40)
    plain = np.where(same, 0.8, 0.2)
    plain[1 : 2 * gained : 2] = 0.9
    rows = np.stack([plain, np.where(same, 0.8, 0.2)])
    rules = [("plain", settings), ("varied", varied)]
    found = tuned(rules, [plain, rows], labels_of(same))
    assert found.chosen.name == ("varied" if is_chosen else "plain")
    assert (len(found.rules), found.keeps_default) == ((2, False) if is_chosen else (3, True))
    if is_chosen:
        assert found.chosen.settings["variant"] == 1
        assert found.expected.f1.value > found.rules[1].shares.f1.value
        assert max(found.f1) == 1.0  # the curve is that of the variant


def test_a_threshold_by_which_many_random_pairs_match_is_only_chosen_if_there_is_no_other():
    """The labels allow any threshold from 0.3 on; random pairs have scores of all sizes, or those of copies."""
    same = np.tile([True, False], 40)
    weights = np.where(same, 1.0, 1e6)  # of random pairs, at most one of a hundred should match
    scores = np.where(same, 1.0, 0.25)
    spread, near = np.linspace(0, 0.7, 71), np.full(71, 1.0)
    rules = [("first", settings), ("second", settings)]

    def tuned_by(*random):
        every = [np.append(scores, one) for one in random]
        return tuned(rules, every, labels_of(same, weights))

    found = tuned_by(spread, spread)
    assert (found.chosen.name, found.chosen.unlabelled, found.indiscriminate) == ("first", 0.0, False)
    assert 0.8 < found.chosen.threshold < 0.9
    found = tuned_by(near, spread)
    assert (found.chosen.name, found.rules[1].name, found.rules[1].unlabelled) == ("second", "first", 1.0)
    found = tuned_by(near, near)
    assert (found.chosen.name, found.indiscriminate) == ("first", True)
    assert found.chosen.threshold == 0.6  # the default one


def test_a_rule_with_variants_is_chosen_if_all_others_match_many_random_pairs():
    same = np.tile([True, False], 40)
    scores, weights = np.where(same, 1.0, 0.25), np.where(same, 1.0, 1e6)
    found = tuned(
        [("plain", settings), ("varied", varied)],
        [np.append(scores, np.ones(50)), np.stack([np.append(scores, np.full(50, one)) for one in (1, 0)])],
        labels_of(same, weights),
    )
    assert (found.chosen.name, found.chosen.settings["variant"], found.indiscriminate) == ("varied", 1, False)


def test_one_heavy_pair_proves_nothing():
    same = np.tile([True, False], 40)
    plain = np.where(same, 0.8, 0.2)
    plain[1] = 0.9
    weights = np.ones(80)
    weights[1] = 50
    rows = np.stack([plain, np.where(same, 0.8, 0.2)])
    rules = [("plain", settings), ("varied", varied)]
    found = tuned(rules, [plain, rows], labels_of(same, weights))
    assert found.chosen.name == "plain"


def test_the_threshold_is_in_the_middle_of_those_that_separate_the_labels():
    scores = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    assert threshold_of(scores, labels_of(scores > 0.5), Goal("f1")) == pytest.approx(0.5, abs=0.02)


def test_a_goal_may_be_in_percent():
    assert Goal.of("precision >= 99.9 %") == Goal("precision", 0.999)


def test_a_goal_may_have_blanks():
    assert Goal.of(" recall >= 0.9 ") == Goal.of("recall>=0.9") == Goal("recall", 0.9)
    assert Goal.of(" f1 ") == Goal("f1")


def test_a_goal_moves_the_threshold():
    random = np.random.default_rng(2)
    scores = random.random(2_000)
    labels = labels_of(random.random(2_000) < scores)
    least, best, most = (
        threshold_of(scores, labels, Goal.of(goal)) for goal in ("recall>=0.95", "f1", "precision>=0.9")
    )
    assert least < best < most
    for goal, threshold in (("recall", least), ("precision", most)):
        found = getattr(labels.counts(scores, np.array([threshold])), goal)[0]
        assert found == pytest.approx(0.95 if goal == "recall" else 0.9, abs=0.03)


def test_weights_decide():
    """The same labels prefer to miss little, if those that are the same weigh more."""
    scores, same = np.tile([0.3, 0.5, 0.5, 0.7], 50), np.tile([False, True, False, True], 50)
    heavy = np.where(same, 10.0, 1.0)
    assert threshold_of(scores, labels_of(same, heavy), Goal("f1")) < 0.5
    assert threshold_of(scores, labels_of(same, 1 / heavy), Goal("f1")) > 0.5


def test_pairs_with_common_documents_are_one_group():
    assert groups_of([("a", "b"), ("c", "d"), ("b", "e"), ("d", "f"), ("g", "h")]).tolist() == [0, 1, 0, 1, 2]


def test_held_out_pairs_do_not_choose_their_threshold():
    """A single pair that is the same would lower the threshold to its score, if it took part."""
    scores = np.array([0.1] * 10 + [0.9] * 10 + [0.45])
    labels = labels_of([False] * 10 + [True] * 11)
    threshold = threshold_of(scores, labels, Goal("precision", 1.0))
    assert threshold < 0.45
    matched = held_out(scores[None], labels, Goal("precision", 1.0), 1)
    assert matched[:10].tolist() == [0] * 10
    assert matched[10:20].tolist() == [1] * 10


def test_the_rule_that_separates_the_labels_is_chosen():
    random = np.random.default_rng(3)
    same = random.random(200) < 0.5
    noise = random.random(200)
    good = np.where(same, 0.6, 0.2) + 0.2 * random.random(200)
    rules = [("noise", settings), ("good", settings)]
    found = tuned(rules, [noise, good], labels_of(same), unsure=3)
    assert (found.chosen.name, found.labels, found.same, found.unsure) == ("good", 200, int(same.sum()), 3)
    assert 0.4 < found.chosen.threshold < 0.6
    assert found.expected.f1.value == found.chosen.shares.f1.value == 1.0
    assert 0.95 < found.expected.f1.low < 1.0  # no doubt at all would be a lie
    assert found.rules[1].shares.f1.value < 0.9
    assert found.default.name == "noise"
    assert found.default.threshold == 0.6
    assert found.recall[0] == 1.0
    assert len(found.thresholds) == len(found.f1)


def test_of_equal_rules_the_first_one_is_chosen():
    scores = np.array([0.1, 0.2, 0.4, 0.5] * 5)
    rules = [(name, settings) for name in "abc"]
    found = tuned(rules, [scores] * 3, labels_of(scores > 0.3))
    assert [rule.name for rule in found.rules] == ["a", "b", "c"]


@pytest.mark.parametrize("goal", ["f1", "precision>=0.9", "recall>=0.9"])
def test_the_default_stays_unless_another_is_expected_to_be_better(goal):
    """No label has chosen the default, so that it is judged without a correction; every tenth label is wrong."""
    kept = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        truth = random.random(50) < 0.5
        same = truth ^ (random.random(50) < 0.1)
        scores = [np.where(truth, 0.75, 0.45) + random.normal(0, spread, 50) for spread in (0.05, 0.06, 0.07, 0.08)]
        found = tuned([(name, settings) for name in "abcd"], scores, labels_of(same), goal)
        wanted = Goal.of(goal)
        if found.keeps_default:
            kept += 1
            assert (found.chosen, found.expected) == (found.default, found.default.shares)
            assert found.precision == tuple(labels_of(same).counts(scores[0], GRID).precision.tolist())
            assert [rule.name for rule in found.rules[:2]].count("a") >= 1
        else:
            assert wanted.score_of(found.expected) > wanted.score_of(found.default.shares)
    assert kept > 0


def test_a_default_that_matches_many_random_pairs_does_not_stay():
    same = np.tile([True, False], 40)
    scores, weights = np.where(same, 0.7, 0.2), np.where(same, 1.0, 1e6)
    every = [np.append(scores, np.full(50, one)) for one in (0.65, 0)]
    rules = [("first", settings), ("second", settings)]
    found = tuned(rules, every, labels_of(same, weights))
    assert not found.keeps_default
    assert found.default.unlabelled == 1.0


def test_a_goal_that_no_rule_reaches_is_reported():
    random = np.random.default_rng(4)
    same = random.random(300) < 0.5
    found = tuned_alone(random.random(300), labels_of(same), "precision>=0.99")
    assert not found.reaches
    assert not found.certain
    assert found.expected.precision.value < 0.99


def test_a_goal_is_certain_only_if_its_interval_reaches_it():
    scores = np.array([0.1, 0.9] * 15)
    few, many = (
        tuned_alone(np.tile(scores, times), labels_of(np.tile(scores > 0.5, times)), "precision>=0.9")
        for times in (1, 20)
    )
    assert few.reaches
    assert not few.certain
    assert many.reaches
    assert many.certain


def test_labels_that_choose_among_rules_of_chance_do_not_judge_them():
    """The best of 30 rules of chance looks good on the labels that chose it, and is not."""
    random = np.random.default_rng(7)
    same = np.tile([True, False], 20)
    scores = [random.random(40) for _ in range(30)]
    found = tuned([(str(one), settings) for one in range(30)], scores, labels_of(same))
    everything = 2 / 3  # the F1 of a rule that matches all pairs
    assert found.expected.f1.value <= everything < found.chosen.shares.f1.value


@pytest.mark.parametrize("samples", [30, pytest.param(100, marks=pytest.mark.soak)])
def test_intervals_hold_the_truth(samples):
    """Of samples of 60 labels of a rule whose precision is 0.8, nine of ten intervals or more hold it."""
    held = 0
    for seed in range(samples):
        random = np.random.default_rng(seed)
        scores = np.where(random.random(60) < 0.5, 0.9, 0.1)
        same = np.where(scores > 0.5, random.random(60) < 0.8, False)
        found = tuned_alone(scores, labels_of(same), seed=seed)
        held += found.expected.precision.low <= 0.8 <= found.expected.precision.high
    assert held >= 0.9 * samples


def decided(same, matches, weights=None, doubted=None):
    """Tune with a single rule, by which these pairs match."""
    labels = labels_of(same, weights)
    if doubted is not None:
        labels = Labels(labels.same, labels.weights, labels.groups, np.array(doubted))
    return tuned_alone(np.where(matches, 0.9, 0.1), labels)


def test_with_equal_weights_intervals_are_those_of_clopper_and_pearson():
    """20 of 25 are from 0.5930 to 0.9317, 30 of 40 from 0.5880 to 0.8731 (as in R's binom.test)."""
    same, matches = (
        np.repeat([True, True, False, False], [20, 5, 10, 15]),
        np.repeat([True, False, True, False], [20, 5, 10, 15]),
    )
    for weight in (1.0, 7e6):
        shares = decided(same, matches, np.full(50, weight)).default.shares
        assert (shares.recall.low, shares.recall.high) == pytest.approx((0.5930, 0.9317), abs=0.001)
    shares = decided(same[:45], np.repeat([True, True, False], [20, 5, 20])).default.shares
    assert shares.recall.high == 1.0


@pytest.mark.parametrize("samples", [20, pytest.param(100, marks=pytest.mark.soak)])
def test_intervals_hold_if_a_few_labels_represent_most_pairs(samples):
    """Of 3,000 pairs with 5 labels, one of a hundred is the same, and not found; most samples show none."""
    number, weights = np.array([5, 20, 20]), np.array([3_000.0, 100, 100])
    held = 0
    for seed in range(samples):
        random = np.random.default_rng(seed)
        stratum = np.repeat([0, 1, 2], number)
        same = random.random(45) < np.array([0.01, 0.0, 1.0])[stratum]
        found = decided(same, stratum == 2, (weights / number)[stratum]).expected
        held += found.recall.low <= 100 / 130 <= found.recall.high
    assert held >= 0.93 * samples


def test_pairs_with_a_known_answer_prove_nothing_and_leave_no_doubt():
    same = np.tile([True, False], 20)
    heavy = np.append(np.ones(40), [1e6, 1e6])
    few = decided(same, same).expected
    many = decided(np.append(same, [False, False]), np.append(same, [False, False]), heavy, heavy == 1).expected
    assert (many.f1.low, many.recall.low) == pytest.approx((few.f1.low, few.recall.low), abs=0.02)
    doubted = decided(np.append(same, [False, False]), np.append(same, [False, False]), heavy).expected
    assert doubted.recall.low < 0.01


def with_short_pairs(random, number):
    """Pairs that are the same from a score of 0.4 on, and short pairs that are from 0.8 on; some of them weigh more.

    The rules are noisy scores. Variants of two of them raise the threshold of short pairs, more and more.
    """
    short = random.random(number) < 0.5
    score = random.random(number)
    same = score >= np.where(short, 0.8, 0.4)
    noisy = [np.clip(score + random.normal(0, spread, number), 0, 1) for spread in (0.04, 0.06, 0.08, 0.1)]
    raised = [
        np.stack([np.where(short, np.maximum(0, (own - step) / (1 - step)), own) for step in (0.25, 0.5, 0.75)])
        for own in noisy[:2]
    ]
    return [*(own[None] for own in noisy), *raised], labels_of(same, random.choice([1.0, 2.0, 5.0], number))


@pytest.mark.parametrize("samples", [20, pytest.param(60, marks=pytest.mark.soak)])
def test_intervals_hold_what_the_chosen_rule_reaches(samples):
    """Samples of 50 labels choose now this rule and now that one; 52 of 60 intervals or more hold its F1."""
    scores, labels = with_short_pairs(np.random.default_rng(1), 3_000)
    rules = [("0", settings), *((str(number), varied) for number in range(1, len(scores)))]
    held, errors, simple = 0, [], 0
    for seed in range(samples):
        drawn = np.random.default_rng([2, seed]).choice(len(labels.same), 50, replace=False)
        sample = labels_of(labels.same[drawn], labels.weights[drawn])
        found = tuned(rules, [own[:, drawn] for own in scores], sample, seed=seed)
        own = scores[int(found.chosen.name)][found.chosen.settings.get("variant", 0)]
        true = labels.counts(own, np.array([found.chosen.threshold])).f1[0]
        held += found.expected.f1.low <= true <= found.expected.f1.high
        errors.append(found.expected.f1.value - true)
        simple += len(scores[int(found.chosen.name)]) == 1
    assert held >= 52 / 60 * samples
    assert abs(np.mean(errors)) < 0.03
    assert 0 < simple < samples


def test_pairs_that_are_clearly_different_do_not_narrow_the_interval():
    same = np.tile([True, False], 15)
    scores = np.where(same, 0.8, 0.2)
    scores[[1, 4]] = 0.5
    few, many = (
        tuned_alone(np.append(scores, np.zeros(number)), labels_of([*same, *[False] * number])).expected.f1
        for number in (0, 500)
    )
    assert many.width == pytest.approx(few.width, rel=0.2)


def test_an_interval_of_labels_without_mistakes_has_an_end_by_their_number():
    """Of *n* pairs without mistakes, the share of mistakes is at most 1 - 0.025 ** (1 / *n*)."""
    for number in (20, 100):
        same = np.tile([True, False], number)
        found = tuned_alone(np.where(same, 0.8, 0.2), labels_of(same))
        assert found.expected.recall.low == pytest.approx(0.025 ** (1 / number), abs=0.1 / number)
        assert found.expected.recall.low < found.expected.f1.low < 1.0  # a missed pair is one error of two shares
        assert found.expected.recall.high == found.expected.f1.high == 1.0


@pytest.mark.parametrize("goal", ["precision>=0.99", "recall>=0.99"])
def test_a_default_just_below_the_goal_does_not_stay(goal):
    """Its share, 0.9897 or 0.9896, is 0.99 as it is shown."""
    same = np.arange(1200) < 960
    below, reaches = np.where(same, 0.95, 0.2), np.where(same, 0.95, 0.2)
    if goal.startswith("precision"):
        below[960:970] = 0.95
        reaches[:30] = 0.2
    else:
        below[:10] = 0.2
        reaches[960:990] = 0.95
    labels = labels_of(same)
    rules = [("below", settings), ("reaches", settings)]
    made = tuned(rules, [below, reaches], labels, goal)
    assert (made.chosen.name, made.reaches) == ("reaches", True)
