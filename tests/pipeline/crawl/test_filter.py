import random
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_sites import Site, article

from neardup import Checksum, CrawlFilter, Field, Index, MinHash, Signatures, resemblance
from neardup.errors import DataError, ParameterError, StorageRefused
from neardup.pipeline.crawl.filter import page_texts
from neardup.sources.collection import SITE as SITE_FIELD
from neardup.sources.url_rules import HostRules, RuleEvidence
from neardup.urls import Addresses, UrlRules
from neardup.verdicts import Empty, ExactDuplicate, Known, NearDuplicate, New
from neardup.web_pages import Extraction, learn_templates

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
HERON = "Seven herons stood in the shallow water below the weir and watched each other fish until the evening came"
SITE = Site("host.example")
PAGES = [SITE.page(f"p{n}", article(str(n))) for n in range(24)]
THIN = "<title>Error</title><p>No such page: "


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "seen", durability="bulk") as index:
        yield index


@pytest.fixture
def pages(index):
    return CrawlFilter(index)


def test_the_address_decides_first_then_the_content_then_resemblance(pages):
    assert pages.admit("http://a.example/storm", STORM) == New()
    assert pages.judge("HTTP://A.example:80/storm?utm_source=x#top", STORM) == Known("http://a.example/storm")
    assert pages.judge("http://b.example/", STORM) == ExactDuplicate("http://a.example/storm")
    near = pages.judge("http://b.example/", f"{STORM} on Tuesday")
    assert isinstance(near, NearDuplicate)
    assert near.of == near.representative == "http://a.example/storm"
    assert pages.judge("http://b.example/", BAKER) == New()
    assert pages.judge("http://b.example/", " ") == Empty()


def test_asking_changes_nothing(index, pages):
    pages.admit("http://a.example/", STORM)
    before = index.stats()
    for _ in range(2):
        assert pages.judge("http://b.example/", BAKER) == New()
        assert pages.judge("http://a.example/", BAKER) == Known("http://a.example/", changed=True)
    assert pages.judge_each([("http://b.example/", BAKER), ("http://b.example/", BAKER)]) == [New(), New()]
    assert index.stats() == before


def test_the_representative_is_the_page_for_which_a_page_may_be_dropped(pages):
    first, near, far = "http://a.example/", "http://b.example/", "http://c.example/"
    assert pages.admit(first, STORM).representative is None
    assert pages.admit(near, f"{STORM} on Tuesday").representative == first
    assert pages.admit(far, BAKER).representative is None
    # known and unchanged: its representative
    assert pages.judge(first, STORM).representative == first
    assert pages.judge(near, f"{STORM} on Tuesday").representative == first
    # known and changed: for what the new content repeats
    changed = pages.judge(near, BAKER + " today")
    assert changed.changed
    assert changed.representative == far
    assert pages.judge(near, HERON).representative is None


def test_a_page_is_not_dropped_for_its_own_old_content(pages):
    first, behind = "http://a.example/", "http://b.example/"
    pages.admit(first, STORM)
    pages.admit(behind, f"{STORM} on Tuesday")
    for ask in (pages.judge, pages.admit):  # the other is kept since the first one has changed, but was not passed on
        verdict = ask(first, f"{STORM} on Tuesday")
        assert verdict == Known(first, changed=True)
        assert verdict.representative is None
    for url, text in ((behind, f"{STORM} on Tuesday"), (first, f"{STORM} on Wednesday")):
        assert pages.judge(url, text).representative == behind


def test_a_page_that_is_kept_since_another_went_is_passed_on_once(index, pages):
    first, second, third = (f"http://{name}.example/" for name in "abc")
    pages.judge_and_admit([(url, STORM) for url in (first, second, third)])
    assert index.remove([first]).promoted == [second]
    for ask, kept in ((pages.judge, None), (pages.judge, None), (pages.admit, None), (pages.admit, second)):
        verdict = ask(second, STORM)
        assert verdict == Known(second)
        assert verdict.representative == kept
    assert pages.admit(third, STORM).representative == second


