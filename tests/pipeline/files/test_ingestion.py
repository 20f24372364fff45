import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from json_lines import write_lines

from neardup import Checksum, CrawlFilter, Field, Index, MinHash, Search, dedup_files, verdicts
from neardup.errors import DataError, ParameterError, StorageDamaged, StorageError, StorageRefused
from neardup.model.errors import FieldMissing, OutputRefused
from neardup.pipeline.files.ingestion import add_files, fill_index, is_index
from neardup.pipeline.files.upkeep import index_stats, remove_ids
from neardup.pipeline.files.visits import FileAnswers
from neardup.sources.url_rules import HostRules, RuleEvidence
from neardup.text import extraction
from neardup.urls import Addresses, UrlRules
from neardup.web_pages import Extraction, learn_templates

LINES = [
    {"id": "a", "text": "one two three four five", "url": "http://A.example/x"},
    {"id": "b", "text": "ONE two three four five", "url": "http://b.example/"},
    {"id": "c", "text": "six seven eight nine ten", "url": "http://c.example/"},
    {"id": "d", "text": "", "url": "http://d.example/"},
]


@pytest.fixture
def source(tmp_path):
    return write_lines(tmp_path / "pages.jsonl", LINES)


def test_counts_add_up_and_a_second_run_changes_nothing(tmp_path, source):
    folder = tmp_path / "index"
    assert not is_index(folder)
    first = add_files([source], folder)
    assert (first.created, first.documents, first.new, first.near, first.empty, first.total) == (True, 4, 2, 1, 1, 4)
    assert is_index(folder)
    second = add_files([source], folder)
    assert (second.created, second.unchanged, second.new, second.total) == (False, 4, 0, 4)


def test_near_duplicates_are_estimates_only_without_texts(tmp_path, source):
    schemes = {"none": {}, "texts": {"texts": True}, "fields": {"scheme": Checksum(fields=[Field(name="text")])}}
    for name, options in schemes.items():
        found = [add_files([source], tmp_path / name, **more).estimated for more in (options, {})]
        assert found == [name == "none"] * 2


def test_documents_are_added_replaced_and_known(tmp_path, source):
    folder, more = tmp_path / "index", tmp_path / "more.jsonl"
    add_files([source], folder)
    before = index_stats(folder)
    assert add_files([source], folder).unchanged == 4
    after = index_stats(folder)
    written = {"bytes": after.bytes, "bytes_in_log": after.bytes_in_log, "generation": after.generation}
    assert after == replace(before, **written)  # when the documents were last seen
    write_lines(more, [LINES[2] | {"id": name} for name in "ax"])
    added = add_files([more], folder)
    assert (added.replaced, added.exact, added.total) == (1, 1, 5)
    assert add_files([source], folder).replaced == 1


def test_a_threshold_applies_to_one_run(tmp_path):
    storm = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"

    def admitted(name, scheme=None):
        text = storm if name == "first" else f"{storm} {name} one two three"
        path = write_lines(tmp_path / f"{name}.jsonl", [{"id": name, "text": text}])
        done = add_files([path], tmp_path / "index", scheme=scheme)
        return done.new, done.near

    assert admitted("first", MinHash(threshold=0.7)) == (1, 0)
    assert admitted("before") == (0, 1)
    assert admitted("strict", MinHash(threshold=0.99)) == (1, 0)
    assert admitted("after") == (0, 1)
    with Index.open(tmp_path / "index") as index:
        assert index.scheme == MinHash(threshold=0.7)


