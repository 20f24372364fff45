from dataclasses import replace

from neardup.evaluation.intervals import Estimated
from neardup.evaluation.tuning import Shares, TunedRule, Tuning
from neardup.interfaces.wording.tunings import rule_rows, tuning_lines

SHARE = Estimated(value=0.95, low=0.9, high=0.981)
SHARES = Shares(precision=SHARE, recall=SHARE, f1=SHARE)
RULE = TunedRule(name="resemblance", settings={"threshold": 0.4}, threshold=0.4, shares=SHARES)
FAR = TunedRule(name="prints", settings={"distance": 9, "verify": "estimate"}, threshold=0.86, shares=SHARES)
TUNING = Tuning(
    goal="f1",
    labels=50,
    same=20,
    unsure=1,
    rules=(RULE, FAR),
    expected=SHARES,
    reaches=True,
    certain=True,
    default=replace(RULE, threshold=0.6),
    needed=312,
    thresholds=(0.1, 0.5),
    precision=(0.5, 1.0),
    recall=(1.0, 0.5),
    f1=(0.6, 0.6),
)


def test_the_rule_is_described_with_its_intervals():
    lines = tuning_lines(TUNING)
    assert lines[0] == "50 labelled pairs, 20 of them the same; 1 unsure one left out"
    assert lines[1] == "resemblance, threshold 0.4"
    assert lines[2] == "F1 95 % (90 % to 98.1 %), expected on other labels"
    assert lines[-1] == "about 312 labels would narrow the interval of F1 to 2 % on each side"


def test_a_rule_for_short_documents_has_two_thresholds():
    settings = {"threshold": 0.4, "short": 1_200, "short_threshold": 0.85}
    lines = tuning_lines(replace(TUNING, rules=(replace(RULE, settings=settings),)))
    assert lines[1] == "resemblance, threshold 0.4, or 0.85 below 1,200 shingles"


def test_by_overlap_the_whole_is_to_be_kept():
    line = "if a part of a document is first, this rule keeps the part: --keep longest keeps the document"
    assert line in tuning_lines(replace(TUNING, rules=(replace(RULE, settings={"measure": "overlap"}),)))
    assert line not in tuning_lines(TUNING)


def test_what_is_lacking_is_reported():
    lines = tuning_lines(replace(TUNING, goal="recall>=0.99", labels=9, reaches=False, certain=False))
    assert "on other labels, no rule is expected to reach recall>=0.99; the nearest is:" in lines
    assert "fewer than 20 labels show little: label more pairs" in lines
    lines = tuning_lines(replace(TUNING, goal="recall>=0.95", certain=False))
    assert lines[-1] == "about 312 labels would narrow the interval of recall to 2 % on each side"
    assert "the labels do not yet prove recall>=0.95: its interval begins below that" in lines


def test_an_interval_that_is_too_wide_is_reported_with_what_to_do():
    wide = replace(SHARES, f1=Estimated(value=0.95, low=0.38, high=0.98))
    lines = tuning_lines(replace(TUNING, expected=wide))
    assert lines[-1] == "the interval of F1 is too wide to be of use: label at least 200 pairs in all"
    assert tuning_lines(replace(TUNING, expected=wide, goal="recall>=0.9"))[-1].startswith("about 312 labels")


def test_a_rule_that_matches_random_pairs_is_reported():
    def lines_of(unlabelled, same):
        first, *others = TUNING.rules
        rules = replace(first, unlabelled=unlabelled), *others
        return tuning_lines(replace(TUNING, rules=rules, expected_same=same))

    warning = "of random pairs without a label, 5 % match by this rule, and many by every other one"
    assert any(line.startswith(warning) for line in lines_of(0.05, 0.02))
    for unlabelled, same in ((0.05, 0.03), (0.01, 0.0)):
        lines = lines_of(unlabelled, same)
        assert not any(line.startswith("of random pairs") for line in lines)


def test_rules_are_listed_and_the_default_is_last():
    rows = rule_rows(TUNING)
    assert [row[:2] for row in rows[1:]] == [
        ("resemblance", "threshold 0.4"),
        ("prints", "distance 9"),
        ("resemblance, by default", "threshold 0.6"),
    ]
