from dataclasses import replace

from audits import made

from neardup.evaluation.audit import Band
from neardup.evaluation.intervals import Estimated, share
from neardup.evaluation.tuning import GRID, Shares, TunedRule, Tuning
from neardup.interfaces.pages.estimates import audit_page, bands_svg, tuning_page, tuning_svg


def test_bars_have_intervals_and_predictions():
    drawn = bands_svg(made())
    assert drawn.count('class="bar"') == 2
    assert drawn.count('class="c1"') == 2
    assert drawn.count('class="c2"') == 1  # one band has no law
    assert "0.6 to 0.7" in drawn


def test_a_recall_of_nothing_is_drawn_as_well():
    band = Band(0.6, 0.7, share(0, 10, 100), 0.0)
    assert 'height="0.0"' in bands_svg(made(bands=(band,)))


def test_a_certain_recall_of_everything_is_drawn_as_well():
    whole = share(10, 10, 10)
    assert (whole.low, whole.high) == (1.0, 1.0)
    assert bands_svg(made(bands=(Band(0.6, 0.7, whole, 1.0),))).count('class="bar"') == 1


def test_the_page_needs_no_script():
    page = audit_page(made())
    assert b"<script" not in page
    assert b"Recall by band" in page


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
