"""Indexes that are filled from a state, compared with indexes that admitted the same documents."""

import json
import random
import shutil
from errno import ENOSPC
from itertools import product
from unittest.mock import Mock

import pyarrow as pa
import pytest
from archives_made import packed, page
from json_lines import write_lines
from test_state import SCHEMES

from neardup import Index, MinHash, Search, SimHash, State, Trials, dedup_files
from neardup.errors import DataError, ParameterError, StorageError, StorageFailed
from neardup.index.disk import merger
from neardup.index.disk.store import Store
from neardup.model.errors import FieldMissing, StorageRefused
from neardup.pipeline.files.ingestion import add_files, fill_index
from neardup.pipeline.index.page_terms import require_extraction
from neardup.pipeline.spilled import files
from neardup.text.extraction import Extraction

WORDS = [f"word{number}" for number in range(200)]


@pytest.fixture
def chance():
    return random.Random(11)  # noqa: S311 - nothing secret


def edited(words, chance):
    own = [*words]
    for _ in range(chance.randint(0, 5)):
        own[chance.randrange(len(own))] = chance.choice(WORDS)
    return " ".join(own)


@pytest.fixture
def originals(chance):
    return [[chance.choice(WORDS) for _ in range(chance.randint(6, 50))] for _ in range(30)]


@pytest.fixture
def weeks(tmp_path, chance, originals):
    """Files of three weeks: originals with edited copies, pages with other content each week, and blank texts."""
    paths = []
    for week in range(3):
        lines = ['{"broken']
        for number in range(60):
            text = edited(chance.choice(originals), chance) if number % 6 else chance.choice(["", "  ", "?!", None])
            own = {"id": f"page{number}" if number % 4 == 0 else f"w{week}-{number}", "text": text}
            own |= {"title": chance.choice("ab"), "url": f"http://H.example:80/{own['id']}", "size": number}
            lines.append(json.dumps(own))
        paths.append(tmp_path / f"week{week}.jsonl")
        paths[-1].write_text("\n".join(lines))
    return paths


@pytest.fixture
def later(chance, originals):
    return [edited(chance.choice(originals), chance) for _ in range(60)]


def kept_of(paths, state, **options):
    """Deduplicate files one after the other; return their kept documents that have words or signs, in order."""
    kept = []
    for path in paths:
        done = dedup_files([path], state=state, **options)
        records = [json.loads(line) for line in path.read_text().splitlines()[1:]]
        assert len(records) == len(done.result.mask)
        kept += [records[position] for position in done.result.kept.tolist()]
    scheme = options.get("scheme", MinHash())
    if not scheme.columns:
        return [record for record in kept if (record["text"] or "").strip()]
    fields = {name: [record[name] for record in kept] for name in scheme.columns}
    return [
        record for record, signed in zip(kept, scheme.sign(pa.table(fields)).present.tolist(), strict=True) if signed
    ]


def admitted(index, records):
    fields = {name: [record[name] for record in records] for name in {*index.fields, *index.scheme.columns}}
    return index.admit([record["id"] for record in records], [record["text"] for record in records], fields)


def filled(folder, state, scheme, **options):
    index = Index.create(folder, scheme, **options)
    with State.open(state) as opened:
        index.fill(opened, threads=2)
    return index


def seen(index, later):
    """Return everything that an index answers, but for times."""
    fields = {"title": ["a"] * len(later), "text": later} if index.scheme.columns else None
    verdicts = index.judge(later, fields)
    documents = index.get(index.ids())
    plain = [(one.id, one.representative, one.fields, one.text) for one in documents]
    stats = index.stats()
    return verdicts, plain, index.admissions(index.ids()), (stats.documents, stats.kept), index.next_admission


