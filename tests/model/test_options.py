from dataclasses import fields

from neardup.model.options import ANALYSIS, SHINGLE
from neardup.text.analysis import Analysis


def test_options_of_the_analysis_are_its_parameters():
    assert {option.name for option in ANALYSIS} < {part.name for part in fields(Analysis)}


def test_a_default_is_replaced():
    assert SHINGLE.by_default("3") == SHINGLE._replace(default="3")
    assert SHINGLE.default == ""
