import json
import re
from collections import Counter
from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archives_made import http, packed, record
from json_lines import write_lines

import neardup
from neardup.errors import DataError
from neardup.model.policy import Policy
from neardup.pipeline.corpus.address_ranks import address_ranks, hint_counts, named_address
from neardup.text.containers import records_as_table

STORY = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings"
OTHER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
COPIES = [STORY + end for end in (" before noon", " before night", " before noon today", " before the noon")]


def kept(pages, keep="canonical"):
    """The ids of the kept pages, each (id, canonical) with a near-duplicate text, or (id, canonical, text)."""
    ids, canonicals, *texts = zip(*((*page, COPIES[place])[:3] for place, page in enumerate(pages)), strict=True)
    table = pa.table({"id": ids, "canonical": pa.array(canonicals, pa.string()), "text": texts[0]})
    result = neardup.dedup(table, keep=keep, threshold=0.5)
    assert all(row["representative"] is None or row["resemblance"] for row in result.decisions.to_pylist())
    return [page for page, stays in zip(ids, result.mask.tolist(), strict=True) if stays]


A, B, C = "https://a.example/story", "https://b.example/news/story?from=a", "https://c.example/s"


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        pytest.param([(B, A), (A, A)], [A], id="self"),
        pytest.param([(B, None), ("https://b.example/news/other?x=1", "story?from=a")], [B], id="relative"),
        pytest.param([(B, None), (A, ""), (C, None)], [C], id="no valid declaration"),
        pytest.param([(C, A), (A, None)], [A], id="other host"),
        pytest.param(
            [(A, "/"), (B, "https://a.example/"), ("https://a.example/", None, OTHER)],
            [A, "https://a.example/"],
            id="start page",
        ),
        pytest.param(
            [(C, "http://a.example:80/story#top"), ("http://a.example/story", None)],
            ["http://a.example/story"],
            id="http",
        ),
        pytest.param([(A, B), (B, C), (C, None)], [C], id="chain"),
        pytest.param([(B, "https://x.example/"), (C, "https://x.example/")], [C], id="absent"),
    ],
)
def test_the_canonical_page_is_kept(pages, expected):
    assert sorted(kept(pages)) == sorted(expected)
    assert sorted(kept(pages[::-1])) == sorted(expected)


@pytest.mark.parametrize(
    "canonical",
    [
        "javascript:history.back()",
        " JavaScript:;",
        "mailto:a@a.example",
        "data:text/html,x",
        "tel:1",
        "https:",
        "http://",
    ],
)
def test_only_addresses_of_the_web_are_named(canonical):
    assert named_address(A, canonical) == A
    assert kept([(C, None), (A, canonical)]) == [C]  # the shorter of two with one vote each
    assert kept([(C, canonical), (B, None), (A, None)]) == [C]


def test_other_spellings_of_the_web_are_named():
    for canonical in ("HTTPS://a.example/story", "//a.example/story", "\thttp://a.example/story", "/story", "story"):
        assert named_address("https://a.example/x", canonical) == A


def of_archive(path, pages, **options):
    """The addresses of the kept pages of an archive, each (address, head, HTTP headers) with the same text."""
    made = []
    options = {"keep": "canonical"} | options
    for number, (uri, head, headers) in enumerate(pages):
        block = http(f"<head>{head}</head><p>{STORY}".encode(), headers=headers)
        made.append(record(uri=uri, number=number, headers=["Content-Type: application/http"], block=block))
    path.write_bytes(packed(made))
    result = neardup.dedup_files([path], **options).result
    return [uri for (uri, *_), stays in zip(pages, result.mask.tolist(), strict=True) if stays]


ONE = f"<link rel=canonical href={A}>"


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        pytest.param([(C, "", ()), (B, ONE, ()), (A, "", ())], A, id="one tag"),
        pytest.param([(C, "", ()), (B, ONE + f"<link rel=canonical href={B}>", ()), (A, "", ())], C, id="two tags"),
        pytest.param([(C, "", ()), (B, "", [f"Link: <{A}>; rel=canonical"]), (A, "", ())], A, id="header"),
        pytest.param(
            [(C, "", ()), (B, "<base href=//a.example/x><link rel=canonical href=story>", ()), (A, "", ())],
            A,
            id="base",
        ),
        pytest.param(
            [
                (C, "", ()),
                (B, "<base href=../../x/><link rel=canonical href=y>", ()),
                ("https://b.example/x/y", "", ()),
            ],
            "https://b.example/x/y",
            id="relative base",
        ),
    ],
)
def test_declarations_of_pages_in_archives(tmp_path, pages, expected):
    assert of_archive(tmp_path / "x.warc.gz", pages) == [expected]
    assert of_archive(tmp_path / "y.warc.gz", pages[::-1]) == [expected]


