import io
import json
import os
import re
import sys
import warnings
from dataclasses import replace
from errno import EIO, ENOSPC
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines
from stage_functions import STAGES

from neardup import Checksum, Combined, Field, FracMinHash, MinHash, Sentences, SimHash, Trials, dedup_files
from neardup.engines.journal import Journal
from neardup.errors import DataError, OutputError, ParameterError
from neardup.model.errors import (
    FieldMissing,
    OutputRefused,
    RunChanged,
    RunComplete,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFailed,
)
from neardup.model.memory import LEAST_OF_RUN
from neardup.pipeline.spilled import common_shingles as stages
from neardup.pipeline.spilled import files, output_records, run
from neardup.pipeline.spilled.outputs import record_places
from neardup.sources.shards import Shards
from neardup.text import common_shingles
from neardup.text.common_shingles import CommonShingles
from neardup.web_pages import Extraction

SCHEMES = (
    MinHash(),
    MinHash(threshold=0.8, shingle=2),
    MinHash(bag=True, shingle=1),
    Trials(),
    Sentences(),
    FracMinHash(shingle=2, threshold=0.6),
    SimHash(),
    SimHash(rule="cosine", distance=16, threshold=0.7),
    Combined(MinHash(shingle=1), SimHash()),
    Checksum(fields=(Field(name="title"), Field(name="text", limit=20))),
)
POLICIES = [
    {"keep": keep, "verify": verify, "gather": gather, "representative": representative}
    for keep, verify, (gather, representative) in product(
        ("first", "last", "longest", "max:score"),
        ("exact", "estimate", "none"),
        (("kept", "best-ranked"), ("components", "best-ranked"), ("kept", "closest")),
    )
]


def rows(result):
    """The decisions as values; NaN is unequal to itself."""
    return repr(result.decisions.to_pylist())


def numbers(done):
    found = done.result.summary.as_dict()
    del found["compared"]  # it depends on the path that was taken
    return found


def policies_of(scheme):
    return [policy for policy in POLICIES if scheme.rule != "cosine" or policy.get("gather") != "components"]


def assert_same(sources, work, **options):
    expected = dedup_files(sources, **options)
    found = dedup_files(sources, work=work, **options)
    assert rows(found.result) == rows(expected.result)
    assert numbers(found) == numbers(expected)
    assert found.rejected == expected.rejected
    assert found.documents.without_text == expected.documents.without_text
    assert not work.exists()
    return expected.result, found.result


def few(sources, number):
    """Leave so many lines of each file, where each document is a piece."""
    for path in sources:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:number]))
    return sources


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.name}-{scheme.threshold}")
def test_pieces_decide_as_memory_does(tmp_path, sources, small_parts, scheme):
    place = SCHEMES.index(scheme)
    size = (3000, 1, 1 << 20)[place % 3]
    small_parts(size)
    for policy in policies_of(scheme)[place % 18 :: 18]:
        some = few(sources, 30) if size == 1 else sources
        assert_same(some, tmp_path / "w", scheme=scheme, threads=1 + place % 2, **policy)


@pytest.mark.soak
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.name}-{scheme.threshold}")
def test_all_policies_decide_as_memory_does(tmp_path, sources, small_parts, scheme):
    for size, policy in product((1, 3000, 1 << 20), policies_of(scheme)):
        small_parts(size)
        assert_same(sources, tmp_path / "w", scheme=scheme, **policy)


def test_components_of_cosines_are_refused(tmp_path, sources):
    for work in ({}, {"work": tmp_path / "w"}):
        with pytest.raises(ParameterError, match="gather='components' cannot be used with measure='cosine'"):
            dedup_files(sources, measure="cosine", gather="components", **work)


@pytest.mark.parametrize("hashing", [{}, {"seed": 7}, {"key": bytes(16)}], ids=str)
def test_a_missing_body_is_the_text_of_all_documents(tmp_path, sources, hashing):
    assert_same(sources, tmp_path / "w", scheme=replace(Checksum.for_texts(), **hashing))


def test_a_missing_body_is_the_text_of_tables(tmp_path):
    (tmp_path / "a.csv").write_text("title,text\nbees,they left\nbees,they left\nships,they left\n")
    found, _ = assert_same([tmp_path / "a.csv"], tmp_path / "w", scheme=Checksum())
    assert found.kept.tolist() == [0, 2]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize("options", [{"scheme": Checksum()}, {"keep": "canonical"}, {"keep": "min:noindex,max:title"}])
def test_fields_of_pages_decide(tmp_path, small_parts, name, options):
    small_parts(1000)
    path = tmp_path / name
    text = "All ships stay at home until the wind from the north is over. "
    links = ["", "<link rel=canonical href=1>", "<meta name=robots content=noindex>"]
    heads = [f"<head><title>Title {number // 9}</title>{links[number % 3]}</head>" for number in range(36)]
    pages = [f"{head}<p>{text * (1 + number // 12)}" for number, head in enumerate(heads)]
    if name == "a.csv":
        path.write_text("id,page\n" + "".join(f"http://a.example/{n},{page}\n" for n, page in enumerate(pages)))
    else:
        rows_ = ({"id": f"http://a.example/{n}", "page": page} for n, page in enumerate(pages))
        write_lines(path, rows_)
    visible = Extraction(view="visible")
    assert_same([path], tmp_path / "w", html="page", extraction=visible, **options)


@pytest.mark.filterwarnings("ignore:field '.*' is ranked as text")
@pytest.mark.parametrize("options", [{"keep": "max:text"}, {"keep": "min:id"}, {"keep": "max:title", "text": "title"}])
def test_the_text_and_the_id_may_rank(tmp_path, sources, small_parts, options):
    small_parts(2000)
    assert_same(sources, tmp_path / "w", **options)


