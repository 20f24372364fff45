"""Templates are learned from the different pages of a host, and their lines do not count."""

import math
import os
import tempfile
from dataclasses import replace
from hashlib import blake2b
from zlib import crc32

import numpy as np
import pytest
from invented_sites import PAGES, SITES, Site, article, edited, renamed

import neardup
from neardup import MinHash
from neardup.decisions.templates import RULE
from neardup.errors import DataError, ParameterError, StorageFailed
from neardup.model.errors import TEMPORARY
from neardup.pipeline.crawl import templates as module
from neardup.pipeline.crawl.templates import FROZEN, learn_templates, relearn, rule_of
from neardup.sources.hosts import host
from neardup.text import sites
from neardup.text.host_templates import HostTemplates
from neardup.web_pages import Extraction

LEARNED = learn_templates(PAGES)


def texts(pages, templates, view="auto"):
    addresses, markup = zip(*pages, strict=True)
    return Extraction(view=view, templates=templates).pages(markup, hosts=[*map(host, addresses)]).texts


def kept(found):
    return len(neardup.dedup(found).kept)


def test_lines_of_many_pages_are_learned():
    assert [one.host for one in LEARNED.templates] == [site.host for site in SITES]
    for site, template in zip(SITES, LEARNED.templates, strict=True):
        assert (template.view, template.kept) == ("main", 24)
        expected = {*site._menu, site._footer, *site._box}
        assert expected <= set(template.examples) | {line[:100] for line in expected if line[:100] in template.examples}
    assert LEARNED.rule == rule_of(Extraction())
    assert RULE.items() <= LEARNED.rule.items()


def test_a_charset_that_is_not_valid_text_is_unknown():
    assert learn_templates([(*page, "\udcff") for page in PAGES]) == LEARNED


def test_articles_stay_and_templates_do_not_count():
    found = texts(PAGES, LEARNED)
    for (address, _), text in zip(PAGES, found, strict=True):
        number = address.rpartition("/p")[2]
        for paragraph in article(f"{host(address)} {number}"):
            assert paragraph in text
        assert not any(line in text for line in SITES[int(address[12])]._box)


def test_the_same_article_on_two_hosts_is_found():
    shared = [article(f"shared {n}", 6) for n in range(8)]
    copies = [site.page(f"s{n}", edited(text, n)) for n, text in enumerate(shared) for site in SITES[:2]]
    assert kept(texts(copies, None, "visible")) == len(copies)
    assert kept(texts(copies, LEARNED)) == len(shared)


def test_different_short_articles_of_a_host_are_kept():
    site = Site("short.example", menu=90, varied=0.05)
    short = [site.page(f"t{n}", article(f"short {n}", 1)) for n in range(30)]
    assert kept(texts(short, None, "visible")) < 20
    assert kept(texts(short, learn_templates(short))) == 30


@pytest.mark.parametrize("copies", [20, 200])
def test_a_page_with_many_copies_is_no_template(copies):
    copied = article("copied", 4)
    pages = [SITES[0].page(f"c{n}", copied) for n in range(copies)] + PAGES[:24]
    (template,) = learn_templates(pages).templates
    assert template.kept == 25
    assert not {line[:100] for line in copied} & set(template.examples)
    found = learn_templates(pages)
    assert all(paragraph in text for text in texts(pages[:copies], found) for paragraph in copied)


def test_order_and_other_hosts_do_not_matter(monkeypatch, tmp_path):
    shuffled = sorted(PAGES, key=lambda page: crc32(page[0].encode()))
    assert learn_templates(shuffled) == LEARNED
    alone = learn_templates(page for page in shuffled if host(page[0]) == SITES[1].host)
    assert [one.id for one in alone.templates] == [LEARNED.get(SITES[1].host).id]
    monkeypatch.setattr(module, "_TOGETHER", 1)  # every page is written at once
    (tmp_path / os.fsdecode(b"t\xff")).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / os.fsdecode(b"t\xff")))
    again = learn_templates(shuffled)
    assert again == LEARNED
    assert again.to_bytes() == LEARNED.to_bytes()


@pytest.mark.parametrize("together", [1, 1 << 14, 1 << 23])
def test_pages_of_many_hosts_are_not_all_read_together(together, monkeypatch):
    monkeypatch.setattr(module, "_ROUND", 30)
    monkeypatch.setattr(module, "_TOGETHER", together)
    monkeypatch.setattr(module, "BATCH", together)
    read, sizes = module._Gathered._of_round, []

    def watched(self, done, rounds):
        sizes.append(sum(map(len, done.found.values())))
        yield from read(self, done, rounds)

    monkeypatch.setattr(module._Gathered, "_of_round", watched)
    assert learn_templates(PAGES).to_bytes() == LEARNED.to_bytes()
    assert sizes == [24, 24, 24]


