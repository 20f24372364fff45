import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import read_lines, write_lines

from neardup import Checksum, Field, Index, containment, dedup_files, resemblance
from neardup.engines.journal import Journal
from neardup.errors import DataError, OutputError, ParameterError
from neardup.model.errors import FieldMissing, InputRefused, OutputRefused

LINES = [
    {"id": 1, "text": "one two three four five", "rank": 2},
    {"id": 2, "text": "ONE two three four five", "rank": 9},
    {"id": 3, "text": "six seven eight nine ten", "rank": 1},
]

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
COLUMNS = [
    *("id", "position", "kept", "representative", "representative_position", "rule"),
    *("resemblance", "contained_in_kept", "contains_kept", "exact"),
]


@pytest.fixture
def source(tmp_path):
    return write_lines(tmp_path / "in.jsonl", LINES)


def test_every_output_says_the_same(tmp_path, source):
    out, dropped, mark, report = (tmp_path / name for name in ("out.jsonl", "no.jsonl", "mark.jsonl", "why.parquet"))
    done = dedup_files([source], out, dropped=dropped, mark=mark, report=report, keep="max:rank")
    assert read_lines(out) == [LINES[1], LINES[2]]
    assert read_lines(dropped) == [LINES[0]]
    marks = [
        (line["neardup_cluster"], line["neardup_kept"], line["neardup_representative"]) for line in read_lines(mark)
    ]
    assert marks == [(1, False, "2"), (1, True, "2"), (2, True, "3")]
    assert pq.read_table(report).num_rows == len(done.result.decisions) == 3
    assert len(done.documents) == 3
    assert done.rejected == []
    assert done._repr_html_() == done.result._repr_html_()


@pytest.mark.parametrize("how", [{}, {"work": "work"}], ids=["in memory", "in pieces"])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_blank_value_and_nan_are_missing_in_every_format(tmp_path, how, quoted, ending):
    path, options = tmp_path / f"in.{ending}", {name: tmp_path / value for name, value in how.items()}
    scores = ["", 2, " \t", "NaN", 10, "-nan", "nan "]
    if ending == "csv":
        path.write_text("text,score\n" + "".join(f'{LINES[0]["text"]},"{score}"\n' for score in scores))
    else:
        records = ({**LINES[0], "score": str(score) if quoted else score} for score in scores)
        write_lines(path, records)
    for keep, best in (("max:score", 4), ("min:score", 1)):
        done = dedup_files([path], keep=keep, **options)
        assert done.result.mask.tolist() == [row == best for row in range(len(scores))]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_report_has_a_row_for_every_document_and_these_columns(tmp_path, ending):
    texts = {"storm": STORM, "edited": f"{STORM} on Tuesday", "copy": STORM, "loud": STORM.upper(), "short": "..."}
    source, report = tmp_path / "in.jsonl", tmp_path / f"why.{ending}"
    write_lines(source, [{"id": name, "text": text} for name, text in texts.items()])
    dedup_files([source], report=report)
    rows = pq.read_table(report).to_pylist() if ending == "parquet" else read_lines(report)
    assert all(list(row) == COLUMNS for row in rows)
    kept = {**dict.fromkeys(COLUMNS), "kept": True, "exact": False}
    assert rows[::4] == [{**kept, "id": name, "position": texts_at} for name, texts_at in (("storm", 0), ("short", 4))]
    of_storm = {"kept": False, "representative": "storm", "representative_position": 0}
    full = {**of_storm, "resemblance": 1.0, "contained_in_kept": 1.0, "contains_kept": 1.0}
    shares = (
        resemblance(texts["edited"], STORM),
        containment(texts["edited"], STORM),
        containment(STORM, texts["edited"]),
    )
    assert shares[1] < shares[2] == 1
    assert rows[1:4] == [
        {"id": "edited", "position": 1, **of_storm, "rule": "resemblance", "exact": False}
        | dict(zip(COLUMNS[6:9], shares, strict=True)),
        {"id": "copy", "position": 2, **full, "rule": "same text", "exact": True},
        {"id": "loud", "position": 3, **full, "rule": "same features", "exact": False},
    ]


