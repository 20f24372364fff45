"""The first records of an input, and how many times as many it has."""

import gzip
import json
import os
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from archives_made import packed, record

from neardup import dedup_files
from neardup.model.errors import DataError
from neardup.pipeline.files import dedup
from neardup.sources import archives, compression, first_records
from neardup.sources.read import read
from neardup.sources.request import Request

REQUEST = Request(text="text")
ROWS = [{"id": f"p{n}", "text": f"title {n} of many", "more": f"{n * 7919 % 99991}" * 3} for n in range(20_000)]


def written(path):
    table = pa.Table.from_pylist(ROWS)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=300)
    elif path.name == "folder":
        path.mkdir()
        for row in ROWS[:300]:
            (path / f"{row['id']}.txt").write_text(row["text"])
    else:
        fields = [",".join(row.values()) for row in ROWS]
        lines = map(json.dumps, ROWS) if ".jsonl" in path.name else ["id,text,more", *fields]
        data = "".join(f"{line}\n" for line in lines).encode()
        packed = {".gz": gzip.compress, ".zst": zstandard.compress}.get(path.suffix, bytes)
        path.write_bytes(packed(data))
    return str(path)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(first_records, "_FIRST", 1 << 14)
    monkeypatch.setattr(compression, "_RATED", 1 << 14)


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.jsonl.zst", "x.csv", "x.csv.gz", "x.parquet"])
def test_the_number_of_documents_and_bytes_is_about_that_of_the_whole_input(tmp_path, name):
    path = written(tmp_path / name)
    piece, times, held = first_records.first_records(path, REQUEST)
    whole = read([path])
    assert 1 <= len(piece) <= len(whole)
    assert times * len(piece) == pytest.approx(len(whole), rel=0.2)
    assert times * piece.texts.nbytes == pytest.approx(whole.texts.nbytes, rel=0.3)
    assert (held > 0) == (name.endswith((".gz", ".zst", ".parquet")))


@pytest.mark.parametrize("share", [1, 7, 2000])
@pytest.mark.parametrize("ending", [".warc", ".warc.gz"])
@pytest.mark.parametrize("images", [0, 1])
def test_the_pages_of_an_archive_are_estimated(tmp_path, monkeypatch, share, ending, images):
    monkeypatch.setattr(archives, "BATCH", 1 << 12)
    monkeypatch.setattr(compression, "_RATED", 1 << 22)
    plain, words = ["Content-Type: text/plain"], " of the texts of an archive that compress well" * 5
    made = [record("conversion", number=n, headers=plain, block=f"Text {n}{words}".encode()) for n in range(2000)]
    image = os.urandom(1 << 15)
    made[:0] = [record("resource", number=9, headers=["Content-Type: image/png"], block=image)] * images
    parts = [b"".join(made[begin : begin + share]) for begin in range(0, len(made), share)]
    (tmp_path / f"x{ending}").write_bytes(packed(parts) if ending == ".warc.gz" else b"".join(parts))
    piece, times, held = first_records.first_records(str(tmp_path / f"x{ending}"), REQUEST)
    assert 1 <= len(piece) < 500
    assert held > 1000 * len(piece)
    assert images or times * len(piece) == pytest.approx(2000, rel=0.3)


def test_a_folder_is_known_by_its_first_files(tmp_path, monkeypatch):
    monkeypatch.setattr(first_records, "_FIRST", 1 << 10)
    piece, times, _ = first_records.first_records(written(tmp_path / "folder"), REQUEST)
    assert len(piece) < 100
    assert times * len(piece) == pytest.approx(300, rel=0.2)


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.jsonl.gz", "x.parquet"])
def test_all_records_of_a_small_input_are_its_first(tmp_path, monkeypatch, name):
    monkeypatch.setattr(first_records, "_FIRST", 1 << 22)
    piece, times, _ = first_records.first_records(written(tmp_path / name), REQUEST)
    assert len(ROWS) - len(piece) <= 1  # the last line of CSV is another piece
    assert times == 1


def test_an_empty_file_has_none(tmp_path):
    (tmp_path / "x.jsonl").touch()
    piece, times, _ = first_records.first_records(str(tmp_path / "x.jsonl"), REQUEST)
    assert (len(piece), times) == (0, 1)


def test_an_input_that_cannot_be_read_is_an_error(tmp_path):
    (tmp_path / "x.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError):
        first_records.first_records(str(tmp_path / "x.jsonl.gz"), REQUEST)


def test_a_pipe_is_not_read_before_its_run(tmp_path, monkeypatch):
    monkeypatch.setattr(dedup, "_LARGE", 0)
    with gzip.open(tmp_path / "big.jsonl.gz", "wb", 0) as file:
        file.writelines(b'{"text": "document %d of a file"}\n' % number for number in range(1000))
    os.mkfifo(tmp_path / "p.jsonl")
    writer = threading.Thread(
        target=(tmp_path / "p.jsonl").write_text, args=['{"text": "a document from a pipe"}\n'], daemon=True
    )
    writer.start()
    done = dedup_files([tmp_path / "big.jsonl.gz", tmp_path / "p.jsonl"], tmp_path / "out.jsonl")
    writer.join(60)
    assert done.result.summary.documents == 1001
