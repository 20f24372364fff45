from dataclasses import replace

from neardup.evaluation.intervals import Estimated
from neardup.evaluation.tuning import GRID, Shares, TunedRule, Tuning
from neardup.interfaces.pages.tuning import tuning_page, tuning_svg

SHARE = Estimated(value=0.95, low=0.9, high=1.0)
SHARES = Shares(precision=SHARE, recall=SHARE, f1=SHARE)
RULE = TunedRule(name="resemblance <of> words", settings={}, threshold=0.42, shares=SHARES)
CURVE = tuple((1 - GRID).tolist())
TUNING = Tuning(
    goal="f1",
    labels=50,
    same=20,
    unsure=0,
    rules=(RULE,),
    expected=SHARES,
    reaches=True,
    certain=True,
    default=RULE,
    needed=50,
    thresholds=tuple(GRID.tolist()),
    precision=CURVE,
    recall=CURVE,
    f1=CURVE,
)


def test_the_curve_has_the_chosen_point():
    drawn = tuning_svg(TUNING)
    assert all(name in drawn for name in ("precision", "recall", "threshold 0.42"))
    assert drawn != tuning_svg(replace(TUNING, rules=(replace(RULE, threshold=0.6),)))


def test_the_page_shows_the_settings_and_needs_no_script():
    page = tuning_page(TUNING, "[policy]\nthreshold = 0.42\n").decode()
    assert "[policy]\nthreshold = 0.42" in page
    assert "resemblance &lt;of&gt; words" in page
    assert "<script" not in page
