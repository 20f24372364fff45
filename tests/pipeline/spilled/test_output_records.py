import gzip
import json
import time
from errno import ENOSPC
from functools import partial

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from archives_made import packed, page, record
from json_lines import write_lines
from test_files import few

from neardup import dedup_files
from neardup.engines.processes import Processes
from neardup.errors import DataError, OutputRefused
from neardup.pipeline.files.audit import audit_files
from neardup.pipeline.spilled import files, run
from neardup.pipeline.spilled import output_records as stage
from neardup.pipeline.spilled.output_records import write
from neardup.pipeline.spilled.run import Stages
from neardup.sources.shards import Shards
from neardup.text.extraction import Extraction


def test_a_report_may_be_a_table_or_a_page(tmp_path, sources):
    for name in ("why.parquet", "why.jsonl.gz"):
        dedup_files(sources, report=tmp_path / name, work=tmp_path / "w")
        dedup_files(sources, report=tmp_path / f"memory-{name}")
    assert pq.read_table(tmp_path / "why.parquet").equals(pq.read_table(tmp_path / "memory-why.parquet"))
    assert (tmp_path / "why.jsonl.gz").read_bytes() == (tmp_path / "memory-why.jsonl.gz").read_bytes()
    dedup_files(
        sources,
        report=tmp_path / "why.html",
        page=lambda done: json.dumps(done.result.summary.as_dict()).encode(),
        work=tmp_path / "w",
    )
    assert json.loads((tmp_path / "why.html").read_text())["documents"] == 260


def test_outputs_that_the_run_has_written_do_not_need_force_for_another_report(tmp_path, sources, monkeypatch):
    out = tmp_path / "out.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr(stage, "remove_other_parts", lambda *_: (_ for _ in ()).throw(OSError(ENOSPC, "full")))
        with pytest.raises(OSError, match="full"):
            dedup_files(sources, out, report=tmp_path / "full.jsonl", work=tmp_path / "w")
    written = out.stat().st_ino
    dedup_files(sources, out, report=tmp_path / "elsewhere.jsonl", work=tmp_path / "w")
    assert out.stat().st_ino == written
    assert (tmp_path / "elsewhere.jsonl").exists()


def test_the_kept_documents_are_written_last(tmp_path, sources):
    names = ("out", "report", "dropped", "mark")
    for way in ({}, {"work": tmp_path / "w"}):
        paths = {name: tmp_path / f"{len(way)}-{name}.jsonl" for name in names}
        dedup_files(sources, **paths, **way, threads=1)
        assert max(paths, key=lambda name: paths[name].stat().st_mtime_ns) == "out"


def test_an_output_that_was_lost_is_written_again(tmp_path, sources, nearly_finished):
    nearly_finished(tmp_path / "out.jsonl")
    written = (tmp_path / "out.jsonl").read_bytes()
    (tmp_path / "out.jsonl").write_bytes(written[:-5])
    dedup_files(sources, tmp_path / "out.jsonl", work=tmp_path / "w")
    assert (tmp_path / "out.jsonl").read_bytes() == written


def test_standard_output_is_written_by_the_run_itself(tmp_path, sources, monkeypatch):
    stages = []
    each = Stages.each

    def noted(self, stage, *given, **options):
        stages.append(stage.partition("-")[0])
        return each(self, stage, *given, **options)

    monkeypatch.setattr(Stages, "each", noted)
    dedup_files(sources, "/dev/null", work=tmp_path / "w")
    assert stages[-1] == "print"


def kept_of(path):
    """The kept records, as values without nulls."""
    if path.name.endswith(".parquet"):
        found = pq.read_table(path).to_pylist()
    elif path.name.endswith(".gz"):
        found = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    else:
        found = pyarrow.csv.read_csv(
            path, parse_options=pyarrow.csv.ParseOptions(delimiter="\t" if path.suffix == ".tsv" else ",")
        ).to_pylist()
    return [{name: value for name, value in one.items() if value is not None} for one in found]


