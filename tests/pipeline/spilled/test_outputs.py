import gzip
import json
import re

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from archives_made import packed, page
from json_lines import read_lines, write_lines

from neardup import dedup_files
from neardup.errors import DataError, OutputError, ParameterError
from neardup.pipeline.spilled import outputs as stage
from neardup.pipeline.spilled.outputs import outputs_of
from neardup.sources.shards import Shards


def test_a_path_without_a_known_ending_is_a_folder_with_a_file_for_each_input(job_of, sources, tmp_path):
    shards = job_of(sources).shards
    one = outputs_of(shards, {"out": str(tmp_path / "all.jsonl"), "dropped": str(tmp_path / "no")})
    assert [(output.target, output.path, output.sources) for output in one] == [
        ("out", str(tmp_path / "all.jsonl"), [0, 1, 2]),
        *(("dropped", str(tmp_path / "no" / path.name), [place]) for place, path in enumerate(sources)),
    ]


def test_a_file_is_not_made_a_folder(tmp_path, sources):
    (tmp_path / "out").write_text("mine")
    with pytest.raises((OutputError, ParameterError)):
        dedup_files(sources, tmp_path / "out", work=tmp_path / "w")
    assert (tmp_path / "out").read_text() == "mine"


def test_the_files_of_a_folder_are_kept_or_dropped(tmp_path, small_parts):
    small_parts(10)
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for name, text in (("a.txt", "one two three four"), ("sub/b.txt", "One two three four!"), ("c.md", "five six")):
        (folder / name).write_text(text)
    done = dedup_files([folder], tmp_path / "out", dropped=tmp_path / "no", work=tmp_path / "w")
    assert done.documents.ids.to_pylist() == ["a.txt", "c.md", "sub/b.txt"]
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.*")) == ["a.txt", "c.md"]
    assert [path.name for path in (tmp_path / "no").rglob("*.*")] == ["b.txt"]