@pytest.mark.parametrize("work", [None, "work"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_a_scheme_of_other_fields_needs_no_text(tmp_path, form, work):
    path, out, work = tmp_path / f"in.{form}", tmp_path / f"out.{form}", work and tmp_path / work
    if form == "parquet":
        pq.write_table(pa.table({"name": ["a", "a", "b"], "price": ["1", "1", "1"]}), path)
    elif form == "csv":
        path.write_text("name,price\na,1\na,1\nb,1\n")
    else:
        path.write_text("".join(f'{{"name": "{name}", "price": "1"}}\n' for name in "aab"))
    scheme = Checksum(fields=[Field(name="name"), Field(name="price")])
    done = dedup_files([path], out, scheme=scheme, work=work)
    assert (done.result.summary.near, done.documents.without_text.records) == (1, 3)
    kept = pq.read_table(out).to_pylist() if form == "parquet" else out.read_text().splitlines()
    assert len(kept) == 2 + (form == "csv")
    body = Checksum(fields=[Field(name="name"), Field(name="body")])
    for more in ({"text": "body"}, {"keep": "longest"}, {"scheme": body}, {"scheme": Checksum()}):
        with pytest.raises(FieldMissing):
            dedup_files([path], work=work, **{"scheme": scheme, **more})


@pytest.mark.parametrize("name", ["out", "report", "dropped", "mark", "scheme", "text", "inputs", "ignore_common"])
def test_wrong_arguments_are_named(source, name):
    with pytest.raises(ParameterError) as caught:
        dedup_files(**{"inputs": [source], name: 5})
    assert caught.value.name == name


def test_without_outputs_nothing_is_written(tmp_path, source):
    assert dedup_files([source]).result.mask.tolist() == [True, False, True]
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_an_output_that_exists_is_kept_unless_forced(tmp_path, source):
    out = tmp_path / "out.jsonl"
    out.write_text("precious")
    with pytest.raises(OutputError):
        dedup_files([source], out)
    assert out.read_text() == "precious"
    dedup_files([source], out, force=True)
    assert len(read_lines(out)) == 2


@pytest.mark.parametrize("how", [{}, {"work": "work"}], ids=["in memory", "in pieces"])
@pytest.mark.parametrize(
    ("field", "mark"), [("nested", "mark.csv"), ("neardup_kept", "mark.jsonl"), ("neardup_kept", "mark.parquet")]
)
def test_records_that_one_output_cannot_have_are_refused_before_another_is_written(
    tmp_path, monkeypatch, field, mark, how
):
    monkeypatch.chdir(tmp_path)
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    write_lines(source, [{**line, field: {"a": [1]}} for line in LINES])
    out.mkdir()
    outputs = {"out": out / "out.jsonl", "report": out / "why.jsonl", "dropped": out / "no.jsonl", "mark": out / mark}
    with pytest.raises(DataError, match="objects or lists" if field == "nested" else "already have a field"):
        dedup_files([source], **outputs, **how)
    assert [*out.iterdir()] == []
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("how", [{}, {"work": "work"}], ids=["in memory", "in pieces"])
def test_what_cannot_be_written_is_refused_before_the_report_is_written(tmp_path, monkeypatch, how):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("text,id\none two,a\n")
    Path("b.csv").write_text("id,text\nb,three four\n")
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("one two")
    with pytest.raises(DataError, match="its header differs from that of"):
        dedup_files(["a.csv", "b.csv"], "out.csv", report="why.jsonl", **how)
    with pytest.raises(ParameterError, match="as files of a folder have no place for the cluster"):
        dedup_files(["texts"], report="why.jsonl", mark="marked", **how)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "texts"]


@pytest.mark.parametrize("mark", ["mark.jsonl", "mark.parquet"])
@pytest.mark.parametrize("ways", [{"work": "work"}, {"state": "state"}])
def test_the_kept_documents_are_not_written_if_marks_cannot_be(tmp_path, monkeypatch, ways, mark):
    """Fields of marks in later JSON lines are found when these are written."""
    monkeypatch.chdir(tmp_path)
    lines = [{"text": f"{number} words of text number {number}"} for number in range(2000)]
    write_lines(Path("in.jsonl"), [*lines, {**lines[0], "neardup_kept": 1}])
    with pytest.raises(DataError, match="already have a field"):
        dedup_files(["in.jsonl"], "out.jsonl", dropped="no.jsonl", mark=mark, threads=2, **ways)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["in.jsonl"]
    assert dedup_files(["in.jsonl"], "out.jsonl", dropped="no.jsonl", **ways).result.summary.kept == 2000
    assert (len(read_lines(Path("out.jsonl"))), len(read_lines(Path("no.jsonl")))) == (2000, 1)


@pytest.mark.parametrize("how", [{}, {"work": "work"}], ids=["in memory", "in pieces"])
def test_a_field_of_the_scheme_must_exist(tmp_path, source, monkeypatch, how):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FieldMissing, match="there is no field 'title'; the fields are: id, text, rank"):
        dedup_files([source], scheme=Checksum(fields=[Field(name="title")]), **how)


def test_what_documents_are_compared_with_has_what_is_compared(tmp_path, source):
    (tmp_path / "known.jsonl").write_text('{"body": "one two three four five"}\n')
    with pytest.raises(FieldMissing, match="there is no field 'text'"):
        dedup_files([source], against=tmp_path / "known.jsonl", work=tmp_path / "work")