def test_pieces_without_documents_do_not_rank(tmp_path, small_parts):
    small_parts(40)
    rows_ = "".join(f"w{n % 3} w5 w{n % 4}\t{n}\n" for n in range(20))
    (tmp_path / "a.tsv").write_text("text\tscore\n" + rows_ + "too\tmany\tfields\n" * 20 + rows_)
    assert_same([tmp_path / "a.tsv"], tmp_path / "w", keep="max:score")


def test_a_missing_field_is_reported_with_the_fields_of_all_parts(tmp_path, small_parts):
    small_parts(22)
    (tmp_path / "a.jsonl").write_text('{"text": "a", "x": 1}\n{"text": "b", "y": 2}\n')
    for options in ({}, {"work": tmp_path / "w"}):
        with pytest.raises(DataError, match=r"the fields are: text, x, y$"):
            dedup_files([tmp_path / "a.jsonl"], id="none", **options)


@pytest.mark.parametrize("options", [{"text": "none"}, {"id": "none"}, {"keep": "max:none"}])
def test_a_field_is_missing_in_tables_without_rows(tmp_path, options):
    for name in "ab":
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / f"{name}.parquet")
    (tmp_path / "c.jsonl").write_text("")
    for work in ({}, {"work": tmp_path / "w"}):
        with pytest.raises(DataError, match=r"there is no field 'none'; the fields are: text$"):
            dedup_files([tmp_path / "a.parquet", tmp_path / "b.parquet"], **work, **options)
    with pytest.raises(DataError, match=r"there is no field 'none'; the fields are: text$"):
        dedup_files([tmp_path / "c.jsonl", tmp_path / "b.parquet"], work=tmp_path / "w", **options)
    assert_same([tmp_path / "c.jsonl"], tmp_path / "w", **options)


def test_names_that_are_not_utf_8(tmp_path, sources):
    path = tmp_path / os.fsdecode(b"n\xff.jsonl")
    path.write_bytes(sources[0].read_bytes())
    done = dedup_files([path], tmp_path / os.fsdecode(b"o\xff.jsonl"), work=tmp_path / os.fsdecode(b"w\xff"))
    assert rows(done.result) == rows(dedup_files([path]).result)
    assert not done.result.decisions["id"].null_count
    assert not [*tmp_path.glob("w*")]


@pytest.mark.parametrize(("name", "content"), [("a.parquet", b""), ("a.jsonl", "text".encode("utf-16"))])
def test_an_input_that_cannot_be_cut_leaves_no_work_folder(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError):
        dedup_files([tmp_path / name], work=tmp_path / "w")
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("change", ["moved or removed", "changed"])
@pytest.mark.parametrize("stage", ["sign", "gather", "write"])
def test_an_input_that_is_removed_or_changed_may_be_restored(
    tmp_path, sources, small_parts, no_held_texts, monkeypatch, *, stage, change
):
    """What was done before is not done again."""
    small_parts(3000)
    no_held_texts()
    owner, content = output_records if stage == "write" else run, sources[0].read_bytes()
    again = partial(dedup_files, sources, tmp_path / "out.jsonl", work=tmp_path / "w", threads=1)
    with monkeypatch.context() as patch:
        function = getattr(owner, stage)

        def changing(*given, **more):
            sources[0].write_text("other") if change == "changed" else sources[0].unlink(missing_ok=True)
            return function(*given, **more)

        patch.setattr(owner, stage, changing)
        with pytest.raises(DataError, match=rf"part0.jsonl: it was {change} after the run had begun") as refused:
            again()
    assert (refused.value.code, type(refused.value)) == ("changed", DataError)
    assert list((tmp_path / "w").glob("run-*/done/split-*"))
    if change == "changed":
        with pytest.raises(RunChanged, match=r"part0.jsonl was changed"):
            again()
    sources[0].write_bytes(content)
    if stage != "sign":
        monkeypatch.setattr(run, "sign", lambda *_: 1 / 0)
    again()
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("name", ["w/kept.jsonl", "w"])
def test_outputs_inside_the_work_folder_are_refused(tmp_path, sources, name):
    with pytest.raises(OutputError, match="must not be inside the work folder"):
        dedup_files(sources, tmp_path / name, work=tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_inputs_without_documents_have_an_empty_result(tmp_path):
    (tmp_path / "a.jsonl").write_text("\n\n")
    assert_same([tmp_path / "a.jsonl"], tmp_path / "w")


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ('{"body": "a"}\n', {}),
        ('{"text": "a"}\n', {"id": "key"}),
        ("{broken\n", {}),
        ('{"text": "a"}\n{broken\n', {"strict": True}),
        ('{"text": "a", "score": 1}\n{"text": "b", "score": "x"}\n', {"keep": "max:score"}),
        ('{"text": "a", "score": "1"}\n{"text": "b", "score": "x"}\n', {"keep": "max:score"}),
    ],
)
def test_what_memory_refuses_pieces_refuse(tmp_path, content, options):
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(DataError) as expected:
        dedup_files([tmp_path / "a.jsonl"], **options)
    with pytest.raises(DataError) as found:
        dedup_files([tmp_path / "a.jsonl"], work=tmp_path / "w", **options)
    assert str(found.value) == str(expected.value)