@pytest.mark.parametrize(
    ("scheme", "for_index", "texts"),
    [
        pytest.param(scheme, for_index, texts, marks=[] if usual else pytest.mark.soak)
        for place, scheme in enumerate(SCHEMES)
        for for_index, texts in product((True, False), repeat=2)
        for usual in [(for_index, texts) == (place % 2 == 0, place % 4 > 1)]  # by turns
    ],
    ids=lambda value: f"{value.name}-{value.threshold}" if hasattr(value, "threshold") else None,
)
def test_a_filled_index_answers_as_one_that_admitted_the_kept_documents(
    tmp_path, weeks, later, scheme, *, for_index, texts
):
    state = tmp_path / "state"
    kept = kept_of(weeks, state, scheme=scheme, verify="exact" if texts else "estimate", for_index=for_index)
    options = {"texts": texts, "fields": {"title": str, "size": int}}
    one = filled(tmp_path / "filled", state, scheme, **options)
    other = Index.create(tmp_path / "admitted", scheme, **options)
    assert {verdict.name for verdict in admitted(other, kept)} <= {"new", "empty"}
    assert len(one) == len({record["id"] for record in kept}) < len(kept)
    assert seen(one, later) == seen(other, later)
    one.close()
    other.close()
    fields = {"title": ["b"] * len(later), "size": [7] * len(later)} | ({"text": later} if scheme.columns else {})
    with Index.open(tmp_path / "filled", "w") as one, Index.open(tmp_path / "admitted", "w") as other:
        assert seen(one, later) == seen(other, later)
        one.compact()
        assert seen(one, later) == seen(other, later)
        names = [f"later{number}" for number in range(len(later))]
        assert one.admit(names, later, fields) == other.admit(names, later, fields)
        gone = [*one.ids()][::5]
        assert one.remove(gone) == other.remove(gone)
        assert seen(one, later) == seen(other, later)
        assert one.check().problems == []


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("scheme", [MinHash(), Trials(), SimHash()], ids=lambda scheme: scheme.name)
def test_a_state_for_an_index_needs_no_inputs(tmp_path, weeks, later, scheme, keep):
    for for_index in (True, False):
        state = tmp_path / f"state-{for_index}"
        dedup_files(weeks[:2], state=state, scheme=scheme, keep=keep, for_index=for_index)
        dedup_files(weeks[2:], state=state, scheme=scheme, keep=keep)
        with State.open(state, write=True) as opened:
            opened.compact()
    lines = (line for path in weeks for line in path.read_text().splitlines()[1:])
    texts = [text for text in (json.loads(line)["text"] for line in lines) if text]
    with filled(tmp_path / "signed", state, scheme) as other:
        for path in weeks:
            path.unlink()
        with filled(tmp_path / "copied", tmp_path / "state-True", scheme) as one:
            assert seen(one, later) == seen(other, later)
            assert seen(one, texts) == seen(other, texts)
            assert "exact duplicate" in {verdict.name for verdict in one.judge(texts)}
            assert one.check().problems == []
        with Index.open(tmp_path / "copied", "w") as one:
            names = [f"later{number}" for number in range(len(texts))]
            assert one.visit(names, texts) == other.visit(names, texts)
            assert one.visit(names, texts) == other.visit(names, texts)
    with pytest.raises(DataError, match="was moved or changed since"):
        filled(tmp_path / "other", tmp_path / "state-True", scheme, texts=True)


def test_only_the_first_run_decides_that_a_state_is_for_an_index(tmp_path, weeks):
    for state, first, second in (("one", True, False), ("two", False, True)):
        dedup_files(weeks[:1], state=tmp_path / state, for_index=first)
        if first:
            dedup_files(weeks[1:2], state=tmp_path / state, for_index=second)
        else:
            with pytest.raises(ParameterError, match="cannot be used with this state, whose first run was without it"):
                dedup_files(weeks[1:2], state=tmp_path / state, for_index=second)
        with State.open(tmp_path / state) as opened:
            assert opened.header.for_index == first
    dedup_files(weeks[2:], against=tmp_path / "one")
    with pytest.raises(ParameterError, match="can only be used with a state"):
        dedup_files(weeks[:1], against=tmp_path / "one", for_index=True)


def test_segments_of_little_memory_are_merged(tmp_path, weeks, later, monkeypatch):
    monkeypatch.setattr(files, "_share", lambda _memory, _threads: 2000)
    kept = kept_of(weeks, tmp_path / "state")
    with Index.create(texts=True) as other, Index.create(tmp_path / "filled", texts=True) as one:
        monkeypatch.setattr(one.store, "_memory", 1 << 10)
        segments, write = [], merger.write_segment
        monkeypatch.setattr(merger, "write_segment", lambda *given: segments.append(given) or write(*given))
        admitted(other, kept)
        segments.clear()
        with State.open(tmp_path / "state") as state:
            one.fill(state)
        assert len(segments) > 4
        assert 1 < len(one.store.segments) < len(segments)
        assert seen(one, later) == seen(other, later)


def test_the_filled_index_is_searched(tmp_path, weeks):
    kept = kept_of(weeks, tmp_path / "state")
    done = fill_index(tmp_path / "state", tmp_path / "filled", search=True, url="url")
    ids = {record["id"] for record in kept}
    assert (done.documents, done.repeated, done.rejected, done.total) == (len(kept), len(kept) - len(ids), [], len(ids))
    with Index.open(tmp_path / "filled") as index, Search.open(index) as search:
        word = kept[-1]["text"].split()[0]
        answer = search.answer(word, size=1_000, top=1_000, collapse="off")
        ids = {group.shown[0].id for group in answer.results}
        wanted = {record["id"]: record["text"] for record in kept}
        assert ids == {f"http://h.example/{own}" for own, text in wanted.items() if word in text.split()}
        assert index.get([next(iter(ids))])[0].fields["url"].startswith("http://H.example:80/")


