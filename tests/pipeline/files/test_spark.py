import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_files import SCHEMES, interrupted, numbers, policies_of, rows

import neardup
from neardup import Checksum, Field, MinHash, dedup_files
from neardup.errors import DataError, ParameterError
from neardup.model.errors import EngineFailed, OutputRefused, StorageBusy, StorageRefused
from neardup.pipeline.files import spark as module
from neardup.pipeline.spilled import files
from neardup.text.common_shingles import CommonShingles

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
FIELDS = "number int, id string, text string, score double, title string"


@pytest.fixture
def frame(spark, records):
    """The records as a DataFrame, in another order."""
    scores = [None if one["score"] is None else float(one["score"]) for one in records]
    values = [(row, one.get("id", "none"), one["text"], scores[row], one["title"]) for row, one in enumerate(records)]
    return spark.createDataFrame(values[::-1], FIELDS).repartition(3)


def in_memory(records, **options):
    """The result for the same rows as a table in memory, in the order of the records."""
    columns = {name: [one.get(name) for one in records] for name in ("text", "title")}
    columns["id"] = [one.get("id", "none") for one in records]
    columns["score"] = pa.array([one["score"] for one in records], pa.float64())
    return neardup.dedup(pa.table(columns), **options)


@pytest.mark.parametrize(
    "scheme",
    [*SCHEMES[:2], *(pytest.param(scheme, marks=pytest.mark.soak) for scheme in SCHEMES[2:])],
    ids=lambda scheme: f"{scheme.name}-{scheme.threshold}",
)
def test_files_are_decided_as_in_memory(spark, tmp_path, sources, small_parts, scheme):
    place = SCHEMES.index(scheme)
    small_parts((3000, 1 << 20)[place % 2])
    policies = policies_of(scheme)
    policy = policies[(7 * place) % len(policies)]
    expected = dedup_files(sources, scheme=scheme, **policy)
    found = neardup.spark.dedup_files(sources, work=tmp_path / "w", spark=spark, scheme=scheme, **policy)
    assert rows(found.result) == rows(expected.result)
    assert numbers(found) == numbers(expected)
    assert found.rejected == expected.rejected
    assert not (tmp_path / "w").exists()


def test_outputs_have_the_same_bytes_and_names_are_relative(spark, tmp_path, sources, small_parts, monkeypatch):
    small_parts(2000)
    monkeypatch.chdir(tmp_path)
    names = [path.name for path in sources]
    dedup_files(names, "m.jsonl", dropped="m-dropped.jsonl", report="m-why.jsonl")
    outputs = {"dropped": "s-dropped.jsonl", "report": "s-why.jsonl"}
    neardup.spark.dedup_files(names, "s.jsonl", work="w", spark=spark, **outputs)
    for name in (".jsonl", "-dropped.jsonl", "-why.jsonl"):
        assert Path(f"s{name}").read_bytes() == Path(f"m{name}").read_bytes(), name


def test_keys_and_lists_reach_the_executors(spark, tmp_path, sources):
    scheme = MinHash(key=bytes(16))
    scheme = scheme.with_common(CommonShingles.fitted(["a b c d"] * 3, scheme.shingling, 0.5))
    expected = dedup_files(sources, scheme=scheme).result
    assert rows(neardup.spark.dedup_files(sources, work=tmp_path / "w", spark=spark, scheme=scheme).result) == rows(
        expected
    )


@pytest.mark.parametrize(
    "policy",
    [{"keep": "max:score", "threshold": 0.8}, {"scheme": SCHEMES[-1]}, {"measure": "containment", "threshold": 0.7}],
)
def test_a_frame_is_decided_as_its_rows_in_memory(tmp_path, frame, records, policy):
    expected = in_memory(records, **policy)
    found = neardup.spark.dedup(frame, order=["number"], work=tmp_path / "w", **policy)
    table = found.decisions.orderBy("position").toArrow()
    assert table.column_names == expected.decisions.column_names
    assert repr(table.to_pylist()) == repr(expected.decisions.to_pylist())
    assert found.summary.kept == expected.summary.kept
    pairs = found.pairs().orderBy("dropped").toArrow()
    assert repr(pairs.to_pylist()) == repr(expected.pairs().to_pylist())
    names = expected.decisions.column("id").to_pylist()
    clusters = found.clusters().toArrow().to_pylist()
    assert sorted((one["id"], one["representative"]) for one in clusters) == sorted(
        (names[row], names[kept]) for row, kept in enumerate(expected.clusters.tolist())
    )
    assert [path.name for path in (tmp_path / "w").iterdir()] == ["decisions.parquet"]


def test_a_frame_is_not_added_to_a_state_that_needs_its_texts(tmp_path):
    with pytest.raises(ParameterError, match=r"^state.* cannot be used with a DataFrame .*; write the DataFrame"):
        neardup.spark.dedup(None, work=tmp_path / "w", state=tmp_path / "state")
    assert not any(tmp_path.iterdir())