def test_one_small_change_does_not_bring_the_repeats_back(index, pages):
    origin, mirrors = "http://a.example/", [f"http://m{number}.example/" for number in range(30)]
    passed = []
    for moment in ("10:00", "10:00", "11:00", "11:00", "12:00"):
        batch = [(origin, f"{STORM} {moment}"), *((url, f"{STORM} 10:00") for url in mirrors)]
        passed.append(sum(verdict.representative is None for verdict in pages.judge_and_admit(batch)))
        assert index.stats().kept == 1
    assert passed == [1, 0, 1, 0, 0]


def version(number):
    """A text that has drifted so far from the first one: neighbours match, others soon do not."""
    return " ".join(f"word{at}" for at in range(number, number + 30))


@pytest.mark.parametrize("together", [1, 3, 100])
@pytest.mark.parametrize("copies", [2, 5, 31])
def test_pages_that_change_with_their_copies_are_passed_on_once_for_each_change(pages, copies, together):
    urls, dice = [f"http://m{number}.example/" for number in range(copies)], np.random.default_rng(copies)
    for change in range(12):
        visits = [(urls[at], version(change)) for at in dice.permutation(copies).tolist()]
        steps = [visits[at : at + together] for at in range(0, copies, together)]
        passed = [verdict.representative is None for step in steps for verdict in pages.judge_and_admit(step)]
        assert sum(passed) == 1
        assert not any(verdict.representative is None for verdict in pages.judge_and_admit(visits))


@pytest.mark.parametrize("ask", ["judge", "admit"])
def test_a_new_page_is_passed_on_if_no_page_of_its_cluster_was(index, pages, ask):
    first, second, third, fourth = (f"http://{name}.example/" for name in "abcd")
    pages.judge_and_admit([(url, STORM) for url in (first, second)])
    assert index.remove([first]).promoted == [second]
    assert getattr(pages, ask)(third, STORM) == ExactDuplicate(second)
    assert getattr(index, ask)(*[[fourth]] * (ask == "admit"), [STORM])[0].representative == second
    later = [pages.admit(url, STORM).representative for url in (third, second)]
    assert later == ([None, second] if ask == "judge" else [second, second])


def test_a_page_that_matches_one_that_was_passed_on_is_not_passed_on_again(index, pages):
    a, b, c = (f"http://{name}.example/" for name in "abc")
    first = [
        verdict.representative for verdict in pages.judge_and_admit([(a, version(0)), (b, version(4)), (c, version(8))])
    ]
    assert first == [None, a, None]
    pages.admit(a, "Calm.")
    assert index.group(c) == [b, c]  # since the first page has changed
    assert pages.admit(b, version(4)).representative == b
    pages.admit(c, "Storm.")
    assert pages.admit(b, version(4)).representative == b


def test_addresses_that_change_do_not_stop_the_news(index, pages):
    """Each version has an address of its own, and the versions before the last one expire."""
    passed = []
    for number in range(12):
        at = 1_000.0 * number
        verdict = pages.admit(f"http://a.example/{number}", version(number), at=at)
        passed.append(verdict.representative is None)
        index.expire(at - 500)
    assert passed == [True, False] * 6


@given(st.randoms(use_true_random=False))
def test_a_crawler_has_a_match_of_every_kept_page(dice):
    """Pages change one by one or not at all; then each is visited as it is."""
    now, passed = dict.fromkeys((f"http://m{number}.example/" for number in range(6)), 0), set()
    with Index.create(texts=True) as index:
        pages = CrawlFilter(index)

        def visit(url):
            if pages.admit(url, version(now[url])).representative is None:
                passed.add(now[url])

        for _ in range(5):
            for url in dice.sample(sorted(now), len(now)):
                now[url] += dice.choice((0, 0, 1, 1, 2, 9))
                visit(url)
            for url in now:
                visit(url)
            assert all(pages.judge(url, version(number)).representative for url, number in now.items())
            kept = [now[url] for url in now if index.get([url])[0].representative == url]
            texts = [version(number) for number in sorted(passed)]
            assert all(max(resemblance(version(number), text) for text in texts) >= 0.6 for number in kept)


