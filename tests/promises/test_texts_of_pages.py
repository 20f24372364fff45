"""Texts of pages in WET files: the lines that the texts of a host share do not count, as on pages of HTML."""

import pyarrow.parquet as pq
import pytest
from archives_made import http, packed, record
from invented_sites import Site, article, words
from json_lines import read_lines

from neardup import Index, dedup_files
from neardup.pipeline.crawl.file_templates import learn_from_files
from neardup.pipeline.files.ingestion import add_files
from neardup.pipeline.files.visits import FileAnswers
from neardup.sources.read import read
from neardup.text.lines import Lines
from neardup.web_pages import Extraction, visible_text

SITES = [Site(f"host{number}.example", menu=60, varied=0) for number in range(2)]
FOOTER = [
    page.rsplit("<footer>", 1)[1].split("</p>")[0].removeprefix("<p>")
    for _, page in (one.page("", article(0)) for one in SITES)
]
PAGES = [site.page(f"p{n}", article(f"{site.host} {n}")) for site in SITES for n in range(24)]
"""Pages of two hosts, none like another."""
COPIED = [SITES[1].page(f"copy{n}", article(f"{SITES[0].host} {n}")) for n in range(6)]
"""Articles of the first host on the second one."""


def wet(path, pages, kind="conversion"):
    """Write the visible texts of pages as an archive."""
    records = (
        record(
            kind,
            uri=url,
            number=number,
            headers=["Content-Type: text/plain"] if kind != "response" else [],
            block=visible_text(page).encode()
            if kind != "response"
            else http(visible_text(page).encode(), kind="text/plain"),
        )
        for number, (url, page) in enumerate(pages)
    )
    path.write_bytes(packed(records))
    return path


@pytest.fixture
def crawl(tmp_path):
    return wet(tmp_path / "crawl.warc.wet.gz", [*PAGES, *COPIED])


def dropped(path, tmp_path, **options):
    report = tmp_path / "why.parquet"
    done = dedup_files([path], report=report, force=True, **options)
    rows = pq.read_table(report).to_pylist()
    return done, {row["id"]: row["representative"] for row in rows if not row["kept"]}


@pytest.mark.parametrize("how", [{}, {"work": "w"}, {"threads": 2}, {"state": "s"}])
def test_copies_on_other_hosts_are_found_once_the_templates_are_known(crawl, tmp_path, how):
    folders = {name: tmp_path / where if isinstance(where, str) else where for name, where in how.items()}
    expected = {url: PAGES[n][0] for n, (url, _) in enumerate(COPIED)}
    done, found = dropped(crawl, tmp_path, **folders)
    assert found == expected
    assert len(done.templates) == 2
    assert dropped(crawl, tmp_path, learn_templates=False)[1] == {}


def test_the_lines_are_those_that_many_texts_share(crawl):
    found, _ = learn_from_files([crawl])
    for site, footer in zip(SITES, FOOTER, strict=True):
        one = found.get(site.host)
        assert footer in one.examples
        assert (one.view, set(Lines.of([" ".join(article(f"{site.host} 1"))]).hashes) & set(one.lines)) == (
            "visible",
            set(),
        )
    texts = read([crawl], extraction=Extraction(templates=found)).texts.to_pylist()
    for (_, page), text in zip([*PAGES, *COPIED], texts, strict=True):
        assert not set(FOOTER) & set(text.splitlines())
        assert set(text.splitlines()) < set(visible_text(page).splitlines())


@pytest.mark.parametrize("html", [False, True])
def test_outputs_have_the_lines_of_templates(tmp_path, html):
    """Archives are copied; in other formats, a page has its text with all lines, in memory as in pieces."""
    path = tmp_path / "crawl.warc.gz"
    if html:
        path.write_bytes(packed([record(uri=url, block=http(page.encode())) for url, page in PAGES]))
    else:
        wet(path, PAGES)
    options = {"extraction": Extraction(view="visible")} if html else {}
    pieces = {"work": tmp_path / "work", "threads": 2}
    for name, own in (("memory", {}), ("pieces", pieces)):
        dedup_files([path], tmp_path / f"{name}.warc.gz", **own, **options)
        assert (tmp_path / f"{name}.warc.gz").read_bytes() == path.read_bytes()
        for target in ("out", "mark"):
            out = tmp_path / f"{name}-{target}.jsonl"
            dedup_files([path], **{target: out}, **own, **options)
            records = read_lines(out)
            assert [one["text"] for one in records] == [visible_text(page) for _, page in PAGES]


