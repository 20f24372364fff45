"""The kernel against the same definition in Python's patterns."""

import re
from html import unescape

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import is_word, raw_end

from neardup.kernels import references
from neardup.kernels import visible_text as kernels
from neardup.text.html import _ELEMENTS, _elements, _references
from neardup.text.unicode import unicode_tables

LISTED = {kind: set(names.split()) for kind, names in _ELEMENTS.items()}
SPACES = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
OPENING = re.compile(r"<(?=[a-zA-Z/!?])")
BLANK = r"[ \t\n\f\r]"
VALUE = rf"""{BLANK}*+={BLANK}*+("[^"]*+"|'[^']*+'|[^ \t\n\f\r>"'][^ \t\n\f\r>]*+|(?=>))"""
PARTS = rf"""([^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)(?:{VALUE})?"""
ATTRIBUTE = re.compile(PARTS)
TAG = re.compile(
    rf"<(/?)([a-zA-Z][^ \t\n\f\r/>]*+)((?:[ \t\n\f\r/]++|{PARTS.replace('(', '(?:').replace('(?:?', '(?')})*+)>"
)
COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)


def lower(text):
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), text)


class Oracle:
    """Reads a page as a list of pieces: text, or what ends or precedes it."""

    def __init__(self, page, *, links):
        self.links = links
        self.page, self.pieces, self.tags, self.title = page, [], [], (-1, -1)
        self.head_is_over, self.points = False, []
        self.pre = self.depth = self.begin = self.foreign = 0
        self.hiding = None
        at = 0
        while opening := OPENING.search(page, at):
            self.say(page[at : opening.start()])
            at = self.markup_end(opening.start())
        self.say(page[at:])

    def text(self):
        """Return the paragraphs of the page."""
        found, part = [], []
        for piece in [*(self.pieces if self.links else self.without_links()), "block"]:
            if piece != "block":
                part.append(piece)
                continue
            if any(one[0] == "verbatim" for one in part):
                text = "".join("\n" if one == "line" else one[1] for one in part).lstrip("\n")
                ending = [*SPACES.finditer(text)][-1:]
                text = text[: ending[0].start()] if ending and ending[0].end() == len(text) else text
            else:
                lines = "".join("\0" if one == "line" else one[1] for one in part).split("\0")
                text = "\n".join(SPACES.sub(" ", line).strip(" ") for line in lines).strip("\n")
                text = re.sub("\n{3,}", "\n\n", text)
            found.append(text)
            part = []
        return "\n\n".join(filter(None, found))

    def without_links(self):
        """Return the pieces without the lines whose words are all in links, and without the marks of links."""
        kept, line, words, inside = [], [], set(), False
        for piece in [*self.pieces, "end"]:
            if piece in {"block", "line", "end"}:
                kept += [*([] if words == {True} else line), piece]
                line, words = [], set()
            elif piece in {"link", "unlink"}:
                inside = piece == "link"
            else:
                line.append(piece)
                words |= {inside} if any(map(is_word, piece[1])) else set()
        return kept[:-1]

    def anchor(self, name, attributes):
        if name == "a" and not self.links:
            named = any(lower(one[1]) == "href" for one in ATTRIBUTE.finditer(attributes))
            self.pieces.append("link" if named else "unlink")

    def markup_end(self, at):
        if tag := TAG.match(self.page, at):
            closing, name, attributes = tag[1], lower(tag[2]), tag[3]
            if closing:
                self.end(name)
                return tag.end()
            raw = self.start(name, attributes, tag.start(3)) and name in LISTED["RAW"]
            return self.raw_end(name, tag.end()) if raw else tag.end()
        if re.match("</?[a-zA-Z]", self.page[at : at + 3]):
            return len(self.page)
        if self.page.startswith("<!--", at):
            comment = COMMENT.match(self.page, at)
            return comment.end() if comment else len(self.page)
        end = self.page.find(">", at)
        return len(self.page) if end < 0 else end + 1

    def raw_end(self, name, at):
        end = len(self.page) if name in LISTED["LAST"] else raw_end(self.page, at, name)
        if name == "title":
            if self.title == (-1, -1) and self.hiding is None and not self.foreign:
                self.title = at, end
        elif name in LISTED["LITERAL"]:
            self.pieces.append(("verbatim", self.page[at:end].replace("\0", "")))
        elif name in LISTED["KEPT"]:
            self.say(self.page[at:end])
        return end

    def say(self, text):
        self.head_is_over |= text.strip(" \t\n\f\r") != "" and self.hiding is None
        if text:
            text = unescape(text.replace("\r\n", "\n").replace("\r", "\n")).replace("\0", "")
            self.pieces.append(("verbatim" if self.pre else "text", text))

    def mark(self, name, closing):
        if name in LISTED["BLOCK"]:
            self.pieces.append("block")
        elif name in LISTED["LINE"]:
            self.pieces.append("line")
        elif name in LISTED["CELL"] and not closing:
            self.pieces.append(("text", " "))

    def start(self, name, attributes, at):
        """Read a start tag; return whether the element may have content."""
        slash = ATTRIBUTE.sub("a", attributes).endswith("/")
        alone = slash and (name in LISTED["FOREIGN"] or (self.foreign > 0 and name not in LISTED["HTML"]))
        self.head_is_over |= name != "html" and name not in LISTED["IN_HEAD"] and self.hiding is None
        of_head = name in {"link", "meta"} and not self.head_is_over and self.hiding is None
        if name == "html" or of_head:
            self.tags.append([getattr(kernels, {"html": "ROOT"}.get(name, name.upper())), at, at + len(attributes)])
        if alone:
            self.mark(name, closing=False)
            return False
        if self.hiding is not None:
            self.depth += name == self.hiding
        elif name == "template" or (name not in LISTED["SHOWN"] and hides(attributes)):
            self.hiding, self.depth, self.begin = name, 1, len(self.pieces)
        self.mark(name, closing=False)
        self.anchor(name, attributes)
        self.pre += name in LISTED["PRE"]
        ends = name in LISTED["BLOCK"] or name in LISTED["HTML"]
        self.foreign = 0 if ends else self.foreign + (name in LISTED["FOREIGN"])
        if self.foreign and (name in LISTED["INTEGRATION"] or name == "foreignobject"):
            self.points.append(self.foreign)
            self.foreign = 0
        return True

    def end(self, name):
        self.head_is_over |= name == "html" and self.hiding is None
        self.mark(name, closing=True)
        self.anchor(name, "")
        self.pre -= name in LISTED["PRE"] and self.pre > 0
        closed = name in LISTED["FOREIGN"] and self.foreign > 0
        self.foreign = 0 if name in LISTED["BLOCK"] else self.foreign - closed
        if self.points and (name in LISTED["INTEGRATION"] or name == "foreignobject"):
            self.foreign = self.points.pop()
        if name == self.hiding:
            self.depth -= 1
            if not self.depth:
                self.hiding = None
                del self.pieces[self.begin :]
                if name in LISTED["BLOCK"]:
                    self.pieces.append("block")