def test_outputs_have_the_same_bytes(tmp_path, sources, small_parts):
    small_parts(2000)
    for name, options in (("m", {}), ("p", {"work": tmp_path / "w"})):
        outputs = {key: tmp_path / f"{name}-{key}.jsonl" for key in ("out", "dropped", "mark", "report")}
        dedup_files(sources, **outputs, **options)
    for key in ("out", "dropped", "mark", "report"):
        assert (tmp_path / f"p-{key}.jsonl").read_bytes() == (tmp_path / f"m-{key}.jsonl").read_bytes(), key
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] in ".w") == []


def test_other_settings_are_refused_and_a_restart_is_not(tmp_path, sources, monkeypatch):
    work = tmp_path / "w"
    interrupted(monkeypatch, "rank", lambda: dedup_files(sources, work=work))
    with pytest.raises(RunChanged, match=r"inputs or settings: shingle was 3 and is 5; restart=True begins again$"):
        dedup_files(sources, work=work, scheme=MinHash(shingle=5))
    dedup_files(sources, work=work, restart=True)
    assert not work.exists()


def test_a_failed_run_leaves_no_folder_of_outputs(tmp_path, sources):
    for options in ({"text": "nothing"}, {"strict": True, "mark": tmp_path / "none" / "x" / "m.csv"}):
        with pytest.raises((DataError, ParameterError)):
            dedup_files(sources, tmp_path / "out" / "kept", work=tmp_path / "w", **options)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["part0.jsonl", "part1.jsonl", "part2.jsonl"]


def test_another_policy_uses_what_was_signed(tmp_path, sources, monkeypatch):
    from neardup.pipeline.spilled import run

    interrupted(monkeypatch, "rank", lambda: dedup_files(sources, work=tmp_path / "w"))
    signed = []
    sign = run.sign
    monkeypatch.setattr(run, "sign", lambda *given, **more: signed.append(given) or sign(*given, **more))
    assert_same(sources, tmp_path / "w", keep="longest", threshold=0.8)
    assert signed == []


def interrupted(monkeypatch, stage, start, owner=run):
    """Start a run that ends before a stage."""
    with monkeypatch.context() as patch:
        patch.setattr(owner, stage, lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            start()


@pytest.mark.parametrize("stage", ["sample", "find", "remove_samples"])
def test_a_run_goes_on_after_any_stage_of_the_common_shingles(tmp_path, sources, small_parts, monkeypatch, stage):
    small_parts(6000)
    begin = partial(dedup_files, sources, work=tmp_path / "w", ignore_common=0.1)
    interrupted(monkeypatch, stage, begin, owner=stages)
    with pytest.raises(RunChanged, match=r"ignore_common was 0.1 and is not set"):
        dedup_files(sources, work=tmp_path / "w")
    assert_same(sources, tmp_path / "w", ignore_common=0.1)


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_goes_on_after_any_stage(tmp_path, sources, small_parts, monkeypatch, stage):
    small_parts(2000)
    interrupted(monkeypatch, stage, lambda: dedup_files(sources, work=tmp_path / "w"))
    assert_same(sources, tmp_path / "w")


@pytest.mark.parametrize("stage", ["rank", "bucket", "pair", "arrange", "match", "settle", "decide"])
def test_files_that_were_damaged_before_a_run_goes_on_are_made_again(
    tmp_path, sources, small_parts, monkeypatch, stage
):
    small_parts(2000)
    interrupted(monkeypatch, stage, lambda: dedup_files(sources, work=tmp_path / "w"))
    changed = [path for path in (tmp_path / "w").glob("run-*/*/*") if path.suffix in {".raw", ".arrow"}]
    for path in changed:
        path.write_bytes(b"\xff" * path.stat().st_size)
    assert changed
    assert_same(sources, tmp_path / "w")


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(bytes(path.stat().st_size))])
def test_signatures_that_decisions_need_are_checked_before(tmp_path, sources, monkeypatch, damage):
    cosine = SimHash(rule="cosine", distance=16, threshold=0.7)
    interrupted(monkeypatch, "decide", lambda: dedup_files(sources, work=tmp_path / "w", scheme=cosine))
    damage(next((tmp_path / "w").glob("run-*/decided-*/rows.raw")))
    assert_same(sources, tmp_path / "w", scheme=cosine)


def test_texts_in_place_of_bodies_are_not_signed_again(tmp_path, sources, monkeypatch):
    begin = partial(dedup_files, sources, work=tmp_path / "w", scheme=Checksum())
    interrupted(monkeypatch, "rank", begin)
    monkeypatch.setattr(run, "sign", lambda *_, **__: pytest.fail("again"))
    assert begin().result.summary.documents > 0


@pytest.mark.parametrize("damaged", [False, True])
def test_settled_blocks_need_their_features_only_if_they_are_damaged(
    tmp_path, sources, small_parts, monkeypatch, damaged
):
    small_parts(2000)
    begin = partial(dedup_files, sources, work=tmp_path / "w")
    interrupted(monkeypatch, "write_outputs", begin, owner=files)
    assert not [*(tmp_path / "w").glob("run-*/decided-*/features-*")]
    if damaged:
        next((tmp_path / "w").glob("run-*/decided-*/settled-*")).write_bytes(b"")
    read = []
    monkeypatch.setattr(run, "gather", lambda *one, gather=run.gather: read.append(one) or gather(*one))
    assert_same(sources, tmp_path / "w")
    assert bool(read) == damaged


@pytest.mark.parametrize("stage", ["sign", "rank", "settle"])
@pytest.mark.parametrize("content", [None, b"", b'{"shards"'])
def test_a_lost_split_is_not_made_again(tmp_path, sources, monkeypatch, stage, content):
    interrupted(monkeypatch, stage, lambda: dedup_files(sources, work=tmp_path / "w"))
    path = next((tmp_path / "w").glob("run-*/done/split--0.json"))
    path.unlink() if content is None else path.write_bytes(content)
    there = sorted(path.parent.glob("sign-*"))
    for _ in range(2):
        with pytest.raises(StorageDamaged, match=r"split--0.json: it is missing or damaged.*; restart=True begins"):
            dedup_files(sources, work=tmp_path / "w")
    assert sorted(path.parent.glob("sign-*")) == there
    dedup_files(sources, work=tmp_path / "w", restart=True)


