from dataclasses import replace

import pytest
from audits import MISSED, made

from neardup.evaluation.intervals import Estimated, share
from neardup.evaluation.tuning import Shares, TunedRule, Tuning
from neardup.interfaces.wording.estimates import (
    audit_lines,
    band_rows,
    missed_lines,
    rule_rows,
    table_lines,
    tuning_lines,
)

PRECISION = (
    "precision 100 % (94.49 % to 100 %): 49 of 49 dropped documents match a kept document, resemblance at least 0.6"
)
BELOW = (
    "just below the threshold: 9.8 % (4 % to 19.8 %) of the kept documents have a better-ranked kept document"
    " with a resemblance at most 0.1 below it"
)


def test_an_audit_in_words():
    assert audit_lines(made(needed=2_000)) == [
        "100 of 1,000 documents drawn and compared with all kept documents",
        "recall 98 % (91 % to 99.8 %): 49 of 50 duplicates dropped",
        "expected by the law of minhash: 90 %",
        PRECISION,
        "missed 2 % (0.2 % to 9 %) of the duplicates: too many documents share their keys",
        BELOW,
        "in parentheses: intervals with a confidence of 95 %",
        "for an interval of the requested width, about 2,000 documents must be drawn",
    ]
    assert not any("parentheses" in line for line in audit_lines(made(recall=share(49, 50, 50))))


def test_the_threshold_of_short_documents_in_words():
    lines = audit_lines(made(short=30, short_threshold=0.9))
    assert f"{PRECISION}, or 0.9 if one of the two has fewer than 30 shingles" in lines


def test_an_audit_without_duplicates_in_words():
    none = share(0, 0, 0)
    found = made(recall=none, precision=none, below=none, predicted=None, reasons={}, bands=(), missed=())
    assert audit_lines(found)[1:] == ["recall unknown: no document of the sample is a duplicate"]
    wrong = replace(found, precision=share(0, 44, 44), below=share(19, 76, 76))
    assert audit_lines(wrong)[1:] == [
        "recall unknown: no document of the sample is a duplicate",
        "precision 0 %: 0 of 44 dropped documents match a kept document, resemblance at least 0.6",
        (
            "just below the threshold: 25 % of the kept documents have a better-ranked kept document"
            " with a resemblance at most 0.1 below it"
        ),
    ]
    assert table_lines(band_rows(found)) == missed_lines(found) == []


def test_the_table_of_bands_is_aligned():
    lines = table_lines(band_rows(made()))
    assert lines[0] == ""
    assert lines[1].split() == ["resemblance", "duplicates", "dropped", "recall", "expected"]
    ends = [line.index(word) + len(word) for line, word in zip(lines[1:], ("recall", ")", ")"), strict=True)]
    assert len({*ends}) == 1
    assert band_rows(made(predicted=None))[0][-1] == ""


def test_missed_documents_are_named_shortened():
    lines = missed_lines(made())
    assert lines[1] == "1 missed document:"
    assert lines[2].startswith("  0.99 b")
    assert lines[2].endswith(" is kept next to a: too many documents share their keys")
    assert len(lines[2]) < 220


@pytest.mark.parametrize("measure", ["resemblance", "overlap"])
def test_the_page_has_everything(measure):
    from neardup.interfaces.pages.estimates import audit_page

    page = audit_page(made(measure=measure)).decode()
    assert "98 % (91 % to 99.8 %)" in page
    assert "<two>" not in page
    assert "&lt;two&gt;" in page
    assert "\x1b" not in page
    assert f"By {measure}" in page
    assert page == audit_page(made(measure=measure)).decode()
    assert b"Look at these first" not in audit_page(made(missed=(), bands=(), recall=share(0, 0, 0)))


def test_missed_documents_that_are_not_listed_are_counted():
    several = made(recall=share(38, 50, 500), missed=(MISSED,) * 12)
    assert missed_lines(several)[1] == "12 missed documents; the 10 closest ones:"
    assert len(missed_lines(several)) == 12
    assert missed_lines(made(recall=share(40, 50, 500), missed=(MISSED,) * 10))[1].endswith(
        "10 missed documents, the closest ones first:"
    )


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