@pytest.mark.parametrize(
    ("id_", "pieces"),
    [("id", False), ("url", True), ("record", False), ("title", True), ("content_mime_type", False), ("id", True)],
)
@pytest.mark.parametrize(("keep", "expected"), [("canonical", A), ("https", C), ("shortest-id", "http://d.example/")])
def test_pages_of_archives_are_ranked_by_their_addresses_whatever_their_ids(tmp_path, id_, pieces, keep, expected):
    pages = [("http://long.example/a/b/c", "", ()), ("http://d.example/", "", ()), (C, ONE, ()), (A, "", ())]
    options = {"id": id_, "keep": keep} | ({"work": tmp_path / "work"} if pieces else {})
    assert of_archive(tmp_path / "x.warc.gz", pages, **options) == [expected]
    neardup.audit_files([tmp_path / "x.warc.gz"], id=id_, keep=keep)  # raises an error if its ranks differ


def test_pages_with_templates_are_ranked_by_their_addresses(tmp_path):
    pages = [
        (f"{number}", url, f"<head>{head}</head><p>{STORY}") for number, (url, head) in enumerate([(B, ONE), (A, "")])
    ]
    rows = [{"id": own, "address": url, "canonical": None, "html": page} for own, url, page in pages]
    rows[0]["canonical"] = A
    write_lines(tmp_path / "x.jsonl", rows)
    extraction = neardup.web_pages.Extraction(templates=neardup.web_pages.learn_templates([]))
    options = {"html": "html", "url": "address", "extraction": extraction, "keep": "canonical"}
    for how in ({}, {"work": tmp_path / "work"}):
        found = neardup.dedup_files([tmp_path / "x.jsonl"], **options, **how).result
        assert found.mask.tolist() == [False, True]
        assert found.summary.canonical_kept == 1


def test_hints_against_other_files_are_those_of_the_inputs(tmp_path):
    old = [{"id": f"https://old.example/{number}", "canonical": None, "text": OTHER} for number in range(2)]
    new = [{"id": A, "canonical": None, "text": COPIES[0]}, {"id": B, "canonical": A, "text": COPIES[1]}]
    for name, rows in (("old", old), ("new", new)):
        write_lines(tmp_path / f"{name}.jsonl", rows)
    paths = {"against": [tmp_path / "old.jsonl"]}
    summary = neardup.dedup_files([tmp_path / "new.jsonl"], keep="canonical", threshold=0.5, **paths).result.summary
    assert (summary.canonical_kept, summary.canonical_contradicted) == (1, 0)


def test_pages_that_name_another_without_a_match_are_kept():
    assert kept([(A, B, STORY), (B, B, OTHER)]) == [A, B]


def test_a_score_decides_between_pages_that_are_named_as_often():
    table = pa.table({"id": [A, B, C], "canonical": [None, B, B], "score": [9, 1, 2], "text": COPIES[:3]})
    assert neardup.dedup(table, keep="max:score,canonical", threshold=0.5).kept.tolist() == [0]
    assert neardup.dedup(table, keep="canonical,max:score", threshold=0.5).kept.tolist() == [1]
    alone = table.set_column(1, "canonical", pa.array([None] * 3, pa.string()))
    assert neardup.dedup(alone, keep="canonical,max:score", threshold=0.5).kept.tolist() == [0]
    assert neardup.dedup(alone, keep="canonical", threshold=0.5).kept.tolist() == [2]


def test_the_field_must_exist():
    with pytest.raises(DataError, match="canonical"):
        neardup.dedup(pa.table({"id": [A], "text": [STORY]}), keep="canonical")


def test_declarations_without_sense_name_the_page_itself():
    for canonical in (None, "", " ", "http://[", "http://[::1"):
        assert named_address(A, canonical) == A
    assert named_address("7", None) == "7"


