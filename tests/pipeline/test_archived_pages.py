import json

import pytest
from archives_made import packed, page, record

from neardup import Extraction, ParameterError
from neardup.pipeline.archived_pages import ArchivedPages


def test_pages_are_lines_with_places(tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.pipeline.archived_pages._PIECE", 1)
    one, two = packed([page(1)]), packed([page(2)])
    (tmp_path / "a.warc.gz").write_bytes(one + packed([record("revisit")]) + b"garbage garbage" + two)
    pages = ArchivedPages([tmp_path / "a.warc.gz"], text="body", extraction=Extraction())
    pieces = [*pages]
    lines = [json.loads(line) for lines, _ in pieces for line in lines]
    assert (
        [line["url"] for line in lines] == [line["id"] for line in lines] == [f"http://a.example/{n}" for n in (1, 2)]
    )
    assert lines[0]["body"] == "Page 1\n\nThe text of page 1, of some words."
    assert lines[0]["title"] == "Page 1"
    assert "canonical" not in lines[0]
    places = [place for _, places in pieces for place in places]
    assert places[0] == {"warc_filename": "a.warc.gz", "warc_record_offset": 0}
    assert places[1]["warc_record_offset"] == (tmp_path / "a.warc.gz").stat().st_size - len(two)
    assert [one.code for one in pages.rejected] == ["damaged"]
    assert pages.skipped == {"revisit": 1}


def test_only_archives_are_read(tmp_path):
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(ParameterError, match="must be web archives, not jsonl"):
        ArchivedPages([tmp_path / "a.jsonl"], extraction=Extraction())
