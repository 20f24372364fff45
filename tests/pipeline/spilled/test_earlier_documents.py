import json
import os
import re
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from json_lines import write_lines
from msgspec.structs import replace

from neardup import Index, MinHash, dedup_files
from neardup.engines.files import sealed, unsealed
from neardup.interfaces.pages.report import report_page
from neardup.model.errors import DataError, OutputError, StorageDamaged, StorageFailed
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.spilled import earlier_documents
from neardup.pipeline.spilled import run as stages
from neardup.pipeline.spilled.earlier_documents import Earlier, RecordedRuns, RunInputs, mapped_table
from neardup.pipeline.spilled.state import State
from neardup.sources.request import Request
from neardup.sources.shards import Shards
from neardup.text.extraction import Extraction
from neardup.text.host_templates import HostTemplates, Template

TEXT = "the harbour was quiet at dawn and the pilots who came in early went home"


def test_no_segments_have_no_leaders():
    nothing = Earlier()
    assert (len(nothing), nothing.sizes, nothing.ids()) == (0, [], [])
    assert nothing.column("equal", np.uint64).tolist() == nothing.representatives.tolist() == []
    assert nothing.settled().shape == (5, 0)


def test_leaders_are_numbered_from_best_to_worst(batches, tmp_path):
    rows = []
    for batch in batches:
        rows += dedup_files(batch, state=tmp_path / "state").result.decisions.to_pylist()
    with State.open(tmp_path / "state") as state:
        earlier = state.earlier()
    ids = [one for chunk in earlier.ids() for one in chunk.to_pylist()]
    by_id = {row["id"]: row for row in rows}
    for one, number in zip(ids, earlier.representatives.tolist(), strict=True):
        assert by_id[one]["representative"] == (None if number < 0 else ids[number])
    for number, other, common, size, of_other in earlier.settled().T.tolist():
        row = by_id[ids[number]]
        assert row["representative"] == ids[other]
        assert row["resemblance"] == common / (size + of_other - common)
    found = {}
    for shard in range(len(earlier.sizes)):
        leaders, places = earlier.kept_of(shard)
        texts = [text for piece in earlier.pieces(shard) for text in piece.texts.to_pylist()]
        found |= {ids[leader]: texts[place] for leader, place in zip(leaders.tolist(), places.tolist(), strict=True)}
    lines = [json.loads(line) for batch in batches for path in batch for line in path.read_text().splitlines()]
    texts = {line["id"]: line["text"] for line in lines}
    kept = [one for one, number in zip(ids, earlier.representatives.tolist(), strict=True) if number < 0]
    assert found == {one: texts[one] for one in kept}
    lengths = earlier.column("length", np.int64)[earlier.representatives < 0]
    assert lengths.tolist() == [len(texts[one].encode()) for one in kept]