def test_a_split_that_nothing_depends_on_is_made_again(tmp_path, sources, monkeypatch):
    interrupted(monkeypatch, "_accept", lambda: dedup_files(sources, work=tmp_path / "w"), owner=files)
    next((tmp_path / "w").glob("run-*/done/split--0.json")).write_bytes(b"")
    assert_same(sources, tmp_path / "w")


@pytest.mark.parametrize(("stage", "verify"), [("arrange", "exact"), ("propose", "none")])
def test_pairs_placed_again_are_settled_again(tmp_path, sources, monkeypatch, stage, verify):
    monkeypatch.setattr(files, "_share", lambda _memory, _threads: 3000)
    begin = partial(dedup_files, sources, work=tmp_path / "w", verify=verify)
    interrupted(monkeypatch, "decide", begin)
    next((tmp_path / "w").glob(f"run-*/done/{stage}-*.json")).unlink()
    monkeypatch.setattr(files, "_share", lambda _memory, _threads: 60_000)
    assert_same(sources, tmp_path / "w", verify=verify)


def test_executors_of_another_kind_are_refused_before_a_folder_is_made(sources, tmp_path):
    with pytest.raises(ParameterError, match="executors=5 must be executors, such as those of"):
        dedup_files(sources, work=tmp_path / "work", executors=5)
    assert not (tmp_path / "work").exists()
    with pytest.raises(ParameterError, match="work=None must be a folder that all executors can use"):
        dedup_files(sources, executors=object())


def test_ordered_categories_rank_no_documents_of_files(tmp_path):
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["small", "large"]), ordered=True)
    pq.write_table(pa.table({"text": ["same text"] * 2, "n": ordered}), tmp_path / "o.parquet")
    for way in ({}, {"work": tmp_path / "w"}):
        with pytest.raises(
            DataError, match=r"o\.parquet: its 'n' has ordered categories, which keep cannot rank in files; write"
        ):
            dedup_files([tmp_path / "o.parquet"], keep="max:n", **way)
        assert dedup_files([tmp_path / "o.parquet"], tmp_path / f"k{len(way)}.parquet", **way).result.summary.kept == 1
        assert pq.read_table(tmp_path / f"k{len(way)}.parquet")["n"].type.ordered


@pytest.mark.parametrize("name", ["restart", "force", "strict", "keep_work"])
def test_flags_are_true_or_false(tmp_path, sources, name):
    with pytest.raises(ParameterError, match="must be True or False") as caught:
        dedup_files(sources, work=tmp_path / "w", **{name: "no"})
    assert caught.value.name == name
    assert not (tmp_path / "w").exists()


def test_memory_is_at_least_that_of_a_run(tmp_path, sources):
    with pytest.raises(ParameterError, match="memory=1000 must be"):
        dedup_files(sources, work=tmp_path / "w", memory=1000)


@pytest.mark.parametrize("limits", [(1, 1 << 26), (800, 3000), (1 << 20, 3000)])
def test_common_shingles_are_those_that_memory_finds(tmp_path, sources, small_parts, monkeypatch, limits):
    size, limit = limits
    small_parts(size)
    monkeypatch.setattr(common_shingles, "BYTES", limit)
    some = few(sources, 45) if size == 1 else sources
    results = assert_same(some, tmp_path / "w", ignore_common=0.1, threads=1 + size % 2)
    expected, found = (result.summary.common for result in results)
    assert len(expected)
    assert (found, found.documents) == (expected, expected.documents)


def test_common_shingles_of_a_state_are_known_before(tmp_path, sources):
    with pytest.raises(ParameterError, match="cannot be used with a state: all its runs need the same list"):
        dedup_files(sources, state=tmp_path / "s", ignore_common=0.01)


def test_a_list_of_common_shingles(tmp_path, sources):
    listed = CommonShingles.fitted(["a b c d"] * 3, MinHash().shingling, 0.5)
    assert_same(sources, tmp_path / "w", ignore_common=listed)


def test_a_refused_output_leaves_no_work_folder(tmp_path, sources):
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        dedup_files(sources, tmp_path / "out.jsonl", work=tmp_path / "w")
    assert not (tmp_path / "w").exists()
    assert (tmp_path / "out.jsonl").read_text() == "mine"


def test_formats_may_be_mixed(tmp_path, sources, records):
    table = pa.Table.from_pylist([{"text": record["text"], "id": str(n)} for n, record in enumerate(records[:40])])
    folder = tmp_path / "tables" / "year=2026"
    folder.mkdir(parents=True)
    pq.write_table(table, folder / "a.parquet", row_group_size=7)
    (folder / "b.csv").write_text('id,text\n1,"w1 w2 w3, w4\nw5 w6"\n2,w9 w8 w7\n')
    found = dedup_files([sources[0], tmp_path / "tables"], tmp_path / "out", work=tmp_path / "w")
    assert [name.rpartition("/")[2] for name in found.documents.names] == ["part0.jsonl", "a.parquet", "b.csv"]
    kept = [path.relative_to(tmp_path / "out").as_posix() for path in sorted((tmp_path / "out").rglob("*.*"))]
    assert kept == ["part0.jsonl", "tables/year=2026/a.parquet", "tables/year=2026/b.csv"]
    counts = [found.result.mask[begin:end].sum() for begin, end in pairwise([0, 87, 127, 129])]
    assert len((tmp_path / "out" / kept[0]).read_text().splitlines()) == counts[0]
    assert pq.read_table(tmp_path / "out" / kept[1]).num_rows == counts[1]