def test_a_page_that_changes_altogether_leaves_its_cluster_to_another(pages):
    a, b, c = (f"http://{name}.example/" for name in "abc")
    pages.judge_and_admit([(url, STORM) for url in (a, b, c)])
    verdicts = [pages.admit(url, text) for url, text in ((a, HERON), (b, STORM), (c, STORM), (b, STORM))]
    assert verdicts == [Known(a, changed=True), Known(b), Known(c), Known(b)]
    assert [verdict.representative for verdict in verdicts] == [None, None, b, b]


def test_what_is_unchanged_is_not_remembered_again(index, pages):
    pages.admit("http://a.example/", STORM, at=1)
    assert pages.admit("http://a.example/?", STORM, at=2) == Known("http://a.example/")
    assert index.get(["http://a.example/"])[0].changed_at == datetime.fromtimestamp(1, UTC)
    assert pages.admit("http://a.example/#", BAKER, at=3) == Known("http://a.example/", changed=True)
    assert len(index) == 1
    assert index.get(["http://a.example/"])[0].changed_at == datetime.fromtimestamp(3, UTC)
    assert pages.judge("http://c.example/", STORM) == New()


def test_a_near_duplicate_has_the_page_that_it_repeats_as_representative(index, pages):
    pages.judge_and_admit([("http://a.example/", STORM), ("http://b.example/", f"{STORM} on Tuesday")])
    assert index.group("http://b.example/") == ["http://a.example/", "http://b.example/"]
    assert pages.judge("http://b.example/", f"{STORM} on Tuesday") == Known("http://b.example/")


def test_a_batch_counts_its_own_pages_in_their_order(index, pages):
    verdicts = pages.judge_and_admit(
        [
            ("http://a.example/", STORM),
            ("http://a.example/?utm_source=x", STORM),
            ("http://b.example/", STORM),
            ("http://a.example/", BAKER),
            ("http://a.example/", BAKER),
            ("http://c.example/", " "),
            ("http://c.example/", ""),
        ]
    )
    a, b, c = "http://a.example/", "http://b.example/", "http://c.example/"
    assert verdicts == [New(), Known(a), ExactDuplicate(a), Known(a, changed=True), Known(a), Empty(), Known(c)]
    assert [verdict.representative for verdict in verdicts] == [None, a, a, None, a, None, c]
    assert list(index.ids()) == [b, a, c]


def test_a_page_that_is_replaced_in_a_batch_represents_no_other_after(pages):
    a, b = "http://a.example/", "http://b.example/"
    verdicts = pages.judge_and_admit([(a, STORM), (b, STORM), (a, HERON), (b, STORM)])
    assert [verdict.representative for verdict in verdicts] == [None, a, None, None]
    assert pages.judge(b, STORM).representative == b


@pytest.mark.parametrize("wrap", [lambda pairs: pairs, iter, lambda pairs: [list(pair) for pair in pairs]])
def test_pairs_come_in_any_form(pages, wrap):
    assert pages.judge_and_admit(wrap([("http://a.example/", STORM), ("http://b.example/", BAKER)])) == [New(), New()]


def test_tables_and_columns_are_batches(index, pages):
    table = pa.table({"url": ["http://a.example/", "http://b.example/"], "text": [STORM, BAKER], "rank": [1, 2]})
    assert pages.judge_and_admit(table) == [New(), New()]
    assert pages.judge_each(table) == [Known("http://a.example/"), Known("http://b.example/")]
    assert pages.judge_each(table.column("url"), table.column("text")) == pages.judge_each(table)
    assert pages.judge_and_admit([]) == []
    assert len(index) == 2


