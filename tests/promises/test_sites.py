"""Thin pages, and pages of hosts without a template: which need to be more alike, and match only their own kind."""

import json
import random

import numpy as np
import pyarrow as pa
import pytest
from archives_made import http, record
from invented_sites import Site, article, words
from test_definition import answer, collection, with_sites

from neardup import Combined, Index, MinHash, SimHash, audit, dedup, dedup_files
from neardup.model.errors import StorageRefused
from neardup.pipeline.corpus.documents import SITE
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.files.ingestion import add_files
from neardup.pipeline.index.rescue import rescue
from neardup.pipeline.spilled import files
from neardup.sources.read import read
from neardup.text.host_templates import HostTemplates, Template
from neardup.text.lines import Lines
from neardup.web_pages import Extraction, learn_templates

HTML = {"html": "html", "id": "url", "url": "url"}


@pytest.fixture
def extraction():
    """Templates of the hosts ``a`` and ``b``, whose pages have a line of 60 words, and of no others."""
    plain = Extraction(view="visible")
    templates = [
        Template(host=f"{name}.example", view="visible", kept=20, lines=np.sort(Lines.of([menu(name)]).hashes))
        for name in "ab"
    ]
    return Extraction(view="visible", templates=HostTemplates(templates, rule_of(plain)))


def menu(name):
    return words(random.Random(f"menu of {name}"), 60)


def body(number, seed):
    return words(random.Random(f"body {seed}"), number)


def replaced(text, share, seed=1):
    """A text whose last words are others, so that it resembles the first one by about this much."""
    parts = text.split()
    same = round((len(parts) - 2) * 2 * share / (1 + share)) + 2
    return " ".join([*parts[:same], *body(len(parts) - same, f"other {seed}").upper().split()])