def test_the_whole_table_of_decisions_is_there_after_the_run(tmp_path, sources):
    done = dedup_files(sources, work=tmp_path / "w", report=tmp_path / "why.parquet")
    assert pq.read_table(tmp_path / "why.parquet").num_rows == len(done.result.decisions) == len(done.documents)
    assert done.result.kept.tolist() == [row for row, kept in enumerate(done.result.mask) if kept]
    assert json.dumps(done.result.summary.as_dict())
    assert os.listdir(tmp_path).count("w") == 0  # noqa: PTH208


def test_what_does_not_fit_into_memory_is_run_in_pieces(tmp_path, sources, monkeypatch):
    from neardup.pipeline.files import dedup as files

    expected = dedup_files(sources).result
    monkeypatch.setattr(files, "_LARGE", 0)
    monkeypatch.setattr(files, "available_memory", lambda: 1000)
    with pytest.warns(RuntimeWarning) as shown:
        done = dedup_files(sources, tmp_path / "out.jsonl")
    needed, disk = (str(warning.message) for warning in shown)
    assert "intermediate files in" in needed
    assert "out.jsonl.neardup-work" in needed
    assert re.search(r"about 260 documents needs about \d+ MB of disk, 333 MB of memory and 1 min", disk)
    assert rows(done.result) == rows(expected)
    assert [path.name for path in tmp_path.glob("*work*")] == []
    monkeypatch.setattr(files, "available_memory", lambda: None)
    dedup_files(sources, tmp_path / "other.jsonl")


OUTPUTS = {"dropped": "dropped.jsonl", "report": "why.jsonl", "mark": "mark.jsonl"}


@pytest.mark.parametrize("stage", ["sign", "settle"])
@pytest.mark.parametrize("name", ["out", *OUTPUTS])
@pytest.mark.parametrize("folder", [False, True])
def test_a_continued_run_replaces_no_file_of_others(  # noqa: PLR0917 - a case
    tmp_path, sources, monkeypatch, stage, name, folder
):
    monkeypatch.chdir(tmp_path)
    names = {"out": "out.jsonl", **OUTPUTS}
    if folder and name != "report":
        names[name] = name
    theirs = tmp_path / (f"{name}/{sources[-1].name}" if folder and name != "report" else names[name])
    call = partial(dedup_files, sources, names.pop("out"), work="w", **names)
    interrupted(monkeypatch, stage, call)
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("mine")
    with pytest.raises(OutputRefused, match="it exists already"):
        call()
    assert theirs.read_text() == "mine"
    theirs.unlink()
    interrupted(monkeypatch, "decide", call)
    theirs.write_text("mine")
    call(force=True)
    assert theirs.read_text() != "mine"


@pytest.mark.parametrize("name", ["out", *OUTPUTS, "page"])
def test_a_file_that_a_run_has_named_before_it_was_interrupted_is_its_own(tmp_path, sources, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    names = OUTPUTS | {"report": "why.html" if name == "page" else "why.jsonl"}
    call = partial(dedup_files, sources, "out.jsonl", work="w", page=lambda _: b"page", **names)
    target = Path({"out": "out.jsonl", "page": "why.html", **OUTPUTS}[name])
    record = Journal.attempt

    def attempt(journal, stage, task, function):
        def interrupted(task):
            found = function(task)
            if stage.startswith(("write", "report")) and target.exists():
                raise KeyboardInterrupt
            return found

        return record(journal, stage, task, interrupted)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "attempt", attempt)
        with pytest.raises(KeyboardInterrupt):
            call()
    assert target.exists()
    assert Path("w").exists()
    call()
    assert not Path("w").exists()


def test_a_process_that_left_a_run_names_no_output(job_of, sources):
    job = job_of(sources)
    record_places(job, ["a.jsonl"])
    record_places(job, ["a.jsonl"])  # such as after an interruption between the record and the name
    job.journal.claims.leave()
    record_places(job, ["a.jsonl"])
    with pytest.raises(StorageBusy):
        record_places(job, ["b.jsonl"])


def test_a_process_whose_run_has_ended_names_no_further_output(tmp_path, monkeypatch):
    """Such as a worker that was suspended: the files may be of others then."""
    paths = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for path in paths:
        write_lines(path, [{"text": f"The text of {path.name}"}])
    size_of = output_records._size_of

    def suspended(path):
        monkeypatch.setattr(output_records, "_size_of", size_of)
        (tmp_path / "w").rename(tmp_path / "ended")
        return size_of(path)

    monkeypatch.setattr(output_records, "_size_of", suspended)
    with pytest.raises(StorageError):
        dedup_files(paths, tmp_path / "out", work=tmp_path / "w", threads=1)
    assert len([*(tmp_path / "out").iterdir()]) == 1


@pytest.fixture
def too_little(monkeypatch):
    """Return a function that sets whether inputs fit into memory."""
    from neardup.pipeline.files import dedup as files

    monkeypatch.setattr(files, "_LARGE", 0)
    return lambda short: monkeypatch.setattr(files, "available_memory", lambda: 1000 if short else 1 << 40)


