"""Abbreviations, after which a full stop does not end a sentence, and words that do not begin one."""

from functools import cache

import numpy as np

from neardup.model.arrays import Words

ABBREVIATIONS = (
    "adj adm al approx apr aug ave blvd brig bros bzw ca capt cf cmdr co col corp dec dept dipl dr ed eds est etc evtl "
    "feb fr gen ggf gov hon inc ing insp jan jr lt ltd maj messrs mlle mme mr mrs ms mt nov oct op pres prof rep rev "
    "sen sep sept sgt sog sr sra st str tel univ usw vgl viz vs"
)
BEFORE_NUMBERS = "art bd ch chap eq fig figs nr no nos num p par pp sec tab vol zb"

# Endings of names of sites and files, except words that often begin sentences: "it", "in", "at", "es".
ENDINGS = (
    "ac ai app asp aspx au bat biz blog bmp br ca cfg ch cloud cn co com conf cpp css csv cz de dev dk doc docx edu "
    "eu exe fi fr gif gov gr gz htm html hu ie info ini int io jar java jp jpeg jpg js json jsp kr log ltd md mil "
    "mkv mov mp mx net nl nz online org pdf php pl png ppt pptx pt py rar rb rs rtf ru sh sql svg tar tech tex tgz "
    "ts tsv tv tw txt ua uk wav xls xlsx xml xyz yaml yml za zip"
)


@cache
def abbreviations() -> tuple[Words, ...]:
    """Pack the three lists for the kernel, once: the first letter of a word is in the lowest byte."""
    lists = (words.split() for words in (ABBREVIATIONS, BEFORE_NUMBERS, ENDINGS))
    return tuple(np.array([int.from_bytes(word.encode(), "little") for word in words], np.uint64) for words in lists)
