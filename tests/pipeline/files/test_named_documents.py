"""The same documents are admitted whether the inputs are read once or twice."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines

from neardup import Index
from neardup.errors import DataError, ParameterError
from neardup.model.errors import FieldMissing
from neardup.pipeline.files import ingestion
from neardup.pipeline.files.ingestion import add_files
from neardup.pipeline.files.named_documents import NamedDocuments
from neardup.sources import shards

WORDS = ["storm", "ferry", "harbour", "dawn", "roof", "nine", "house", "sea", "lime", "tree", "rye", "baker", "loaf"]


def records(seed, number):
    """Make records with repeated ids, copies, missing texts and values, and bad records."""
    source = np.random.default_rng(seed)
    for _ in range(number):
        record = {"id": f"d{source.integers(number)}", "text": " ".join(source.choice(WORDS, source.integers(9)))}
        record |= source.choice([{}, {"title": "a title"}, {"title": 7}, {"score": 3}, {"score": "many"}])
        record |= source.choice(
            [{}, {}, {"text": None}, {"id": None}, {"id": "i" * 2000}, {"url": "http://a.example/x"}]
        )
        yield record


def write(folder, seed):
    """Write files of three formats."""
    lines = folder / "a.jsonl"
    lines.write_text("".join(json.dumps(record) + "\n" for record in records(seed, 60)) + "not json\n")
    plain = [{"id": f"d{row}", "text": " ".join(WORDS[row % 9 :]), "score": row} for row in range(20)]
    (folder / "b.csv").write_text("text,id,score\n" + "".join(f"{r['text']},{r['id']},{r['score']}\n" for r in plain))
    pq.write_table(pa.Table.from_pylist(plain), folder / "c.parquet", row_group_size=3)
    return [lines, folder / "b.csv", folder / "c.parquet"]


def state(folder):
    with Index.open(folder) as index:
        return [(one.id, one.text, one.representative, one.fields) for one in index.get([*index.ids()])]


@pytest.fixture
def reading_twice(monkeypatch):
    """Hold no texts, and read in pieces of a few bytes."""
    find = NamedDocuments.find

    def found(self, required, optional, most, progress):
        self.shards = self.shards.cut(300)
        return find(self, required, optional, 0, progress)

    def begin():
        monkeypatch.setattr(NamedDocuments, "find", found)

    return begin


def test_records_with_short_texts_are_not_held_beyond_the_memory(tmp_path, monkeypatch):
    path = tmp_path / "long.jsonl.gz"
    line = {"text": "one two three", "more": "x" * 300_000}
    path.write_bytes(gzip.compress("".join(json.dumps(line | {"id": row}) + "\n" for row in range(10)).encode(), 1))
    held = []
    take = NamedDocuments.take
    monkeypatch.setattr(NamedDocuments, "take", lambda self: held.append(self._held) or take(self))
    assert add_files([path], tmp_path / "index", memory=1 << 20).total == 10
    assert held == [None]


@pytest.mark.parametrize("memory", [1, "x", None])
def test_a_memory_that_is_too_small_is_refused(tmp_path, memory):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "one two"}\n')
    with pytest.raises(ParameterError, match="memory"):
        add_files([tmp_path / "a.jsonl"], tmp_path / "index", memory=memory)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ways", [{}, {"search": True}, {"url": "url", "fields": {"score": int}, "texts": True}])
def test_documents_do_not_depend_on_how_often_inputs_are_read(tmp_path, reading_twice, seed, ways):
    inputs = write(tmp_path, seed)
    once = add_files(inputs, tmp_path / "once", **ways)
    reading_twice()
    twice = add_files(inputs, tmp_path / "twice", **ways)
    assert once == twice
    assert once.documents + len(once.rejected) == 101
    assert once.total + once.repeated == once.documents
    if "search" in ways or "texts" in ways:
        assert state(tmp_path / "once") == state(tmp_path / "twice")
    again = add_files(inputs, tmp_path / "twice", **ways)
    assert (again.unchanged, again.repeated, again.created) == (once.total, once.repeated, False)


def test_of_equal_ids_in_different_files_the_last_counts(tmp_path, reading_twice):
    for name, text in (("a", "one two three"), ("b", "four five six")):
        write_lines(tmp_path / f"{name}.jsonl", [{"id": "x", "text": text}])
    reading_twice()
    done = add_files([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "index", texts=True)
    assert (done.documents, done.new, done.repeated, done.total) == (2, 1, 1, 1)
    assert state(tmp_path / "index")[0][1] == "four five six"


def test_texts_beyond_the_memory_are_not_held(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SHARD", 1 << 20)
    text = "word " * 100_000
    path = write_lines(tmp_path / "long.jsonl", [{"id": f"{row}", "text": f"{row} {text}"} for row in range(6)])
    held = []
    take = NamedDocuments.take
    monkeypatch.setattr(NamedDocuments, "take", lambda self: held.append(self._held) or take(self))
    for memory in (1 << 20, 1 << 28):
        assert add_files([path], tmp_path / str(memory), memory=memory).total == 6
    assert held[0] is None
    assert held[1] is not None


def test_a_field_with_lists_in_a_later_file_is_not_kept(tmp_path, reading_twice):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "one two", "title": "first"}\n')
    (tmp_path / "b.jsonl").write_text('{"id": "b", "text": "three four", "title": ["x"]}\n')
    inputs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    add_files(inputs, tmp_path / "once", search=True)
    reading_twice()
    add_files(inputs, tmp_path / "twice", search=True)
    for name in ("once", "twice"):
        with Index.open(tmp_path / name) as index:
            assert "title" not in index.fields
            assert len(index) == 2


def test_a_field_of_a_later_file_only_is_kept(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "one two"}\n')
    (tmp_path / "b.jsonl").write_text('{"id": "b", "text": "three four", "title": "second"}\n')
    add_files([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "index", search=True)
    assert [fields.get("title") for *_, fields in state(tmp_path / "index")] == [None, "second"]


def test_no_index_is_made_if_a_field_is_missing_or_nothing_is_left(tmp_path, reading_twice):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "one two"}\n')
    reading_twice()
    with pytest.raises(FieldMissing, match="there is no field 'score'"):
        add_files([tmp_path / "a.jsonl"], tmp_path / "index", fields={"score": int})
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": 7}\n')
    with pytest.raises(DataError, match="was rejected"):
        add_files([tmp_path / "a.jsonl"], tmp_path / "index")
    (tmp_path / "a.jsonl").write_text('bad\n{"id": "' + "i" * 2000 + '", "text": "one two"}\n')
    with pytest.raises(DataError, match="all 2 records were rejected"):
        add_files([tmp_path / "a.jsonl"], tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_an_input_that_changes_between_the_readings_is_an_error(tmp_path, reading_twice, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "one two"}\n')
    reading_twice()
    accepted = ingestion._require_accepted
    monkeypatch.setattr(
        ingestion, "_require_accepted", lambda *a, **k: (path.write_text('{"text": "x"}\n'), accepted(*a, **k))
    )
    with pytest.raises(DataError, match="it was changed"):
        add_files([path], tmp_path / "index")


def test_pages_do_not_depend_on_how_often_inputs_are_read(tmp_path, reading_twice):
    path = tmp_path / "pages.jsonl"
    menu = "".join(f"<li>{word}</li>" for word in WORDS)
    lines = [
        {
            "url": f"http://{host}.example/{row}",
            "html": f"<ul>{menu}</ul><p>{' '.join(f'{host}{row}x{w}' for w in WORDS)}",
        }
        for host in ("a", "b")
        for row in range(30)
    ]
    path.write_text("no record\n" * 60 + "".join(json.dumps(line) + "\n" for line in lines))
    once = add_files([path], tmp_path / "once", html="html", url="url", texts=True)
    reading_twice()
    twice = add_files([path], tmp_path / "twice", html="html", url="url", texts=True)
    assert once == twice
    assert once.hosts_learned == 2
    assert state(tmp_path / "once") == state(tmp_path / "twice")
    for name in ("once", "twice"):
        with Index.open(tmp_path / name) as index:
            assert index.extraction["templates"]