def test_a_frame_is_added_to_a_state_that_needs_no_texts(tmp_path, frame):
    options = {"verify": "estimate", "state": tmp_path / "state"}
    first = neardup.spark.dedup(frame, work=tmp_path / "w", order=["number"], **options)
    again = neardup.spark.dedup(frame, work=tmp_path / "x", order=["number"], **options)
    assert again.summary.known > first.summary.known == 0


def test_times_are_ids_and_rank_as_in_memory(spark, tmp_path, records):
    values = [
        (datetime(2026, 3, 29, 1, row, 5, row, UTC), one["text"], datetime(2026, 1, 1 + row % 9, tzinfo=UTC))
        for row, one in enumerate(records[:60])
    ]
    table = pa.table(dict(zip(("id", "text", "seen"), map(list, zip(*values, strict=True)), strict=True)))
    frame = spark.createDataFrame(values, "id timestamp, text string, seen timestamp")
    expected = neardup.dedup(table, keep="max:seen").decisions
    found = neardup.spark.dedup(frame, keep="max:seen", work=tmp_path / "w").decisions.orderBy("position")
    assert repr(found.toArrow().to_pylist()) == repr(expected.to_pylist())


@pytest.mark.parametrize("having", [True, False])
def test_a_frame_may_have_the_field_that_decides_ties(spark, tmp_path, having):
    urls = ["https://c.example/", "https://b.example/story", "https://a.example/story"]
    values = [(url, None, "one text of some words", url != urls[1])[: 3 + having] for url in urls]
    fields = "id string, canonical string, text string" + ", noindex boolean" * having
    done = neardup.spark.dedup(spark.createDataFrame(values, fields), keep="canonical", work=tmp_path / "w")
    assert [row.id for row in done.decisions.where("kept").collect()] == [urls[having]]


def test_a_frame_needs_no_text_that_does_not_count(spark, tmp_path):
    frame = spark.createDataFrame([("1", "a"), ("2", "a"), ("3", "b")], ["id", "title"])
    found = neardup.spark.dedup(frame, work=tmp_path / "w", scheme=Checksum(fields=(Field(name="title"),)))
    assert found.summary.kept == 2


def test_a_frame_may_have_pages(spark, tmp_path):
    rows = [(f"{n}", f"https://a.example/{n}", f"<p>one text of some words <b>{n % 2}</b>") for n in range(6)]
    frame = spark.createDataFrame(rows, "id string, url string, html string")
    table = pa.table(dict(zip(frame.columns, map(list, zip(*rows, strict=True)), strict=True)))
    pq.write_table(table, tmp_path / "pages.parquet")
    for options in ({"html": "html"}, {"html": "html", "url": "url"}):
        expected = dedup_files([tmp_path / "pages.parquet"], **options).result.decisions
        found = neardup.spark.dedup(frame, work=tmp_path / f"w{len(options)}", **options).decisions.orderBy("position")
        assert repr(found.toArrow().to_pylist()) == repr(expected.to_pylist())
    with pytest.raises(ParameterError, match="url='link' must be a column; the DataFrame has id, url, html"):
        neardup.spark.dedup(frame, html="html", url="link", work=tmp_path / "w")


def test_names_are_those_of_whole_columns_and_rejected_rows_are_listed(spark, tmp_path):
    rows = [("a", b"one text of some words", 1), ("b", b"one text of some words", 2), ("c", b"no text \xff", 3)]
    frame = spark.createDataFrame(rows, "`doc.id` string, `te``xt` binary, `*` int")
    done = neardup.spark.dedup(frame, id="doc.id", text="te`xt", keep="max:*", work=tmp_path / "w")
    assert [row.id for row in done.decisions.where("kept").collect()] == ["b"]
    assert [(one.position, one.code) for one in done.rejected] == [(3, "encoding")]


@pytest.mark.parametrize("stage", ["rank", pytest.param("decide", marks=pytest.mark.soak)])
def test_a_frame_goes_on_after_the_driver_is_lost(tmp_path, frame, records, monkeypatch, stage):
    call = {"order": ["number"], "work": tmp_path / "w"}
    interrupted(monkeypatch, stage, lambda: neardup.spark.dedup(frame, **call))
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "w").rglob("documents-*/*")}
    with monkeypatch.context() as patch:
        patch.setattr("pyspark.sql.DataFrameWriter.parquet", lambda *_: pytest.fail("stored again"))
        found = neardup.spark.dedup(frame, **call)
    assert stored
    assert repr(found.decisions.orderBy("position").toArrow().to_pylist()) == repr(
        in_memory(records).decisions.to_pylist()
    )
    with pytest.raises(OutputRefused, match=r"decisions\.parquet: it exists already: .*begin again with restart=True"):
        neardup.spark.dedup(frame, **call)
    neardup.spark.dedup(frame, **call, restart=True)


