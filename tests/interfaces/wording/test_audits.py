from dataclasses import replace

import pytest
from audits import MISSED, made

from neardup.evaluation.intervals import share
from neardup.interfaces.wording.audits import audit_lines, band_rows, missed_lines, table_lines

PRECISION = (
    "precision 100 % (94.49 % to 100 %) of the dropped documents have a kept document"
    " with a resemblance of at least 0.6"
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
        "precision 0 % of the dropped documents have a kept document with a resemblance of at least 0.6",
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
    from neardup.interfaces.pages.audit import audit_page

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