@pytest.fixture
def state(tmp_path, weeks):
    dedup_files(weeks, state=tmp_path / "state", keep="longest")
    with State.open(tmp_path / "state") as opened:
        yield opened


def changed(weeks):
    weeks[1].write_text(weeks[1].read_text() + "\n")


def test_times_are_those_of_the_runs(tmp_path, state):
    with Index.create(tmp_path / "index") as index:
        index.fill(state)
        added = {one.first_seen.isoformat(timespec="seconds") for one in index.get(index.ids())}
        assert added == {state.segments[0].added}


def test_a_reader_that_was_open_before_sees_the_filled_documents(tmp_path, state):
    with Index.create(tmp_path / "index") as index, Index.open(tmp_path / "index") as reader:
        index.fill(state)
        assert (reader.refresh(), [*reader.ids()]) == (True, [*index.ids()])
        index.admit(["another"], ["the harbour was closed all night because of ice"])
        assert (reader.refresh(), [*reader.ids()]) == (True, [*index.ids()])


def test_segments_that_cannot_be_merged_yet_do_not_make_filling_fail(tmp_path, state, monkeypatch):
    monkeypatch.setattr(merger, "FAN", 0)
    monkeypatch.setattr(Store, "compact", Mock(side_effect=StorageFailed("index", "it is full")))
    with Index.create(tmp_path / "index") as index:
        assert index.fill(state).total == len(index)


def test_a_state_after_compact_and_forget_fills_an_index(tmp_path, weeks):
    kept = kept_of(weeks, tmp_path / "state")
    forgotten = {record["id"] for record in kept[::7]}
    with State.open(tmp_path / "state", write=True) as opened:
        opened.compact()
        opened.forget([*forgotten])
        assert {record["id"] for record in kept} > forgotten
    with State.open(tmp_path / "state") as opened, Index.create() as index:
        assert index.fill(opened).total == len(index)
        assert [*index.ids()] == [own for own in _last(kept) if own not in forgotten]


def _last(records):
    """Return the ids in the order of the last document of each."""
    return [*reversed(dict.fromkeys(record["id"] for record in reversed(records)))]


def test_an_index_with_documents_is_left_alone(state):
    with Index.create() as index:
        index.admit(["a"], ["one two three four"])
        with pytest.raises(StorageError, match="has documents already; only a new index can be filled"):
            index.fill(state)
        assert [*index.ids()] == ["a"]
        index.admit(["b"], ["five six seven eight"])


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        (SimHash(), "scheme was minhash and is simhash"),
        (MinHash(threshold=0.7), r"threshold was 0\.6 and is 0\.7"),
        (MinHash(seed=7), "seed was 1 and is 7"),
        (MinHash().with_key(bytes(16)), "the secret key was added"),
    ],
)
def test_another_scheme_is_refused_with_the_difference(state, scheme, words):
    with Index.create(None, scheme) as index, pytest.raises(StorageError, match=words):
        index.fill(state)