def test_an_interrupted_run_is_not_that_of_another_call(tmp_path, frame, monkeypatch):
    call = {"order": ["number"], "work": tmp_path / "w"}
    some, others = frame.where("number < 30"), frame.where("number >= 30")
    interrupted(monkeypatch, "rank", lambda: neardup.spark.dedup(some, **call))
    for other, options in ((others, {}), (some, {"keep": "max:score"})):
        with pytest.raises(StorageRefused, match="of other rows, columns or order; repeat that call"):
            neardup.spark.dedup(other, **call, **options)
    assert neardup.spark.dedup(some, **call).decisions.count() == 30


def of_many_values(spark, tmp_path, turn):
    return spark.range(60).where(f"id IN ({', '.join(map(str, range(40)))}, {50 + turn})").selectExpr("id", "'a' text")


def of_many_columns(spark, tmp_path, turn):
    columns = [f"id AS c{number}" for number in range(40)]
    return spark.range(3).selectExpr(*columns, "id", f"concat('text {turn} ', id) AS text")


def of_another_side(spark, tmp_path, turn):
    one, two = (spark.range(3).selectExpr("id", f"concat(id, ' {side}') AS text") for side in "ab")
    return one.join(two, "id").select("id", (one, two)[turn].text)


def of_other_rows(spark, tmp_path, turn):
    return spark.createDataFrame([(1, "a text"), (2, f"text {turn}")], "id int, text string")


def of_a_file(spark, tmp_path, turn):
    (tmp_path / "a b.jsonl").write_text(f'{{"id": "a", "text": "text {turn}"}}\n')
    return spark.read.schema("id string, text string").json(str(tmp_path / "a b.jsonl"))


@pytest.mark.parametrize("of", [of_many_values, of_many_columns, of_another_side, of_other_rows, of_a_file])
def test_an_interrupted_run_is_not_that_of_other_rows(spark, tmp_path, monkeypatch, of):
    interrupted(monkeypatch, "rank", lambda: neardup.spark.dedup(of(spark, tmp_path, 0), work=tmp_path / "w"))
    with pytest.raises(StorageRefused, match="interrupted run of other rows"):
        neardup.spark.dedup(of(spark, tmp_path, 1), work=tmp_path / "w")


def of_a_name(spark):
    return spark.sql("WITH some AS (SELECT 1 AS id, 'a' AS text, 2 AS `50%`) SELECT * FROM some")


def of_rows(spark):
    return spark.createDataFrame([(1, "a text", 2.5), (2, None, None)], "id int, text string, score double")


@pytest.mark.parametrize("of", [of_a_name, of_rows])
def test_an_interrupted_run_is_that_of_the_same_query(spark, tmp_path, monkeypatch, of):
    call = {"keep": f"max:{of(spark).columns[-1]}", "work": tmp_path / "w"}
    interrupted(monkeypatch, "rank", lambda: neardup.spark.dedup(of(spark), **call))
    monkeypatch.setattr("pyspark.sql.DataFrameWriter.parquet", lambda *_: pytest.fail("stored again"))
    assert neardup.spark.dedup(of(spark), **call).summary.documents == of(spark).count()


def test_a_run_whose_decisions_are_written_may_have_more_to_do(spark, tmp_path, monkeypatch):
    state, out = tmp_path / "state", tmp_path / "kept.jsonl"
    call = {"verify": "estimate", "state": state, "out": out, "work": tmp_path / "w"}
    interrupted(monkeypatch, "add", lambda: neardup.spark.dedup(of_rows(spark), **call), files)
    assert (tmp_path / "w" / "decisions.parquet").exists()
    found = neardup.spark.dedup(of_rows(spark), **call)
    assert found.decisions.count() == len(out.read_text().splitlines()) == 2
    assert neardup.spark.dedup(of_rows(spark), **call | {"work": tmp_path / "x", "out": None}).summary.known == 1


def test_a_folder_is_that_of_one_call(spark, tmp_path, monkeypatch):
    frame, call, stored = of_rows(spark), {"work": tmp_path / "w"}, module._stored

    def meanwhile(*given, **options):
        for other in (call, {**call, "restart": True}):
            with pytest.raises(StorageBusy, match=r"w: process \d+ on .* is using it; wait until that ends"):
                neardup.spark.dedup(frame, **other)
        return stored(*given, **options)

    monkeypatch.setattr(module, "_stored", meanwhile)
    assert neardup.spark.dedup(frame, **call).summary.documents == 2


