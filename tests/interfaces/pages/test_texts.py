from html import unescape
from re import sub

from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.pages.texts import marked, safe
from neardup.interfaces.pieces import Piece


@given(st.text())
def test_what_is_safe_holds_no_markup_and_no_control_character(text):
    shown = safe(text)
    assert not {"<", ">", '"', "'"} & set(shown)
    assert all(letter.isprintable() or letter in "\n\t\u200c\u200d" or letter.isspace() for letter in shown)
    assert not {"\u202e", "\x1b", "\0", "\ud800"} & set(shown)
    shown.encode()


def test_hostile_texts():
    assert safe("<script>alert('\"&')</script>") == "&lt;script&gt;alert(&#x27;&quot;&amp;&#x27;)&lt;/script&gt;"
    assert safe("a\u202eb\u2066c\x1b[2J\0\ud800\r\nd\re\tf") == "a\\u202eb\\u2066c\\x1b[2J\\x00\\ud800\nd\ne\tf"


def test_passages_lead_to_each_other():
    parts = [
        Piece(kind="between", text="- "),
        Piece(kind="shared", text="one", passages=(3, 5)),
        Piece(kind="alone", text="</mark>"),
    ]
    expected = '- <span id="a5"></span><a id="a3" href="#b3">one</a><mark>&lt;/mark&gt;</mark>'
    assert marked(parts, "a", "b") == expected


def test_what_is_left_out_is_said():
    shown = marked([Piece(kind="alone", text="x ", rest=" y", omitted=1234)], "a", "b")
    assert unescape(sub("<[^>]*>", "", shown)) == "x  … 1,234 characters only here …  y"
