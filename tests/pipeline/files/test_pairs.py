"""All pairs of files in a work folder equal those in memory."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from audits import TEXTS
from json_lines import read_lines, write_lines

from neardup import MinHash, pairs
from neardup.engines.journal import Journal
from neardup.errors import DataError, ParameterError
from neardup.model.errors import OutputRefused, RunChanged, RunComplete
from neardup.pipeline.files import pairs as module
from neardup.pipeline.files.pairs import pair_files
from neardup.pipeline.spilled import joins
from neardup.sources.read import read

TEXTS = [*TEXTS[:60], "", "...", *TEXTS[10:30], f"{TEXTS[5]} {TEXTS[6]}", *[TEXTS[7]] * 5]


@pytest.fixture
def few(monkeypatch):
    """Make blocks and sorted runs small."""
    monkeypatch.setattr(module, "_BLOCKS", 20_000)
    monkeypatch.setattr(joins, "_HELD", 7)


def lines(path, texts, first=0):
    rows = [{"id": f"d{first + number}", "text": text} for number, text in enumerate(texts)]
    return write_lines(path, rows)


def in_memory(*paths, **options):
    return pairs(*(pa.table({"id": one.ids, "text": one.texts}) for one in (read([path]) for path in paths)), **options)


def rows(table):
    return table.to_pylist()


def test_a_file_is_named_once(tmp_path):
    path = lines(tmp_path / "a.jsonl", TEXTS[:3])
    for given in ([[path, path]], [[path], [path, path]], [[path], [path]], [[path], [tmp_path / "*.jsonl"]]):
        with pytest.raises(DataError, match=r"a\.jsonl is given twice"):
            pair_files(*given, out=tmp_path / "pairs.parquet", work=tmp_path / "work")
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("measure", "between"),
    [
        *[("resemblance", False), ("resemblance", True), ("cosine", False), ("cosine", True)],
        *[("containment", True), ("overlap", False)],
    ],
)
def test_the_same_pairs_as_in_memory(tmp_path, few, measure, between):
    one, other = lines(tmp_path / "a.jsonl", TEXTS), lines(tmp_path / "b.jsonl", TEXTS[20:50], 500)
    paths = [one, other] if between else [one]
    ways = {"measure": measure, "threshold": 0.4, "clusters": not between}
    wanted = in_memory(*map(str, paths), **ways)
    for threads in (1, 2) if between else (2,):
        out, work = tmp_path / f"pairs-{threads}.parquet", tmp_path / "work"
        found = pair_files(
            [one], [other] if between else None, out=out, work=work, memory=64_000_000, threads=threads, **ways
        )
        assert (found.documents, found.pairs, found.rejected) == (len(TEXTS) + 30 * between, len(wanted), [])
        assert rows(pq.read_table(out)) == rows(wanted)
        assert not work.exists()
    assert len(wanted) > 10


def test_the_default_threshold_is_that_of_the_scheme(tmp_path, few):
    one, out = lines(tmp_path / "a.jsonl", TEXTS), tmp_path / "pairs.parquet"
    pair_files([one], out=out, work=tmp_path / "work", scheme=MinHash(threshold=0.3))
    assert rows(pq.read_table(out)) == rows(in_memory(str(one), threshold=0.3))


def test_an_interrupted_run_continues_where_it_was(tmp_path, few, monkeypatch):
    one, out, work = lines(tmp_path / "a.jsonl", TEXTS), tmp_path / "pairs.jsonl", tmp_path / "work"
    compare, done = module.compare, []

    def interrupted(*given):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(given[-1])
        return compare(*given)

    monkeypatch.setattr(module, "compare", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pair_files([one], out=out, work=work, memory=64_000_000)
    with pytest.raises(RunChanged, match="threshold"):
        pair_files([one], out=out, work=work, memory=64_000_000, threshold=0.7)
    again = []
    monkeypatch.setattr(module, "compare", lambda *given: again.append(given[-1]) or compare(*given))
    found = pair_files([one], out=out, work=work, memory=64_000_000)
    assert done == [0, 1, 2]
    assert again[0] == 3
    assert read_lines(out) == rows(in_memory(str(one)))
    assert found.pairs > 10


@pytest.mark.parametrize("step", ["finish", "_remove"])
def test_a_run_that_was_killed_after_it_wrote_its_output_ends(tmp_path, interrupted_at, step):
    one, out, work = lines(tmp_path / "a.jsonl", TEXTS), tmp_path / "pairs.jsonl", tmp_path / "work"
    ways = {"work": work, "threshold": 0.5}

    def interrupt(**given):
        with interrupted_at(Journal, step):
            pair_files([one], **ways, **given)

    interrupt(out=out)
    if step == "finish":
        assert pair_files([one], out=out, **ways).pairs > 10
        interrupt(out=tmp_path / "other.jsonl")
        with pytest.raises(OutputRefused, match="exists already"):
            pair_files([one], out=out, **ways)  # that of another run
        pair_files([one], out=out, **ways, force=True, clusters=True)
    else:
        with pytest.raises(RunComplete):
            pair_files([one], out=out, **ways)
        interrupt(out=out, force=True)
        pair_files([one], out=out, **ways, force=True, clusters=True)  # another run: that one had no clusters
    wanted = in_memory(str(one), threshold=0.5, clusters=True)
    assert read_lines(out) == rows(wanted)
    assert not work.exists()


def test_a_run_knows_its_inputs_by_their_names(tmp_path, interrupted_at):
    one, work = lines(tmp_path / "a.jsonl", TEXTS), tmp_path / "work"
    with interrupted_at(Journal, "finish"):
        pair_files([one], out=tmp_path / "pairs.jsonl", work=work)
    with pytest.raises(RunChanged, match=r"b\.jsonl"):
        pair_files([one.rename(tmp_path / "b.jsonl")], out=tmp_path / "pairs.jsonl", work=work)


def test_bags_and_collections_without_pairs(tmp_path, few):
    one = lines(tmp_path / "a.jsonl", ["a b", "a b a b a b", "", "c"])
    scheme = MinHash(shingle=1, bag=True)
    out, work = tmp_path / "pairs.parquet", tmp_path / "work"
    found = pair_files([one], out=out, work=work, scheme=scheme, threshold=0.3)
    assert rows(pq.read_table(out)) == rows(in_memory(str(one), scheme=scheme, threshold=0.3))
    assert (found.documents, found.pairs) == (4, 1)
    none = lines(tmp_path / "none.jsonl", ["", "x y z"])
    assert pair_files([none], out=out, work=work, force=True).pairs == 0
    assert pq.read_table(out).schema.names == in_memory(str(one)).schema.names


def test_what_is_refused(tmp_path):
    one, out, work = lines(tmp_path / "a.jsonl", TEXTS[:3]), tmp_path / "pairs.parquet", tmp_path / "work"
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"body": "some text"}\n')
    for inputs, others in (([bare], None), ([one], [bare]), ([bare], [one])):
        with pytest.raises(DataError, match="text"):
            pair_files(inputs, others, out=out, work=work)
        assert not work.exists()
    bare.write_text("not JSON\n")
    with pytest.raises(DataError, match=r"its only record, .*, was rejected"):
        pair_files([one], [bare], out=out, work=work)
    assert not work.exists()
    bare.write_text('{"text": "some text"}\nnot JSON\n')
    with pytest.raises(DataError, match=r"bare\.jsonl:2"):
        pair_files([bare], out=out, work=work, strict=True)
    assert not work.exists()
    for wrong in ({"memory": 1}, {"threshold": 0.0}, {"measure": "distance"}):
        with pytest.raises(ParameterError):
            pair_files([one], out=out, work=work, **wrong)
    work.mkdir()
    with pytest.raises(OutputRefused, match="it must not be inside the work folder"):
        pair_files([one], out=work / "pairs.jsonl", work=work)
    work.rmdir()
    with pytest.raises(OutputRefused, match="it is one of the inputs"):
        pair_files([bare], [one], out=one, work=work, force=True)
    with pytest.raises(ParameterError, match="save it first"):
        pair_files(["-"], out=out, work=work)
    assert not work.exists()
    assert pair_files([bare], out=out, work=work).rejected[0].position == 2