def test_texts_that_are_no_pages_have_no_template(tmp_path):
    """The whole content of such a response counts, as it always did."""
    for kind in ("response", "resource"):
        path = wet(tmp_path / "texts.warc.gz", PAGES, kind)
        assert len(learn_from_files([path])[0]) == 0
        got = read([path], extraction=Extraction(templates=learn_from_files([path])[0]))
        assert got.texts.to_pylist() == [visible_text(page) for _, page in PAGES]
        assert set(got.sites.to_pylist()) == {0}


@pytest.mark.parametrize(("same", "found"), [(0.85, 0), (0.95, 1)])
def test_two_texts_of_a_host_without_a_template_match_from_a_higher_resemblance(tmp_path, same, found):
    import random

    text = words(random.Random("text"), 400)
    share = 2 * same / (1 + same)  # of the words of each text
    other = " ".join(
        [*text.split()[: round(400 * share)], *words(random.Random("other"), round(400 * (1 - share))).upper().split()]
    )
    pages = [(f"https://few.example/{n}", f"<p>{one}") for n, one in enumerate((text, other))]
    path = wet(tmp_path / "few.wet.gz", pages)
    assert len(dropped(path, tmp_path)[1]) == found
    assert len(dropped(path, tmp_path, learn_templates=False)[1]) == 1
    elsewhere = wet(tmp_path / "two.wet.gz", [pages[0], ("https://other.example/", pages[1][1])])
    assert len(dropped(elsewhere, tmp_path)[1]) == 1


def test_thin_texts_match_only_those_of_their_host(tmp_path):
    """A text with nothing but the template and a few words is compared as a whole."""
    thin = [
        (
            f"https://{site.host}/missing{n}",
            page.replace(page, f"{page.split('<article>')[0]}<p>Missing {n}<footer>{page.split('<footer>')[1]}"),
        )
        for site in SITES
        for n, (_, page) in enumerate([site.page("x", article(0))] * 3)
    ]
    path = wet(tmp_path / "thin.wet.gz", [*PAGES, *thin])
    _, found = dropped(path, tmp_path)
    assert found == {url: f"{url[:-1]}0" for url, _ in thin if not url.endswith("0")}


def test_html_and_texts_of_one_host_share_its_template(tmp_path):
    html = packed([record(uri=url, block=http(page.encode())) for url, page in PAGES[:24]])
    texts = wet(tmp_path / "a.warc.gz", PAGES[12:]).read_bytes()
    (tmp_path / "a.warc.gz").write_bytes(html + texts)
    found, _ = learn_from_files([tmp_path / "a.warc.gz"])
    assert [(one.host, one.view) for one in found.templates] == [
        ("host0.example", "main"),
        ("host1.example", "visible"),
    ]
    assert FOOTER[0] in found.get("host0.example").examples


def test_an_index_reads_texts_with_the_templates_that_it_keeps(crawl, tmp_path):
    learn_from_files([crawl])[0].save(tmp_path / "t.arrow")
    add_files([wet(tmp_path / "first.wet.gz", PAGES)], tmp_path / "index", learn_templates=tmp_path / "t.arrow")
    with Index.open(tmp_path / "index") as index:
        answers = FileAnswers(index)
        names = [
            answer["verdict"] for batch in answers.answer([wet(tmp_path / "next.wet.gz", COPIED)]) for answer in batch
        ]
    assert names == ["near duplicate"] * len(COPIED)


def test_long_menus_hide_no_template(tmp_path):
    """They make all texts of a host similar, so which of them are different is decided by longer lines."""
    site = Site("menu.example", menu=300, varied=0)
    path = wet(tmp_path / "menus.wet.gz", [site.page(f"p{n}", article(n, 1)) for n in range(60)])
    found, _ = learn_from_files([path])
    assert found.get(site.host).kept == 60
    assert dropped(path, tmp_path)[1] == {}


def test_copies_of_a_text_are_no_template(tmp_path):
    copied = [(f"https://host0.example/copy{n}", f"{PAGES[0][1]}<p>Seen {n} times") for n in range(100)]
    found, _ = learn_from_files([wet(tmp_path / "copies.wet.gz", [*copied, *PAGES[1:24]])])
    text = read([wet(tmp_path / "one.wet.gz", copied[:1])], extraction=Extraction(templates=found)).texts[0].as_py()
    assert set(article("host0.example 0")) < set(text.splitlines())
