"""Settings by name: what they make, what replaces them, and what they do not go with."""

import json
from pathlib import Path

import numpy as np
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


def scanned(text):
    """Return a text with one of thirty letters wrong."""
    chance = np.random.default_rng(len(text))
    return "".join(chance.choice([*"ceilmno"]) if one != " " and chance.random() < 1 / 30 else one for one in text)


def subtitled(text):
    words = text.split()
    cues = [" ".join(words[begin : begin + 8]) for begin in range(0, len(words), 8)]
    return "\n".join(f"{n}\n00:00:{n:02},040 --> 00:00:{n + 3:02},900\n{cue}\n" for n, cue in enumerate(cues))


@pytest.mark.parametrize("changed", [scanned, subtitled])
def test_copies_with_wrong_letters_or_with_times_are_found_by_letters(changed):
    samples = (Path(neardup.__file__).with_name("samples") / "collection.jsonl").read_bytes().splitlines()
    texts = [text for line in samples if len({*(text := json.loads(line).get("text") or "").split()}) > 60]
    texts = neardup.dedup(texts, threshold=0.2).table()[:30]
    both = texts + [changed(text) for text in texts]
    assert len(neardup.dedup(both).kept) > 50
    assert neardup.dedup(both, preset="short").kept.tolist() == [*range(30)]


def test_of_a_thread_of_mails_the_one_that_quotes_the_others_is_kept():
    thread = ["How many pallets are in the warehouse by the harbour, and who has the keys of it since Monday?"]
    for answer in ("Nine. Ann", "Thank you; I will call Ann about the keys tomorrow, before the lorry leaves."):
        thread.append(f"{answer}\n\n> {thread[-1]}")
    assert 1 not in neardup.dedup(thread).kept  # so its answer is lost, if no mail quotes it
    assert neardup.dedup(thread, measure="containment", keep="longest").kept.tolist() == [2]


@pytest.mark.parametrize("name", ["Code", "", None, 1, ["code"]], ids=repr)
def test_other_names_are_refused(name):
    with pytest.raises(ParameterError, match="rewrites, copies, strict, code, short") as caught:
        neardup.preset(name)
    assert caught.value.name == "preset"


def test_a_preset_chooses_the_scheme():
    with pytest.raises(ParameterError, match="cannot be used with scheme: a preset chooses"):
        neardup.dedup(CHATS, preset="code", scheme=MinHash())