def test_fields_are_read_from_what_is_written(tmp_path):
    path, fields = tmp_path / "in.csv", {"rank": "integer", "share": "number", "when": "time", "flag": "flag"}
    path.write_text(
        "id,text,rank,share,when,flag\na,one,3,0.5,2026-01-31T12:00:00+01:00,true\nb,two,,,,\nc,x,1.5,,,\n"
        "d,x,,,today,\ne,x,,,,yes\n"
    )
    done = add_files([path], tmp_path / "index", fields=fields)
    assert [one.position for one in done.rejected] == [4, 5, 6]
    rules = (
        "'rank' must be an integer of 64 bits, not '1.5'",
        "'when' must be a time such as 2",
        "'flag' must be true",
    )
    assert all(rule in one.reason for rule, one in zip(rules, done.rejected, strict=True))
    with Index.open(tmp_path / "index") as index:
        first, second = index.get(["a", "b"])
        assert len(index) == 2
    when = datetime(2026, 1, 31, 11, tzinfo=UTC)
    assert first.fields == {"rank": 3, "share": 0.5, "when": when, "flag": True}
    assert set(second.fields.values()) == {None}
    with pytest.raises(DataError, match=r"in\.csv:4: its 'rank'"):
        add_files([path], tmp_path / "index", strict=True)


def test_records_without_text_are_counted_once(tmp_path, source):
    source.write_text(source.read_text() + '{"id": "none", "text": null}\n{"id": "missing"}\n')
    done = add_files([source], tmp_path / "index")
    assert (done.empty, done.no_text, done.without_text.records, done.without_text.position) == (3, 2, 2, 5)
    done = add_files([source], tmp_path / "index")
    assert (done.empty, done.no_text, done.unchanged, done.without_text.records) == (0, 0, 6, 2)


def test_other_fields_decide_on_records_without_text(tmp_path):
    path = tmp_path / "in.jsonl"
    records = [{"id": f"{number}", "title": title} for number, title in enumerate(["one", "one", None])]
    write_lines(path, [*records, {"id": "3", "title": "two", "text": "x"}])
    done = add_files([path], tmp_path / "index", scheme=Checksum(fields=[Field(name="title")]))
    assert (done.new, done.near, done.empty, done.no_text) == (2, 1, 1, 0)


def test_a_scheme_of_other_fields_needs_no_text(tmp_path):
    path, more, folder = tmp_path / "in.jsonl", tmp_path / "more.jsonl", tmp_path / "index"
    records = [{"id": f"{number}", "title": title} for number, title in enumerate(["one", "one", "two", None])]
    write_lines(path, records)
    scheme = Checksum(fields=[Field(name="title")])
    assert add_files([path], folder, scheme=scheme).empty == 1
    more.write_text('{"id": "4", "title": "two"}\n{"id": "5", "title": "three", "text": null}\n')
    with Index.open(folder) as index:
        found = [one["verdict"] for file in (path, more) for some in FileAnswers(index).answer([file]) for one in some]
        assert found == ["known"] * 4 + ["near duplicate", "new"]
        with pytest.raises(FieldMissing, match="there is no field 'body'"):
            [*FileAnswers(index, text="body").answer([path])]
    assert add_files([more], folder).near == 1
    for options in ({"texts": True}, {"search": True}, {"text": "body"}):
        with pytest.raises(FieldMissing):
            add_files([path], tmp_path / "other", scheme=scheme, **options)


@pytest.mark.parametrize(("required", "empty"), [(True, 1), (False, 0)])
@pytest.mark.parametrize("names", ["ab", "ba"])
def test_a_file_may_lack_a_signed_field_that_other_files_have(tmp_path, names, required, empty):
    records = {"a": {"title": "A", "text": "one two"}, "b": {"text": "one two three"}}
    for name, record in records.items():
        write_lines(tmp_path / f"{name}.jsonl", [record])
    scheme = Checksum(fields=[Field(name="title", required=required), Field(name="body")])
    found = add_files([tmp_path / f"{name}.jsonl" for name in names], tmp_path / "index", scheme=scheme)
    assert (found.documents, found.empty, found.new) == (2, empty, 2 - empty)