def test_two_outputs_in_one_place_are_refused(tmp_path, source):
    with pytest.raises(OutputError, match="must be different paths"):
        dedup_files([source], tmp_path / "a.jsonl", dropped=tmp_path / "a.jsonl")
    with pytest.raises(ParameterError):
        dedup_files([source], text="id")


@pytest.mark.parametrize("ways", [{}, {"work": "work"}, {"state": "state"}])
def test_an_input_that_is_given_twice_is_refused(tmp_path, monkeypatch, ways):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"text": "one two three four"}\n')
    Path("b.jsonl").symlink_to("a.jsonl")
    for again, words in (("a.jsonl", "is given twice"), ("./a.jsonl", "is the same as"), ("b.jsonl", "is the same")):
        with pytest.raises(InputRefused, match=words):
            dedup_files(["a.jsonl", again], **ways)
    assert {path.name for path in tmp_path.iterdir()} == {"a.jsonl", "b.jsonl"}


@pytest.mark.parametrize("ways", [{}, {"work": "work"}, {"against": "folder"}])
def test_a_folder_inside_another_input_is_refused(tmp_path, monkeypatch, ways):
    monkeypatch.chdir(tmp_path)
    Path("folder/inside").mkdir(parents=True)
    Path("folder/inside/a.txt").write_text("one two three four")
    with pytest.raises(InputRefused, match="folder/inside is inside the input folder folder, which is read with it;"):
        dedup_files(["folder/inside", *(() if "against" in ways else ["folder"])], **ways)
    Index.create("folder/index", texts=True).close()
    assert dedup_files(["folder"], against="folder/index").result.summary.kept == 1


def test_a_work_folder_in_an_input_folder_has_no_inputs(tmp_path, source, interrupted_at):
    with Index.create(tmp_path / "index", texts=True) as index:
        index.admit(["a"], ["one two three four"])
    ways = {"against": tmp_path / "index", "work": source.parent / "work"}
    with interrupted_at(Journal, "finish"):
        dedup_files([source.parent], **ways)
    assert len(dedup_files([source.parent], **ways).documents) == len(read_lines(source))


@pytest.mark.parametrize("inside", ["a.txt", "a.jsonl"])
def test_an_output_in_a_folder_that_is_compared_with_is_refused(tmp_path, source, monkeypatch, inside):
    monkeypatch.chdir(tmp_path)
    Path("weeks/one").mkdir(parents=True)
    Path("weeks/one", inside).write_text('{"text": "one two three four"}\n')
    for outputs in ({"out": "weeks/one/new.jsonl"}, {"out": "weeks/one/"}, {"report": "weeks/one/in/why.jsonl"}):
        with pytest.raises(OutputRefused, match="name a path elsewhere"):  # a run that continues would compare with it
            dedup_files([source], **outputs, against="weeks/one", force=True)
    assert [path.name for path in Path("weeks/one").iterdir()] == [inside]
    dedup_files([source], "weeks/two/", against="weeks/one")
    assert len(read_lines(Path("weeks/two", source.name))) > 0


def test_what_documents_are_compared_with_is_named_once(tmp_path, source):
    (tmp_path / "other.jsonl").write_text('{"text": "one two three four"}\n')
    Index.create(tmp_path / "index", texts=True).close()
    for again in ([source], [tmp_path / "other.jsonl"] * 2, [tmp_path / "index"] * 2):
        with pytest.raises(InputRefused, match="is given twice"):
            dedup_files([source], tmp_path / "out.jsonl", against=again)
    assert not (tmp_path / "out.jsonl.neardup-work").exists()
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path in (tmp_path / "pipe.jsonl", "/dev/zero"):
        with pytest.raises(ParameterError, match=r"^against.* must be a file, .* not a pipe or a device; save it"):
            dedup_files([source], tmp_path / "out.jsonl", against=path)
    with pytest.raises(ParameterError, match=r"^against=.* must name at least one state, index, file or folder"):
        dedup_files([source], tmp_path / "out.jsonl", against=[])  # for example, of a pattern without matches


@pytest.mark.parametrize(("name", "value"), [("memory", 1), ("memory", "1 GB"), ("part_size", 0)])
def test_sizes_are_checked_before_it_is_known_whether_a_run_is_one_in_pieces(tmp_path, name, value):
    (tmp_path / "in.jsonl").write_text('{"text": "one"}\n')
    for work in (None, tmp_path / "work"):
        with pytest.raises(ParameterError, match=f"^{name}={value!r} must be an integer of at least"):
            dedup_files([tmp_path / "in.jsonl"], work=work, **{name: value})


@pytest.mark.parametrize("name", ["page", "forecast", "continued"])
def test_what_is_called_must_be_a_function(source, tmp_path, name):
    with pytest.raises(ParameterError, match=f"^{name}=5 must be a function or None"):
        dedup_files([source], report=tmp_path / "why.html", **{name: 5})