def test_addresses_that_do_not_count_are_not_read():
    assert address_ranks(Policy(keep="longest,first"), pa.chunked_array([["\0"]]), {}) is None
    found = address_ranks(Policy(keep="https"), pa.chunked_array([[" HTTPS://a/", "http://a/", None]]), {})
    assert found.https.tolist() == [True, False, False]
    assert found.sizes.tolist() == [11, 9, 0]


@pytest.mark.parametrize(
    "keep", ["canonical", "canonical,min:score,last", "https,shortest-id", "max:score,longest,canonical"]
)
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_run_in_pieces_and_one_against_a_state_have_the_same_answer(tmp_path, keep, form):
    rows = []
    for place in range(24):
        url = f"http{'s' * (place % 3 > 1)}://{'abc'[place % 3]}.example/{'x' * (place % 5)}{place % 8}"
        named = None if place % 4 == 1 else f"//{'abc'[place % 2]}.example/{place % 8}"
        text = f"{COPIES[place % 4]} {OTHER if place % 6 == 5 else ''}"
        rows.append({"id": url, "canonical": named, "score": place % 3, "text": text})
    for name, part in (("all", rows), ("old", rows[:9]), ("new", rows[9:])):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in part)
        pq.write_table(pa.Table.from_pylist(part), tmp_path / f"{name}.parquet")
    options = {"keep": keep, "threshold": 0.5}
    source = tmp_path / f"all.{form}"
    expected = neardup.dedup_files([source], **options).result.decisions
    assert expected == neardup.dedup(pa.Table.from_pylist(rows), **options).decisions
    assert expected == neardup.dedup_files([source], work=tmp_path / "w", **options).result.decisions
    neardup.dedup_files([tmp_path / f"old.{form}"], state=tmp_path / "state", **options)
    with_state = neardup.dedup_files([tmp_path / f"new.{form}"], state=tmp_path / "state", **options)
    with_files = neardup.dedup_files([tmp_path / f"new.{form}"], against=[tmp_path / f"old.{form}"], **options)
    assert with_state.result.mask.tolist() == with_files.result.mask.tolist()


NOT_LISTED = "<meta name=robots content=noindex>"


def test_pages_that_search_engines_may_not_index_rank_between_https_and_the_shortest_address(tmp_path):
    kept = partial(of_archive, tmp_path / "x.warc.gz")
    assert kept([(C, NOT_LISTED, ()), (B, "", ()), (A, NOT_LISTED, ())]) == [B]
    assert kept([(C, "", ["X-Robots-Tag: noindex"]), (B, "", ()), (A, NOT_LISTED, ())]) == [B]
    assert kept([(C, NOT_LISTED, ()), ("http://d.example/", "", ())]) == [C]  # https counts more
    assert kept([(A, NOT_LISTED, ()), (B, ONE, ())]) == [A]  # and so do declarations
    assert kept([(C, "", ()), (A, NOT_LISTED, ())], keep="canonical,last") == [A]
    assert kept([(C, NOT_LISTED, ()), (A, "", ())], keep="canonical,max:noindex") == [C]


def world(random, *, having):
    """Pages of a few texts, each with the key by which it ranks; some have the field ``noindex``, if they may."""
    rows = []
    for place in range(int(random.integers(1, 24))):
        url = f"http{'s' * int(random.random() < 0.7)}://{'x' * int(random.integers(1, 4))}.example/{place % 9}"
        canonical = None if random.random() < 0.8 else f"//x.example/{random.integers(9)}"
        row = {"id": url, "canonical": canonical, "text": (STORY, OTHER, STORY[::-1])[random.integers(3)]}
        rows.append(row | ({"noindex": int(random.integers(2))} if having and random.random() < 0.8 else {}))
    return rows


def best(rows):
    """The places of the best page of each text, by definition."""
    named = Counter((row["canonical"] or row["id"]).partition("//")[2] for row in rows)

    def key(place):
        url = rows[place]["id"]
        votes = named[url.partition("//")[2]]
        return -votes, not url.startswith("https:"), rows[place].get("noindex") == 1, len(url), place

    places = sorted(range(len(rows)), key=key)
    return sorted({rows[place]["text"]: place for place in reversed(places)}.values())