def test_a_changed_input_is_refused_and_the_index_stays_empty(tmp_path, weeks, state):
    changed(weeks)
    with Index.create(tmp_path / "index") as index, pytest.raises(DataError, match="was moved or changed since"):
        index.fill(state)
    with pytest.raises(DataError, match="was moved or changed since"):
        fill_index(state.folder, tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with Index.open(tmp_path / "index", "w") as index:
        assert (len(index), index.next_admission) == (0, 0)


def test_a_kill_leaves_an_index_without_documents_which_can_be_filled(tmp_path, state, monkeypatch):
    """The folder is copied whenever a segment was written, as a kill would leave it."""
    copies, write = [], merger.write_segment

    def watched(disk, path, *given):
        stored = write(disk, path, *given)
        copies.append(tmp_path / f"copy{len(copies)}")
        shutil.copytree(path.parent, copies[-1])
        return stored

    monkeypatch.setattr(merger, "write_segment", watched)
    with Index.create(tmp_path / "index") as index:
        monkeypatch.setattr(index.store, "_memory", 1 << 12)
        index.fill(state)
        whole = [*index.ids()]
    monkeypatch.setattr(merger, "write_segment", write)
    assert len(copies) > 1
    for folder in copies:
        with Index.open(folder) as index:
            done = len(index)
        assert done in {0, len(whole)}
        if not done:
            fill_index(state.folder, folder)
        with Index.open(folder) as index:
            assert [*index.ids()] == whole
            assert index.check().problems == []


def test_an_interruption_of_the_search_table_is_explained(tmp_path, weeks, interrupted_at):
    kept_of(weeks, tmp_path / "state")
    with interrupted_at(Search, "rebuild"):
        fill_index(tmp_path / "state", tmp_path / "filled", search=True, url="url")
    with pytest.raises(StorageRefused, match="it only lacks its search table; build it") as caught:
        fill_index(tmp_path / "state", tmp_path / "filled", search=True, url="url")
    assert caught.value.code == "search table"
    with Index.open(tmp_path / "filled", "w") as index:
        Search.rebuild(index)
    with pytest.raises(StorageRefused, match="only a new index can be filled"):
        fill_index(tmp_path / "state", tmp_path / "filled", search=True, url="url")


def test_documents_that_an_index_cannot_have_are_rejected(tmp_path):
    lines = [{"id": "x" * 2000, "text": "one two three four"}, {"id": "b", "text": "five six seven eight", "n": "z"}]
    lines.append({"id": "c", "text": "nine ten eleven twelve"})
    write_lines(tmp_path / "pages.jsonl", lines)
    dedup_files([tmp_path / "pages.jsonl"], state=tmp_path / "state")
    done = fill_index(tmp_path / "state", tmp_path / "index", fields={"n": int})
    assert (done.documents, done.total) == (3, 1)
    assert [(one.position, one.code) for one in done.rejected] == [(1, "id too long"), (2, "value")]


def test_a_field_that_no_record_has_is_refused(tmp_path, state):
    with pytest.raises(FieldMissing, match="there is no field 'nothing'"):
        fill_index(state.folder, tmp_path / "index", fields={"nothing": str})
    with pytest.raises(FieldMissing, match="there is no field 'address'"):
        fill_index(state.folder, tmp_path / "index", url="address")
    assert not (tmp_path / "index").exists()


def test_the_index_extracts_pages_as_the_state_does(tmp_path, monkeypatch):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<html><body><p>One two three four five six.</p></body></html>")
    extraction = Extraction(view="visible")
    dedup_files([tmp_path / "pages"], state=tmp_path / "state", extraction=extraction)
    with State.open(tmp_path / "state") as state, Index.create(texts=True) as index:
        index.fill(state)
        assert index.get([str(tmp_path / "pages" / "a.html")])[0].text.strip() == "One two three four five six."
        require_extraction(index, extraction)
        with pytest.raises(StorageError, match="text view visible"):
            require_extraction(index, Extraction(view="main"))
    monkeypatch.setattr(Extraction, "extractor", "another 1.0")
    with State.open(tmp_path / "state") as state, Index.create() as index:
        with pytest.raises(StorageError, match="the new ones are read by another 1"):
            index.fill(state)
        assert not len(index)


def test_a_full_disk_leaves_no_files_and_the_same_index_can_be_filled_later(tmp_path, state, monkeypatch):
    with Index.create(tmp_path / "index") as index:
        monkeypatch.setattr(index.store, "_memory", 1 << 12)
        before = {path.name for path in (tmp_path / "index").iterdir()}
        segments, write = [], merger.write_segment

        def full(disk, path, *given):
            segments.append(path)
            if len(segments) == 2:
                raise OSError(ENOSPC, "No space left on device")
            return write(disk, path, *given)

        monkeypatch.setattr(merger, "write_segment", full)
        with pytest.raises(StorageError, match="No space left on device"):
            index.fill(state)
        assert {path.name for path in (tmp_path / "index").iterdir()} == before
        assert len(index) == 0
        monkeypatch.setattr(merger, "write_segment", write)
        assert index.fill(state).total == len(index) > 0


@pytest.mark.parametrize(
    ("for_index", "learn_templates"), [(False, None), (True, None), pytest.param(True, False, id="copied")]
)
def test_addresses_of_archives_become_ids_in_normal_form(tmp_path, for_index, learn_templates):
    """As if the archive had been added to the index; ids that were asked for stay as they are."""
    paths = ("1?b=1&a=2", "%7euser")
    pages = [page(path, f"<p>{' '.join(WORDS[20 * at : 20 * at + 20])}</p>") for at, path in enumerate(paths)]
    archive = tmp_path / "crawl.warc.gz"
    archive.write_bytes(packed(pages))
    for name, options in (("default", {}), ("named", {"id": "url"})):
        options |= {"for_index": for_index, "learn_templates": learn_templates}
        dedup_files([archive], state=tmp_path / name, **options)
        fill_index(tmp_path / name, tmp_path / f"{name}.index")
    add_files([archive], tmp_path / "added", learn_templates=learn_templates)
    found = {}
    for name in ("default.index", "named.index", "added"):
        with Index.open(tmp_path / name) as index:
            found[name] = [*index.ids()]
    assert found["default.index"] == found["added"] == ["http://a.example/1?a=2&b=1", "http://a.example/~user"]
    assert found["named.index"] == [f"http://a.example/{path}" for path in paths]
    fill_index(tmp_path / "default", tmp_path / "hosts", fields={"host": "string"})
    with Index.open(tmp_path / "hosts") as index:
        assert index.values("host", found["added"]) == ["a.example"] * 2
