from audits import made

from neardup.evaluation.audit import Band
from neardup.evaluation.intervals import share
from neardup.interfaces.pages.audit import audit_page, bands_svg


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