def as_csv(path, rows):
    fields = ["id", "canonical", "text", *(["noindex"] if any("noindex" in row for row in rows) else [])]
    lines = [fields, *([str(row.get(name) if row.get(name) is not None else "") for name in fields] for row in rows)]
    path.write_text("".join(",".join(line) + "\n" for line in lines))


def as_parquet(path, rows):
    pq.write_table((records_as_table(rows, ["id", "canonical", "text"], ["noindex"])), path)


FORMS = {"jsonl": write_lines, "csv": as_csv, "parquet": as_parquet}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("having", [True, False])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_best_pages_are_those_by_definition(tmp_path, small_parts, form, having):
    random = np.random.default_rng([7, len(form), having])
    for turn in range(4):
        rows, path = world(random, having=having), tmp_path / f"{turn}.{form}"
        FORMS[form](path, rows)
        small_parts(400)
        expected = best(rows)
        done = neardup.dedup_files([path], keep="canonical")
        assert done.result.kept.tolist() == expected
        assert neardup.dedup(rows, keep="canonical").kept.tolist() == expected
        report = tmp_path / f"{turn}-why.parquet"
        in_pieces = neardup.dedup_files([path], keep="canonical", work=tmp_path / "w", report=report)
        assert in_pieces.result.kept.tolist() == expected
        assert in_pieces.result.summary.as_dict() == done.result.summary.as_dict()
        neardup.audit_files([path], report)  # raises an error if its ranks differ
        neardup.audit(neardup.dedup(rows, keep="canonical"))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("forms", [("jsonl", "jsonl"), ("csv", "parquet"), ("parquet", "jsonl")])
def test_a_state_may_grow_by_pages_with_and_without_the_field(tmp_path, forms, first):
    random = np.random.default_rng([8, first])
    for turn in range(2):
        worlds = [world(random, having=first), world(random, having=not first)]
        paths = [tmp_path / f"{turn}-{place}.{form}" for place, form in enumerate(forms)]
        for path, rows in zip(paths, worlds, strict=True):
            FORMS[path.suffix[1:]](path, rows)
        old, new = worlds
        known = {row["text"] for row in old}
        expected = [place for place in best(new) if new[place]["text"] not in known]
        state = tmp_path / f"state{turn}"
        assert neardup.dedup_files(paths[:1], keep="canonical", state=state).result.kept.tolist() == best(old)
        for way in ({"against": paths[:1]}, {"state": state}):
            assert neardup.dedup_files(paths[1:], keep="canonical", **way).result.kept.tolist() == expected


def test_archives_may_follow_tables_without_the_field(tmp_path):
    table, archive = tmp_path / "a.jsonl", tmp_path / "b.warc.gz"
    write_lines(table, [{"id": "https://old.example/", "canonical": None, "text": OTHER}])
    pages = [(C, NOT_LISTED, ()), (B, "", ()), (A, NOT_LISTED, ())]
    for how in ({"work": tmp_path / "w"}, {"against": [table]}):
        assert of_archive(archive, pages, **how) == [B]
    neardup.dedup_files([table], keep="canonical", state=tmp_path / "s")
    assert of_archive(archive, pages, state=tmp_path / "s") == [B]
    done = neardup.dedup_files([table], keep="canonical", against=[archive]).result
    assert done.kept.tolist() == [0]


def test_audits_rank_pages_by_their_addresses_and_records_by_their_ids(tmp_path):
    pages, path, report = [(A, "", ())], tmp_path / "a.jsonl", tmp_path / "why.parquet"
    of_archive(tmp_path / "x.warc.gz", pages)
    write_lines(path, [{"record": B, "text": STORY}])
    options = {"id": "record", "keep": "shortest-id", "work": tmp_path / "w", "learn_templates": False}
    paths = [path, tmp_path / "x.warc.gz"]
    assert neardup.dedup_files(paths, report=report, **options).result.kept.tolist() == [1]
    assert neardup.audit_files(paths, report, id="record", learn_templates=False).recall.value == 1


def test_audits_read_fields_of_different_types_in_different_files(tmp_path):
    rows = [{"id": url, "canonical": None, "text": STORY, "noindex": url != B} for url in (C, B)]
    write_lines(tmp_path / "a.jsonl", rows[:1])
    as_csv(tmp_path / "b.csv", [rows[1] | {"noindex": 0}])
    paths = [tmp_path / name for name in ("a.jsonl", "b.csv")]
    report = tmp_path / "why.parquet"
    done = neardup.dedup_files(paths, keep="canonical", work=tmp_path / "w", report=report)
    assert done.result.kept.tolist() == [1]
    assert neardup.audit_files(paths, report).recall.value == 1