def test_a_run_that_was_not_asked_for_is_continued_when_memory_suffices(tmp_path, sources, monkeypatch, too_little):
    call = partial(dedup_files, sources, tmp_path / "out.jsonl", forecast=lambda _: None)
    too_little(True)
    with pytest.warns(RuntimeWarning):
        interrupted(monkeypatch, "settle", call)
    too_little(False)
    with pytest.warns(
        RuntimeWarning, match=r"the run in .*out\.jsonl\.neardup-work is continued: .* compared"
    ) as shown:
        done = call()
    assert len([one for one in shown if "is continued" in str(one.message)]) == 1
    assert [path.name for path in tmp_path.glob("*work*")] == []
    assert rows(done.result) == rows(dedup_files(sources).result)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(force=True)


def test_a_complete_run_whose_folder_is_left_is_found_again(tmp_path, sources, monkeypatch, too_little):
    too_little(True)
    with monkeypatch.context() as patch:
        patch.setattr("neardup.engines.journal._remove", lambda _: None)
        with pytest.warns(RuntimeWarning):
            dedup_files(sources, tmp_path / "out.jsonl", forecast=lambda _: None)
    too_little(False)
    with pytest.raises(RunComplete):
        dedup_files(sources, tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.glob("*work*")] == []


@pytest.mark.parametrize("share", [None, 0.5])
def test_a_run_that_is_interrupted_between_two_outputs_continues(tmp_path, interrupted_at, share):
    source, names = tmp_path / "in.jsonl", [tmp_path / name for name in ("out.jsonl", "report.jsonl")]
    source.write_text("".join(f'{{"text": "common words here {number} {number + 1} alpha"}}\n' for number in range(30)))

    def call():
        return dedup_files([source], names[0], report=names[1], work=tmp_path / "w", ignore_common=share)

    with interrupted_at(output_records, "write"):
        call()
    assert [path.exists() for path in names] == [False, True]
    assert len(call().result.decisions) == 30
    assert names[0].exists()


def test_an_output_may_have_a_name_that_leaves_no_room_for_that_of_a_work_folder(tmp_path, sources):
    out = tmp_path / f"{'k' * 240}.jsonl"
    dedup_files(sources, out)
    assert out.exists()


