"""Settings by name: what they make, what replaces them, and what they do not go with."""

import pytest

import neardup
from neardup import Analysis, MinHash
from neardup.errors import ParameterError
from neardup.model.presets import PRESETS

PROMPT = "Answer briefly and politely in the language of the user and never use profanity when you talk to customers "
CHATS = [
    PROMPT + question for question in ("How old is the sun in years?", "Sing a song of the sea", "Why is ice cold?")
]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_makes_a_scheme(name):
    made = neardup.preset(name)
    assert isinstance(made, MinHash)
    assert neardup.preset(name, threshold=0.7).threshold == 0.7
    assert neardup.preset(name, seed=3).recipe != made.recipe
    assert len(PRESETS[name].about) < 90


def test_settings_of_analysis_reach_it():
    assert neardup.preset("short").analysis == Analysis(unit="letter")
    assert neardup.preset("short", analysis=Analysis()).analysis == Analysis()


def test_dedup_takes_a_preset():
    kept = {name: len(neardup.dedup(CHATS, preset=name).kept) for name in PRESETS}
    assert kept == {"rewrites": 1, "copies": 3, "strict": 3, "code": 3, "short": 1}
    by_name = neardup.dedup(CHATS, preset="copies")
    assert by_name.decisions.equals(neardup.dedup(CHATS, scheme=neardup.preset("copies")).decisions)
    assert by_name.summary.common is None
    assert neardup.dedup(CHATS, preset="copies", threshold=0.3).summary.threshold == 0.3
    assert neardup.dedup(CHATS, preset="code").summary.common.share == PRESETS["code"].ignore_common
    assert neardup.dedup(CHATS, preset="code", ignore_common=0.9).summary.common.share == 0.9


@pytest.mark.parametrize("name", ["Code", "", None, 1, ["code"]], ids=repr)
def test_other_names_are_refused(name):
    with pytest.raises(ParameterError, match="rewrites, copies, strict, code, short") as caught:
        neardup.preset(name)
    assert caught.value.name == "preset"


def test_a_preset_chooses_the_scheme():
    with pytest.raises(ParameterError, match="cannot be used with scheme: a preset chooses"):
        neardup.dedup(CHATS, preset="code", scheme=MinHash())