@pytest.mark.parametrize("work", [False, True])
@pytest.mark.parametrize("out", ["out.parquet", "out.jsonl.gz", "out.csv", "out.csv.zst", "out.tsv"])
def test_the_ending_of_an_output_decides_its_format(tmp_path, small_parts, work, out):
    small_parts(500)
    rows = [{"text": f"text {n // 2} has its own words {n // 2}", "n": n, "id": f"d{n}"} for n in range(60)]
    rows[50]["x"] = 0.5
    write_lines(tmp_path / "a.jsonl", rows)
    pq.write_table(pa.Table.from_pylist([{"x": None, **row} for row in rows]), tmp_path / "a.parquet", row_group_size=9)
    pyarrow.csv.write_csv(pa.Table.from_pylist([{"x": None, **row} for row in rows]), tmp_path / "a.csv")
    for name in ("a.jsonl", "a.parquet", "a.csv"):
        outputs = {key: tmp_path / f"{key}-{name}.{out}" for key in ("out", "dropped", "mark")}
        options = {"work": tmp_path / "w"} if work else {}
        done = dedup_files([tmp_path / name], **outputs, **options)
        assert done.result.summary.kept == 30
        kept, dropped, marked = (kept_of(path) for path in outputs.values())
        assert [one["id"] for one in kept] == [row["id"] for row in rows[::2]]
        assert [one["id"] for one in dropped] == [row["id"] for row in rows[1::2]]
        assert [one["neardup_representative"] for one in marked] == [
            row["id"] for row in rows for _ in "ab" if row["n"] % 2 == 0
        ]
        if name != "a.csv":
            assert kept == rows[::2]


def test_several_formats_may_be_written_to_one_file(tmp_path, small_parts):
    small_parts(100)
    (tmp_path / "a.jsonl").write_text('{"text": "one two", "n":  1.50}\n{"text": "three four"}\n')
    pq.write_table(pa.table({"text": ["five six", "three four"], "more": [1, 2]}), tmp_path / "b.parquet")
    inputs = [tmp_path / "a.jsonl", tmp_path / "b.parquet"]
    dedup_files(inputs, tmp_path / "out.parquet", dropped=tmp_path / "no.jsonl", work=tmp_path / "w")
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [
        {"text": "one two", "n": 1.5, "more": None},
        {"text": "three four", "n": None, "more": None},
        {"text": "five six", "n": None, "more": 1},
    ]
    assert (tmp_path / "no.jsonl").read_text() == '{"text":"three four","n":null,"more":2}\n'
    dedup_files(inputs, tmp_path / "out.jsonl", work=tmp_path / "w")
    assert (tmp_path / "out.jsonl").read_text().splitlines()[0] == '{"text": "one two", "n":  1.50}'


@pytest.mark.parametrize("work", [False, True])
def test_what_the_format_of_an_output_cannot_represent_is_refused(tmp_path, work):
    options = {"work": tmp_path / "w"} if work else {}
    for out, reason in (
        ("o.csv", "its 'm' has objects or lists"),
        ("o.parquet", "a.jsonl:2: its 'k', \"x\", and the values before it cannot be one column"),
    ):
        (tmp_path / "a.jsonl").write_text(
            '{"text": "one", "m": [1]}\n'
            if out == "o.csv"
            else '{"text": "two", "k": 1}\n{"text": "three", "k": "x"}\n'
        )
        with pytest.raises(DataError, match=reason):
            dedup_files([tmp_path / "a.jsonl"], tmp_path / out, **options)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]


@pytest.mark.parametrize("work", [False, True])
@pytest.mark.parametrize("target", ["out", "dropped", "mark"])
def test_parquet_that_readers_would_refuse_is_not_written(tmp_path, work, target):
    """Arrow writes more levels of objects and lists than it reads."""
    options = {"work": tmp_path / "w"} if work else {}
    outputs = {"out": tmp_path / "o.jsonl", target: tmp_path / "o.parquet"}
    for begin, end, most in (("[", "]", 49), ('{"a":', "}", 98)):
        for levels in (most, most + 1, 130):
            value = begin * levels + ("1" if begin != "[" else "") + end * levels
            (tmp_path / "a.jsonl").write_text(f'{{"text": "one", "x": {value}}}\n')
            if levels > most:
                with pytest.raises(DataError, match=r"a.jsonl: its 'x' has more than 98 levels of objects and lists"):
                    dedup_files([tmp_path / "a.jsonl"], **outputs, **options)
                assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]
                continue
            dedup_files([tmp_path / "a.jsonl"], **outputs, **options)
            assert pq.read_table(tmp_path / "o.parquet").num_rows == (target != "dropped")
            for path in {*outputs.values()}:
                path.unlink()