@pytest.mark.parametrize("report", ["why.parquet", "why.html"])
def test_decisions_that_need_no_texts_do_not_need_removed_inputs(tmp_path, report):
    template = " ".join(f"w{number}" for number in range(60))
    for name in "ab":
        lines = [json.dumps({"id": f"{name}{number}", "text": f"{template} {name}{number}"}) for number in range(40)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    options = {"state": tmp_path / "state", "verify": "estimate"}
    dedup_files([tmp_path / "a.jsonl"], **options)
    (tmp_path / "a.jsonl").unlink()
    page = partial(report_page, scheme=MinHash()) if report.endswith("html") else None
    done = dedup_files([tmp_path / "b.jsonl"], report=tmp_path / report, page=page, **options)
    (cluster,) = done.result.summary.largest_clusters
    assert (cluster.representative, cluster.documents, cluster.shared) == ("a0", 41, 59)


def test_texts_that_are_gone_are_named_and_nothing_is_added(batches, tmp_path, monkeypatch):
    dedup_files(batches[0], state=tmp_path / "state")
    moved = batches[0][0].rename(tmp_path / "moved.jsonl")
    copies = tmp_path / "copies.jsonl"
    texts = [{**json.loads(line), "title": "other"} for line in moved.read_text().splitlines()]
    for text in texts:
        text["text"] = f"{text['text']} and more" if text["text"] else None
    write_lines(copies, texts)
    with pytest.raises(DataError, match=r"batch00\.jsonl.*moved or changed since"):
        dedup_files([copies], state=tmp_path / "state")
    os.mkfifo(batches[0][0])  # which is not waited for
    with pytest.raises(DataError, match=r"batch00\.jsonl.*moved or changed since"):
        dedup_files([copies], state=tmp_path / "state")
    batches[0][0].unlink()
    with State.open(tmp_path / "state") as state:
        assert len(state.segments) == 1
    moved.rename(batches[0][0])
    monkeypatch.setattr(stages, "sign", lambda *_: 1 / 0)  # it continues
    assert dedup_files([copies], state=tmp_path / "state").result.summary.known > 0


def test_texts_are_read_again_with_the_fields_that_are_wanted(batches, tmp_path):
    dedup_files(batches[0], state=tmp_path / "state")
    dedup_files(batches[1], state=tmp_path / "state")
    with State.open(tmp_path / "state") as state:
        earlier = state.earlier().with_fields(["title"])
    lines = [json.loads(line) for batch in batches[:2] for path in batch for line in path.read_text().splitlines()]
    titles = [
        title
        for shard in range(len(earlier.sizes))
        for piece in earlier.pieces(shard)
        for title in piece.column("title").to_pylist()
    ]
    assert titles == [line["title"] for line in lines]
    assert [earlier.segment_of(shard) for shard in range(len(earlier.sizes))] == [0, 0, 1, 1]
    assert len(earlier.groups) == 1


def test_an_input_that_is_not_needed_may_be_missing(tmp_path):
    """Also one that was read together with another one, which is needed."""
    texts = {name: " ".join(f"{name}{number}" for number in range(60)) for name in "abc"}
    paths = [tmp_path / f"{name}.jsonl" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        write_lines(path, [{"id": path.stem, "text": text}])
    dedup_files(paths, state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        state.forget(["b"])
    paths[1].unlink()
    new = write_lines(tmp_path / "new.jsonl", [{"id": "new", "text": texts["a"].replace("a9 ", "other ")}])
    found = dedup_files([new], against=tmp_path / "state").result.decisions
    assert found.column("representative").to_pylist() == ["a"]
    with Index.create(tmp_path / "index", texts=True) as index, State.open(tmp_path / "state") as state:
        assert index.fill(state).documents == 2


@pytest.mark.parametrize("target", ["out", "report", "mark", "folder"])
@pytest.mark.parametrize("way", ["state", "against"])
def test_inputs_of_earlier_runs_are_not_replaced(batches, tmp_path, target, way):
    dedup_files(batches[0], state=tmp_path / "state")
    before = batches[0][0].read_bytes()
    name, path = ("out", tmp_path) if target == "folder" else (target, batches[0][0])
    new = batches[1]
    if target == "folder":
        (tmp_path / "new").mkdir()
        new = [one.rename(tmp_path / "new" / old.name) for one, old in zip(new, batches[0], strict=True)]
    with pytest.raises(OutputError, match="it is an input of an earlier run, which later runs"):
        dedup_files(new, **{name: path, way: tmp_path / "state"}, force=True)
    assert batches[0][0].read_bytes() == before


@pytest.mark.parametrize(
    ("raised", "reported"),
    [
        (pa.ArrowException("Unknown error: Failed to launch worker thread"), StorageFailed),
        (pa.ArrowMemoryError("malloc of size 1 failed"), MemoryError),
        (pa.ArrowInvalid("Not an Arrow file"), StorageDamaged),
    ],
)
def test_a_state_that_the_system_cannot_read_is_not_called_damaged(tmp_path, monkeypatch, raised, reported):
    write_lines(tmp_path / "in.jsonl", [{"text": TEXT}])
    dedup_files([tmp_path / "in.jsonl"], state=tmp_path / "state")

    def fails(_):
        raise raised

    monkeypatch.setattr(earlier_documents, "open_arrow", fails)
    with State.open(tmp_path / "state") as state, pytest.raises(reported) as caught:
        state.earlier()
    assert isinstance(caught.value, StorageDamaged) == (reported is StorageDamaged)


@pytest.fixture
def forged(tmp_path):
    """Return a function that changes a file of a state, with the right checksums, and one that uses the state."""
    lines = [f'{{"id": "d{n}", "text": "{TEXT} {n} {m}"}}\n' for n, m in enumerate("aaaabbbb")]
    lines += [f'{{"id": "e{n}", "text": "{"other words " * (n + 5)} {n}"}}\n' for n in range(3)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    place = tmp_path / "state"
    dedup_files([tmp_path / "in.jsonl"], state=place)

    def change(name, made):
        path = next(place.glob(f"segment-*/{name}"))
        if name == "texts.json":
            path.write_bytes(sealed(json.loads(made(json.dumps(unsealed(path.read_bytes()))))))
        else:
            table = mapped_table(path)
            content = pa.BufferOutputStream()
            made = made(pa.Table.from_pydict(table.to_pydict(), table.schema))
            with pa.ipc.new_file(content, made.schema) as writer:
                writer.write_table(made)
            path.write_bytes(content.getvalue())
        with State.open(place, write=True) as state:
            parts = [replace(part, checksums=state._checksums(part.name)) for part in state.segments]
            state._replace(replace(state.header, segments=tuple(parts)))

    return change, lambda: dedup_files([tmp_path / "in.jsonl"], against=place)


def having(name, value, row=-1):
    """Return a function that changes a value of a column: in the last row, unless another is named."""

    def change(table):
        column = table.column(name).to_pylist()
        column[row] = value
        place = table.column_names.index(name)
        return table.set_column(place, name, pa.array(column, table.schema.field(name).type))

    return change


def no_utf8(table):
    wrong = pa.array([b"\xff"] * len(table), pa.large_binary())
    return pa.table({"id": pa.Array.from_buffers(pa.large_string(), len(table), wrong.buffers())})


def other_type(table):
    place = table.column_names.index("representative")
    return table.set_column(place, "representative", table.column("representative").cast(pa.int64()))


def narrow(table):
    place = table.column_names.index("row")
    return table.set_column(place, "row", pa.array([b"12345678"] * len(table), pa.binary(8)))


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("leaders.arrow", having("representative", 1 << 30, 1)),
        ("leaders.arrow", having("representative", -2)),
        ("leaders.arrow", having("representative", None)),
        ("leaders.arrow", having("representative", 2, 1)),
        ("leaders.arrow", other_type),
        ("leaders.arrow", narrow),
        ("leaders.arrow", lambda table: table.drop(["row"])),
        ("kept.arrow", having("position", 1000)),
        ("kept.arrow", lambda table: table.slice(1)),
        ("dropped.arrow", having("size", None)),
        ("dropped.arrow", lambda table: pa.concat_tables([table, table])),
        ("ids.arrow", no_utf8),
        ("ids.arrow", lambda table: table.rename_columns(["other"])),
        ("texts.json", lambda _: "7"),
        ("texts.json", lambda content: content.replace('"edges"', '"wedges"')),
        ("texts.json", lambda content: content.replace('"edges": [0', '"edges": [null')),
        ("texts.json", lambda content: re.sub(r'"edges": .*?\]', '"edges": 7', content)),
        ("texts.json", lambda content: re.sub(r'"edges": .*?\]', '"edges": []', content)),
    ],
)
def test_a_forged_segment_with_the_right_checksums_is_refused(forged, name, made):
    change, used = forged
    assert used().result.summary.known
    change(name, made)
    with pytest.raises(StorageDamaged, match=name):
        used()


@pytest.mark.parametrize("forged", [{"name": "x/../segment-{}"}, {"inputs": ("a\0b",)}])
def test_names_of_segments_are_not_paths_and_inputs_have_no_nul(tmp_path, forged):
    (tmp_path / "in.jsonl").write_text(f'{{"text": "{TEXT}"}}\n')
    dedup_files([tmp_path / "in.jsonl"], state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        own = state.header
        (part,) = own.segments
        (tmp_path / "state" / "segment-x").mkdir()
        if "name" in forged:
            forged = {"name": forged["name"].format(part.name)}
        state._replace(replace(own, segments=(replace(part, **forged),)))
    with pytest.raises(StorageDamaged, match=r"state\.json"):
        State.open(tmp_path / "state")


def template(number, version=1, lines=(1, 2)):
    return Template(
        host=f"host{number}.example", view="main", kept=20, version=version, lines=np.array(lines, np.uint64)
    )


def run(templates, path="pages.jsonl"):
    extraction = Extraction() if templates is None else Extraction(templates=templates)
    return RunInputs(Shards((path,), Request(extraction=extraction, html="html")), np.array([0]))


@pytest.fixture
def runs():
    """Runs without templates, with ever more of them, with one that was learned again, and with independent ones."""
    first = HostTemplates([template(n) for n in range(40)], rule_of(Extraction()))
    more = first.updated([template(n) for n in range(40, 60)])
    again = more.updated([template(7, version=2, lines=(1, 5))])
    independent = HostTemplates([template(1)], rule_of(Extraction()))
    return [
        run(one)
        for one in (None, HostTemplates([], rule_of(Extraction())), first, None, more, more, again, independent)
    ]


def test_runs_are_read_as_they_were_recorded(runs):
    given = json.loads(json.dumps([*RecordedRuns().recorded(runs)]))
    found = [*RecordedRuns().read(given)]
    assert [one.templates for one in found] == [one.templates for one in runs]
    assert [one.templates and one.templates.earlier for one in found] == [
        one.templates and one.templates.earlier for one in runs
    ]
    for one, other in zip(found, runs, strict=True):
        assert one.shards.inputs == other.shards.inputs
        assert one.edges.tolist() == other.edges.tolist()


def test_each_template_is_recorded_once(runs):
    given = [*RecordedRuns().recorded(runs)]
    recorded = [RunInputs(Shards.from_dict(one["shards"]), np.array([0])).templates for one in given]
    assert [None if one is None else len(one) for one in recorded] == [None, 0, 40, None, 20, 0, 1, 1]


def test_a_run_is_recorded_after_others(runs):
    for number in range(len(runs)):
        before, rest = runs[:number], runs[number:]
        given = [*RecordedRuns().recorded(before), *RecordedRuns(before).recorded(rest)]
        assert given == [*RecordedRuns().recorded(runs)]