def saved(path, pages):
    """Write pages, given as hosts with texts, as records with addresses."""
    lines = (
        json.dumps({"url": f"https://{host}.example/{number}", "html": "".join(f"<p>{text}" for text in texts)})
        for number, (host, *texts) in enumerate(pages)
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def decided(tmp_path, pages, extraction, **options):
    path = saved(tmp_path / "pages.jsonl", pages)
    in_memory = dedup_files([path], extraction=extraction, **HTML, **options).result.decisions
    in_pieces = dedup_files([path], extraction=extraction, work=tmp_path / "work", **HTML, **options).result.decisions
    assert repr(in_memory.to_pylist()) == repr(in_pieces.to_pylist())
    return in_memory.to_pylist()


def test_of_error_pages_that_repeat_their_address_one_is_kept(tmp_path):
    site = Site("shop.example")
    pages = [site.page(f"p{number}", article(f"shop {number}")) for number in range(25)]
    templates = learn_templates(pages)
    errors = [site.page(f"missing/{number}", [f"Nothing is at missing {number}"]) for number in range(200)]
    blank = "".join(f"<p>{line}</p>" for line in [*site._menu, *site._box, site._footer])  # no stamp, no other links
    errors = [(address, f"<p>Nothing is at {address[20:]}</p>{blank}") for address, _ in errors]
    lines = "".join(json.dumps({"url": address, "html": page}) + "\n" for address, page in [*pages, *errors])
    (tmp_path / "pages.jsonl").write_text(lines)
    rows = [
        dedup_files([tmp_path / "pages.jsonl"], extraction=Extraction(templates=templates), **HTML, **how)
        .result.decisions.to_pylist()
        for how in ({}, {"work": tmp_path / "work"})
    ]  # fmt: skip
    assert repr(rows[0]) == repr(rows[1])
    assert all(row["kept"] for row in rows[0][:25])
    kept, *dropped = rows[0][25:]
    assert kept["kept"]
    assert {row["representative"] for row in dropped} == {kept["id"]}
    for row in dropped:
        assert (row["rule"], row["threshold"]) == ("resemblance", 0.9)
        assert 0.9 <= row["resemblance"] < 1


def test_thin_pages_with_other_products_are_kept(tmp_path, extraction):
    products = [("a", menu("a"), body(11, number), f"No. {number} 1 2 3") for number in range(20)]
    extra = [("a", menu("a"), body(11, number)) for number in range(20, 40)]
    rows = decided(tmp_path, [*products, *extra], extraction)
    assert all(row["kept"] for row in rows)
    assert all(row["kept"] for row in decided(tmp_path, products, extraction, verify="estimate"))


@pytest.mark.parametrize("verify", ["exact", "estimate"])
def test_two_pages_of_a_host_without_a_template_need_more(tmp_path, extraction, verify):
    text = body(300, "long")
    alike, close = replaced(text, 0.72), replaced(text, 0.85)
    for host, other, threshold in (("x", "x", 0.8), ("x", "y", 0.6), ("a", "a", 0.6), ("x", "a", 0.6)):
        for page, resemblance in ((alike, 0.72), (close, 0.85)):
            _, row = decided(tmp_path, [(host, text), (other, page)], extraction, verify=verify)
            assert row["kept"] == (resemblance < threshold)
            if not row["kept"]:
                assert row["threshold"] == threshold
                assert row["resemblance"] == pytest.approx(resemblance, abs=0.02 if verify == "exact" else 0.1)
    kept, row = decided(tmp_path, [("x", text), ("x", close)], extraction, threshold=0.83)
    assert (kept["threshold"], row["threshold"]) == (None, 0.83)


def test_pages_have_sites_next_to_texts_that_have_none(tmp_path, extraction):
    text = body(300, "long")
    records = [
        record(uri=f"https://x.example/{number}", number=number, block=http(f"<p>{one}".encode()))
        for number, one in enumerate((text, replaced(text, 0.72)))
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    (tmp_path / "b.jsonl").write_text('{"text": "no page"}\n')
    for way in ({}, {"work": tmp_path / "work"}):
        found = dedup_files([tmp_path / "a.warc", tmp_path / "b.jsonl"], extraction=extraction, **way)
        assert found.result.summary.kept == 3


def test_the_column_is_there_only_with_templates(tmp_path):
    path = saved(tmp_path / "pages.jsonl", [("a", menu("a")), ("a", menu("a") + " x")])
    found = dedup_files([path], **HTML, learn_templates=False)
    assert "threshold" not in found.result.decisions.column_names


@pytest.mark.parametrize("gather", ["kept", "components"])
def test_thin_pages_match_only_thin_pages_of_their_host(tmp_path, extraction, gather):
    thin = f"{menu('a')} {body(5, 'one')}"  # the words of a thin page of a, as one line
    pages = [
        ("a", menu("a"), body(5, "one")),
        ("x", f"{thin} more"),  # nearly the same words, on hosts without a template
        ("y", menu("a"), f"{body(5, 'one')} other"),
        ("b", f"{thin} again"),  # not thin, because the menu is that of another host
        ("b", menu("b"), body(5, "one")),
        ("a", menu("a"), f"{body(5, 'one')} last"),  # 0.98 of the first one
        ("a", menu("a"), f"{body(2, 'one')} {body(9, 'two')}"),  # 0.7
    ]
    rows = decided(tmp_path, pages, extraction, gather=gather)
    assert [row["representative_position"] for row in rows] == [None, None, 1, 1, None, 0, None]
    assert rows[5]["threshold"] == 0.9


def test_equal_texts_are_duplicates_everywhere(tmp_path, extraction):
    one, other = ("a", "Not found."), ("b", "Not found.")
    rows = decided(tmp_path, [one, other, ("x", "Not found."), ("a", "not found")], extraction)
    assert [row["rule"] for row in rows] == [None, "same text", "same text", "same features"]
    assert [row["threshold"] for row in rows] == [None] * 4
    assert {row["representative_position"] for row in rows[1:]} == {0}


# Random pages.


def pages_of(seed):
    """Pages of hosts with and without templates, many of them edited copies of others, with thin ones."""
    chance = random.Random(seed)
    found, bodies = [], []
    for _ in range(60):
        host = chance.choice("aabbxyz")
        text = body(chance.choice([3, 6, 11, 40, 80]), chance.random())
        if bodies and chance.random() < 0.7:
            parts = chance.choice(bodies).split()
            for _ in range(chance.randrange(4)):
                parts[chance.randrange(len(parts))] = body(1, chance.random())
            text = chance.choice([" ".join(parts), " ".join(parts).capitalize()])
        bodies.append(text)
        found.append((host, *chance.choice([[], [menu("a")], [menu(host)]]), text))
    return found


WAYS = [
    {},
    {"verify": "estimate"},
    {"verify": "none"},
    {"gather": "components"},
    {"representative": "closest"},
    {"keep": "longest", "scheme": MinHash(shingle=2, threshold=0.7)},
    {"scheme": Combined(MinHash(threshold=0.5), SimHash(distance=24))},
    {"scheme": SimHash(distance=10)},
    {"scheme": MinHash(short=40, short_threshold=0.85)},
]


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_pages_are_decided_as_defined_in_memory_in_pieces_and_in_batches(tmp_path, extraction, monkeypatch, way):
    monkeypatch.setattr(files, "_share", lambda *_: 8000)
    given, pages = {"extraction": extraction, **HTML, **WAYS[way]}, pages_of(way)
    path = saved(tmp_path / "pages.jsonl", pages)
    whole = dedup_files([path], **given).result
    got = read([path], text="text", html="html", extraction=extraction)
    number = len(got.texts)
    table = pa.table({"text": got.texts, "score": [0] * number, "title": [""] * number, SITE: got.sites})
    policy = {"verify": "exact", "keep": "first", "scheme": MinHash()} | WAYS[way]
    assert whole.representatives.tolist() == answer(table, **policy)
    assert len({*got.sites.to_pylist()}) == 6  # thin ones of two hosts, three other hosts, and none
    assert {0.8, 0.9} <= {*whole.decisions["threshold"].to_pylist()} or way in {2, 3}
    in_pieces = dedup_files([path], **given, work=tmp_path / "work").result.decisions
    assert repr(in_pieces.to_pylist()) == repr(whole.decisions.to_pylist())
    if way not in {3, 5}:  # components and ranks of a state are those of its own documents
        lines = path.read_text().splitlines(keepends=True)
        rows = []
        for batch in range(3):
            part = tmp_path / f"part{batch}.jsonl"
            part.write_text("".join(lines[batch * 20 : batch * 20 + 20]))
            rows += dedup_files([part], **given, state=tmp_path / "state").result.decisions.to_pylist()
        for row, expected in zip(rows, whole.decisions.to_pylist(), strict=True):
            names = expected.keys() - {"position", "representative_position"}
            assert repr([row[name] for name in sorted(names)]) == repr([expected[name] for name in sorted(names)])


# An index.


def admitted(folder, path, **ways):
    return add_files([path], folder, html="html", url="url", **ways)


def representatives(index):
    ids = [*index.ids()]
    return {own.id: own.representative for own in index.get(ids)}


@pytest.mark.parametrize("texts", [True, False])
def test_an_index_decides_as_a_run(tmp_path, extraction, texts):
    path = saved(tmp_path / "pages.jsonl", pages_of(20))
    lines = path.read_text().splitlines(keepends=True)
    for begin in (0, 20, 40):
        (tmp_path / "some.jsonl").write_text("".join(lines[begin : begin + 20]))
        admitted(tmp_path / "index", tmp_path / "some.jsonl", extraction=extraction, texts=texts)
    verify = "exact" if texts else "estimate"
    rows = dedup_files([path], **HTML, extraction=extraction, verify=verify).result.decisions.to_pylist()
    assert any(row["threshold"] in {0.8, 0.9} for row in rows)
    expected = {row["id"]: row["representative"] or row["id"] for row in rows}
    with Index.open(tmp_path / "index", "w") as index:
        assert representatives(index) == expected
        assert index.fields == {}
        index.compact()
        gone = sorted({*expected.values()})[::3]
        index.remove(gone)
        left = [line for line in lines if json.loads(line)["url"] not in gone]
        path.write_text("".join(left))
        admitted(tmp_path / "other", path, extraction=extraction, texts=texts)
        with Index.open(tmp_path / "other") as other:
            assert representatives(index) == representatives(other)
    rescue(tmp_path / "other", tmp_path / "rescued")
    with Index.open(tmp_path / "other") as other, Index.open(tmp_path / "rescued") as rescued:
        assert representatives(rescued) == representatives(other)


def test_a_run_against_an_index_is_one_against_its_pages(tmp_path, extraction):
    pages = [
        ("x", "1 &lt; 2 &lt;b&gt; and so on"),
        ("x", "1 and so on &lt;b&gt;"),
        *pages_of(20),
    ]  # texts look like HTML
    lines = saved(tmp_path / "pages.jsonl", pages).read_text().splitlines(keepends=True)
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text("".join(lines[:30]))
    new.write_text("".join([lines[1], *lines[30:]]))
    admitted(tmp_path / "index", old, extraction=extraction, texts=True)
    by_pages, by_index = (
        dedup_files([new], against=known, extraction=extraction, **HTML).result.decisions
        for known in (old, tmp_path / "index")
    )
    assert repr(by_index.to_pylist()) == repr(by_pages.to_pylist())
    assert {0.6, 0.8, 0.9} <= {*by_index["threshold"].to_pylist()}
    assert by_index["rule"][0].as_py() == "same text"


def test_an_audit_finds_no_page_missing_that_needs_more_in_its_own_site():
    chosen = np.random.default_rng(3)
    pages = with_sites(collection(chosen), chosen)
    found = audit(dedup(pages, scheme=MinHash(shingle=1, permutations=64, threshold=0.5)))
    assert (found.recall.value, found.precision.value) == (1.0, 1.0)


def test_an_index_without_templates_refuses_pages_with_templates(tmp_path, extraction):
    path = saved(tmp_path / "pages.jsonl", pages_of(2))
    (tmp_path / "plain.jsonl").write_text('{"text": "one two three"}\n')
    add_files([tmp_path / "plain.jsonl"], tmp_path / "index")
    with pytest.raises(StorageRefused, match="without templates"):
        admitted(tmp_path / "index", path, extraction=extraction)
    admitted(tmp_path / "new", path, extraction=extraction)
    add_files([tmp_path / "plain.jsonl"], tmp_path / "new")  # texts belong to no site
    with Index.open(tmp_path / "new") as index:
        assert len(index) == 61
