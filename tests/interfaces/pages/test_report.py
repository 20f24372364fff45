import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from json_lines import write_lines

from neardup import Checksum, Combined, Field, MinHash, Sentences, SimHash, dedup
from neardup.interfaces.pages.report import report_page
from neardup.pipeline import Result, dedup_files
from neardup.pipeline.corpus.result import decisions_table
from neardup.pipeline.files.dedup import FilesResult
from neardup.results import Policy, Summary
from neardup.text.columns import text_column

LINE = "the quick brown fox jumps over the lazy dog and runs into the dark wood before anybody sees it"
VOID = {"meta", "br", "link", "img", "hr", "input"}
INLINE = {"b", "i", "mark", "small", "span", "code"}
NAMESPACE = "http://www.w3.org/2000/svg"


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in order, and nothing leads or reaches outside."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.texts = [], [], []
        self.feed(page.decode("utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in INLINE:
            self.texts.append("\n")
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag not in {"script", "iframe", "object", "embed", "form", "link", "base", "img", "a"}
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in {"src", "srcset", "href", "xlink:href", "action", "data"}, name
            assert value == NAMESPACE or not re.search(r"https?:|//|javascript:", value or ""), value
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["style"]:
            assert not re.search(r"@import|url\(", data)
        else:
            self.texts.append(data)

    def handle_pi(self, data):
        pytest.fail(f"a processing instruction: {data}")

    handle_comment = unknown_decl = handle_pi

    @property
    def text(self):
        return " ".join("".join(self.texts).split())

    def having(self, tag, style):
        return sum(found == tag and style in (attrs.get("class") or "").split() for found, attrs in self.seen)


@pytest.fixture
def run(tmp_path):
    """Deduplicate documents given as (id, text), and read the page of it."""

    def run(documents, scheme=None, **options):
        scheme = scheme or MinHash()
        path = tmp_path / "in.jsonl"
        rows = [row if isinstance(row, str) else json.dumps({"id": row[0], "text": row[1]}) for row in documents]
        path.write_text("".join(f"{row}\n" for row in rows))
        page = report_page(dedup_files([path], scheme=scheme, **options), scheme)
        assert len(page) < 500_000
        return Page(page)

    return run


def test_it_says_what_the_run_did(run):
    edited = LINE.replace("quick", "slow")
    page = run([("a", LINE), ("b", LINE), ("c", edited), ("short", "..."), ("blank", " "), "no json"], strict=False)
    for words in (
        "in.jsonl",
        "documents 5",
        "kept 3",
        "exact duplicates dropped 1",
        "near duplicates dropped 1",
        "1 empty, kept",
        "1 no words to compare",
        "1 record rejected",
        "0 pairs at most, not compared",
        "The resemblance of 1 near duplicate to",
        "resemblance at least 0.6 (verified)",
        "1 kept document represents others; without duplicates: 2",
        "3 documents; kept: a",
        "c dropped for a",
        "b dropped for a",
        "same text: equal byte by byte",
        "88 % of it and",
        "scheme minhash",
        "shingle 3",
        f"recipe {MinHash().recipe}",
        "keep first",
    ):
        assert words in page.text, words
    assert re.search(r"in\.jsonl 6 \S", page.text)  # the record rejected, with its line
    assert page.having("rect", "bar") == 1
    assert page.having("details", "pair") == 3  # of the cluster, of the sample, and an exact one


def test_the_words_that_differ_are_marked(run):
    page = run([("a", LINE), ("b", LINE.replace("lazy dog", "sleeping cat"))])
    assert sum(tag == "mark" for tag, _ in page.seen) == 4  # both sides, in the cluster and in the sample
    assert page.texts.count("lazy dog") == page.texts.count("sleeping cat") == 2
    alone = run([("a", f"{LINE} xx end"), ("b", f"{LINE} yy end")])  # both have "end", but in no shared run
    assert alone.texts.count("xx end") == alone.texts.count("yy end") == 2
    assert "Marked words are in no run of 3 words that both texts have." in alone.text


def test_it_has_what_a_browser_needs(run):
    page = run([("a", LINE), ("b", LINE)])
    metas = [attrs for tag, attrs in page.seen if tag == "meta"]
    (policy,) = [meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in metas
    assert metas[0] == {"charset": "utf-8"}


HOSTILE = [
    "<script>alert(1)</script> <img src=http://x onerror=alert(1)>",
    "\"quoted\" 'quoted' & &amp; &lt; </p></details></main> ]]> <!-- --> <![CDATA[ <?php",
    "right \u202eto left\u202c \u2066isolated\u2069 \u200f",
    "NUL \x00 escape \x1b[2J bell \x07 delete \x7f next \x85 line \u2028",
    "{braces} {0} %s {style}",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_and_ids_stay_text(run, text):
    page = run([(f"{text} one", f"{text} {LINE}"), (f"{text} two", f"{text} {LINE} twice")])
    assert "near duplicates dropped 1" in page.text
    raw = "".join(page.texts)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u200e\u200f\u2066-\u2069\ud800-\udfff]", raw)
    for visible in ("<script>", "</details>", "onerror=", "{style}", "&amp;", "]]>", "<?php"):
        assert (visible in raw) == (visible in text)
    if "\u202e" in text:
        assert "\\u202eto left" in raw


def documents_of(texts, ids, names):
    """Documents without a file."""

    def raw_texts(positions):
        return [texts[place].as_buffer().to_pybytes() for place in positions.tolist()]

    about = {"ignored": 7, "skipped": {}, "body_faults": {}, "without_text": None, "quoted_lines": None}
    return SimpleNamespace(raw_texts=raw_texts, ids=ids, names=names, **about)


def test_texts_that_are_no_utf_8():
    texts = [f"\ud800 lone {LINE}", f"\ud800 lone {LINE} \udfff"]
    result = dedup(texts)
    ids = pa.chunked_array([["\x00", "b"]])
    documents = documents_of(text_column(texts), ids, ("caf\udce9.jsonl",))
    page = Page(report_page(FilesResult(result, [], documents), MinHash()))
    assert "b dropped for \\x00" in page.text
    assert "caf\\xe9.jsonl" in page.text
    assert "\ufffd lone the quick brown" in page.text


def test_a_word_of_a_million_characters(run):
    page = run([("a", f"{'x' * 1_000_000} {LINE}"), ("b", f"{'x' * 1_000_000} {LINE}"), ("c", "y" * 1_000_000)])
    assert f"{1_000_001 + len(LINE):,} bytes" in page.text


@pytest.mark.parametrize("documents", [[], [("a", "")], [("a", LINE), ("b", "something else"), ("c", None)]])
def test_nothing_dropped(run, documents):
    page = run(documents)
    assert "There are no near duplicates." in page.text
    assert "No document represents another." in page.text
    assert page.having("details", "pair") == 0


def test_everything_dropped_for_one(run):
    page = run([(f"d{number}", f"{LINE} {number}") for number in range(40)])
    assert "40 documents; kept: d0" in page.text
    assert page.having("details", "pair") == 4  # three members, and the one that a sample of clusters has


def test_what_was_not_measured_is_not_shown(run):
    page = run([("a", LINE), ("b", LINE + " again")], verify="none")
    assert "1 near duplicate without a measured resemblance, as nothing verified it." in page.text
    assert "NOT VERIFIED" in page.text
    assert "? b dropped for a" in page.text
    assert page.having("rect", "bar") == 0


@pytest.mark.parametrize(
    ("scheme", "measure"), [(SimHash(distance=20), "cosine"), (Sentences(relative_to="smaller"), "overlap")]
)
def test_what_signatures_do_not_estimate_is_not_measured_though_they_were_compared(run, scheme, measure):
    text = f"{LINE}. Nobody was hurt."
    page = run([("a", text), ("b", f"{text} They all went home.")], scheme, verify="estimate")
    assert (
        "1 near duplicate without a measured resemblance, as only signatures were compared, and they estimate the"
        f" {measure}." in page.text
    )


def test_a_run_by_estimates_has_a_report(run):
    page = run([("a", LINE), ("b", LINE + " again")], verify="estimate")
    assert "b dropped for a" in page.text
    assert page.having("rect", "bar") > 0


def test_a_run_by_checksums_has_a_report(run):
    page = run([("a", LINE), ("b", LINE), ("c", LINE + "!")], Checksum(fields=(Field(name="body"),)))
    assert "equal checksum (verified)" in page.text


def test_a_key_is_not_told(run):
    page = run([("a", LINE), ("b", LINE + " again")], MinHash(key=b"0123456789abcdef"))
    assert "key secret" in page.text
    assert "0123456789" not in page.text
    assert "seed" not in page.text


def test_records_rejected_are_listed_up_to_a_cap(run):
    page = run([*(f"broken <b> {number}" for number in range(60)), ("a", LINE)])
    assert page.text.count("in.jsonl") == 51
    assert "And 10 more." in page.text


@pytest.mark.parametrize(
    ("scheme", "curve"), [(MinHash(), True), (SimHash(), False), (Sentences(relative_to="smaller"), False)]
)
def test_the_law_is_drawn_over_what_it_is_about(run, scheme, curve):
    words = [f"Nothing else of note was seen but number {number}." for number in range(3)]
    page = run([(str(n), f"{LINE}. {text}") for n, text in enumerate(words)], scheme, threshold=0.1)
    assert ("The curve is the law of the scheme" in page.text) == curve
    assert (f"a match by {scheme.name}" in page.text) == curve


def test_a_law_that_is_an_upper_bound_is_called_that(run):
    words = [f"Nothing else of note was seen but number {number}." for number in range(3)]
    for scheme, bound in ((MinHash(), False), (Combined(MinHash(), SimHash(distance=30)), True)):
        page = run([(str(n), f"{LINE}. {text}") for n, text in enumerate(words)], scheme, threshold=0.1)
        assert ("These are upper bounds: the law of minhash alone" in page.text) == bound


def test_the_same_run_gives_the_same_bytes(tmp_path):
    path = write_lines(tmp_path / "in.jsonl", [{"id": str(n), "text": f"{LINE} {n % 7}"} for n in range(50)])
    assert len({report_page(dedup_files([path], threads=threads), MinHash()) for threads in (1, 2)}) == 1


@pytest.mark.parametrize("word", ["\U000e0001\U000e0002 ", '"&"&" ', "a ", "<>\x00\x01\u202e"])
def test_a_million_documents_stay_under_5_mb(word):
    number, piece = 1_000_000, 1_000
    rng = np.random.default_rng(3)
    bodies = [f"same words here {word}" * 700 + f"{word * (place % 50)} {place}" for place in range(piece)]
    texts = pa.chunked_array([pa.array(bodies)] * (number // piece))
    ids = pa.chunked_array([pa.array([word * 500] * piece)] * (number // piece))
    representative = np.full(number, -1, np.int64)
    dropped = np.arange(2_000, number)
    heads = np.repeat(np.arange(1_400), np.arange(1_400))  # 1,400 different sizes
    representative[dropped[: len(heads)]] = heads
    dropped = np.flatnonzero(representative >= 0)
    shares = rng.uniform(0.5, 1.0, len(dropped))
    evidence = dict.fromkeys(("resemblance", "contained_in_kept", "contains_kept"), shares)
    evidence["rule"] = np.full(len(dropped), "resemblance", object)
    short = pa.chunked_array([pa.array(["id"] * number)])
    decisions = decisions_table(short, representative, dropped, evidence, rng.random(len(dropped)) < 0.1)
    counts = dict.fromkeys(
        ("documents", "kept", "exact", "near", "empty", "too_short", "duplicate_ids", "candidates"), number
    )
    named = {"scheme": "minhash", "recipe": "r", "threshold": 0.6, "measure": "resemblance", "policy": Policy()}
    summary = Summary(**counts, compared=1, not_compared=1, **named)
    result = Result(decisions, representative, summary)
    aside = [SimpleNamespace(source=word * 500, position=n, reason=word * 500, code="json") for n in range(5_000)]
    documents = documents_of(texts, ids, (word * 500,) * 5_000)
    page = report_page(FilesResult(result, aside, documents), MinHash())
    assert 100_000 < len(page) < 5_000_000
    Page(page)