def test_a_folder_may_have_any_name_and_what_a_killed_call_left(spark, tmp_path):
    work = tmp_path / "é x=1+{2}[3]*?%20#\\"
    work.mkdir()
    for name in ("lock", "0123456789abcdef.partial", "probe-0123456789abcdef"):
        (work / f".neardup-{name}").touch()
    assert neardup.spark.dedup(of_rows(spark), work=work).decisions.count() == 2
    assert [path.name for path in work.iterdir()] == ["decisions.parquet"]


def test_rows_are_read_again_after_an_error_in_them(spark, tmp_path):
    def call(score):
        frame = spark.createDataFrame(
            [("a", "some text", "1"), ("b", "another text", score)], "id string, text string, score string"
        )
        return neardup.spark.dedup(frame, keep="max:score", work=tmp_path / "w")

    with pytest.raises(DataError, match="its 'score' is 'n/a', which is not a number"):
        call("n/a")
    assert call("2").summary.kept == 2


DRIVER = """if True:
    import sys
    import neardup
    from neardup.pipeline.spilled import files
    from pyspark.sql import SparkSession
    files._share = lambda memory, threads: 3000
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    neardup.spark.dedup_files(sys.argv[2:], work=sys.argv[1], spark=session)
"""


@pytest.mark.soak
def test_files_go_on_after_the_driver_is_killed(spark, tmp_path, sources, small_parts):
    small_parts(3000)
    work = tmp_path / "w"
    with subprocess.Popen([sys.executable, "-c", DRIVER, work, *sources], stderr=subprocess.DEVNULL) as driver:
        while len(list(work.glob("run-*/done/sign-*"))) < 2:
            assert driver.poll() is None
            time.sleep(0.02)
        driver.send_signal(signal.SIGKILL)
    done = len(list(work.glob("run-*/done/sign-*")))
    seen = []

    def follow(stage, number, total):
        seen.append((stage, number, total))

    found = neardup.spark.dedup_files(sources, work=work, spark=spark, progress=follow)
    assert seen[0][1] > 0
    assert done >= 2
    assert rows(found.result) == rows(dedup_files(sources).result)
    assert not work.exists()


def test_errors_in_the_data_are_those_of_a_run_in_memory(spark, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{broken\n')
    with pytest.raises(DataError) as expected:
        dedup_files([tmp_path / "a.jsonl"], strict=True)
    with pytest.raises(DataError) as found:
        neardup.spark.dedup_files([tmp_path / "a.jsonl"], work=tmp_path / "w", spark=spark, strict=True)
    assert str(found.value) == str(expected.value)


def test_a_run_that_executors_do_not_see_is_refused(spark, tmp_path, sources, monkeypatch):
    monkeypatch.setattr(files, "tasks_of", elsewhere_of(tmp_path / "other"))
    with pytest.raises(EngineFailed, match="its run is not here; use a folder that all machines share"):
        neardup.spark.dedup_files(sources, work=tmp_path / "w", spark=spark)


def elsewhere_of(folder):
    from neardup.pipeline.spilled.workers import tasks_of

    def opened(_, *given):
        return tasks_of(str(folder), *given)

    return opened


def test_wrong_calls_are_refused(spark, tmp_path, frame, sources):
    with pytest.raises(ParameterError, match="id='key' must be a column; the DataFrame has number, id"):
        neardup.spark.dedup(frame, id="key", work=tmp_path / "w")
    with pytest.raises(ParameterError, match="order=7 must be the name of a column"):
        neardup.spark.dedup(frame, order=[7], work=tmp_path / "w")
    with pytest.raises(ParameterError, match="keep='age' must be a column; the DataFrame has number, id"):
        neardup.spark.dedup(frame, keep="max:age", work=tmp_path / "w")
    for other in (None, "a.parquet", pa.table({"id": [1], "text": ["a"]})):
        with pytest.raises(ParameterError, match=r"frame.* must be a Spark DataFrame"):
            neardup.spark.dedup(other, work=tmp_path / "w")
    with pytest.raises(ParameterError, match=r"report=.a\.jsonl. cannot be used with a DataFrame: the decisions are"):
        neardup.spark.dedup(frame, report="a.jsonl", work=tmp_path / "w")
    with pytest.raises(TypeError, match="unexpected keyword argument 'treshold'"):
        neardup.spark.dedup(frame, treshold=0.5, work=tmp_path / "w")
    assert not any(tmp_path.glob("w"))
    with pytest.raises(EngineFailed, match="with name `nope` cannot be resolved"):
        neardup.spark.dedup(frame, order="nope", work=tmp_path / "w")
    with pytest.raises(ParameterError, match="verify='no' must be exact, estimate or none"):
        neardup.spark.dedup(frame, work=tmp_path / "w", verify="no")
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(StorageRefused, match="it has files of others, such as 'mine'"):
        neardup.spark.dedup(frame, work=tmp_path)
    with pytest.raises(StorageRefused, match="it cannot be a work folder"):
        neardup.spark.dedup(frame, work=tmp_path / "no" / "w")
