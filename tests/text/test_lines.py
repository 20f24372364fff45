"""Lines of texts: their hashes are the features of lines, and texts without some of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.text.lines import LINES, Lines

TEXTS = st.lists(st.text(st.sampled_from("aB é'-\n\r\u2028"), max_size=20), max_size=5)


@given(TEXTS)
def test_the_hashes_are_the_features_of_lines(texts):
    lines = Lines.of(texts)
    expected = LINES.features(texts)
    assert lines.hashes[lines.words > 0].tolist() == expected.values.tolist()
    assert np.array_equal(lines.hashes > 0, lines.words > 0)
    assert len(lines) == len(texts)


@given(TEXTS)
def test_without_flags_texts_stay(texts):
    lines = Lines.of(texts)
    assert lines.others(np.zeros(len(lines.hashes), np.bool_)) == texts
    assert lines.words_left(np.ones(len(lines.hashes), np.bool_)).tolist() == [0] * len(texts)


def test_listed_lines_are_left_out():
    texts = ["HOME, news\nthe bees\n\n", "the bees\nhome NEWS!\nleft the harbour", "home news"]
    lines = Lines.of(texts)
    terms = LINES.features(["home news"]).values
    flags = lines.listed(np.array([0, 0, -1]), terms, np.array([0, 1]))
    assert lines.others(flags) == ["the bees\n\n", "the bees\nleft the harbour", "home news"]
    assert lines.words_left(flags).tolist() == [2, 5, 2]
    assert lines.line(0) == "HOME, news"


def noticed(texts):
    lines = Lines.of(texts)
    return lines.others(lines.notices())


def test_copyright_notices_are_flagged():
    others = "".join(f"line {number}\n" for number in range(8))
    assert noticed([f"a\n© 2005 The Bees\n{others}", others, "", "©"]) == [f"a\n{others}", others, "", ""]


def test_what_follows_a_notice_in_the_last_quarter_is_flagged():
    six = "".join(f"line {number}\n" for number in range(6))
    assert noticed([f"{six}© 2005\n\nAll rights reserved.\n"]) == [six]
    assert noticed([f"{six}© 2005\none\ntwo\n"]) == [f"{six}one\ntwo\n"]  # it is the third of nine from the end


@given(st.lists(st.text(st.sampled_from("ab ©Â\u00a8\n"), max_size=30), max_size=5))
def test_notices_follow_their_definition(texts):
    expected = []
    for text in texts:
        lines = text.split("\n")
        worded = [number for number, line in enumerate(lines) if set(line) & set("abÂ")]
        signed = [number for number, line in enumerate(lines) if "©" in line]
        ends = [one for one in signed if 4 * sum(number >= one for number in worded) <= len(worded)]
        left = [line for number, line in enumerate(lines) if number not in signed and not (ends and number > ends[0])]
        expected.append([line for line in left if line])
    assert [[line for line in text.split("\n") if line] for text in noticed(texts)] == expected
