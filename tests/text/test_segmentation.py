# ruff: noqa: RUF001 - letters that look like others are the point
import itertools

import numpy as np
import pytest
from batches import text_batch

from neardup.model.arrays import TextBatch
from neardup.text.segmentation import ABBREVIATIONS, BEFORE_NUMBERS, ENDINGS, abbreviations
from neardup.text.tokenizer import segments_of


def parts(text, *, sentences):
    batch = TextBatch(*text_batch([text]))
    cuts = segments_of(batch, sentences=sentences)[0].tolist()
    return [batch.data[begin:end].tobytes().decode().strip() for begin, end in itertools.pairwise(cuts)]


@pytest.mark.parametrize(
    "expected",
    [
        ["One sentence."],
        ["One.", "Two."],
        ["One!", "Two?", "Three"],
        ["Really?!", "Yes."],
        ["No!!!", "Yes..."],
        # Abbreviations and initials.
        ["Dr. Watson met Mr. Holmes.", "They left."],
        ["It is J. R. R. Tolkien.", "He wrote."],
        ["The U.S. Senate met.", "It voted."],
        ["Fruit, e.g. Apples, is good.", "Eat it."],
        ["Apples, pears, etc. Are good.", "Eat them."],
        ["See St. Paul.", "Go."],
        ["DR. WATSON SPOKE.", "THEY LEFT."],
        ["Das sind z.B. Äpfel usw. Oder nicht.", "Ja."],
        # Words that only look like abbreviations.
        ["Aquí está.", "Luego sale."],
        ["I can't.", "You can."],
        ["I can’t.", "You can."],
        ["A foodr.", "Then."],
        # Numbers.
        ["It costs 3.14 or 1.000,50 in all.", "Pay."],
        ["See No. 5 and fig. 3 on p. 12.", "Then stop."],
        ["He said no.", "Then he left."],
        ["It was chapter 5.", "Then came 6."],
        ["In 1999.", "2000 came."],
        # Lower case begins a sentence, too.
        ["iPhone is out.", "iPad too."],
        ["the ferry left.", "nobody was hurt."],
        ["He asked why?", "and then left."],
        ["Wait...", "what is it?", "Nothing."],
        ["Wait…", "what is it?", "Nothing…", "Or not."],
        # Quotes and brackets.
        ['He said "Go."', "She went."],
        ["He said “Go!”", "“Why?”", "She went."],
        ["(It rained.)", "Then it snowed."],
        ["[It rained.]", "{Then.}", "»So.«"],
        ["“Go!”", "he said.", "She went."],
        # Names with full stops inside.
        ["Visit www.example.com for more.", "Or https://example.org/a.b?c=d.E now."],
        ["Python3.11 is out.", "Use it."],
        ["See EXAMPLE.COM, en.wikipedia.org or a_file.txt.", "Write to j.smith@mail.example.org now."],
        ["At 5 p.m. on Monday, the Ph.D. thesis of J.R.R. Tolkien."],
        ["Stufe ٣.", "Dann ٤."],
        ["Die Bun\u00addes\u00adre\u00adgie\u00adrung.", "Sie\u200b will."],
        # Scripts that put no space behind a full stop.
        ["我爱你。", "你呢？", "好！", "再见"],
        ["他说：「好。」", "然后走了。"],
        ["यह है।", "वह है।"],
        ["هل هذا؟", "نعم۔", "لا"],
    ],
    ids=" | ".join,
)
def test_texts_are_cut_into_sentences(expected):
    between = "" if any(mark in "".join(expected) for mark in "。？」") else " "
    assert parts(between.join(expected), sentences=True) == expected
    assert parts("\n".join(expected), sentences=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a heading\n\nA paragraph", ["a heading", "A paragraph"]),
        ("a heading\n\nand more", ["a heading", "and more"]),
        ("a heading\n \t\nand more", ["a heading", "and more"]),
        ("a heading\r\n\r\nand more", ["a heading", "and more"]),
        ("a heading\r\rand more", ["a heading", "and more"]),
        ("a heading\u2029and more", ["a heading", "and more"]),
        ("a line\ngoes on", ["a line\ngoes on"]),
        ("a line\r\ngoes on", ["a line\r\ngoes on"]),
        ("a line\u2028goes on", ["a line\u2028goes on"]),
        ("Dr.\nWatson", ["Dr.\nWatson"]),
        ("Dr.\n\nWatson", ["Dr.", "Watson"]),
        ("why?\nbecause", ["why?", "because"]),
        ("The end.Begin again", ["The end.", "Begin again"]),
        ("the end.begin again", ["the end.", "begin again"]),
        ("(The end.)Begin, again!now", ["(The end.)", "Begin, again!", "now"]),
        (
            "It was 2020.They left!Nobody stayed?It's true",
            ["It was 2020.", "They left!", "Nobody stayed?", "It's true"],
        ),
        ("1.Then 2.The", ["1.Then 2.The"]),
        ("object.method() and Dr.Smith", ["object.method() and Dr.Smith"]),
        ("  Spaces.   Around.  ", ["Spaces.", "Around."]),
        ("End.\u3000Begin.\xa0Again.", ["End.", "Begin.", "Again."]),
        ("", []),
        ("...", ["..."]),
    ],
    ids=repr,
)
def test_blank_lines_end_sentences_and_line_breaks_do_not(text, expected):
    assert parts(text, sentences=True) == expected


@pytest.mark.parametrize(
    "ending", ["\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029"], ids=lambda ending: ascii(ending).strip("'")
)
def test_texts_are_cut_into_lines_at_every_line_end(ending):
    text = ending.join(["one", "Two. Three", "", "four", ""])
    found = [part for part in parts(text, sentences=False) if part.strip()]
    assert found == ["one", "Two. Three", "four"]


def test_the_lists_are_packed_first_letter_lowest():
    always, before_numbers, endings = abbreviations()
    assert always.dtype == before_numbers.dtype == np.uint64
    unpacked = [int(word).to_bytes(8, "little").rstrip(b"\0").decode() for word in always]
    assert unpacked == ABBREVIATIONS.split()
    assert len(before_numbers) == len(BEFORE_NUMBERS.split())
    assert len(endings) == len(ENDINGS.split())


@pytest.mark.parametrize("words", [ABBREVIATIONS, BEFORE_NUMBERS, ENDINGS], ids=["always", "before numbers", "endings"])
def test_the_lists_hold_what_the_kernel_can_find(words):
    for word in words.split():
        assert word.isascii()
        assert word.isalpha()
        assert word.islower()
        assert 1 <= len(word) <= 8
    assert len({*words.split()}) == len(words.split())