def test_a_full_disk_is_an_error_of_temporary_files(monkeypatch):
    monkeypatch.setattr(module, "_TOGETHER", 1)
    monkeypatch.setattr(module, "_MADE", f"{module._MADE}; PRAGMA max_page_count = 9")
    with pytest.raises(StorageFailed, match="cannot be written: database or disk is full") as caught:
        learn_templates(PAGES)
    assert caught.value.code == TEMPORARY


def test_at_most_some_pages_of_a_host_are_used(monkeypatch):
    monkeypatch.setattr(module, "MOST", 22)
    few = learn_templates(PAGES)
    assert [one.kept for one in few.templates] == [22] * 3
    assert learn_templates(PAGES[::-1]) == few


@pytest.mark.parametrize("enough", [20, 23, 25, 26])
@pytest.mark.parametrize("together", [1, 1 << 23])
def test_more_pages_are_used_until_enough_of_them_differ(enough, together, monkeypatch):
    copies = [SITES[0].page(f"c{n}", article("copied", 4)) for n in range(30)]
    ordered = sorted(PAGES[:24] + copies, key=lambda page: blake2b(page[1].encode(), digest_size=8).digest())

    def learned(pages, **limits):
        for name, value in limits.items():
            monkeypatch.setattr(module, name, value)
        return learn_templates(pages).get(SITES[0].host)

    size = enough
    while True:
        expected = learned(ordered[:size], FROZEN=size, MOST=size)
        kept = expected.kept if expected else 0
        if kept >= enough or size == 54:
            break
        size = min(54, max(size + 3, math.ceil(size * enough / kept) if kept else 54))
    assert (kept < enough) == (enough == 26)  # of all pages, 25 differ
    monkeypatch.setattr(module, "_TOGETHER", together)
    assert learned(ordered[::-1], FROZEN=enough, STEP=3, MOST=54).id == expected.id


@pytest.mark.parametrize("most", [70, 71, 72, 500])
def test_equal_pages_do_not_matter(most, monkeypatch):
    for name, value in {"FROZEN": 24, "STEP": 1, "MOST": most}.items():
        monkeypatch.setattr(module, name, value)
    found = learn_templates(PAGES[:24] * 3)
    assert found.templates[0].kept == 24
    assert found == learn_templates([page for page in PAGES[:24] for _ in range(3)][::-1])
    assert found.templates[0].id == learn_templates(PAGES[:24]).templates[0].id


def test_a_page_with_many_equal_copies_does_not_displace_others(monkeypatch):
    monkeypatch.setattr(module, "MOST", 24)
    first = min(PAGES[:24], key=lambda page: blake2b(page[1].encode(), digest_size=8).digest())
    for copies in ([first] * 50, [(f"{first[0]}/{number}", first[1]) for number in range(50)]):
        assert [one.id for one in learn_templates(copies + PAGES[:24]).templates] == [LEARNED.templates[0].id]


def test_pages_without_words_do_not_count_as_different():
    blank = [(f"http://{SITES[0].host}/{number}", f"<script>{number}</script><p>...</p>") for number in range(300)]
    assert learn_templates(blank + PAGES[:24]).templates[0].id == LEARNED.templates[0].id


def test_hosts_with_few_pages_have_no_template():
    assert len(learn_templates(PAGES[:19])) == 0
    assert len(learn_templates([(None, "<p>a"), ("mailto:a", b"<p>b")] * 20)) == 0
    assert len(learn_templates([PAGES[0]] * 50)) == 0
    assert len(learn_templates([])) == 0


@pytest.mark.parametrize(
    "page",
    ["a", "ab", b"ab", 5, None, ("http://a/",), ("http://a/", None), (5, "<p>"), ("http://a/", "<p>", b"utf-8"), PAGES],
    ids=str,
)
def test_each_page_is_a_pair_or_a_triple(page):
    for learn in (learn_templates, lambda pages: relearn(LEARNED, SITES[0].host, pages)):
        with pytest.raises(
            DataError, match=r"^page 1 must be a pair such as \('https://example.org/', '<p>...'\), or a tri"
        ):
            learn([PAGES[0], page])
    for pages in (5, "ab", b"ab", None):
        with pytest.raises(DataError, match="pages must be a list of pages, not "):
            learn_templates(pages)


def test_templates_are_learned_again_of_pages_with_charsets():
    pages = [(*page, None) for page in PAGES[:24]]
    assert relearn(LEARNED, SITES[0].host, pages) == relearn(LEARNED, SITES[0].host, PAGES[:24])


