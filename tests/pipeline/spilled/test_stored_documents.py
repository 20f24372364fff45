from threading import current_thread, main_thread

import numpy as np
import pytest

import neardup
from neardup import dedup_files
from neardup.model.errors import DataError
from neardup.pipeline.spilled.signing import Signed
from neardup.sources.read import read


def test_stored_documents_are_those_in_memory(tmp_path, sources, small_parts):
    small_parts(2000)
    done = dedup_files(sources, work=tmp_path / "w")
    whole = read(sources)
    found = done.documents
    assert len(found) == len(whole)
    assert found.names == whole.names
    assert found.ids.to_pylist() == whole.ids.to_pylist()
    assert found.without_text == whole.without_text
    assert found.rejected == whole.rejected
    places = np.array([len(whole) - 1, 0, 30, 31])
    assert found.raw_texts(places) == whole.raw_texts(places)
    assert done.result.mask.sum() == len(done.result.kept) == done.result.summary.kept


def test_a_stored_result_has_what_one_in_memory_has(tmp_path, sources, small_parts):
    small_parts(2000)
    stored, whole = (dedup_files(sources, **where).result for where in ({"work": tmp_path / "w"}, {}))
    assert stored.kept.tolist() == whole.kept.tolist()
    assert stored.clusters.tolist() == whole.clusters.tolist()
    assert stored.pairs().equals(whole.pairs())
    assert stored.pairs().num_rows > 0
    assert stored.take(np.arange(len(stored.mask))).tolist() == stored.kept.tolist()
    assert stored._repr_html_() == whole._repr_html_()
    with pytest.raises(DataError, match="rows are not in memory"):
        stored.table()
    texts = [(raw or b"").decode() for raw in stored.documents.raw_texts(np.arange(len(stored.mask)))]
    assert neardup.audit(stored, texts) == neardup.audit(whole, texts)


def test_documents_that_are_dropped_for_earlier_ones_have_no_position_of_these(tmp_path, sources):
    dedup_files(sources, state=tmp_path / "state")
    result = dedup_files(sources, against=tmp_path / "state").result
    assert result.pairs()["representative"].null_count == result.summary.known > 0
    assert result.clusters.max() >= len(result.mask)


def test_a_stored_result_has_no_secret_key(tmp_path, sources):
    for key in (None, bytes(16)):
        result = dedup_files(sources, work=tmp_path / "w", scheme=neardup.MinHash(key=key)).result
        assert (result.scheme is None) == (key is not None)


def test_texts_of_the_largest_clusters_are_read_by_several_threads(tmp_path, monkeypatch, small_parts, no_held_texts):
    small_parts(2000)
    no_held_texts()
    shared = " ".join(f"word{number}" for number in range(50))
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "{shared} {number}"}}\n' for number in range(120)))
    readers, read_again = set(), Signed.pieces

    def pieces(signed, shard):
        readers.add(current_thread())
        yield from read_again(signed, shard)

    monkeypatch.setattr(Signed, "pieces", pieces)
    one = dedup_files([tmp_path / "a.jsonl"], work=tmp_path / "w", threads=1).result.summary
    assert one.largest_clusters[0].shared > 0
    assert readers == {main_thread()}
    readers.clear()
    assert dedup_files([tmp_path / "a.jsonl"], work=tmp_path / "w", threads=2).result.summary == one
    assert main_thread() not in readers


def test_only_one_shard_is_held_when_texts_of_many_are_read(tmp_path, sources, monkeypatch, small_parts, no_held_texts):
    small_parts(500)
    no_held_texts()
    documents = dedup_files(sources, work=tmp_path / "w").documents
    open_shards, most, read_again = set(), [], Signed.pieces

    def pieces(signed, shard):
        open_shards.add(shard)
        most.append(len(open_shards))
        try:
            yield from read_again(signed, shard)
        finally:
            open_shards.discard(shard)

    monkeypatch.setattr(Signed, "pieces", pieces)
    documents.raw_texts(
        documents.signed.edges[:-1] - documents.signed.first
    )  # the first of each shard: others are left
    assert (max(most), len(most) > 3) == (1, True)


def test_lines_inside_quotation_marks_are_counted(tmp_path, small_parts):
    small_parts(64)
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "".join(f'"one {line}\ntwo"\nplain {line}\n' for line in range(30)))
    done = dedup_files([path], work=tmp_path / "w")
    assert done.documents.quoted_lines == read([path]).quoted_lines
    assert dedup_files([path], work=tmp_path / "w", quoting="minimal").documents.quoted_lines is None


def test_what_cannot_be_read_of_files_that_are_compared_with_is_reported(tmp_path):
    words = "one two three four five six"
    (tmp_path / "new.csv").write_text(f"text\n{words}\n")
    (tmp_path / "old.csv").write_text(f'text\n{words},more than the header has\n"one\ntwo"\n')
    done = dedup_files([tmp_path / "new.csv"], against=tmp_path / "old.csv")
    assert done.result.summary.known == 0
    assert done.rejected == read([tmp_path / "old.csv"]).rejected != []
    assert done.documents.quoted_lines == read([tmp_path / "old.csv"]).quoted_lines is not None
    assert len(done.documents) == 1


@pytest.mark.parametrize(
    ("old", "scheme", "message"),
    [
        ('{"body": "one two three"}', neardup.MinHash(), "old.jsonl: there is no field 'text'"),
        ('{"text": "one two three"}', neardup.Checksum(fields=(neardup.Field(name="title"),)), "no field 'title'"),
        ("nothing", neardup.MinHash(), "old.jsonl: its only record, "),
    ],
)
def test_files_without_what_is_compared_are_refused(tmp_path, old, scheme, message):
    (tmp_path / "new.jsonl").write_text('{"title": "a", "text": "one two three"}\n')
    (tmp_path / "old.jsonl").write_text(f"{old}\n")
    with pytest.raises(DataError, match=message):
        dedup_files([tmp_path / "new.jsonl"], against=tmp_path / "old.jsonl", scheme=scheme)
    (tmp_path / "old.jsonl").write_text("")
    assert (
        dedup_files([tmp_path / "new.jsonl"], against=tmp_path / "old.jsonl", scheme=scheme).result.summary.known == 0
    )