def test_inputs_with_other_types_are_written_to_several_files(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one two", "n": 1}\n')
    (tmp_path / "b.csv").write_text("text,n\nthree four,x\n")
    inputs, out = [tmp_path / "a.jsonl", tmp_path / "b.csv"], tmp_path / "out"
    rule = "its 'n' is string, but that of .*a.jsonl is int64; inputs that are written together need one type"
    with pytest.raises(DataError, match=rf"b\.csv: {rule} .*, to a folder and not in parts"):
        dedup_files(inputs, out, work=tmp_path / "w", out_format="jsonl", part_size=1000)
    dedup_files(inputs, out, work=tmp_path / "v", out_format="jsonl")
    assert sorted(path.name for path in out.iterdir()) == ["a.jsonl", "b.jsonl"]


def test_fields_are_those_of_the_inputs_that_are_converted(tmp_path, small_parts):
    """Neither those of earlier files nor those of copies need one type."""
    small_parts(60)
    old, mixed, plain = (tmp_path / name for name in ("old.jsonl", "mixed.jsonl", "plain.csv"))
    old.write_text('{"text": "one two", "n": 1}\n{"text": "three four", "n": "x"}\n')
    mixed.write_text('{"text": "five six", "n": 1}\n{"text": "seven eight", "n": "x"}\n')
    plain.write_text("text,n\none two,3\nnine ten,4\n")
    dedup_files([plain], tmp_path / "a.parquet", against=old)
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == [{"text": "nine ten", "n": "4"}]
    dedup_files([mixed, plain], tmp_path / "out", work=tmp_path / "w", out_format="jsonl")
    assert (tmp_path / "out/mixed.jsonl").read_text() == mixed.read_text()
    assert len((tmp_path / "out/plain.jsonl").read_text().splitlines()) == 2
    rule = "only JSON lines can represent this; write JSON lines, to a folder if the inputs have several formats"
    with pytest.raises(
        DataError, match=rf'mixed\.jsonl:2: its \'n\', "x", and the values before it cannot be one column.*; {rule}'
    ):
        dedup_files([mixed, plain], tmp_path / "all.jsonl", work=tmp_path / "w")


@pytest.mark.parametrize("form", [None, "parquet"])
def test_parts_of_a_shard_are_written_together(tmp_path, sources, small_parts, monkeypatch, form):
    small_parts(4000)
    read, pieces = [], Shards.pieces_of

    def noted(self, extent, **options):
        read.append(extent)
        return pieces(self, extent, **options)

    def options(name):
        return {"work": tmp_path / "w", "part_size": 300, "out_format": form, "mark": tmp_path / name, "threads": 1}

    with monkeypatch.context() as patch:
        patch.setattr(stage, "write", lambda *_, **__: patch.setattr(Shards, "pieces_of", noted) or write(*_, **__))
        dedup_files(sources, **options("small"))
    assert len([*(tmp_path / "small").iterdir()]) > 3 * len({*read})
    assert len(read) <= 2 * len({*read})
    small_parts(1 << 20)
    dedup_files(sources, **options("large"))
    names = sorted(path.name for path in (tmp_path / "small").iterdir())
    assert all((tmp_path / "small" / name).read_bytes() == (tmp_path / "large" / name).read_bytes() for name in names)


PAGE = "<title>Page {}</title><p>The text of this page, which is like that of the other ones."


def folder_of_pages(path):
    path.mkdir()
    for number in range(3):
        (path / f"{number}.html").write_text(PAGE.format(number))
    return path


def lines_of_pages(path):
    return write_lines(path, [{"id": number, "html": PAGE.format(number)} for number in range(3)])


def archive_of_pages(path):
    path.write_bytes(packed([page(number, PAGE.partition("<p>")[2]) for number in range(3)]))
    return path


@pytest.mark.parametrize(
    ("make", "names", "reads"),
    [
        (folder_of_pages, ("in", "out"), 1),
        (archive_of_pages, ("in.warc.gz", "out.warc.gz"), 1),
        (lines_of_pages, ("in.jsonl", "out.jsonl"), 1),
        (lines_of_pages, ("in.jsonl", "out.parquet"), 1),
        (archive_of_pages, ("in.warc.gz", "out.jsonl"), 2),  # rows have the text
    ],
)
def test_pages_are_not_extracted_again_to_be_copied(tmp_path, make, names, reads, monkeypatch):
    read = []
    extract = Extraction.pages_with_whole_texts

    def counted(own, pages, *more, **named):
        read.extend(page for page in pages if page != b"<p>")  # which loads the libraries
        return extract(own, pages, *more, **named)

    monkeypatch.setattr(Extraction, "pages_with_whole_texts", counted)
    html = {"html": "html"} if make is lines_of_pages else {}
    ways = {"work": tmp_path / "w", "learn_templates": False, **html}
    done = dedup_files([make(tmp_path / names[0])], tmp_path / names[1], **ways)
    assert done.result.summary.near == 2
    assert len(read) == reads * 3
    read.clear()
    monkeypatch.setattr(files, "_HELD", 0)  # compared, and described as a cluster
    dedup_files([tmp_path / names[0]], tmp_path / "again" / names[1], **ways)
    assert len(read) == (reads + 2) * 3


@pytest.mark.parametrize("work", [None, "w"])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_values_that_only_parquet_has_are_refused_before_the_work(tmp_path, monkeypatch, small_parts, form, work):
    monkeypatch.chdir(tmp_path)
    small_parts(200)
    far = pa.array([0] * 99 + [2**31 - 1], pa.date32())
    table = pa.table({"text": [f"one two three {number}" for number in range(100)], "day": far})
    pq.write_table(table, "a.parquet", row_group_size=10)
    options = {"work": work, "report": "r.jsonl"}
    with pytest.raises(DataError, match=r"^a.parquet: its 'day' has times outside of the years"):
        dedup_files(["a.parquet"], f"k.{form}", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
    dedup_files(["a.parquet"], "k.parquet", **options)
    assert pq.read_table("k.parquet").num_rows


@pytest.mark.parametrize("part", [None, 10])
def test_tables_without_rows_are_written_with_their_columns(tmp_path, part):
    (tmp_path / "a.csv").write_text("text,id\n")
    pq.write_table(pa.table({"text": pa.array([], "str"), "n": pa.array([], "int8")}), tmp_path / "a.parquet")
    for ending in ("csv", "parquet"):
        out = tmp_path / f"out.{ending}" if part is None else tmp_path / f"parts-{ending}"
        report = tmp_path / f"why-{ending}.jsonl"
        dedup_files([tmp_path / f"a.{ending}"], out, report=report, work=tmp_path / "w", part_size=part)
        written = out if part is None else out / f"part-00000.{ending}"
        if ending == "csv":
            assert written.read_text() == "text,id\n"
        else:
            assert pq.read_schema(written).names == ["text", "n"]
        assert report.read_text() == ""


def test_values_that_only_parquet_has_are_written_as_parquet(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one two"}\n')
    far = pa.array([2**31 - 1], pa.date32())
    pq.write_table(pa.table({"text": ["three four"], "day": far}), tmp_path / "b.parquet")
    dedup_files([tmp_path / "a.jsonl", tmp_path / "b.parquet"], tmp_path / "out.parquet", work=tmp_path / "w")
    assert pq.read_table(tmp_path / "out.parquet")["day"].cast("int32").to_pylist() == [None, 2**31 - 1]


def test_room_is_needed_for_outputs_in_the_format_of_their_inputs(tmp_path, sources, monkeypatch):
    needed = []
    monkeypatch.setattr(stage, "require_room", lambda *asked: needed.append(asked))
    size = sum(path.stat().st_size for path in sources)
    dedup_files(sources, tmp_path / "out.csv", work=tmp_path / "w")
    assert needed == []
    done = dedup_files(sources, tmp_path / "out.jsonl", dropped=tmp_path / "no.jsonl", work=tmp_path / "w")
    assert needed == [(tmp_path, pytest.approx(0.7 * size, abs=1), "write the outputs")]
    dedup_files(sources, report=tmp_path / "why.jsonl", work=tmp_path / "w")
    assert needed[1:] == [(tmp_path, 150 * len(done.documents), "write the outputs")]


def test_pages_are_written_by_their_own_function_once_the_summary_is_made(tmp_path, monkeypatch):
    """The summary reads the pages of large clusters again, in parallel to what is written."""
    done = []
    summarized, turn_to = run.what_is_shared, Processes.turn_to

    def what_is_shared(*parameters):
        time.sleep(0.3)
        done.append("summary")
        return summarized(*parameters)

    def turned(processes, function):
        done.append("whole" if function.settings.get("whole") else "pages")
        turn_to(processes, function)

    monkeypatch.setattr(run, "what_is_shared", what_is_shared)
    monkeypatch.setattr(Processes, "turn_to", turned)
    archive = archive_of_pages(tmp_path / "pages.warc.gz")
    dedup_files([archive], tmp_path / "out.jsonl", work=tmp_path / "work", threads=2)
    assert done[-2:] == ["summary", "whole"]


def test_many_small_inputs_have_an_output_each_and_few_files_in_the_work_folder(tmp_path, records, small_parts):
    """Their decisions and outputs are those of a run in which each input is read by itself."""
    (tmp_path / "in").mkdir()
    paths, begin = [], 0
    for number in range(60):
        own = records[begin : begin + number % 5]
        begin += number % 5
        form = ("jsonl", "csv", "parquet")[number // 20]
        paths.append(tmp_path / "in" / f"{number:02}.{form}")
        if form == "jsonl":
            write_lines(paths[-1], own)
            continue
        names = ["id", "title", "text"]
        table = pa.table({name: pa.array([record.get(name) for record in own], pa.string()) for name in names})
        pa.csv.write_csv(table, paths[-1]) if form == "csv" else pq.write_table(table, paths[-1])
    runs = {}
    for size in (1, 1 << 20):
        small_parts(size)
        work, out = tmp_path / f"w{size}", tmp_path / f"out{size}"
        out.mkdir()
        found = dedup_files(
            paths, out / "kept", report=out / "r.parquet", mark=out / "marked", work=work, keep_work=True
        )
        outputs = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.*"))}
        runs[size] = found.result.decisions.to_pydict(), outputs, len([*work.rglob("*")])
    assert [str(one) for one in runs[1][:2]] == [str(one) for one in runs[1 << 20][:2]]
    assert len(runs[1][1]) == 2 * len(paths) + 1
    assert runs[1 << 20][2] < len(paths) < runs[1][2]


def test_revisit_records_name_the_archive_of_the_kept_page(tmp_path):
    paths = [tmp_path / f"{number}.warc.gz" for number in range(4)]
    for number, path in enumerate(paths):
        path.write_bytes(
            packed([page(one, f"<p>The text of page {one}, in archive {number % 2}.") for one in range(2)])
        )
    outputs = [tmp_path / "memory.warc.gz", tmp_path / "pieces.warc.gz"]
    for out, options in zip(outputs, ({}, {"work": tmp_path / "w"}), strict=True):
        assert dedup_files(paths, out, revisits=True, **options).result.summary.exact == 4
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize("small", [1, 1 << 20])
def test_a_report_in_a_folder_has_the_rows_of_one_file(tmp_path, sources, small_parts, small):
    small_parts(small)
    (tmp_path / "e.jsonl").write_text("")
    inputs = [*few(sources, 25), tmp_path / "e.jsonl"]
    run = partial(dedup_files, inputs, threads=2, keep="longest")
    run(report=tmp_path / "one.parquet")
    run(report=tmp_path / "each", dropped=tmp_path / "dropped")
    run(report=f"{tmp_path}/parts/", part_size=2000, work=tmp_path / "w")
    run(report=tmp_path / "lines", out_format="jsonl.gz")
    whole = pq.read_table(tmp_path / "one.parquet")
    names = [path.with_suffix(".parquet").name for path in inputs]
    assert sorted(path.name for path in (tmp_path / "each").iterdir()) == sorted(names)
    parts = sorted((tmp_path / "parts").iterdir())
    assert len(parts) > 2
    for paths in ([tmp_path / "each" / name for name in names], parts):
        found = pa.concat_tables(pq.read_table(path) for path in paths)
        assert found.schema.equals(whole.schema, check_metadata=True)
        assert str(found.to_pylist()) == str(whole.to_pylist())
    packed_lines = b"".join((tmp_path / "lines" / f"{path.stem}.jsonl.gz").read_bytes() for path in inputs)
    lines = gzip.decompress(packed_lines).splitlines()
    assert [json.loads(line)["position"] for line in lines] == [*range(len(whole))]
    expected = audit_files(inputs, tmp_path / "one.parquet")
    assert audit_files(inputs, tmp_path / "each") == audit_files(inputs, tmp_path / "parts") == expected
    with pytest.raises(OutputRefused, match="it exists already"):
        run(report=tmp_path / "each")


def test_revisit_records_are_in_the_last_file_of_a_report(tmp_path):
    paths = [tmp_path / f"{number}.warc.gz" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_bytes(
            packed([page(number), record("revisit", number=9, uri=f"http://b.example/{number}")] if number < 2 else [])
        )
    dedup_files(paths, report=tmp_path / "why.parquet")
    dedup_files(paths, report=tmp_path / "why")
    found = [pq.read_table(tmp_path / f"why/{number}.parquet") for number in range(3)]
    assert [len(one) for one in found] == [1, 1, 2]
    assert str(pa.concat_tables(found).to_pylist()) == str(pq.read_table(tmp_path / "why.parquet").to_pylist())


def test_an_output_of_many_does_not_look_at_all_inputs(tmp_path, monkeypatch):
    paths = [tmp_path / f"{number}.jsonl" for number in range(40)]
    for path in paths:
        write_lines(path, [{"text": f"The text of {path.name}"}])
    shown, display = [], stage.display
    monkeypatch.setattr(stage, "display", lambda path: shown.append(path) or display(path))
    dedup_files(paths, tmp_path / "out", out_format="parquet", work=tmp_path / "w")
    assert len(shown) <= 4 * len(paths)