def test_reference_pages_are_read_by_their_visible_text():
    lists = [
        (
            f"https://d.example/{n}",
            f"<title>{n}</title><ul><li><a href=/a>Home of all</a></ul><p>{n}"
            + "".join(
                f"<ul><li><a href=/{n}/{i}>{' '.join(article((n, i), 1)[0].split()[:3])}</a></ul>" for i in range(40)
            ),
        )
        for n in range(25)
    ]
    (template,) = learn_templates(lists).templates
    assert template.view == "visible"
    assert template.examples == ("Home of all",)


def test_lines_of_links_do_not_count_on_hosts_with_a_template():
    menus = ["".join(f"<li><a href=/{n}/{i}>entry {i} of chapter {n}</a></ul>" for i in range(40)) for n in range(10)]
    pages = [
        (f"https://c.example/{n}", f"<title>{n}</title><ul>{menus[n // 4]}</ul><p>{article(n, 1)[0]}")
        for n in range(40)
    ]
    visible = Extraction(view="visible")
    (template,) = learn_templates(pages, extraction=visible).templates
    assert template.kept == len(pages)
    for (_, page), text in zip(
        pages, texts(pages, HostTemplates([template], rule_of(visible)), "visible"), strict=True
    ):
        assert neardup.web_pages.visible_text(page).startswith(text.partition("\n")[0])
        assert text.split() == [page[7 : page.index("</title>")], *page.rpartition("<p>")[2].split()]
    assert "entry 0 of chapter 1" in texts([pages[4]], HostTemplates([], rule_of(visible)), "visible")[0]
    other = [(f"https://c.example/m{n}", f"<title>Menu</title>{menu}") for n, menu in enumerate(menus)]
    assert kept(texts(other, HostTemplates([template], rule_of(visible)), "visible")) == len(menus)  # they are thin


@pytest.mark.parametrize("view", ["main", "visible"])
def test_copyright_notices_and_what_follows_them_do_not_count_on_hosts_with_a_template(view):
    own, other = "c.example", "d.example"
    bodies = [article(number, 8) for number in range(24)]
    notices = [f"<div><p>&copy; 20{n:02} Writer {n}<p>Writer {n} grants a licence.</div>" for n in range(24)]
    pages = [
        (f"https://{own}/{n}", f"<p>{'<p>'.join(body)}{notice}")
        for n, (body, notice) in enumerate(zip(bodies, notices, strict=True))
    ]
    learned = learn_templates(pages, extraction=Extraction(view=view))
    assert [(one.host, len(one.lines)) for one in learned.templates] == [(own, 0)]
    for page, text, body in zip(pages, texts(pages, learned, view), bodies, strict=True):
        assert text.split() == " ".join(body).split()
        assert "grants a licence" in texts([(f"https://{other}/", page[1])], learned, view)[0]


def test_templates_of_texts_with_links_are_refused():
    before = HostTemplates(LEARNED.templates, LEARNED.rule | {"extraction": Extraction().identity})
    with pytest.raises(
        ParameterError, match="another version of neardup learned it, by another rule; learn them again"
    ):
        Extraction(templates=before)


def test_visible_text_has_templates_too():
    visible = Extraction(view="visible")
    learned = learn_templates(PAGES, extraction=visible)
    assert {one.view for one in learned.templates} == {"visible"}
    assert SITES[0]._footer not in texts(PAGES[:1], learned, "visible")[0]
    rule = "it is for pages in the text view visible, and pages are read in the view auto here"
    with pytest.raises(ParameterError, match=rf"^templates='of 3 hosts \(id \w+\)' cannot be used: {rule}"):
        Extraction(templates=learned)
    with pytest.raises(ParameterError, match="learned now"):
        learn_templates(PAGES, extraction=Extraction(templates=LEARNED))


def test_a_page_of_nothing_but_its_template_keeps_its_visible_text():
    address, site = PAGES[0][0], SITES[0]
    menu = "".join(f"<p>{line}</p>" for line in [*site._menu, *site._box, site._footer])
    (found,) = texts([(address, f"<article>{menu}</article>")], LEARNED)
    assert site._footer in found
    assert texts([(address, "<body>")], LEARNED) == [""]


def test_pages_without_a_template_are_read_as_without_templates():
    other = [("https://other.example/1", PAGES[0][1]), ("no address", PAGES[1][1])]
    assert texts(other, LEARNED) == Extraction().pages([page for _, page in other]).texts


def test_thin_pages_and_pages_of_hosts_without_a_template_belong_to_sites():
    known, unknown = SITES[0].host, "other.example"
    few = [f"<p>{' '.join(map(str, range(number)))}</p>" for number in (0, 11, 12)]
    hosts = [known] * 3 + [unknown] * 3 + [None] * 3
    found = Extraction(templates=LEARNED).pages(few * 3, hosts=hosts)
    assert found.sites == [sites.site(known, thin=True)] * 2 + [0] + [sites.site(unknown, thin=False)] * 3 + [0] * 3
    menu = f"<p>{SITES[0]._footer}</p>"
    thin, other = (Extraction(templates=LEARNED).pages([menu + page], hosts=[known]) for page in few[1:])
    assert SITES[0]._footer in thin.texts[0]  # all its visible text
    assert SITES[0]._footer not in other.texts[0]
    assert Extraction().pages(few, hosts=hosts[:3]).sites == Extraction(templates=LEARNED).pages(few).sites == [0] * 3