def test_an_archive_without_pages_next_to_other_inputs_needs_no_address(tmp_path, source):
    archive = tmp_path / "none.warc"
    archive.write_bytes(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    source.write_text('{"text": "one two three"}')
    assert add_files([source, archive], tmp_path / "index").new == 1
    with pytest.raises(DataError, match="there is no field 'url'"):
        add_files([source, archive], tmp_path / "named", url="url")


@pytest.mark.parametrize("first", ["notes", "none.jsonl", "none.warc"])
def test_a_new_index_has_templates_before_it_has_pages(tmp_path, first):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("one two three")
    (tmp_path / "none.jsonl").write_text("")
    archive = tmp_path / "none.warc"
    archive.write_bytes(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    pages = write_lines(tmp_path / "pages.jsonl", [{"html": "<p>four five six", "url": "http://a.example/"}])
    read = {"extraction": Extraction(templates=learn_templates([]))}
    table = {"html": "html", "url": "url"}
    add_files([tmp_path / first], tmp_path / "index", **read, **(table if first == "none.jsonl" else {}))
    assert add_files([pages], tmp_path / "index", **read, **table).new == 1


def test_texts_of_a_folder_are_added_to_an_index_without_templates(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("one two three")
    add_files([tmp_path / "notes"], tmp_path / "index")
    read = {"extraction": Extraction(templates=learn_templates([]))}
    assert add_files([tmp_path / "notes"], tmp_path / "index", **read).unchanged == 1


def test_an_index_is_in_no_other_folder_of_neardup(tmp_path, source):
    dedup_files([source], state=tmp_path / "state")
    add_files([source], tmp_path / "index")
    source.write_text("no record")
    with pytest.raises(ParameterError, match="is a state; name another folder for an index"):
        add_files([source], tmp_path / "state")
    with pytest.raises(OutputRefused, match="it is inside the index"):
        add_files([source], tmp_path / "index" / "inside")


def test_an_index_without_its_manifest_is_a_damaged_one(tmp_path, source):
    add_files([source], tmp_path / "index", texts=True)
    (tmp_path / "index" / "manifest.json").unlink()
    assert is_index(tmp_path / "index")
    for use in (
        lambda: add_files([source], tmp_path / "index"),
        lambda: dedup_files([source], against=tmp_path / "index"),
    ):
        with pytest.raises(StorageDamaged, match=r"manifest.json is missing"):
            use()


def test_the_closest_kept_document_can_represent_a_near_duplicate(tmp_path):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    texts = [" ".join(words[:9]), " ".join(words[2:]), " ".join(words[1:])]  # the third is closer to the second
    path = write_lines(tmp_path / "pages.jsonl", [{"id": f"{n}", "text": text} for n, text in enumerate(texts)])
    scheme = MinHash(shingle=1, threshold=0.65)
    for name, choice, expected in (("a", None, "0"), ("b", "closest", "1")):
        add_files([path], tmp_path / name, scheme=scheme, texts=True, representative=choice)
        with Index.open(tmp_path / name) as index:
            assert index.get(["2"])[0].representative == expected
    with pytest.raises(ParameterError, match="with this index, which was made with 'closest'"):
        add_files([path], tmp_path / "b", representative="best-ranked")
    with pytest.raises(ParameterError, match="must be best-ranked or closest"):
        add_files([path], tmp_path / "c", representative="nearest")
    dedup_files([path], state=tmp_path / "state", representative="closest")
    fill_index(tmp_path / "state", tmp_path / "d", representative="closest")
    fill_index(tmp_path / "state", tmp_path / "f")
    with pytest.raises(ParameterError, match="with this index, which was made with 'closest'"):
        add_files([path], tmp_path / "f", representative="best-ranked")
    with pytest.raises(ParameterError, match="with this state, which was made with 'closest'"):
        fill_index(tmp_path / "state", tmp_path / "e", representative="best-ranked")


def test_urls_in_their_normal_form_are_ids(tmp_path, source):
    add_files([source], tmp_path / "index", url="url", fields={"host": str})
    with Index.open(tmp_path / "index") as index:
        assert index.get(["http://a.example/x"])[0].fields == {"host": "a.example"}


def test_an_index_keeps_its_url_rules_from_its_beginning(tmp_path, source):
    parameters = {"view": RuleEvidence(12, 12, 1.0)}
    rules = UrlRules({"a.example": HostRules(parameters=parameters)})
    nothing, viewed = tmp_path / "nothing.jsonl", tmp_path / "viewed.jsonl"
    nothing.write_text("")
    write_lines(viewed, [{"text": "one two", "url": "http://a.example/x?view=2"}])
    dedup_files([viewed], state=tmp_path / "state")
    for name in ("filled", "added"):
        add_files([nothing], tmp_path / name, url="url", addresses=Addresses(rules=rules))
    fill_index(tmp_path / "state", tmp_path / "filled", url="url")
    add_files([viewed], tmp_path / "added", url="url")
    fill_index(tmp_path / "state", tmp_path / "other", url="url", addresses=Addresses(rules=rules))
    for name in ("filled", "added", "other"):
        with Index.open(tmp_path / name) as index:
            assert [*index.ids()] == ["http://a.example/x"]
            assert CrawlFilter(index).judge("http://a.example/x?view=3", "one two") == verdicts.Known(
                "http://a.example/x"
            )
    assert add_files([source], tmp_path / "added").new == 2  # ids that are not URLs
    other = Addresses(rules=UrlRules({"b.example": HostRules(parameters=parameters)}))
    source.write_text("no record")
    with pytest.raises(StorageRefused, match=f"its ids follow the URL rules {rules.id}, but the URL rules "):
        add_files([source], tmp_path / "added", url="url", addresses=other)


def test_of_equal_ids_the_last_counts(tmp_path, source):
    source.write_text(source.read_text() + json.dumps({"id": "a", "text": "quite another text"}) + "\n")
    done = add_files([source], tmp_path / "index", texts=True)
    assert (done.documents, done.repeated, done.total) == (5, 1, 4)
    again = add_files([source], tmp_path / "index")
    assert (again.unchanged, again.repeated, again.replaced) == (4, 1, 0)
    with Index.open(tmp_path / "index") as index:
        assert index.get(["a"])[0].text == "quite another text"


def test_records_that_cannot_be_documents_are_rejected(tmp_path, source):
    source.write_text(source.read_text() + json.dumps({"id": "x" * 2000, "text": "long"}) + "\n")
    done = add_files([source], tmp_path / "index")
    (rejected,) = done.rejected
    assert (rejected.source, rejected.position, done.total) == (str(source), 5, 4)
    with pytest.raises(DataError):
        add_files([source], tmp_path / "strict", strict=True)
    assert not is_index(tmp_path / "strict")


def test_documents_without_ids_are_named_by_the_full_path_of_their_file(tmp_path, monkeypatch):
    texts = {"old": ["one two three four five"], "new": ["six seven eight nine ten", "eleven twelve"]}
    for name, own in texts.items():
        (tmp_path / name / "texts").mkdir(parents=True)
        write_lines(tmp_path / name / "pages.jsonl", [{"text": text} for text in own])
        (tmp_path / name / "texts" / "page.txt").write_text(own[0])
    folder = tmp_path / "index"
    monkeypatch.chdir(tmp_path / "old")
    assert add_files(["pages.jsonl"], folder).new == 1
    assert add_files(["./pages.jsonl"], folder).unchanged == 1
    monkeypatch.chdir(tmp_path / "new")
    assert add_files(["pages.jsonl"], folder).new == 2
    assert add_files(["../old/pages.jsonl"], folder).unchanged == 1
    for name in texts:
        assert add_files([tmp_path / name / "texts"], folder).exact == 1
    names = ["old/pages.jsonl:1", "new/pages.jsonl:1", "new/pages.jsonl:2", "old/texts/page.txt", "new/texts/page.txt"]
    with Index.open(folder) as index:
        assert list(index.ids()) == [str(tmp_path / name) for name in names]


def test_a_folder_of_other_files_is_left_alone(tmp_path, source):
    with pytest.raises(StorageError, match="is not empty"):
        add_files([source], tmp_path)


@pytest.fixture
def pages(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<title>Bees</title><p>They have left the harbour.")
    return tmp_path / "pages"


def test_pages_of_an_index_are_extracted_in_one_way(tmp_path, pages, source, monkeypatch):
    folder = tmp_path / "index"
    add_files([source], folder)
    add_files([pages], folder, extraction=Extraction(view="main"))  # the first pages decide
    add_files([source], folder)
    for other in ("auto", "visible"):
        with pytest.raises(StorageRefused, match=rf"the text view main, and the new ones in the text view {other}"):
            add_files([pages], folder, extraction=Extraction(view=other))
    assert add_files([pages], folder, extraction=Extraction(view="main")).unchanged == 1
    monkeypatch.setattr(extraction, "installed", lambda: "resiliparse 9")
    with pytest.raises(StorageRefused, match="the new ones are read by resiliparse 9"):
        add_files([pages], folder, extraction=Extraction(view="main"))


def found(folder, words):
    """Return the documents of an index that have these words."""
    with Index.open(folder) as index, Search.open(index) as search:
        return [hit.id for group in search.answer(words).results for hit in group.shown]


def test_a_search_table_follows_every_change(tmp_path, source):
    folder, more = tmp_path / "index", tmp_path / "more.jsonl"
    add_files([source], folder, search=True)
    with Index.open(folder) as index:
        assert index.keeps_texts
        assert index.fields == {"title": "string", "url": "string"}
    assert found(folder, "seven eight") == ["c"]
    more.write_text('{"id": "c", "text": "one two"}\n{"id": "new", "text": "seven eight zebras"}\n')
    add_files([more], folder)
    assert found(folder, "seven eight") == ["new"]
    with Index.open(folder, "w") as index:
        remove_ids(index, ["new"])
    assert found(folder, "seven eight") == []
    with Index.open(folder) as index, Search.open(index) as search:
        assert search._table.state()[:2] == (index.store.next_ordinal, len(index))


def test_a_page_that_is_admitted_again_is_found_by_its_new_title(tmp_path, source):
    folder, later = tmp_path / "index", tmp_path / "later.jsonl"
    write_lines(source, [line | {"title": f"Title of {line['id']}"} for line in LINES])
    add_files([source], folder, search=True)
    write_lines(later, [line | {"title": "Weather"} for line in LINES[:2]])
    done = add_files([later], folder)
    assert (done.unchanged, done.replaced, done.new) == (2, 0, 0)
    assert found(folder, "weather") == ["a"]  # and b, a near duplicate
    assert sorted(found(folder, "title")) == ["c", "d"]
    with Index.open(folder) as index:
        assert index.values("title", ["a", "b", "c"]) == ["Weather", "Weather", "Title of c"]
        assert index.values("url", ["a"]) == ["http://A.example/x"]


def test_a_search_table_is_made_later_where_texts_are_kept(tmp_path, source):
    folder = tmp_path / "index"
    source.write_text(source.read_text() + json.dumps({"id": "titled", "text": "Zebras", "title": 1}) + "\n")
    add_files([source], folder, texts=True, fields={"title": int})
    add_files([source], folder, search=True)
    assert found(folder, "seven eight") == ["c"]


def test_a_field_called_title_keeps_its_kind(tmp_path, source):
    add_files([source], tmp_path / "index", search=True, fields={"title": bool})  # no record has it
    with Index.open(tmp_path / "index") as index:
        assert index.fields == {"title": "flag", "url": "string"}


def test_an_index_without_texts_gets_no_search_table(tmp_path, source):
    add_files([source], tmp_path / "index")
    with pytest.raises(ParameterError, match="requires texts"):
        add_files([source], tmp_path / "index", search=True)
    assert not (tmp_path / "index" / "search.sqlite").exists()


def test_invalid_titles_do_not_stop_it(tmp_path):
    odd, folder = tmp_path / "odd.jsonl", tmp_path / "index"
    odd.write_text('{"id": "a", "text": "Zebras", "title": ["Rye"], "url": 5}\n{"id": "b", "text": "one two"}\n')
    for _ in range(2):
        add_files([odd], folder, search=True)
        with Index.open(folder) as index:
            assert index.fields == {"url": "string"}
            assert index.get(["a"])[0].fields == {"url": "5"}
        assert found(folder, "zebras") == ["a"]


def test_the_text_may_be_the_title(tmp_path, source):
    add_files([source], tmp_path / "index", search=True, text="url")
    with Index.open(tmp_path / "index") as index:
        assert index.get(["a"])[0].fields == {"title": None, "url": "http://A.example/x"}
    assert found(tmp_path / "index", "x") == ["a"]