def test_fields_of_addresses_are_filled(tmp_path):
    kinds = {"url": str, "host": str, "title": str, "rank": int}
    with Index.create(tmp_path / "seen", fields=kinds) as index:
        pages = CrawlFilter(index)
        pages.admit("HTTP://A.Example:8080/x#y", STORM, {"title": "Storm"})
        pages.admit("mailto:nobody", BAKER)
        pages.judge_and_admit(pa.table({"url": ["http://c.example/"], "text": [HERON], "rank": [3], "host": ["own"]}))
        first, second, third = index.get(["http://a.example:8080/x", "mailto:nobody", "http://c.example/"])
    assert first.fields == {"url": "HTTP://A.Example:8080/x#y", "host": "a.example", "title": "Storm", "rank": None}
    assert second.fields == {"url": "mailto:nobody", "host": None, "title": None, "rank": None}
    assert third.fields == {"url": "http://c.example/", "host": "own", "title": None, "rank": 3}


def test_a_field_named_url_that_holds_no_strings_is_left_alone(tmp_path):
    with Index.create(tmp_path / "seen", fields={"url": int}) as index:
        CrawlFilter(index).admit("http://a.example/", STORM)
        assert index.get(["http://a.example/"])[0].fields == {"url": None}


def test_schemes_that_sign_fields_are_given_them(tmp_path):
    with Index.create(tmp_path / "seen", Checksum()) as index:
        pages = CrawlFilter(index)
        assert pages.admit("http://a.example/", STORM, {"title": "Storm"}) == New()
        assert (
            pages.judge("http://b.example/", STORM[:-1] + "n", {"title": "Storm"}).representative == "http://a.example/"
        )
        assert pages.judge("http://b.example/", STORM[::-1], {"title": "Storm"}) == New()


def test_a_change_of_a_signed_field_is_a_change(tmp_path):
    with Index.create(tmp_path / "seen", Checksum()) as index:
        pages = CrawlFilter(index)
        a = "http://a.example/"
        titles = ["Storm", "Storm", "Wind", "Wind"]
        table = pa.table({"url": [a] * 4, "text": [STORM] * 4, "title": titles})
        assert pages.judge_and_admit(table) == [New(), Known(a), Known(a, changed=True), Known(a)]
        assert pages.judge(a, STORM, {"title": "Wind"}) == Known(a)
        assert pages.judge(a, STORM, {"title": "Storm"}) == Known(a, changed=True)
        assert pages.judge(a, BAKER, {"title": "Wind"}) == Known(a, changed=True)


def test_columns_that_the_index_does_not_know_are_passed_over_but_fields_are_not(pages):
    with pytest.raises(DataError, match="is unknown; this index has"):
        pages.admit("http://a.example/", STORM, {"rank": 1})
    assert pages.judge_and_admit(pa.table({"url": ["http://a.example/"], "text": [STORM], "rank": [1]})) == [New()]


def test_addresses_are_a_choice(index):
    pages = CrawlFilter(index, Addresses(ignore_scheme=True))
    pages.admit("http://a.example/", STORM)
    assert pages.judge("https://a.example/", STORM) == Known("https://a.example/")
    assert pages.id_of("http://a.example/" + 2000 * "x") != pages.id_of("http://a.example/" + 2001 * "x")


@pytest.mark.parametrize(
    ("batch", "complaint"),
    [
        (["http://a.example/"], "pairs"),
        ("http://a.example/", "pairs"),
        (7, "pairs"),
        ([("http://a.example/",)], "pairs"),
        ([(None, STORM)], "url 0 must be a string, not None"),
        ([("http://a.example/", STORM), (" ", STORM)], "url 1 is empty"),
        ([("http://a.example/", 7)], "text"),
        (pa.table({"url": ["x"]}), "table: there is no column 'text'; the columns are: url$"),
    ],
)
def test_invalid_pages_are_refused_and_none_is_remembered(index, pages, batch, complaint):
    with pytest.raises(DataError, match=complaint):
        pages.judge_and_admit(batch)
    assert len(index) == 0


def test_columns_of_different_lengths_are_refused(pages):
    with pytest.raises(DataError, match="2 URLs for 1 text; each URL needs one text"):
        pages.judge_and_admit(["http://a.example/", "http://b.example/"], [STORM])