def test_each_input_has_a_file_of_its_own_in_a_folder(tmp_path, sources):
    other = sources[0].with_suffix(".ndjson")
    other.write_bytes(sources[0].read_bytes())
    inputs, ways = [sources[0], other], {"out_format": "csv", "work": tmp_path / "w"}
    with pytest.raises(ParameterError, match=r"several inputs would be written to part0\.csv in it"):
        dedup_files(inputs, tmp_path / "out", **ways)
    dedup_files(inputs, tmp_path / "out.jsonl", work=tmp_path / "w")
    dedup_files(inputs, tmp_path / "memory.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "memory.jsonl").read_bytes()


def test_documents_without_fields_are_not_marked(tmp_path, sources):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("one two three")
    for inputs in ([tmp_path / "in"], [tmp_path / "in", sources[0]]):
        with pytest.raises(ParameterError, match="files of a folder have no place for the cluster"):
            dedup_files(inputs, mark=tmp_path / "marked", work=tmp_path / "w")


@pytest.mark.parametrize("name", ["b.parquet", "b.csv", "b.tsv.gz", "b.jsonl", "b.jsonl.zst"])
def test_records_that_are_marked_already_are_refused_before_all_work(tmp_path, sources, name):
    dedup_files(sources[:1], mark=tmp_path / name)
    with pytest.raises(DataError, match=rf"{name}: the records already have a field 'neardup_cluster'$"):
        dedup_files([*sources, tmp_path / name], mark=tmp_path / "marked", work=tmp_path / "w")
    assert not (tmp_path / "marked").exists()
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("size", [None, 1000])
def test_archives_are_marked_in_a_folder_of_another_format_only(tmp_path, size):
    (tmp_path / "a.warc.gz").write_bytes(packed(page(number) for number in range(3)))
    ways = {"mark": tmp_path / "marked", "work": tmp_path / "w", "part_size": size}
    for form in (None, "warc"):
        with pytest.raises(ParameterError, match="adds fields, which archives do not have; write JSON"):
            dedup_files([tmp_path / "a.warc.gz"], tmp_path / "out", **ways, out_format=form)
    assert not (tmp_path / "out").exists()
    dedup_files([tmp_path / "a.warc.gz"], tmp_path / "out", **ways, out_format="jsonl")
    rows = [json.loads(line) for file in (tmp_path / "marked").iterdir() for line in file.read_text().splitlines()]
    assert {row["neardup_representative"] for row in rows} <= {row["id"] for row in rows}


def test_the_documents_of_a_folder_may_have_another_format(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "in" / name).write_text("one two three")
    outputs = {key: tmp_path / key for key in ("out", "dropped", "mark")}
    dedup_files([tmp_path / "in"], **outputs, work=tmp_path / "w", out_format="jsonl")
    kept, dropped, marked = (
        [json.loads(line)["id"] for line in (tmp_path / key / "in.jsonl").read_text().splitlines()] for key in outputs
    )
    assert (kept, dropped, marked) == (["a.txt"], ["b.txt"], ["a.txt", "b.txt"])


def test_another_report_of_an_interrupted_run_is_written(tmp_path, sources, nearly_finished):
    nearly_finished(None, report=tmp_path / "one.jsonl")
    (tmp_path / "two.jsonl").write_text("mine")
    with pytest.raises(OutputError, match=r"two.jsonl: it exists already"):
        dedup_files(sources, report=tmp_path / "two.jsonl", work=tmp_path / "w")
    assert (tmp_path / "two.jsonl").read_text() == "mine"
    dedup_files(sources, report=tmp_path / "three.jsonl", work=tmp_path / "w")
    assert (tmp_path / "three.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert not (tmp_path / "w").exists()


def test_an_output_is_written_where_the_process_is(tmp_path, sources, nearly_finished, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    nearly_finished("out.jsonl")
    monkeypatch.chdir(tmp_path / "there")
    dedup_files(sources, "out.jsonl", work=tmp_path / "w")
    assert (tmp_path / "there/out.jsonl").read_bytes() == (tmp_path / "here/out.jsonl").read_bytes()


def test_every_refusal_comes_before_anything_is_read(tmp_path, sources, monkeypatch):
    monkeypatch.setattr(Shards, "pieces", lambda *_, **__: pytest.fail("read"))
    (tmp_path / "old.jsonl").write_text("mine")
    for outputs in (
        {"out": sources[1], "force": True},
        {"report": tmp_path / "why.tsv"},
        {"dropped": tmp_path / "old.jsonl"},
        {"mark": tmp_path / "old.jsonl"},
        {"report": tmp_path / "old.jsonl"},
        {"report": tmp_path / "why.csv"},
        {"report": tmp_path / "why.html"},
        {"out": tmp_path, "force": True},
        {"out": tmp_path / "x", "dropped": tmp_path / "x/y"},
    ):
        with pytest.raises((OutputError, ParameterError)):
            dedup_files(sources, work=tmp_path / "w", **outputs)
    names = {path.name for path in tmp_path.rglob("*")}
    assert names == {"old.jsonl", *(path.name for path in sources)}
    assert (tmp_path / "old.jsonl").read_text() == "mine"


def test_outputs_that_exist_are_replaced_if_forced(tmp_path, sources):
    (tmp_path / "out").mkdir()
    for path in ("out/part0.jsonl", "why.jsonl"):
        (tmp_path / path).write_text("old")
    dedup_files(sources, tmp_path / "out", report=tmp_path / "why.jsonl", work=tmp_path / "w", force=True)
    dedup_files(sources, tmp_path / "whole.jsonl", report=tmp_path / "memory.jsonl")
    assert (tmp_path / "why.jsonl").read_bytes() == (tmp_path / "memory.jsonl").read_bytes()
    parts = [line for path in sources for line in (tmp_path / "out" / path.name).read_text().splitlines()]
    assert parts == (tmp_path / "whole.jsonl").read_text().splitlines()


@pytest.mark.parametrize("size", [0, 1000])
def test_links_in_a_folder_of_outputs_are_not_followed(tmp_path, sources, size):
    other, out = tmp_path / "other.jsonl", tmp_path / "out"
    other.write_text("mine")
    out.mkdir()
    (out / ("part-00000.jsonl" if size else sources[0].name)).symlink_to(other)
    with pytest.raises(OutputError, match="it is a link, and its target would be replaced"):
        dedup_files(sources, out, work=tmp_path / "w", part_size=size or None, force=True)
    assert other.read_text() == "mine"


def test_tables_of_different_columns_are_refused_before_they_are_read(tmp_path, monkeypatch):
    from neardup.pipeline.spilled import run

    monkeypatch.setattr(run, "sign", lambda *_: pytest.fail("it was read"))
    for name, header in (("a", "text,id"), ("b", "id,text")):
        (tmp_path / f"{name}.csv").write_text(f"{header}\none,two\n")
    pq.write_table(pa.table({"text": ["a"], "id": ["1"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["a"], "id": [1]}), tmp_path / "b.parquet")
    for ending, match in (("csv", "its header differs from that of"), ("parquet", "its columns differ from those of")):
        inputs = [tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"]
        with pytest.raises(DataError, match=match):
            dedup_files(inputs, tmp_path / f"out.{ending}", work=tmp_path / "w")
        assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(("size", "form"), [(1000, None), (5000, "parquet"), (5000, "csv.gz"), (1 << 30, None)])
def test_parts_have_all_records_in_order_whatever_the_shards(tmp_path, sources, small_parts, size, form):
    rows = [json.loads(line) for path in sources for line in path.read_text().splitlines() if line.endswith("}")]
    rows = [row | {"text": row["text"] or "", "n": place} for place, row in enumerate(rows) if row["text"] != 3]
    write_lines(tmp_path / "a.jsonl", rows)
    whole = {key: tmp_path / f"{key}.jsonl" for key in ("out", "dropped", "mark")}
    dedup_files([tmp_path / "a.jsonl"], **whole)
    found = []
    for parts in (4000, 1 << 20):
        small_parts(parts)
        outputs = {key: tmp_path / f"{key}{parts}" for key in whole}
        dedup_files([tmp_path / "a.jsonl"], **outputs, work=tmp_path / "w", part_size=size, out_format=form)
        for key, folder in outputs.items():
            paths = sorted(folder.iterdir())
            assert [path.name for path in paths] == [f"part-{n:05}.{form or 'jsonl'}" for n in range(len(paths))]
            expected = read_lines(whole[key])
            if form is None:
                assert b"".join(path.read_bytes() for path in paths) == whole[key].read_bytes()
                kept = [read_lines(path) for path in paths]
            elif form == "parquet":
                kept = [pq.read_table(path).to_pylist() for path in paths]
            else:
                kept = [pyarrow.csv.read_csv(path).to_pylist() for path in paths]
            assert [one["n"] for part in kept for one in part] == [one["n"] for one in expected]
            lengths = [[len(one["text"].encode()) for one in part] for part in kept]
            assert all(sum(part) - part[-1] <= size for part in lengths)
            assert len(paths) == 1 or all(part for part in kept)
            found.append([len(part) for part in kept])
    assert found[:3] == found[3:]


def test_parts_replace_all_earlier_parts_only_if_forced(tmp_path, sources):
    options = {"work": tmp_path / "w", "part_size": 1000}
    dedup_files(sources, tmp_path / "out", **options)
    there = sorted((tmp_path / "out").iterdir())
    there[0].unlink()
    with pytest.raises(OutputError, match=r"part-00001\.jsonl: it exists already"):
        dedup_files(sources, tmp_path / "out", **options)
    dedup_files(sources, tmp_path / "out", work=tmp_path / "w", part_size=1 << 20, force=True)
    assert len(there) > 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["part-00000.jsonl"]
    with pytest.raises(OutputError, match=r"part-00000\.jsonl: it exists already"):
        dedup_files(sources, tmp_path / "out", out_format="parquet", **options)
    others = ["part-00007.txt", "part-20240101.jsonl", "part-notes.txt"]  # numbers of parts begin at 0
    for name in others:
        (tmp_path / "out" / name).touch()
    dedup_files(sources, tmp_path / "out", work=tmp_path / "w", part_size=1 << 20, out_format="parquet", force=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["part-00000.parquet", *others]


def test_too_many_parts_for_their_names_are_refused(tmp_path, sources, monkeypatch):
    monkeypatch.setattr(stage, "_DIGITS", 1)
    out, work = tmp_path / "out", tmp_path / "w"
    with pytest.raises(ParameterError, match=r"limit: 9\); repeat the run with at least .*: it cont") as refused:
        dedup_files(sources, out, work=work, part_size=100)
    least = int(re.search("at least (.*) bytes", refused.value.rule)[1].replace(",", ""))
    dedup_files(sources, out, work=work, part_size=least)
    assert 5 < len([*out.iterdir()]) <= 9


@pytest.mark.parametrize(
    ("name", "form", "part"),
    [
        ("-", None, "jsonl"),
        ("-", "csv", "csv"),
        ("data.log", "jsonl", "jsonl"),
        ("data.csv", "jsonl", "jsonl"),
        ("data.log.gz", "jsonl", "jsonl.gz"),
        ("data", "csv", "csv"),
        ("data.NDJSON", None, "ndjson"),
        ("data.ndjson.GZ", "jsonl", "ndjson.gz"),
    ],
)
def test_outputs_have_the_format_of_the_input_whatever_its_name(tmp_path, piped, name, form, part):
    lines = b"text\none two\n" if form == "csv" else b'{"text": "one two"}\n'
    is_packed = part.endswith(".gz")
    path = name if name == "-" else tmp_path / name
    if name == "-":
        piped(lines)
    else:
        path.write_bytes(gzip.compress(lines) if is_packed else lines)
    dedup_files([path], tmp_path / "parts", part_size=10, work=tmp_path / "w", format=form)
    assert [one.name for one in (tmp_path / "parts").iterdir()] == [f"part-00000.{part}"]
    if name != "-":
        dedup_files([path], tmp_path / "out", work=tmp_path / "w", format=form)
        known = name if "ndjson" in name.lower() else f"data.{part}"
        [one] = (tmp_path / "out").iterdir()
        written = one.read_bytes()
        assert (one.name, gzip.decompress(written) if is_packed else written) == (known, lines)


def test_endings_in_upper_case_are_replaced(tmp_path):
    for name in ("A.JSONL", "b.Jsonl.GZ", "c.ndjson"):
        lines = f'{{"text": "{name}"}}\n'.encode()
        (tmp_path / name).write_bytes(gzip.compress(lines) if name.endswith("GZ") else lines)
    paths = [tmp_path / name for name in ("A.JSONL", "b.Jsonl.GZ", "c.ndjson")]
    dedup_files(paths, tmp_path / "out", work=tmp_path / "w", out_format="parquet")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["A.parquet", "b.parquet", "c.parquet"]


@pytest.mark.parametrize("form", [None, "parquet"])
def test_parts_that_are_inputs_are_not_removed(tmp_path, sources, form):
    (tmp_path / "out").mkdir()
    one = sources[0].rename(tmp_path / "out" / "part-00005.jsonl")
    with pytest.raises(OutputError, match=r"part-00005\.jsonl: it is one of the inputs"):
        dedup_files([one], tmp_path / "out", work=tmp_path / "w", part_size=1 << 20, out_format=form, force=True)
    assert [*(tmp_path / "out").iterdir()] == [one]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"out": "out.jsonl", "part_size": 5, "work": "w"},
            "part_size=5 requires a folder as an output; .*out.jsonl is a file",
        ),
        ({"out": "out", "part_size": 0, "work": "w"}, "part_size"),
        ({"out": "out", "out_format": "xml", "work": "w"}, "out_format='xml' must be one of"),
        ({"out": "k.jsonl", "out_format": "csv", "work": "w"}, "out_format='csv' requires a folder as an output"),
        ({"out": "out.jsonl", "part_size": 5}, "part_size=5 requires a folder as an output"),
    ],
)
def test_parts_need_a_folder(tmp_path, sources, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=message):
        dedup_files(sources, **options)


def test_only_folders_are_divided_into_parts(tmp_path, sources):
    marks = tmp_path / "marked.jsonl"
    done = dedup_files(sources, tmp_path / "out", mark=marks, part_size=2000)
    parts = sorted((tmp_path / "out").iterdir())
    assert len(parts) > 1
    kept = [json.loads(line)["text"] for part in parts for line in part.read_text().splitlines()]
    marked = read_lines(marks)
    assert kept == [row["text"] for row in marked if row["neardup_kept"]]
    assert len(marked) == done.result.summary.documents


def test_the_files_of_a_folder_may_have_another_format(tmp_path, sources):
    dedup_files(sources[:2], tmp_path / "out", work=tmp_path / "w", out_format="jsonl.gz")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["part0.jsonl.gz", "part1.jsonl.gz"]
    dedup_files(sources[:2], tmp_path / "plain.jsonl")
    packed = sorted((tmp_path / "out").iterdir())
    assert b"".join(gzip.decompress(path.read_bytes()) for path in packed) == (tmp_path / "plain.jsonl").read_bytes()


def test_files_of_links_have_the_names_of_the_links(tmp_path, sources):
    (tmp_path / "data").mkdir()
    for number, path in enumerate(sources):
        blob = path.rename(tmp_path / f"{number}f3a")
        (tmp_path / "data" / path.name).symlink_to(blob)
    links = sorted((tmp_path / "data").iterdir())
    dedup_files(links, tmp_path / "whole.jsonl")
    dedup_files(links, tmp_path / "out", work=tmp_path / "w")
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == [path.name for path in links]
    parts = b"".join((tmp_path / "out" / path.name).read_bytes() for path in links)
    assert parts == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["kept.jsn", "kept-1.0"])
def test_a_new_folder_with_an_ending_needs_a_slash(tmp_path, sources, name):
    with pytest.raises(ParameterError, match="must end in a known format"):
        dedup_files(sources, tmp_path / name, work=tmp_path / "w")
    dedup_files(sources, f"{tmp_path / name}/", work=tmp_path / "w")
    dedup_files(sources, tmp_path / name, work=tmp_path / "w", force=True)
    assert sorted(path.name for path in (tmp_path / name).iterdir()) == sorted(path.name for path in sources)


def test_the_last_document_may_be_longer_than_a_part(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one two"}\n{"text": "three four five six seven eight nine"}\n')
    dedup_files([tmp_path / "a.jsonl"], tmp_path / "out", part_size=5, work=tmp_path / "w")
    assert [len(path.read_text().splitlines()) for path in sorted((tmp_path / "out").iterdir())] == [1, 1]


def test_folders_and_tables_are_written_to_one_folder(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("one two")
    (tmp_path / "b.jsonl").write_text('{"text": "three four"}\n')
    dedup_files([tmp_path / "texts", tmp_path / "b.jsonl"], tmp_path / "out", work=tmp_path / "w")
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in written) == ["b.jsonl", "texts/a.txt"]