ODD = (1, True, "1", "true", 0, 2**70, 1.5, None, "x", [1], {"a": 1}, "//a.example/")


@pytest.mark.parametrize("keep", ["canonical", "max:score", "canonical,max:canonical", "min:noindex,canonical"])
def test_fields_of_any_kind_have_one_answer(tmp_path, small_parts, keep):
    """A field may be missing from a file. The only errors are those of the run in memory."""
    small_parts(300)
    decided = 0
    for turn in range(6):
        random, paths = np.random.default_rng([len(keep), turn]), []
        odd = {name: random.choice(len(ODD), 1 + turn % 3) for name in ("canonical", "noindex", "score")}
        for place in range(2):
            rows = [{"id": f"https://{'abc'[n % 3]}.example/{n}", "text": (STORY, OTHER)[n % 2]} for n in range(6)]
            for row, (name, values) in product(rows, odd.items()):
                row.update({name: ODD[random.choice(values)]} if random.random() < 0.4 + place else {})
            paths.append(tmp_path / f"{turn}-{place}.jsonl")
            write_lines(paths[-1], rows)
        answers = []
        for way in ({}, {"work": tmp_path / "w", "restart": True}, {"state": tmp_path / f"s{turn}"}):
            report = tmp_path / f"{turn}-{len(answers)}.parquet"
            try:
                result = neardup.dedup_files(paths, keep=keep, report=report, **way).result
                answers.append([*result.representatives])
                assert neardup.audit_files(paths, report).recall.value == 1
            except DataError as error:
                answers.append(str(error))
        assert answers[1:] == answers[:1] * 2
        decided += isinstance(answers[0], list)
        if isinstance(answers[0], str):
            with pytest.raises(DataError, match=re.escape(answers[0])):
                neardup.audit_files(paths, keep=keep)
    assert 0 < decided < 6


def test_hints_are_counted(tmp_path):
    rows = [
        {"id": A, "canonical": None, "text": COPIES[0]},
        {"id": B, "canonical": A, "text": COPIES[1]},
        {"id": C, "canonical": A, "text": OTHER},
        {"id": "https://d.example/", "canonical": "https://absent.example/", "text": f"{OTHER} today"},
    ]
    write_lines(tmp_path / "pages.jsonl", rows)
    for how in ({}, {"work": tmp_path / "work"}):
        done = neardup.dedup_files([tmp_path / "pages.jsonl"], keep="canonical", threshold=0.5, **how)
        assert done.result.mask.tolist() == [True, False, False, True]
        assert (done.result.summary.canonical_kept, done.result.summary.canonical_contradicted) == (1, 1)
    done = neardup.dedup_files([tmp_path / "pages.jsonl"], keep="first", threshold=0.5)
    assert (done.result.summary.canonical_kept, done.result.summary.canonical_contradicted) == (0, 0)


def effects(kept=0, contradicted=0):
    return {"canonical_kept": kept, "canonical_contradicted": contradicted}


def test_hints_of_any_documents_are_counted():
    def counted(pages, representatives):
        ids, canonicals = ([*column] for column in zip(*pages, strict=True))
        columns = (pa.chunked_array([pa.array(column, pa.string())]) for column in (ids, canonicals))
        return hint_counts(*columns, np.array(representatives))

    assert hint_counts(*[pa.chunked_array([], pa.string())] * 2, np.empty(0, np.int64)) == effects()
    assert counted([(A, None), (A, A)], [-1, 0]) == effects()  # the same address
    assert counted([(B, A), (A, None)], [-1, 0]) == effects()  # the copy was kept
    assert counted([(A, None), (B, A), (C, A)], [-1, 0, 0]) == effects(kept=1)
    assert counted([(A, None), (B, A), (A, None)], [-1, -1, 1]) == effects()  # one of two agrees
    assert counted([(A, B), (B, A)], [-1, -1]) == effects(contradicted=2)
    assert counted([(A, None), (B, A)], [-1, 7]) == effects(contradicted=1)  # dropped for an earlier document