def test_a_reader_can_be_asked_only(index, tmp_path):
    CrawlFilter(index).admit("http://a.example/", STORM)
    with Index.open(tmp_path / "seen") as reader:
        pages = CrawlFilter(reader)
        assert pages.judge("http://a.example/", STORM) == Known("http://a.example/")
        with pytest.raises(StorageRefused, match="opened to read"):
            pages.admit("http://b.example/", BAKER)


def test_a_lone_surrogate_in_a_url_is_not_an_error(tmp_path):
    with Index.create(tmp_path / "seen", fields={"url": str}) as index:
        pages = CrawlFilter(index)
        assert pages.admit("http://a.example/\ud800", STORM) == New()
        assert isinstance(pages.judge("http://a.example/\ud800", STORM), Known)


TEXTS = st.sampled_from([STORM, f"{STORM} on Tuesday", BAKER, BAKER.upper(), HERON, "", " ", "hi"])
URLS = st.sampled_from([f"http://{host}.example/" for host in "abcd"])


@given(first=st.lists(st.tuples(URLS, TEXTS), max_size=4), second=st.lists(st.tuples(URLS, TEXTS), max_size=8))
def test_addresses_are_known_in_a_batch_as_one_by_one(first, second):
    together, singly = (CrawlFilter(Index.create(scheme=MinHash(shingle=2))) for _ in range(2))
    content: dict[str, str] = {}
    with together.index, singly.index:
        for batch in (first, second):
            verdicts = together.judge_and_admit(batch)
            one_by_one = [singly.admit(url, text) for url, text in batch]
            for (url, text), verdict, alone in zip(batch, verdicts, one_by_one, strict=True):
                assert isinstance(verdict, Known) == isinstance(alone, Known) == (url in content)
                if url in content:
                    assert verdict == alone == Known(url, changed=content[url] != text.strip())
                content[url] = text.strip()
        assert {document.id for document in together.index.get(content)} == set(content)
        for url in content:
            asked = [pages.index.visit([url], [content[url]], remember=False)[0] for pages in (together, singly)]
            assert asked[0] == asked[1] == Known(url)


def test_nobody_is_dropped_for_a_page_that_is_not_kept(pages):
    dice = random.Random(1)  # noqa: S311 - no secrets
    words = [f"word{number}" for number in range(40)]
    versions = [words]
    for _ in range(300):  # chains: each version is one word away from an earlier one
        version = [*dice.choice(versions)]
        version[dice.randrange(len(version))] = f"new{dice.randrange(10**6)}"
        versions.append(version)
    batch = [(f"http://a.example/{number}", " ".join(version)) for number, version in enumerate(versions)]
    verdicts = [verdict for begin in range(0, 301, 50) for verdict in pages.judge_and_admit(batch[begin : begin + 50])]
    kept = {url for (url, _), verdict in zip(batch, verdicts, strict=True) if verdict.representative is None}
    assert 1 < len(kept) < 300
    assert {verdict.representative for verdict in verdicts} - {None} <= kept


def test_many_pages_are_judged_in_one_batch(pages):
    dice = np.random.default_rng(1)
    texts = [" ".join(f"w{word}" for word in dice.integers(0, 10**6, 30)) for _ in range(5000)]
    urls = [f"http://a.example/{number}" for number in range(5000)]
    assert set(pages.judge_and_admit(urls, texts)) == {New()}
    assert pages.judge_each(urls, texts) == [Known(url) for url in urls]


def test_the_host_of_a_page_needs_no_other_normaliser(tmp_path, monkeypatch):
    with Index.create(tmp_path / "seen", fields={"url": str, "host": str}) as index:
        pages, made = CrawlFilter(index), []
        monkeypatch.setattr(Addresses, "__post_init__", made.append)
        pages.judge_and_admit([(f"http://Site{number}.example/{number}", STORM) for number in range(50)])
        assert [document.fields["host"] for document in index.get(index.ids())][:2] == [
            "site0.example",
            "site1.example",
        ]
    assert made == []


