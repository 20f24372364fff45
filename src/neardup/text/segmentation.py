"""Which words with a full stop do not end a sentence."""

from functools import cache
from typing import NamedTuple

import numpy as np

from neardup.model.arrays import Words

ABBREVIATIONS = (
    "adj adm al approx apr aug ave blvd brig bros bzw ca capt cf cmdr co col corp dec dept dipl dr ed eds est etc evtl "
    "feb fr gen ggf gov hon inc ing insp jan jr lt ltd maj messrs mlle mme mr mrs ms mt nov oct op pres prof rep rev "
    "sen sep sept sgt sog sr sra st str tel univ usw vgl viz vs"
)
BEFORE_NUMBERS = "art bd ch chap eq fig figs nr no nos num p par pp sec tab vol zb"


class Abbreviations(NamedTuple):
    """Both lists packed for the kernel: the first letter in the lowest byte."""

    always: Words
    before_numbers: Words


@cache
def abbreviations() -> Abbreviations:
    """Pack the lists once."""
    return Abbreviations(_packed(ABBREVIATIONS), _packed(BEFORE_NUMBERS))


def _packed(words: str) -> Words:
    return np.array([int.from_bytes(word.encode(), "little") for word in words.split()], np.uint64)
