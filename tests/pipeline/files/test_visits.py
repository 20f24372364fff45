import json

import numpy as np
import pytest
from archives_made import packed, page

from neardup import Checksum, Index, MinHash
from neardup.errors import DataError, ParameterError
from neardup.model.errors import FieldMissing, StorageRefused
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.files import visits
from neardup.pipeline.files.ingestion import add_files
from neardup.pipeline.files.visits import FileAnswers
from neardup.pipeline.index.page_terms import require_extraction
from neardup.sources.url_rules import HostRules, RuleEvidence
from neardup.text import extraction
from neardup.text.host_templates import HostTemplates, Template
from neardup.urls import Addresses, UrlRules
from neardup.web_pages import Extraction

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "crawl.warc.gz"
    pages = [page(number, f"{STORM} {number % 7} {'of many words ' * (number % 3)}") for number in range(60)]
    path.write_bytes(packed([*pages, page(61, status=500)]))
    return path


def answers(folder, inputs, index=None, **options):
    """Return the answers to the documents of files, and what else was found; they are admitted to a new index."""
    with Index.create(folder, **(index or {})) as made:
        found = FileAnswers(made, admit=True, **options)
        return [answer for some in found.answer(inputs) for answer in some], found, len(made)


def test_answers_do_not_depend_on_the_size_of_pieces(tmp_path, archive, monkeypatch):
    whole, found, number = answers(tmp_path / "whole", [archive])
    assert (len(whole), number, found.skipped, found.rejected) == (60, 60, {"status 500": 1}, [])
    monkeypatch.setattr("neardup.sources.archives.BATCH", 1 << 10)
    monkeypatch.setattr(visits, "TOGETHER", 1 << 10)
    with Index.create(tmp_path / "pieces") as made:
        pieces = [*FileAnswers(made, admit=True).answer([archive])]
    assert len(pieces) > 3
    assert [answer for some in pieces for answer in some] == whole


def test_pages_of_an_archive_that_was_added_are_known(tmp_path):
    crawled, again = tmp_path / "first.warc.gz", tmp_path / "second.warc.gz"
    for path, more in ((crawled, ""), (again, " and the correction of today")):
        path.write_bytes(packed([page("a?utm_source=x&page=7&id=3#top", STORM + more)]))
    own = "http://a.example/a?id=3&page=7"
    done = add_files([crawled], tmp_path / "added", fields={"url": str, "host": str})
    assert (done.new, done.total) == (1, 1)
    with Index.open(tmp_path / "added", "w") as made:
        ((same,),) = FileAnswers(made).answer([crawled])
        ((changed,),) = FileAnswers(made, admit=True).answer([again])
        assert [(one["id"], one["verdict"], one["changed"]) for one in (same, changed)] == [
            (own, "known", False),
            (own, "known", True),
        ]
        assert (changed["representative"], len(made)) == (None, 1)
        assert made.get([own])[0].fields["host"] == "a.example"
    rules = Addresses(rules=UrlRules({"a.example": HostRules(parameters={"page": RuleEvidence(10, 10, 1.0)})}))
    add_files([crawled], tmp_path / "by rules", addresses=rules)
    with Index.open(tmp_path / "by rules") as made:
        assert [*made.ids()] == ["http://a.example/a?id=3"]
    with pytest.raises(ParameterError, match="rules=None needs the field of the URL"):
        add_files([crawled], tmp_path / "by id", id="record_id", addresses=rules)
    by_date = add_files([crawled], tmp_path / "by date", id="date", fields={"url": str})
    with Index.open(tmp_path / "by date") as made:
        assert (by_date.total, made.get([own])) == (1, [None])


def test_fields_are_those_of_the_records(tmp_path, archive):
    fields = {"title": str, "url": str, "host": str, "fetch_status": int}
    found = answers(tmp_path / "made", [archive], {"fields": fields})[0]
    with Index.open(tmp_path / "made") as made:
        known = made.get([found[3]["id"]])[0].fields
    assert known == {"title": "Page 3", "url": "http://a.example/3", "host": "a.example", "fetch_status": 200}


def test_fields_that_are_signed_may_be_missing(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text(json.dumps({"id": "a", "text": STORM}) + "\n")
    found = answers(tmp_path / "made", [path], {"scheme": Checksum()})[0]
    assert [answer["verdict"] for answer in found] == ["empty"]


def test_invalid_records_are_rejected_or_stop_it(tmp_path):
    path = tmp_path / "pages.jsonl"
    lines = [{"id": "x" * 2000, "text": STORM}, {"id": "b", "text": STORM, "rank": "high"}, {"id": "c", "text": STORM}]
    path.write_text("x\n" + "".join(json.dumps(line) + "\n" for line in lines) + "x\n")
    found, reading, number = answers(tmp_path / "made", [path], {"fields": {"rank": int}})
    assert [(answer["position"], "error" in answer) for answer in found] == [
        (1, True),
        (2, True),
        (3, True),
        (4, False),
        (5, True),
    ]
    assert ([one.position for one in reading.rejected], number) == ([1, 2, 3, 5], 1)
    with pytest.raises(DataError):
        answers(tmp_path / "strict", [path], {"fields": {"rank": int}}, strict=True)


def test_only_a_writer_admits_and_a_reader_sees_what_it_admits(tmp_path, archive):
    with Index.create(tmp_path / "made", MinHash()) as made, Index.open(tmp_path / "made") as reader:
        first, second = (FileAnswers(one, admit=one is made) for one in (made, reader))
        assert {answer["verdict"] for some in first.answer([archive]) for answer in some} != {"known"}
        assert {answer["verdict"] for some in second.answer([archive]) for answer in some} == {"known"}


def test_a_reader_refuses_pages_of_another_version(tmp_path, archive, monkeypatch):
    answers(tmp_path / "made", [archive])
    monkeypatch.setattr(extraction, "installed", lambda: "resiliparse 9")
    with Index.open(tmp_path / "made") as reader:
        for one in (None, Extraction()):
            with pytest.raises(StorageRefused, match="the new ones are read by resiliparse 9"):
                [*FileAnswers(reader, extraction=one).answer([archive])]


def test_fields_that_do_not_exist_are_reported(tmp_path, archive):
    for options in ({"url": "link"}, {"id": "number"}):
        with pytest.raises(FieldMissing):
            answers(tmp_path / next(iter(options)), [archive], **options)
    with pytest.raises(ParameterError, match="must be another field"):
        answers(tmp_path / "same", [archive], url="text")


def test_a_reader_continues_when_templates_are_added(tmp_path, archive, monkeypatch):
    monkeypatch.setattr("neardup.sources.archives.BATCH", 1 << 10)
    monkeypatch.setattr(visits, "TOGETHER", 1 << 10)
    templates = HostTemplates([], rule_of(Extraction()))
    line = Template(host="b.example", view="main", kept=20, lines=np.arange(1, dtype=np.uint64))
    first, second = (Extraction(templates=one) for one in (templates, templates.updated([line])))
    with Index.create(tmp_path / "made", templates=first.templates) as writer, Index.open(tmp_path / "made") as reader:
        require_extraction(writer, first)
        reader.refresh()
        pieces = FileAnswers(reader).answer([archive])
        found = [*next(pieces)]
        require_extraction(writer, second)
        found += [one for some in pieces for one in some]
        assert reader.extraction == second.identity
    assert [one["verdict"] for one in found] == ["new"] * 60