def test_an_output_in_this_folder_has_its_work_folder_next_to_it(tmp_path, sources, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    interrupted(monkeypatch, "rank", partial(dedup_files, sources, ".", part_size=1000, force=True))
    assert (tmp_path / "out.neardup-work").is_dir()
    dedup_files(sources, ".", part_size=1000, force=True)
    assert [path.name for path in tmp_path.glob("*work*")] == []


def test_an_output_at_a_url_has_no_work_folder_next_to_it(sources):
    dedup_files(sources, "memory://kept.jsonl", restart=True)


def test_a_run_that_kept_its_folder_is_not_continued_unasked(tmp_path, sources):
    dedup_files(sources, tmp_path / "out.jsonl", work=tmp_path / "out.jsonl.neardup-work", keep_work=True)
    dedup_files(sources, tmp_path / "out.jsonl", force=True, continued=pytest.fail)
    assert (tmp_path / "out.jsonl.neardup-work").exists()


@pytest.mark.parametrize("out", [None, "/dev/stdout"])
def test_a_large_run_without_outputs_in_files_uses_a_temporary_folder(sources, monkeypatch, too_little, out, capfd):
    from tempfile import gettempdir

    too_little(True)
    folders = []
    monkeypatch.setattr(Journal, "finish", lambda own, *, keep, **_: folders.append((own.folder, keep)) or own.close())
    with pytest.warns(RuntimeWarning, match="intermediate files in a temporary folder in .* cannot be continued"):
        done = dedup_files(sources, out, forecast=lambda _: None)
    too_little(False)
    assert rows(done.result) == rows(dedup_files(sources).result)
    assert str(folders[0][0]).startswith(gettempdir())
    assert not folders[0][0].exists()
    assert bool(capfd.readouterr().out) == (out is not None)
    too_little(True)
    with pytest.raises(ParameterError, match="keep_work=True can only be used with a named work folder"):
        dedup_files(sources, keep_work=True)


@pytest.mark.parametrize(
    ("stage", "policy", "expected"),
    [
        ("sign", {}, (0, False, False, False)),
        ("rank", {}, (-1, False, False, False)),
        ("settle", {}, (-1, True, False, False)),
        ("settle", {"threshold": 0.9}, (-1, False, False, True)),
        (None, {}, (-1, True, True, False)),
        (None, {"keep": "last"}, (-1, False, False, True)),
    ],
)
def test_a_run_that_is_continued_reports_what_is_finished(  # noqa: PLR0917 - a case
    tmp_path, sources, monkeypatch, stage, policy, expected
):
    call = partial(dedup_files, sources, work=tmp_path / "w", keep_work=True)
    dedup_files(sources, work=tmp_path / "other", continued=pytest.fail)
    if stage:
        interrupted(monkeypatch, stage, call)
    else:
        call()
    found = []
    call(**policy, continued=found.append)
    (one,) = found
    read = one.shards if expected[0] else 0
    assert (one.read, one.compared, one.decided, one.again) == (read, *expected[1:])
    assert ("documents are compared again" in str(one)) == one.again


@pytest.mark.parametrize(("stage", "expected"), [("arrange", (False, False)), ("decide", (True, False))])
def test_a_stage_whose_files_are_damaged_is_not_reported_as_finished(tmp_path, sources, stage, expected):
    call, found = partial(dedup_files, sources, work=tmp_path / "w", keep_work=True), []
    call()
    (record,) = (tmp_path / "w").glob(f"run-*/done/{stage}-*.json")
    damaged = record.parent.parent / next(iter(json.loads(record.read_bytes())["values"]["record"]["files"]))
    damaged.write_bytes(damaged.read_bytes() + b"x")
    call(continued=found.append)
    assert [(one.compared, one.decided) for one in found] == [expected]


def test_short_texts_need_more_memory_than_long_ones_of_the_same_size(tmp_path, monkeypatch):
    from neardup.pipeline.files import dedup as files

    asked = []
    monkeypatch.setattr(files, "_LARGE", 0)
    monkeypatch.setattr(files, "_LOADED", 0)
    monkeypatch.setattr(files, "available_memory", lambda: asked.append(1) or 20 * size)
    for name, words, in_pieces in (("long", 2_000, False), ("short", 3, True)):
        source = tmp_path / f"{name}.jsonl"
        texts = [" ".join(f"{name}{(n * 7 + m) % 999}" for m in range(words)) for n in range(300_000 // words)]
        write_lines(source, [{"text": text} for text in texts])
        size = source.stat().st_size
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            dedup_files([source], tmp_path / f"{name}-out.jsonl")
        assert any("is a run in pieces" in str(one.message) for one in shown) == in_pieces
    assert asked == [1, 1]
    with pytest.warns(RuntimeWarning) as noted:
        dedup_files([source], report=tmp_path / "why.jsonl")
    assert "why.jsonl.neardup-work" in str(noted[0].message)


def test_a_run_in_pieces_reports_what_it_needs_once(tmp_path, sources):
    found = []
    dedup_files(sources, work=tmp_path / "w", forecast=found.append)
    assert [one.documents for one in found] == [260]
    dedup_files(sources, forecast=pytest.fail)


def test_folders_and_links_count_as_what_they_hold(tmp_path, monkeypatch):
    from neardup.pipeline.files import dedup as files

    monkeypatch.setattr(files, "_LARGE", 40_000)
    monkeypatch.setattr(files, "available_memory", lambda: 1000)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("one two three four " * 3_000)
    write_lines(tmp_path / "b.jsonl", [{"text": "one two three four " * 3_000}])
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "b.jsonl")
    for source, out in (("texts", "kept"), ("link.jsonl", "kept.jsonl")):
        with pytest.warns(RuntimeWarning) as shown:
            done = dedup_files([tmp_path / source], tmp_path / out)
        assert "intermediate files in" in str(shown[0].message)
        assert len(done.documents) == 1


@pytest.mark.parametrize(
    ("there", "memory"), [(1000, LEAST_OF_RUN), (600_000_000, 100_000_000), (1_400_000_000, 500_000_000)]
)
def test_a_run_in_pieces_that_was_not_asked_for_fits_into_the_available_memory(tmp_path, monkeypatch, there, memory):
    from neardup.pipeline.files import dedup as files

    found = []
    (tmp_path / "x.jsonl").touch()
    monkeypatch.setattr(files, "_LARGE", 0)
    monkeypatch.setattr(files, "_needed_memory", lambda *_: there + 1)
    monkeypatch.setattr(files, "available_memory", lambda: there)
    monkeypatch.setattr(files, "_in_pieces", lambda _, settings, *__: found.append(settings.memory))
    with pytest.warns(RuntimeWarning):
        dedup_files([tmp_path / "x.jsonl"], tmp_path / "out.jsonl")
    assert found == [memory]


def test_an_error_in_what_does_not_fit_is_that_of_the_run(tmp_path, monkeypatch):
    from neardup.pipeline.files import dedup as files

    monkeypatch.setattr(files, "_LARGE", 0)
    monkeypatch.setattr(files, "available_memory", lambda: 0)
    (tmp_path / "x.jsonl.gz").write_bytes(b"one")
    with pytest.raises(DataError, match="its first bytes are not those of gzip"):
        dedup_files([tmp_path / "x.jsonl.gz"], tmp_path / "out.jsonl")


@pytest.mark.parametrize("number", [ENOSPC, EIO])
@pytest.mark.parametrize("at", [1, 4, 9, 14])
def test_a_run_goes_on_after_a_disk_that_refuses(tmp_path, sources, monkeypatch, number, at):
    left = [at]
    sync = os.fsync

    def refuse(file):
        left[0] -= 1
        if left[0] == 0:
            raise OSError(number, os.strerror(number))
        sync(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(StorageFailed, match=os.strerror(number)):
            dedup_files(sources, work=tmp_path / "w")
    assert_same(sources, tmp_path / "w")


def test_no_piece_is_larger_than_its_share(tmp_path, sources, small_parts, monkeypatch):
    small_parts(2000)
    sizes = []
    pieces = Shards.pieces_of

    def measured(*given, **options):
        for piece in pieces(*given, **options):
            sizes.append(sum(len(text or "") for text in piece.texts.to_pylist()))
            yield piece

    monkeypatch.setattr(Shards, "pieces_of", measured)
    dedup_files(sources, tmp_path / "out.jsonl", work=tmp_path / "w")
    assert len(sizes) > 20
    assert max(sizes) <= 2 * 2000


def test_a_field_may_be_signed_and_rank(tmp_path, sources):
    scheme = Checksum(fields=(Field(name="score"),))
    assert_same(sources, tmp_path / "w", scheme=scheme, keep="min:score")
    assert dedup_files(sources, scheme=scheme, keep="min:score").result.summary.policy.keep == "min:score"


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_nested_fields_are_texts_ids_ranks_and_signed_fields(tmp_path, records, small_parts, name):
    small_parts(4000)
    nested = [{"page": {"text": record["text"], "title": record["title"]}, "meta": record} for record in records]
    if name == "a.parquet":
        pq.write_table(
            pa.Table.from_pylist([one | {"meta": {"id": None} | one["meta"]} for one in nested]), tmp_path / name
        )
    else:
        write_lines(tmp_path / name, nested)
    for scheme in (None, Checksum(fields=(Field(name="page.title"), Field(name="page.text", limit=20)))):
        options = {"text": "page.text", "id": "meta.id", "keep": "max:meta.score", "scheme": scheme}
        assert_same([tmp_path / name], tmp_path / "w", **options)
        done = dedup_files([tmp_path / name], tmp_path / f"kept{name}", **options, force=True)
        assert 1 < done.result.summary.kept < len(records)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_standard_input_is_a_file_in_a_run_in_pieces(tmp_path, records, small_parts, piped, form):
    small_parts(2000)
    table = pa.Table.from_pylist([{"text": r["text"] or "", "title": r["title"]} for r in records])
    sink = io.BytesIO()
    if form == "csv":
        pa.csv.write_csv(table, sink)
    elif form == "parquet":
        pq.write_table(table, sink, row_group_size=50)
    else:
        sink.write("".join(json.dumps(one) + "\n" for one in table.to_pylist()).encode())
    for name, options in (("m", {}), ("p", {"work": tmp_path / "w"})):
        piped(sink.getvalue())
        dedup_files(["-"], tmp_path / f"{name}.{form}", report=tmp_path / f"{name}.why.jsonl", format=form, **options)
    assert (tmp_path / "p.why.jsonl").read_bytes() == (tmp_path / "m.why.jsonl").read_bytes()
    assert b'"<stdin>:' in (tmp_path / "p.why.jsonl").read_bytes()
    if form == "parquet":
        assert pq.read_table(tmp_path / "p.parquet").equals(pq.read_table(tmp_path / "m.parquet"))
    else:
        assert (tmp_path / f"p.{form}").read_bytes() == (tmp_path / f"m.{form}").read_bytes()
    assert not (tmp_path / "w").exists()


def test_an_interrupted_run_continues_without_its_standard_input(tmp_path, sources, piped, monkeypatch):
    data = sources[0].read_bytes()
    with monkeypatch.context() as broken:
        broken.setattr("neardup.pipeline.spilled.run.rank", lambda *_: 1 / 0)
        piped(data)
        with pytest.raises(ZeroDivisionError):
            dedup_files(["-", sources[1]], tmp_path / "kept", work=tmp_path / "w")
    piped(data + b"more")
    with pytest.raises(DataError, match="<stdin>: it differs from what the run has read before"):
        dedup_files(["-", sources[1]], tmp_path / "kept", work=tmp_path / "w")
    piped(b"")
    found = dedup_files(["-", sources[1]], tmp_path / "kept", work=tmp_path / "w")
    assert found.documents.names == ("<stdin>", str(sources[1]))
    expected = dedup_files(sources[:2])
    assert found.result.representatives.tolist() == expected.result.representatives.tolist()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["part1.jsonl", "stdin.jsonl"]


def test_a_copy_of_standard_input_that_is_not_complete_does_not_count(tmp_path, sources, piped, monkeypatch):
    data = sources[0].read_bytes()

    class Pipe(io.BytesIO):
        def read1(self, size=-1):
            if self.tell() > 100:
                raise KeyboardInterrupt
            return super().read1(min(size, 80))

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(data)))
    with pytest.raises(KeyboardInterrupt):
        dedup_files(["-"], tmp_path / "kept.jsonl", work=tmp_path / "w")
    for _ in range(2):
        piped(b"")
        with pytest.raises(DataError, match="<stdin>: it is empty, but the run was interrupted before all"):
            dedup_files(["-"], tmp_path / "kept.jsonl", work=tmp_path / "w")
        assert not (tmp_path / "kept.jsonl").exists()
    piped(data)
    found = dedup_files(["-"], tmp_path / "kept.jsonl", work=tmp_path / "w")
    assert found.result.summary.kept == dedup_files(sources[:1]).result.summary.kept


def test_a_run_may_begin_without_any_input(tmp_path, piped):
    piped(b"")
    assert len(dedup_files(["-"], tmp_path / "kept.jsonl", work=tmp_path / "w").documents) == 0


def test_outputs_are_refused_before_standard_input_is_read(tmp_path, sources, piped):
    (tmp_path / "kept.jsonl").write_text("mine")
    piped(sources[0].read_bytes())
    with pytest.raises(OutputError, match="exists"):
        dedup_files(["-"], tmp_path / "kept.jsonl", work=tmp_path / "w")
    assert sys.stdin.buffer.tell() == 0
    with pytest.raises(ParameterError, match="cannot be standard input or a URL, because later runs with"):
        dedup_files(["-"], tmp_path / "new.jsonl", state=tmp_path / "s")


def test_a_field_that_is_missing_costs_a_continued_run_nothing(tmp_path, sources, small_parts, monkeypatch):
    small_parts(6000)
    interrupted(monkeypatch, "decide", lambda: dedup_files(sources, work=tmp_path / "w"))
    for _ in range(2):
        with pytest.raises(FieldMissing, match="there is no field 'scroe'"):
            dedup_files(sources, work=tmp_path / "w", keep="max:scroe")
    monkeypatch.setattr(run, "sign", lambda *_: pytest.fail("signed again"))
    assert_same(sources, tmp_path / "w", keep="longest")


def test_a_file_that_appears_during_a_run_is_not_replaced(tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "kept.jsonl"
    source.write_text('{"text": "one two three four"}\n')
    with pytest.raises(OutputRefused, match="it exists already"):
        dedup_files([source], out=out, work=tmp_path / "w", forecast=lambda _: out.write_text("mine"))
    assert out.read_text() == "mine"
    dedup_files([source], out=out, work=tmp_path / "w", force=True)
    assert out.read_text() == source.read_text()