def test_an_index_refuses_other_url_rules_than_its_ids_follow(tmp_path):
    evidence = RuleEvidence(12, 12, 1.0)
    rules = UrlRules({"a.example": HostRules(final_slash=evidence)})
    ruled = Addresses(rules=rules)
    with Index.create(tmp_path / "index") as index:
        CrawlFilter(index)
        pages = CrawlFilter(index, ruled)
        pages.admit("http://a.example/b/", "one two three four five")
        assert isinstance(pages.judge("http://a.example/b", "one two three four five"), Known)
        assert CrawlFilter(index).id_of("http://a.example/b/") == "http://a.example/b"
        loose = CrawlFilter(index, Addresses(ignore_scheme=True))
        assert loose.id_of("http://a.example/b/") == "https://a.example/b"
    for mode in "rw":
        with Index.open(tmp_path / "index", mode=mode) as index:
            CrawlFilter(
                index, Addresses(rules=UrlRules({"a.example": HostRules(final_slash=RuleEvidence(20, 20, 1.0))}))
            )
            with pytest.raises(StorageRefused, match=rules.id):
                CrawlFilter(index, Addresses(rules=UrlRules({"a.example": HostRules(case=evidence)})))
    with Index.create() as index:
        CrawlFilter(index).admit("http://a.example/b", "one two three four five")
        with pytest.raises(StorageRefused, match="its ids follow no URL rules"):
            CrawlFilter(index, ruled)


def test_a_filter_follows_rules_that_a_writer_gives_an_empty_index(tmp_path):
    rules = UrlRules({"a.example": HostRules(final_slash=RuleEvidence(12, 12, 1.0))})
    Index.create(tmp_path / "index").close()
    with Index.open(tmp_path / "index") as reader:
        asked, other = CrawlFilter(reader), CrawlFilter(reader, Addresses(rules=UrlRules()))
        with Index.open(tmp_path / "index", "w") as index:
            CrawlFilter(index, Addresses(rules=rules)).admit("http://a.example/b/", "one two three four five")
        assert asked.id_of("http://a.example/b/") == other.id_of("http://a.example/b/") == "http://a.example/b/"
        reader.refresh()
        assert isinstance(asked.judge("http://a.example/b/", "one two three four five"), Known)
        with pytest.raises(StorageRefused, match="its ids follow the URL rules"):
            other.id_of("http://a.example/b/")


def test_pages_may_be_signatures():
    url, other = "http://a.example/", "http://b.example/"
    with Index.create() as index:
        pages, sign = CrawlFilter(index), index.scheme.sign
        pages.admit(url, STORM)
        assert pages.judge_and_admit([url], sign([STORM])) == [Known(url)]  # whether it was signed here or there
        assert pages.judge_and_admit([other], sign([STORM]))[0].representative == url
        assert pages.judge_each([other], sign([f"{STORM} and more"]))[0].changed
        assert pages.judge_and_admit([other], sign(["Calm."])) == [Known(other, changed=True, resemblance=0.0)]
        assert pages.judge_and_admit([other, url], sign(["Calm.", STORM])) == [Known(other), Known(url)]
    with Index.create(texts=True) as index, pytest.raises(DataError, match="not signatures"):
        CrawlFilter(index).judge_and_admit([url], index.scheme.sign([STORM]))


def test_a_page_without_words_is_unchanged_whatever_the_row_of_its_signature():
    with Index.create() as index:
        pages, signed = CrawlFilter(index), index.scheme.sign(["!"])
        pages.admit("http://a.example/", "!")
        other = Signatures(np.zeros_like(signed.rows), signed.present, signed.recipe)  # as a service makes it of null
        assert pages.judge_and_admit(["http://a.example/"], other) == [Known("http://a.example/")]


@pytest.fixture(scope="module")
def templates():
    return learn_templates(PAGES)