def test_pages_with_little_main_text_have_a_site_of_their_own_on_hosts_without_a_template():
    pages = ["<nav>" + "<a href=/>One entry of a long menu</a>" * 40 + "</nav><p>x", PAGES[0][1]]
    for view, whole in (("auto", True), ("main", False)):
        learned = LEARNED if view == "auto" else learn_templates(PAGES, extraction=Extraction(view=view))
        found = Extraction(view=view, templates=learned).pages(pages, hosts=["other.example"] * 2)
        assert found.views == ["visible" if whole else "main", "main"]
        assert found.sites == [sites.site("other.example", thin=False, whole=own) for own in (whole, False)]
    learned = learn_templates(PAGES, extraction=Extraction(view="visible"))
    found = Extraction(view="visible", templates=learned).pages(pages, hosts=["other.example"] * 2)
    assert found.sites == [sites.site("other.example", thin=False)] * 2  # as was asked for


def test_one_host_is_learned_again():
    host = SITES[1].host
    found = relearn(LEARNED, host, renamed(PAGES))
    assert found.get(host).version == 2
    assert found.get(host).lines.tolist() != LEARNED.get(host).lines.tolist()
    others = [one.host for one in LEARNED.templates if one.host != host]
    assert [found.get(one).id for one in others] == [LEARNED.get(one).id for one in others]
    assert found.identity != LEARNED.identity
    assert relearn(LEARNED, host, PAGES).get(host).lines.tolist() == LEARNED.get(host).lines.tolist()
    with pytest.raises(DataError, match="needs 20 different ones; the hosts with most pages are"):
        relearn(LEARNED, "absent.example", PAGES)
    with pytest.raises(
        ParameterError, match=r"^templates='of 0 hosts \(id \w+\)' cannot be used: its pages were read by another"
    ):
        relearn(HostTemplates([], {"extraction": {"text_view": "auto"}}), host, PAGES)


def test_templates_of_many_pages_are_frozen():
    first, second, third = LEARNED.templates
    known = HostTemplates([replace(first, kept=FROZEN), second], LEARNED.rule)
    found = learn_templates(renamed(PAGES[:48]), known=known)
    assert [one.version for one in found.templates] == [1, 2]
    assert found.get(first.host).id == known.get(first.host).id
    assert learn_templates(PAGES[:48], known=known) == known
    assert learn_templates([], known=known) == known
    assert [one.id for one in learn_templates(PAGES, known=known).templates[1:]] == [second.id, third.id]
    with pytest.raises(ParameterError, match="known"):
        learn_templates([], known=5)
    with pytest.raises(ParameterError, match="pages are read in the view visible here"):
        learn_templates(PAGES, known=known, extraction=Extraction(view="visible"))
    older = HostTemplates(known.templates, known.rule | {"step": 0})
    with pytest.raises(ParameterError, match="another version of neardup learned it, by another rule"):
        learn_templates(PAGES, known=older)


@pytest.mark.parametrize("view", ["auto", "main", "visible"])
def test_pages_of_two_templates_resemble_each_other_at_most_as_without_the_lines_of_both(view):
    drafts = [article(f"draft {n}", 5) for n in range(6)]
    pages = [*PAGES[:24], *(SITES[0].page(f"e{n}", edited(draft, n)) for n, draft in enumerate(drafts * 3))]
    (whole,) = learn_templates(pages, extraction=Extraction(view=view)).templates
    rule, lines = rule_of(Extraction(view=view)), whole.lines

    def read(some):
        return texts(pages, HostTemplates([replace(whole, lines=some, examples=())], rule), view)

    before = texts(pages, HostTemplates([], rule), view)  # of a host without a template
    for one, other, both in ((before, read(lines), lines), (read(lines[::2]), read(lines[1:]), lines)):
        crossed, least = resemblances(one, other), resemblances(read(both), read(both))
        assert (crossed <= least + 0.01).all()  # lines that are joined make some shingles
        assert (crossed[np.triu_indices(len(pages), 1)] >= 0.6).any() == (view != "visible" or one is not before)


def resemblances(one, other):
    shingles = [[set(MinHash().features([text]).values.tolist()) for text in side] for side in (one, other)]
    return np.array([[len(a & b) / max(1, len(a | b)) for b in shingles[1]] for a in shingles[0]])