def hides(attributes):
    given = [(lower(one[1]), one[2] or "") for one in ATTRIBUTE.finditer(attributes)]
    style = next((value for name, value in given if name == "style"), "")
    style = unescape(style[1:-1] if style[:1] in {'"', "'"} else style)
    style = re.sub("[ \t\n\f\r\0]", "", CSS_COMMENT.sub("", style))
    values = [one.partition(":")[2].partition("!")[0] for one in style.split(";") if lower(one).startswith("display:")]
    return any(name == "hidden" for name, _ in given) or [lower(one) for one in values[-1:]] == ["none"]


def measured(page, room=50, *, links=True):
    """Return the visible text, the place of the title and the tags of the head."""
    raw = page.encode()
    most, of = references.GROWTH
    pieces = np.full(len(raw) * most // of, 0x41, np.uint8)
    tags, found = np.zeros((room, 3), np.int64), np.empty(kernels.NUMBERS, np.int64)
    kernels.pieces(np.frombuffer(raw, np.uint8), *_elements(), *_references(), not links, tags, pieces, found)
    size, begin, end, listed = found.tolist()
    assert size <= len(pieces)
    if not links:
        tables = unicode_tables()
        size = kernels.drop_links(pieces[:size], True, *tables.analysis)
    out = np.empty(size * 3 // 2 + 1, np.uint8)
    text = out[: kernels.paragraphs(pieces[:size], out)].tobytes().decode()
    return text, (begin, end), tags[:listed].tolist()


def expected(page, *, links=True):
    """Return the same, of the oracle."""
    made = Oracle(page, links=links)
    place = [len(page[:end].encode()) for end in range(len(page) + 1)]
    title = tuple(place[end] if end >= 0 else end for end in made.title)
    return made.text(), title, [[kind, place[begin], place[end]] for kind, begin, end in made.tags]


# In these, "_" is a space.
TAGS = """
    <p> </p> <P/> <b> </b> <div> </div> <div_hidden> <span_Hidden=x> </span> </SPAN> <my-box_hidden> </MY-box> <br>
    </br> <td> </td> <pre> </pre> <html> <html_lang=de> <head> </head> <body_hidden> <title> </title> <textarea>
    </textarea> <script> </script> </s </SCRIPT_> <template> </template> <link_rel=canonical> <meta/name=robots>
    <noscript> </noscript> <!-- -- --> --!> <!--> <!---> <!--_> <!x <?x </> </_ <a <a_b="c <a_b='>'> <a_="d>
    <p_style=display:none> <p_style='DISPLAY_:/**/_none!important'> <p_style="color:red;display:none;display:block">
    <i_style='display:no/*'> <i_style='display&#58;none'> <i_style=display:none;x> <i_style='display:none/*x'> <i
    <i_style='/*/display:none'> <a_href> <A_class=b_HREF=c> <a> </a> |
    </html> <iframe> <xmp> </XMP> <listing> </listing> <plaintext> </plaintext> <svg> <svg/> </svg> <script_/> <SCRIPT>
    <math> </math> <title/> <style_a="/"/> <style_a=/> <xmp_/> <b_hidden/> <g_hidden/> <g/> </g> <a_href/> <template/>
    <foreignObject> </foreignObject> <desc> </desc> <mi> </mi>
    <i_style="x:display:none"> <i_style=a_style=display:none> </i> <blockquote> </blockquote> <figcaptions> <h1> </h1>
    = " ' / _ a b_c &amp; &ampx &#65 &#x41; &nLt; &nbsp; &#13; &#0; &#1; & &notin < > display:none hidden
"""
SPECIAL = ["&am\0p;", *"\n\t\r\x0b\0\x85\xa0\xe9\u2003\u2028\u3000\u3042", "\r\n"]
PIECES = st.sampled_from([*(tag.replace("_", " ") for tag in TAGS.split()), *SPECIAL])


@given(st.lists(PIECES, max_size=30).map("".join))
@example("<pre>\n a <br></pre>\n<pre>\r\n\n b\r\r\n</pre>c&#13;d<pre>&#13;e")
@example("a <span hidden><pre></span> b\n c")
@example("<div hidden>a<div>b</div>c</div>d<div hidden>e")
@example("<title>a</title><svg><title>b</title></svg>")
@example("<svg><title>a</title></svg><svg/><title>b</title>")
@example("<svg><title/>a<style/></svg>b<math><xmp/></math>c<i>d</i>")
@example("<svg><g hidden/>a</g><g hidden>b<g/></g>c<a href/></svg>d<svg hidden/>e</svg>")
@example("<svg><b>a<style/>b</style>c</b><g/></svg>")
@example("<svg><desc>a<style/>b</style></desc><style/>c<math><mi><xmp/><g/></mi><style/></math></svg>d")
@example("<svg><foreignObject><p>a<svg><title/></svg></foreignObject><style/>b</svg><style/>c</style>")
@example("<head>a<link></head>b<head>c")
@example("<script><!-- <script></script> a --></script>b<script><!--> <script></script>c</script>d")
@example("<script><!--<script-></script>a<script><!--<script/></script></script>b<script><!--<script>--></script>c")
@example("<xmp>\n<b>&amp;\0</xmp>a<listing>\n<b>c\n</listing><plaintext>&amp;</plaintext>\n")
@example("<head><template><link></template><meta></head>")
@example("<head><template>a<p>b</html></template><meta></head>")
@example("<head>\xa0<link></head>")
@example("<template><title>a</title></template><title>b</title>")
@example("&nLt;" * 9)
@example("<pre>" + "<b>&nLt;</b>" * 9)
@example('<p style="' + "&nLt;" * 30 + '">a')
@example("<a href>a</a> | <a href>b</a><br>c <a href>d</a><p>| <p><a href>e<p>f</a><pre><a href>g\n</a></pre><a>h</a>")
@example("<a href>a<a>b<p><a href><i hidden></a>c</i>d")
def test_pages_are_read_as_defined(page):
    assert measured(page) == expected(page)
    assert measured(page, links=False) == expected(page, links=False)


@given(st.text(st.sampled_from("<>/!-?='\"&#;ab \n\0"), max_size=60))
def test_any_markup_is_read_as_defined(page):
    assert measured(page) == expected(page)


def test_only_the_first_tags_of_a_head_are_listed():
    text, title, tags = measured("<link>" * 9 + "<title>a</title>b", room=5)
    assert (text, title, len(tags)) == ("b", (61, 62), 5)


@pytest.mark.parametrize("page", ["", " ", "<", "&", "<p", "<!--"])
def test_pages_without_text(page):
    assert measured(page)[0] == page.strip().removesuffix("<p").removesuffix("<!--")