@pytest.mark.parametrize("form", ["pairs", "columns", "table", "bytes"])
def test_html_is_read_with_the_templates_of_the_index(templates, form):
    urls, markup = zip(*PAGES, strict=True)
    given = {
        "pairs": (PAGES,),
        "columns": (urls, markup),
        "table": (pa.table({"url": urls, "text": markup}),),
        "bytes": (urls, pa.array([page.encode() for page in markup], pa.binary())),
    }[form]
    with Index.create(templates=templates, texts=True) as index, Index.create(texts=True) as plain:
        said = CrawlFilter(index, extraction=Extraction()).judge_and_admit(*given)
        assert {one.name for one in said} == {"new"}
        texts = Extraction(templates=templates).pages(markup, hosts=[SITE.host] * len(markup)).texts
        assert [one.text for one in index.get(urls)] == texts
        assert CrawlFilter(index, extraction=Extraction()).judge(*PAGES[0]) == Known(urls[0], representative=urls[0])
        CrawlFilter(plain, extraction=Extraction()).judge_and_admit(*given)
        assert [one.text for one in plain.get(urls)] == Extraction().pages(markup).texts
        with pytest.raises(StorageRefused, match="text view visible"):
            CrawlFilter(index, extraction=Extraction(view="visible")).judge(*PAGES[0])


def test_signatures_have_no_html(templates):
    with Index.create(templates=templates) as index:
        signatures = index.scheme.sign(["a text of some words"])
        with pytest.raises(ParameterError, match="must be HTML"):
            CrawlFilter(index, extraction=Extraction()).judge_each(["http://a.example/"], signatures)
    with Index.create() as index, pytest.raises(ParameterError, match="extraction"):
        CrawlFilter(index, extraction="auto")
    with pytest.raises(ParameterError, match="index"):
        CrawlFilter(None)
    with pytest.raises(ParameterError, match="templates"):
        Index.create(templates="templates.arrow")


@pytest.fixture(scope="module")
def extraction():
    return Extraction(templates=learn_templates(PAGES))


def test_thin_pages_match_only_those_of_their_host(extraction):
    with Index.create(templates=extraction.templates) as index:
        assert index.fields == {}
        urls = [f"http://{name}/{n}" for name in ("host.example", "other.example") for n in range(2)]
        texts, sites = page_texts(index, extraction, urls, [THIN + "this page"] * 4)
        assert len(set(texts)) == 1
        assert sites[SITE_FIELD][0] == sites[SITE_FIELD][1] != sites[SITE_FIELD][2] == sites[SITE_FIELD][3]
        assert index.extraction == extraction.identity
        CrawlFilter(index).judge_and_admit(urls, texts, sites)
        with pytest.raises(StorageRefused, match="the new ones in the text view visible"):
            page_texts(index, Extraction(view="visible"), urls, [THIN] * 4)
        assert page_texts(index, Extraction(), urls, [THIN + "this page"] * 4) == (texts, sites)  # the index keeps them
        assert page_texts(index, extraction, [], []) == ([], {SITE_FIELD: []})


def test_lines_of_templates_do_not_count(extraction):
    urls, markup = zip(*PAGES, strict=True)
    with Index.create(templates=extraction.templates) as index, Index.create() as plain:
        texts, sites = page_texts(index, extraction, urls, markup)
        assert texts == extraction.pages(markup, hosts=["host.example"] * len(markup)).texts
        assert sites[SITE_FIELD] == [0] * len(markup)
        assert page_texts(plain, Extraction(), urls, markup) == (Extraction().pages(markup).texts, {})
        with pytest.raises(StorageRefused, match="without templates"):
            page_texts(plain, extraction, urls, markup)


def test_schemes_of_fields_need_no_sites(extraction):
    with Index.create(scheme=Checksum(fields=(Field(name="title"),))) as index:
        assert page_texts(index, extraction, ["http://host.example/"], [THIN])[1] == {"title": ["Error"]}


HEAD = (
    "<html lang=en><title>{0}</title><link rel=canonical href=/c><meta name=robots content=noindex><p>some words of it"
)
KINDS = {"title": "string", "canonical": "string", "lang": "string", "noindex": "integer"}


