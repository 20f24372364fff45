"""The rule for symbols, clause by clause; ``test_folding`` holds the kernel against its definition."""

from itertools import cycle, product

import pytest
from oracles import words
from test_folding import folded, split

from neardup.kernels.compile import ASCII_SYMBOLS

BEHIND_A_BLOCK = " " + "x" * 63  # the kernel looks at whole blocks, so text must follow


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("3 + 4", "3 + 4"),
        ("3 - 4", "3 - 4"),
        ("3-4", "3 4"),
        ("well-known", "well known"),
        ("-5 degrees", "- 5 degrees"),
        ("(-x)", "- x"),
        ("C++ and C#", "c + + and c #"),
        ("100 % of $5", "100 % of $ 5"),
        ("- a bullet", "a bullet"),
        ("# a heading", "a heading"),
        ("> > quoted", "quoted"),
        ("a ---- b", "a b"),
        ("*emphasis* here", "emphasis here"),
        ("It was *great*. We *agree*, **thank** you: **Note**: (*all*)", "it was great we agree thank you note * all"),
        ("\u201c*So*\u201d, he \u2013*she*\u2013 said: **b**\u2019s", "so he she said b s"),
        (
            '**\u00bf Qu\u00e9?** *\u201eZeit\u201c* *...and* **.NET**, *"Hi," she said.*',
            "qu\u00e9 zeit and net hi she said",
        ),
        ("COUNT(*), f(*, b), /*.o", "count * f * b * o"),
        ("I *never*\" he, **Anna**'s", "i never he anna s"),
        ("a word*, and another**; a note*", "a word and another a note"),
        ("2 * 3", "2 * 3"),
        ("a*b, 2*.5 and (x)*(y)", "a * b 2 * 5 and x * y"),
        ('f(*args) and "="*80', "f * args and = * 80"),
        ("|---|:--:|", ""),
        ("a|b and a|-b", "a | b and a | - b"),
        ("and/or", "and or"),
        ("1/2", "1 / 2"),
        ("Home | Shop", "home shop"),
        ("a || b", "a | | b"),
        ("!ready", "! ready"),
        ("ready!", "ready"),
        ("a != b", "a ! = b"),
        ("![a view](b.png), [![c](d)](e), wow ![", "a view b png c d e wow"),
        (";-D a;-b (-b) [-b]", "d a b - b - b"),
        ("see https://a.example/b?c=1.", "see https://a.example/b?c=1"),
        ("good \U0001f44d", "good \U0001f44d \U0001f44d"),
        ("good \u2b50 or \u23f3", "good \u2b50 \u2b50 or \u23f3 \u23f3"),
        ("3 *\ufffd4", "3 * 4"),
        ("\u6c14\u6e29-15\u5ea6, \u7b2c3-5\u5929", "\u6c14 \u6e29 - 15 \u5ea6 \u7b2c 3 5 \u5929"),
        (
            "\u6c14\u6e29\uff0d15\u2103, \u5317\u4eac\uff0d\u4e0a\u6d77",
            "\u6c14 \u6e29 - 15 \u2103 \u5317 \u4eac \u4e0a \u6d77",
        ),
        (
            "\uff13\uff0a\uff14, \uff13\uff0f\uff14 \u6771\uff0f\u5927",
            "\uff13 \uff0a \uff14 \uff13 \uff0f \uff14 \u6771 \u5927",
        ),
        ("10\uff5e12, 10\u301c12, 10~12, \uc2dc~\uc624, ~x", "10 12 10 12 10 12 \uc2dc \uc624 ~ x"),
        ("9\u6642-17\u6642, 10%-15%, 5\u2103-9, 20\u0e3f-30", "9 \u6642 17 \u6642 10 % 15 % 5 \u2103 9 20 \u0e3f 30"),
        (
            "\u2264-5, 3\u00d7-2, \uffe5-5, $-5, \uff0810\uff09-5, 5\u3000-\u30003",
            "\u2264 - 5 3 \u00d7 - 2 \uffe5 - 5 $ - 5 10 5 5 - 3",
        ),
        ("\uff08a+b\uff09*c", "a + b * c"),
        ("balance -\u0e3f500, -\u221a5", "balance - \u0e3f 500 - \u221a 5"),
        (
            "\u9019**\u91cd\u9ede**\u5167, **\uace0\uc131**\uc744, \u9577*\u5bec, x**2",
            "\u9019 \u91cd \u9ede \u5167 \uace0\uc131 \uc744 \u9577 * \u5bec x * * 2",
        ),
        (
            "\u0645\u062d\u0640\u0640\u0645\u062f, \u043f\u02bc\u044f\u0442\u044c \u043f'\u044f\u0442\u044c",
            "\u0645\u062d\u0645\u062f \u043f \u044f\u0442\u044c \u043f \u044f\u0442\u044c",
        ),
    ],
)
def test_symbols_with_a_meaning_are_tokens(text, tokens):
    assert split(*folded([text], symbols=True)) == [tokens.split()]


@pytest.mark.parametrize("symbol", [*map(chr, sorted(ASCII_SYMBOLS))])
def test_neighbours_of_every_class(symbol):
    around = (*" \t\n\x0baZ0=", symbol, *'+|/(:,)?.$_"é')
    texts = [  # every triple with what is before, and every one with what is behind
        "".join(f"ab\n{first}{before}{symbol}{behind}{last} " for first, last in zip(around, cycle(" 1=")))
        for before, behind in product(around, repeat=2)
    ]
    expected = [words(text + BEHIND_A_BLOCK) for text in texts]
    assert split(*folded([text + BEHIND_A_BLOCK for text in texts])) == expected


@pytest.mark.parametrize(
    "text", ["a<b>c", "a = b", "a == b", "=", "é=b", "a=é", "中=中", "-----", "a*", "x://y=z", "x:////y"]
)
def test_wherever_a_block_ends(text):
    for before in range(70):
        whole = "x" * before + text + BEHIND_A_BLOCK
        assert split(*folded([whole])) == [words(whole)]


@pytest.mark.parametrize(
    "text", ["-", "/", "a/", "/a", "a-", "a//b", "a/=b", "a:/b", "1/b", "a/1", "a/ b", "a<\u200b<b", "x*=2"]
)
def test_neighbours_of_every_kind_decide(text):
    for before, behind in product(("", " ", "\n", "a", "1", "é", "\u200b", "\x00", "="), repeat=2):
        hidden = f"{before}\u2060{text}\u2060{behind}"  # invisible characters, which must be passed over one by one
        assert split(*folded([f"{before}{text}{behind}"], symbols=True)) == split(*folded([hidden], symbols=True))


def test_without_symbols_they_separate():
    assert split(*folded(["C++ costs $5, 3-4 times"], symbols=False)) == [["c", "costs", "5", "3", "4", "times"]]