def test_fields_of_pages_are_set_unless_they_are_given():
    urls, markup = ["http://a.example/1", "http://a.example/2"], [HEAD.format("A"), HEAD.format("B")]
    with Index.create(fields=KINDS) as index, Index.create(fields={"title": "integer", "noindex": "flag"}) as other:
        crawl = CrawlFilter(index, extraction=Extraction())
        crawl.judge_and_admit(urls[:1], markup[:1])
        crawl.judge_and_admit(urls[1:], markup[1:], {"title": [None]})
        found = [{"title": title, "canonical": "/c", "lang": "en", "noindex": 1} for title in ("A", None)]
        assert [one.fields for one in index.get(urls)] == found
        CrawlFilter(other, extraction=Extraction()).judge_and_admit(
            urls, markup
        )  # fields of other kinds are the user's
        assert other.get(urls)[0].fields == {"title": None, "noindex": None}


def test_fields_of_pages_are_signed():
    urls, markup = [f"http://a.example/{n}" for n in range(3)], [HEAD.format(title) for title in "ABA"]
    with Index.create(scheme=Checksum()) as index:
        said = CrawlFilter(index, extraction=Extraction()).judge_and_admit(urls, markup)
    assert [one.name for one in said] == ["new", "new", "exact duplicate"]


@pytest.mark.parametrize("values", [[1, "a"], [object(), object()], [{}, []]])
def test_columns_that_are_not_needed_may_have_any_values(values):
    pandas = pytest.importorskip("pandas")
    urls, texts = ["http://a.example/1", "http://a.example/2"], ["one two three", "four five six"]
    pages = pandas.DataFrame({"meta": values, "title": ["A", "B"], "text": texts, "url": urls})
    with Index.create(fields={"title": str}) as index:
        crawl = CrawlFilter(index)
        assert crawl.judge_each(pages) == crawl.judge_and_admit(pages) == [New(), New()]
        assert index.values("title", urls) == ["A", "B"]
        with pytest.raises(DataError, match="column 'title'"):
            crawl.judge_each(pages.assign(title=values))
        with pytest.raises(DataError, match="there is no column 'url'; the columns are: meta, title, text"):
            crawl.judge_each(pages.drop(columns="url"))


def test_columns_of_polars_that_are_not_needed_may_have_any_type():
    polars = pytest.importorskip("polars")
    wide = polars.Series([1], dtype=polars.Int128)
    pages = polars.DataFrame({"url": ["http://a.example/"], "text": ["one two three"], "wide": wide})
    assert CrawlFilter(Index.create()).judge_and_admit(pages) == [New()]


def test_columns_of_pandas_without_values_are_null():
    pandas = pytest.importorskip("pandas")
    urls, texts = ["http://a.example/1", "http://a.example/2"], ["one two three", "four five six"]
    missing = {
        "title": [np.nan] * 2,
        "seen": [np.nan] * 2,
        "live": [np.nan] * 2,
        "rank": pandas.to_datetime([None] * 2),
    }
    pages = pandas.DataFrame({"url": urls, "text": texts, **missing})
    kinds = {"title": str, "seen": "time", "live": bool, "rank": int, "url": str, "host": str}
    with Index.create(fields=kinds) as index:
        crawl = CrawlFilter(index)
        assert len(crawl.judge_each(pages)) == len(crawl.judge_and_admit(pages)) == 2
        assert [index.values(name, urls) for name in missing] == [[None, None]] * 4
        assert index.values("host", urls) == ["a.example"] * 2
        for none in (pages[:0], pandas.DataFrame({"url": [], "text": []}), pa.table({"url": [], "text": []}), []):
            assert crawl.judge_and_admit(none) == crawl.judge_each(none) == []


def test_a_scheme_may_sign_the_text_by_its_name():
    scheme = Checksum(fields=(Field(name="title"), Field(name="text")))
    with Index.create(scheme=scheme) as index:
        pages = pa.table({"url": [f"http://{own}.example/" for own in "abc"], "title": [*"xxx"], "text": [*"ppq"]})
        verdicts = CrawlFilter(index).judge_and_admit(pages)
    assert [verdict.name for verdict in verdicts] == ["new", "exact duplicate", "new"]
