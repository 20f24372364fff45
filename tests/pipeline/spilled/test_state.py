import gc
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from errno import EACCES, ENOSPC, EROFS
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from json_lines import write_lines

from neardup import (
    Analysis,
    Checksum,
    Combined,
    Field,
    FracMinHash,
    Index,
    MinHash,
    Sentences,
    SimHash,
    Trials,
    dedup_files,
)
from neardup.engines import files
from neardup.engines.files import sealed, unsealed
from neardup.engines.journal import Journal
from neardup.interfaces.pages.report import report_page
from neardup.model import moments
from neardup.model.errors import (
    PERMISSION,
    DataError,
    OutputRefused,
    ParameterConflict,
    ParameterError,
    StorageBusy,
    StorageDamaged,
    StorageFailed,
    StorageRefused,
)
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.files.ingestion import fill_index
from neardup.pipeline.spilled import state as states
from neardup.pipeline.spilled.state import State
from neardup.text import extraction
from neardup.text.common_shingles import CommonShingles
from neardup.text.extraction import Extraction
from neardup.text.host_templates import HostTemplates

SCHEMES = [
    MinHash(),
    MinHash(shingle=2, threshold=0.8),
    SimHash(),
    Trials(),
    Sentences(),
    FracMinHash(shingle=2, threshold=0.6),
    Checksum(fields=(Field(name="title"), Field(name="text", limit=20))),
    Combined(MinHash(), SimHash()),
]
COMMON, OTHER = (
    CommonShingles(shingling=MinHash().shingling.plain.recipe, terms=np.array([n], np.uint64), share=0.5, documents=9)
    for n in (1, 2)
)


def comparable(decisions):
    """Return decisions without positions, which differ."""
    return decisions.drop_columns(["position", "representative_position"])


@pytest.mark.parametrize(
    ("place", "verify"),
    [
        pytest.param(place, verify, marks=[] if place % 3 == number else pytest.mark.soak)
        for place in range(len(SCHEMES))
        for number, verify in enumerate(("exact", "estimate", "none"))
    ],
)
def test_batches_are_decided_as_in_one_run(batches, tmp_path, small_parts, place, verify):
    small_parts(4000)
    scheme = SCHEMES[place]
    whole = dedup_files([path for batch in batches for path in batch], scheme=scheme, verify=verify).result
    begin = 0
    for batch in batches:
        found = dedup_files(batch, scheme=scheme, verify=verify, state=tmp_path / "state").result
        wanted = whole.decisions.slice(begin, len(found.mask))
        assert comparable(found.decisions).equals(comparable(wanted))
        begin += len(found.mask)
        assert found.summary.kept == wanted["kept"].to_pylist().count(True)
    assert begin == len(whole.mask)
    assert not (tmp_path / "state" / states.WORK).exists()


@pytest.mark.parametrize("keep", ["first", "longest", "max:score"])
@pytest.mark.parametrize("representative", ["best-ranked", "closest"])
def test_files_are_compared_with_as_with_a_state_of_them(batches, tmp_path, keep, representative):
    old, new = [*batches[0], *batches[1]], batches[2]
    options = {"keep": keep, "representative": representative, "scheme": MinHash()}
    dedup_files(old, state=tmp_path / "state", **options)
    out = {"out": tmp_path / "kept.jsonl", "dropped": tmp_path / "dropped.jsonl", "mark": tmp_path / "mark.jsonl"}
    by_state = dedup_files(new, **out, against=tmp_path / "state", **options).result
    written = {name: path.read_bytes() for name, path in out.items() if name != "mark"}
    by_files = dedup_files(new, **out, force=True, against=old, **options).result
    assert by_state.decisions.equals(by_files.decisions)
    assert written == {name: path.read_bytes() for name, path in out.items() if name != "mark"}
    assert {len(state.segments) for state in [State.open(tmp_path / "state")]} == {1}


def test_earlier_documents_have_names_and_no_positions(batches, tmp_path):
    first = dedup_files(batches[0], state=tmp_path / "state").result.decisions.to_pylist()
    outputs = {"out": tmp_path / "kept.jsonl", "report": tmp_path / "why.html", "page": page}
    with pytest.warns(RuntimeWarning, match=r"all documents with a text were dropped: .*has read the same paths"):
        done = dedup_files(batches[0], state=tmp_path / "state", **outputs)
    again = done.result.decisions.to_pylist()
    dropped = [row for row in again if not row["kept"]]
    assert all(row["representative_position"] is None for row in dropped)
    assert {row["representative"] for row in dropped} <= {row["id"] for row in first if row["kept"]}
    assert done.result.summary.known == len(dropped) > 0
    assert [cluster.representative for cluster in done.result.summary.largest_clusters]
    assert done.result.summary.kept == done.result.summary.empty


def page(done):
    return report_page(done, MinHash())


def test_a_state_may_be_named_by_a_url_of_this_machine(batches, tmp_path):
    dedup_files(batches[0], state=f"file://{tmp_path}/state", work=f"file://{tmp_path}/work")
    assert dedup_files(batches[0], against=f"file://{tmp_path}/state").result.summary.known
    with pytest.raises(StorageRefused, match=r"^s3://bucket/state is a URL"):
        dedup_files(batches[0], state="s3://bucket/state")


@pytest.mark.parametrize("name", [b"n\xff.jsonl", b"f\xff/n.jsonl"])
def test_inputs_may_have_names_that_are_not_utf8(batches, tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(batches[0][0].read_bytes())
    done = dedup_files([path], state=tmp_path / "state").result.summary
    assert dedup_files(batches[0][:1], against=tmp_path / "state").result.summary.known == done.documents - done.empty
    with State.open(tmp_path / "state", write=True) as state:
        state.compact()
        assert state.segments[0].inputs == (str(path),)
    assert fill_index(tmp_path / "state", tmp_path / "index").total == done.kept - done.empty
    with pytest.raises(OutputRefused, match="it is an input of an earlier run"):
        dedup_files(batches[0], path, force=True, state=tmp_path / "state")


@pytest.mark.parametrize("action", ["compact", "forget nothing"])
def test_a_merged_state_decides_alike(batches, tmp_path, action):
    for name in ("one", "other"):
        for batch in batches[:2]:
            dedup_files(batch, state=tmp_path / name)
    with State.open(tmp_path / "other", write=True) as state:
        if action == "compact":
            state.compact()
            assert len(state.segments) == 1
        else:
            assert state.forget(["nobody", "nobody"]) == (0, ["nobody"])
    one, other = (dedup_files(batches[2], against=tmp_path / name).result.decisions for name in ("one", "other"))
    assert one.equals(other)
    with State.open(tmp_path / "one") as before, State.open(tmp_path / "other") as after:
        for name in ("documents", "leaders", "kept"):
            totals = [sum(getattr(part, name) for part in state.segments) for state in (before, after)]
            assert totals[0] == totals[1]


def test_a_state_without_leaders_is_merged(tmp_path):
    (tmp_path / "blank.jsonl").write_text('{"text": ""}\n')
    for _ in range(2):
        dedup_files([tmp_path / "blank.jsonl"], state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        state.compact()
        assert [(part.documents, part.leaders, part.kept) for part in state.segments] == [(2, 0, 2)]
    assert dedup_files([tmp_path / "blank.jsonl"], against=tmp_path / "state").result.summary.kept == 1


def test_forgotten_documents_are_kept_again_and_what_was_dropped_for_them(batches, tmp_path):
    for batch in batches[:2]:
        dedup_files(batch, state=tmp_path / "state")
    rows = dedup_files(batches[0], against=tmp_path / "state").result.decisions.to_pylist()
    gone = next(row["representative"] for row in rows if row["rule"] == "resemblance")
    own = {row["id"] for row in rows if row["representative"] == gone}
    with State.open(tmp_path / "state", write=True) as state:
        assert state.forget([gone]).removed > 1
    again = dedup_files(batches[0], against=tmp_path / "state").result.decisions.to_pylist()
    assert [row for row in again if row["id"] in own and row["kept"]]
    changed = {row["id"] for row, old in zip(again, rows, strict=True) if row != old}
    assert changed <= own | {row["id"] for row in again if row["representative_position"] is not None}
    with State.open(tmp_path / "state", write=True) as state:
        assert state.forget(before=datetime.now(UTC)).removed > 0
        assert not state.segments
        assert not list((tmp_path / "state").glob("segment-*"))
        state.compact()
        assert not state.segments
    alone = dedup_files(batches[0], state=tmp_path / "state").result.decisions
    assert alone.equals(dedup_files(batches[0]).result.decisions)


def test_a_run_whose_ids_are_forgotten_is_as_if_it_had_not_been(tmp_path):
    storm = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
    baker = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
    mill = "Nine mills along the river grind no corn any more, and two of them are houses for the summer now"
    texts = {
        "right": {"a": storm, "b": baker},
        "wrong": {"c": storm.replace("noon", "night"), "d": mill, "e": f"{mill} again", "f": mill},
        "third": {"g": f"{mill} too", "h": storm, "i": f"{baker}s"},
    }
    right, wrong, third = paths = [tmp_path / f"{name}.jsonl" for name in texts]
    for path, own in zip(paths, texts.values(), strict=True):
        write_lines(path, [{"id": name, "text": text} for name, text in own.items()])

    def counts():
        found = dedup_files([third], against=tmp_path / "state").result.summary
        return found.kept, found.exact, found.near, found.known

    dedup_files([right], state=tmp_path / "state")
    before = counts()
    dedup_files([wrong], state=tmp_path / "state")
    assert counts()[0] < before[0]
    with State.open(tmp_path / "state", write=True) as state:
        state.forget([*texts["wrong"]])
    wrong.unlink()
    assert counts() == before


def test_a_folder_of_an_earlier_run_needs_its_files_and_no_others(tmp_path):
    texts, more, words = tmp_path / "texts", tmp_path / "more", " ".join(f"word{number}" for number in range(30))
    texts.mkdir()
    more.mkdir()
    (texts / "one.txt").write_text(words)
    dedup_files([texts], state=tmp_path / "state")
    (texts / "two.txt").write_text(f"{words} more")
    with pytest.raises(DataError, match="texts: its texts are needed again") as caught:
        dedup_files([texts], state=tmp_path / "state")
    assert caught.value.code == "earlier input"
    (texts / "two.txt").rename(more / "two.txt")
    assert dedup_files([more], state=tmp_path / "state", restart=True).result.summary.kept == 0


def test_without_its_last_run_a_state_is_what_it_was_before(batches, tmp_path, interrupted_at):
    dedup_files(batches[0], state=tmp_path / "state")
    with State.open(tmp_path / "state") as state:
        before = state.header
    dedup_files(batches[1], state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        last = state.segments[-1]
        with interrupted_at(State, "_replace"):  # a kill before the header is replaced
            state.forget_last()
        state.check()
        assert (len(state.segments), state.forget_last()) == (2, last)
        assert state.header == before
        state.check()
        with pytest.raises(StorageRefused, match="has no earlier run, or only runs that were merged"):
            state.forget_last()


def test_the_last_run_of_a_damaged_state_is_not_forgotten(batches, tmp_path):
    for batch in batches[:2]:
        dedup_files(batch, state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        damaged = max(
            (tmp_path / "state" / f"segment-{state.segments[0].name}").iterdir(), key=lambda one: one.stat().st_size
        )
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        with pytest.raises(StorageDamaged, match="segment"):
            state.forget_last()
        assert len(state.segments) == 2


def test_a_run_of_copies_only_is_counted_until_it_is_forgotten(tmp_path):
    texts = [f"article {number} about the harbour of town {number} and its {number} boats" for number in range(9)]
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    write_lines(first, [{"id": f"a{n}", "text": text} for n, text in enumerate(texts)])
    write_lines(second, [{"id": f"b{n}", "text": text} for n, text in enumerate(texts[:4])])
    for batch in (first, second):
        dedup_files([batch], state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        assert [part.documents for part in state.segments] == [9, 4]
        assert state.forget(["a8"]).removed == 1
        assert [part.documents for part in state.segments] == [8, 4]
        state.compact()
        assert [part.documents for part in state.segments] == [12]
    with pytest.warns(RuntimeWarning, match="has read the same paths; if these files have not changed"):
        dedup_files([second], state=tmp_path / "state", force=True)
    with State.open(tmp_path / "state", write=True) as state:
        assert [part.documents for part in state.segments] == [12, 4]
        state.forget(before=datetime.now(UTC))
        assert not state.segments


def test_copies_of_earlier_documents_are_counted_when_the_other_documents_of_their_run_are_forgotten(tmp_path):
    texts = [f"article {number} about the harbour of town {number} and its {number} boats" for number in range(4)]
    for name, numbers in (("first", [0, 1]), ("second", [0, 2]), ("third", [3])):
        write_lines(
            tmp_path / f"{name}.jsonl", [{"id": f"{name} {number}", "text": texts[number]} for number in numbers]
        )
        dedup_files([tmp_path / f"{name}.jsonl"], state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        assert state.forget(pa.array(["second 2", "third 3"])).removed == 2
        assert [(part.documents, part.leaders, part.kept) for part in state.segments] == [(2, 2, 2), (1, 0, 0)]
        state.check()
        assert state.forget(["first 0", "first 1"]).removed == 2
        assert [(part.documents, part.leaders, part.kept) for part in state.segments] == [(1, 0, 0)]
    # Its input may be replaced without a warning: none of its texts is needed.
    write_lines(tmp_path / "second.jsonl", [{"id": "new", "text": texts[0]}])
    assert dedup_files([tmp_path / "second.jsonl"], state=tmp_path / "state").result.summary.kept == 1


@pytest.mark.parametrize(
    ("before", "removes"),
    [
        (datetime(2001, 1, 1), False),  # noqa: DTZ001 - it is in UTC
        (datetime.now(UTC) + timedelta(hours=20), True),
        ("2001-01-01T00:00:00Z", False),
        ("20010101", False),
        ("2001-W01-1", False),
        (f"{datetime.now(UTC) + timedelta(hours=20):%Y%m%dT%H%M}", True),
    ],
    ids=["before", "after", "zone", "basic", "week", "basic after"],
)
def test_a_time_is_compared_as_a_time_however_it_is_written(batches, tmp_path, monkeypatch, before, removes):
    monkeypatch.setattr(moments, "_LATEST", timedelta(days=1))
    dedup_files(batches[0], state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        assert (state.forget(before=before).removed > 0) == removes


FUTURE = "is in the future, so everything would be removed"
NO_TIME = r"must be a (datetime, or a string with a time|time such as)"
NO_LIST = "must be a list of strings"


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        *(("before", value, FUTURE) for value in (datetime(9000, 1, 1, tzinfo=UTC), "90000101")),
        *(("before", value, NO_TIME) for value in ("9999", "yesterday", "23.11.2026", "", 7, False, pd.NaT)),
        *(("ids", value, NO_LIST) for value in ("a", [b"a"], [1], None)),
        *(("ids", table({"a": ["b"]}), NO_LIST) for table in (pd.DataFrame, pa.table)),
    ],
)
def test_what_is_neither_a_list_of_ids_nor_a_time_of_the_past_is_refused(tmp_path, option, value, rule):
    path = write_lines(tmp_path / "in.jsonl", [{"id": "a", "text": "some words of a text"}])
    dedup_files([path], state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        with pytest.raises(ParameterError, match=rule):
            state.forget(**{option: value})
        assert state.segments[0].leaders == 1


def test_documents_of_other_rules_are_refused(batches, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    dedup_files(batches[0], state=tmp_path / "state")
    for options, words in (
        ({"threshold": 0.7}, "threshold was 0.6 and is 0.7"),
        ({"verify": "estimate"}, "verify was exact and is estimate"),
        ({"representative": "closest"}, "representative was best-ranked and is closest"),
        ({"scheme": MinHash(key=b"0123456789abcdef")}, "the secret key was added"),
        ({"scheme": MinHash(analysis=Analysis(stem="english"))}, "stem was not set and is english"),
        ({"scheme": SimHash()}, "scheme was minhash and is simhash"),
        ({"scheme": MinHash(common=COMMON)}, f"settings: common was not set and is {COMMON.identity}; use the"),
    ):
        with pytest.raises(StorageRefused, match=words):
            dedup_files(batches[1], against=tmp_path / "state", work=tmp_path / "work", **options)
    with pytest.raises(ParameterConflict, match="gather"):
        dedup_files(batches[1], state=tmp_path / "state", gather="components")
    with pytest.raises(StorageRefused) as refused:
        dedup_files(batches[1], against=tmp_path / "state", scheme=SimHash())
    assert "shingle" not in str(refused.value)
    for other in (tmp_path / "state", batches[0][0]):
        with pytest.raises(ParameterError, match="is a state, which cannot be combined with other paths"):
            dedup_files(batches[1], against=[tmp_path / "state", other])
    with pytest.raises(ParameterConflict, match="against"):
        dedup_files(batches[1], state=tmp_path / "state", against=tmp_path / "state")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_list_of_common_shingles_is_needed_again(batches, tmp_path):
    dedup_files(batches[0], state=tmp_path / "state", scheme=MinHash(common=COMMON))
    for scheme, words in (
        (MinHash(), f"settings: common was {COMMON.identity} and is not set; use the"),
        (MinHash(common=OTHER), f"settings: common was {COMMON.identity} and is {OTHER.identity}; use the"),
    ):
        with pytest.raises(StorageRefused, match=words):
            dedup_files(batches[1], state=tmp_path / "state", scheme=scheme)
    with pytest.raises(StorageRefused, match=r"common was .* and is not set"):
        Index.create(scheme=MinHash()).fill(State.open(tmp_path / "state"))


def test_a_run_that_fails_at_once_leaves_no_state(tmp_path):
    with pytest.raises(ParameterError, match="standard input"):
        dedup_files(["-"], state=tmp_path / "state")
    assert not (tmp_path / "state").exists()
    with pytest.raises(DataError):
        dedup_files([tmp_path / "nothing.jsonl"], state=tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_a_state_whose_first_run_was_interrupted(batches, tmp_path, interrupted_at):
    with interrupted_at(State, "_replace"):
        dedup_files(batches[0], state=tmp_path / "state")
    with pytest.raises(StorageRefused, match="no documents yet"):
        State.open(tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state, pytest.raises(StorageRefused, match="no documents yet"):
        state.compact()
    with pytest.raises(StorageRefused, match="no documents yet"):
        dedup_files(batches[1], against=tmp_path / "state")
    assert len(dedup_files(batches[0], state=tmp_path / "state").documents)


@pytest.mark.parametrize(("action", "written"), [("add", 0), ("compact", 0), ("forget", 0), ("forget", 1)])
def test_a_full_disk_leaves_no_segment(batches, tmp_path, monkeypatch, action, written):
    for batch in batches[:2]:
        dedup_files(batch, state=tmp_path / "state")
    there = sorted((tmp_path / "state").glob("segment-*"))
    full = iter([*[False] * written, True])

    def replacing(target, partial):
        if target.name == states._TEXTS and next(full):
            raise OSError(ENOSPC, "full", str(target))
        return files.replacing(target, partial)

    monkeypatch.setattr(states, "replacing", replacing)

    def change():
        if action == "add":
            dedup_files(batches[2], state=tmp_path / "state")
            return
        with State.open(tmp_path / "state", write=True) as state:
            state.compact() if action == "compact" else state.forget(["b00-1"])

    with pytest.raises(StorageFailed, match="full"):
        change()
    assert sorted((tmp_path / "state").glob("segment-*")) == there


def test_other_folders_are_refused(batches, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    with pytest.raises(StorageRefused, match="not a state"):
        dedup_files(batches[0], state=tmp_path / "folder")
    with pytest.raises(StorageRefused, match="its folder does not exist"):
        dedup_files(batches[0], state=tmp_path / "nothing" / "state")
    Index.create(tmp_path / "index").close()
    with pytest.raises(ParameterError, match="is an index without texts"):
        dedup_files(batches[0], against=tmp_path / "index")
    for way in ({}, {"write": True, "make": False}):
        with pytest.raises(StorageRefused, match="no such folder"):
            State.open(tmp_path / "nothing", **way)
        with pytest.raises(StorageRefused, match="it is a file; a state is a folder"):
            State.open(tmp_path / "folder" / "notes.txt", **way)
    assert not (tmp_path / "nothing").exists()
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["notes.txt"]
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "state.json").write_text("{}")
    with pytest.raises(StorageRefused, match="not a state"):
        State.open(tmp_path / "state")
    with State.open(tmp_path / "new", write=True) as state, pytest.raises(StorageRefused, match="no documents"):
        state.forget(["a"])


@pytest.mark.parametrize("name", ["leaders.arrow", "kept.arrow", "dropped.arrow", "ids.arrow", "texts.json"])
def test_damaged_files_are_noticed(batches, tmp_path, name):
    dedup_files(batches[0], state=tmp_path / "state")
    path = next(tmp_path.glob(f"state/segment-*/{name}"))
    content = path.read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    for damaged in (content[: len(content) // 2], b"", bytes(changed)):
        path.write_bytes(damaged)
        with pytest.raises(StorageDamaged, match=f"{name}: it is damaged"):
            dedup_files(batches[1], against=tmp_path / "state")
        with State.open(tmp_path / "state", write=True) as state:
            with pytest.raises(StorageDamaged):
                state.compact()
            with pytest.raises(StorageDamaged):
                state.forget(["d1"])
    path.unlink()
    with pytest.raises(StorageDamaged, match=f"{name}: it is missing: restore the state from a copy"):
        dedup_files(batches[1], against=tmp_path / "state")
    with State.open(tmp_path / "state") as state, pytest.raises(StorageDamaged, match=f"{name}: it is missing"):
        state.check()
    path.write_bytes(content)
    assert dedup_files(batches[1], against=tmp_path / "state").result.summary.known


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("pattern", ["state.json", "segment-*/leaders.arrow", "segment-*/texts.json"])
def test_a_file_that_the_user_may_not_read_is_named(batches, tmp_path, pattern):
    dedup_files(batches[0], state=tmp_path / "state")
    (path,) = (tmp_path / "state").glob(pattern)
    path.chmod(0)
    with pytest.raises(StorageFailed, match=f"^{path} cannot be read: Permission denied") as caught:
        dedup_files(batches[1], against=tmp_path / "state")
    assert caught.value.code == PERMISSION


def test_a_missing_header_is_noticed(batches, tmp_path):
    for batch in batches[:2]:
        dedup_files(batch, state=tmp_path / "state")
    header = tmp_path / "state" / "state.json"
    content, there = header.read_bytes(), sorted((tmp_path / "state").rglob("*.arrow"))
    header.unlink()
    for way in ({"state": tmp_path / "state"}, {"against": tmp_path / "state"}):
        with pytest.raises(StorageDamaged, match=r"state\.json: it is missing: restore the state"):
            dedup_files(batches[2], **way)
    for way in ({}, {"write": True}, {"write": True, "make": False}):
        with pytest.raises(StorageDamaged, match="it is missing"):
            State.open(tmp_path / "state", **way)
    assert sorted((tmp_path / "state").rglob("*.arrow")) == there
    header.write_bytes(content)
    assert dedup_files(batches[2], state=tmp_path / "state").result.summary.documents


def test_a_first_run_that_dies_with_its_segment_written_continues(batches, tmp_path, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(State, "_replace", killed)
        with pytest.raises(Killed):
            dedup_files(batches[0], state=tmp_path / "state")
    assert list((tmp_path / "state").glob("segment-*/texts.json"))
    with pytest.raises(StorageRefused, match="no documents yet"):
        State.open(tmp_path / "state")
    dedup_files(batches[0], state=tmp_path / "state")
    with State.open(tmp_path / "state") as state:
        names = {"state.json", "state.lock", *(f"segment-{part.name}" for part in state.segments)}
    assert {path.name for path in (tmp_path / "state").iterdir()} == names


def test_a_state_of_another_format_is_refused(tmp_path):
    (tmp_path / "one.jsonl").write_text('{"text": "a b c d"}\n')
    dedup_files([tmp_path / "one.jsonl"], state=tmp_path / "state")
    path = tmp_path / "state" / "state.json"
    older = {name: value for name, value in unsealed(path.read_bytes()).items() if name != "for_index"}
    path.write_bytes(sealed(older | {"format": 1, "version": "0.1"}))
    with pytest.raises(StorageRefused, match=r"neardup 0\.1 wrote it in another format; make a new state"):
        State.open(tmp_path / "state")


def test_a_changed_header_is_noticed(tmp_path):
    (tmp_path / "one.jsonl").write_text('{"text": "a b c d"}\n')
    dedup_files([tmp_path / "one.jsonl"], state=tmp_path / "state")
    path = tmp_path / "state" / "state.json"
    content = path.read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises((StorageDamaged, StorageRefused)):
            State.open(tmp_path / "state")
    path.write_text("junk")
    with pytest.raises(StorageDamaged):
        State.open(tmp_path / "state")


def test_one_run_at_a_time_adds(batches, tmp_path):
    dedup_files(batches[0], state=tmp_path / "state")
    with State.open(tmp_path / "state"):
        with pytest.raises(StorageBusy, match="is using it"):
            dedup_files(batches[1], state=tmp_path / "state")
        assert dedup_files(batches[1], against=tmp_path / "state").result.summary.known > 0


def test_a_state_that_another_run_has_changed_meanwhile_is_refused(batches, tmp_path, interrupted_at):
    dedup_files(batches[0], state=tmp_path / "state")
    with interrupted_at(State, "_replace"):
        dedup_files(batches[1], state=tmp_path / "state", work=tmp_path / "work")
    dedup_files(batches[2], state=tmp_path / "state")
    with pytest.raises(StorageRefused, match=r"the state .* was changed"):
        dedup_files(batches[1], state=tmp_path / "state", work=tmp_path / "work")
    done = dedup_files(batches[1], state=tmp_path / "state", work=tmp_path / "work", restart=True)
    assert len(done.documents) > 0
    assert not (tmp_path / "work").exists()


def test_a_run_that_has_added_its_documents_continues_after_others_have(batches, tmp_path, interrupted_at):
    ways = {"state": tmp_path / "state", "work": tmp_path / "work"}
    with interrupted_at(Journal, "finish"):
        dedup_files(batches[0], tmp_path / "kept.jsonl", **ways)
    dedup_files(batches[1], state=tmp_path / "state")
    kept = (tmp_path / "kept.jsonl").read_bytes()
    done = dedup_files(batches[0], tmp_path / "kept.jsonl", **ways).result
    assert done.summary.kept == kept.count(b"\n") > 0
    assert (tmp_path / "kept.jsonl").read_bytes() == kept
    with State.open(tmp_path / "state") as state:
        assert len(state.segments) == 2


def test_segments_are_not_merged_nor_forgotten_while_a_run_is_unfinished(batches, tmp_path, interrupted_at):
    dedup_files(batches[0], state=tmp_path / "state")
    with interrupted_at(Journal, "finish"):
        dedup_files(batches[1], tmp_path / "kept.jsonl", state=tmp_path / "state")
    with State.open(tmp_path / "state", write=True) as state:
        for change in (state.compact, state.forget_last):
            with pytest.raises(StorageRefused, match=r"has an unfinished run; start it again, so that it ends, or"):
                change()
        assert len(state.segments) == 2
    done = dedup_files(batches[1], tmp_path / "kept.jsonl", state=tmp_path / "state").result
    assert done.summary.kept == (tmp_path / "kept.jsonl").read_bytes().count(b"\n") > 0
    with State.open(tmp_path / "state", write=True) as state:
        state.compact()
        assert len(state.segments) == 1


def test_pages_of_a_state_are_extracted_in_one_way(tmp_path, batches, monkeypatch):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<title>Bees</title><p>They have left the harbour.")
    dedup_files(batches[0], state=tmp_path / "state")
    main = Extraction(view="main")
    dedup_files([tmp_path / "pages"], state=tmp_path / "state", extraction=main)  # the first pages decide
    dedup_files(batches[1], state=tmp_path / "state")  # no pages
    with pytest.raises(StorageRefused, match="the text view main, and the new ones in the text view visible"):
        dedup_files([tmp_path / "pages"], against=tmp_path / "state", extraction=Extraction(view="visible"))
    monkeypatch.setattr(extraction, "installed", lambda: "resiliparse 9")
    with pytest.raises(StorageRefused, match="the new ones are read by resiliparse 9"):
        dedup_files([tmp_path / "pages"], state=tmp_path / "state", extraction=main)


def test_pages_with_templates_of_another_version_are_refused_as_such(tmp_path, monkeypatch):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<title>Bees</title><p>They have left the harbour.")
    with_templates = Extraction(templates=HostTemplates((), rule_of(Extraction())))
    dedup_files([tmp_path / "pages"], state=tmp_path / "state", extraction=with_templates)
    monkeypatch.setattr(extraction, "installed", lambda: "resiliparse 9")
    for run in ({"state": tmp_path / "state"}, {"against": tmp_path / "state"}):
        with pytest.raises(
            StorageRefused, match=r"its pages were read by resiliparse .*, and the new ones are read by resiliparse 9"
        ):
            dedup_files([tmp_path / "pages"], **run)
    with State.open(tmp_path / "state", write=True) as state, pytest.raises(StorageRefused, match="by resiliparse 9"):
        state.compact()


def test_results_have_a_short_repr(batches, tmp_path):
    dedup_files(batches[0], state=tmp_path / "state")
    found = dedup_files(batches[1], against=tmp_path / "state")
    assert repr(found).startswith(f"FilesResult(documents={len(found.documents):,}, kept=")
    assert repr(found.result) == repr(found).replace("FilesResult", "StoredResult").replace(", rejected=0", "")


@pytest.mark.parametrize("code", [EACCES, EROFS])
def test_a_state_that_cannot_be_written_is_read_and_locked(batches, tmp_path, monkeypatch, code):
    dedup_files(batches[0], state=tmp_path / "state")
    expected = dedup_files(batches[1], against=tmp_path / "state").result.decisions
    system_open = os.open

    def opened(path, flags, *more, **options):
        if (tmp_path / "state") in Path(path).parents and flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(code, os.strerror(code), str(path))
        return system_open(path, flags, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", opened)
        found = dedup_files(batches[1], against=tmp_path / "state").result.decisions
        reader = State.open(tmp_path / "state")
        with pytest.raises(StorageFailed, match=os.strerror(code)):
            State.open(tmp_path / "state", write=True)
    assert found.equals(expected)
    with reader, pytest.raises(StorageBusy, match="is using it"):
        State.open(tmp_path / "state", write=True)
    (tmp_path / "state" / "state.lock").unlink()
    monkeypatch.setattr(os, "open", opened)
    with State.open(tmp_path / "state") as state:  # a copy without the lock file
        assert len(state.segments) == 1


def test_runs_with_a_state_do_not_load_indexes(batches, tmp_path):
    program = (
        "import sys, neardup; neardup.dedup_files([sys.argv[1]], state='state', threads=1);"
        "neardup.dedup_files([sys.argv[2]], against='state', threads=1);"
        "print([name for name in sys.modules if name.startswith('neardup.pipeline.index')])"
    )
    command = [sys.executable, "-c", program, batches[0][0], batches[1][0]]
    assert subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=tmp_path).stdout == "[]\n"


@pytest.mark.parametrize("merged", [True, False])
def test_a_state_that_was_closed_or_opened_to_read_is_not_changed(tmp_path, merged):
    (tmp_path / "a.jsonl").write_text(
        '{"id": "a", "text": "one two three four"}\n{"id": "b", "text": "five six seven"}\n'
    )
    (tmp_path / "c.jsonl").write_text('{"id": "c", "text": "eight nine ten eleven"}\n')
    dedup_files([tmp_path / "a.jsonl"], state=tmp_path / "state")
    with (
        State.open(tmp_path / "state") as read,
        pytest.raises(StorageRefused, match="was opened to read; open it with"),
    ):
        read.compact() if merged else read.forget(["a"])
    with State.open(tmp_path / "state", write=True) as written:
        pass
    dedup_files([tmp_path / "c.jsonl"], state=tmp_path / "state")
    for closed in (read, written):
        for use in (closed.check, closed.bytes, closed.compact, lambda own=closed: own.forget(["a"]), closed.__enter__):
            with pytest.raises(StorageRefused, match="is closed; open it again"):
                use()
        with Index.create() as index, pytest.raises(StorageRefused, match="is closed"):
            index.fill(closed)
    with State.open(tmp_path / "state") as state:
        assert [part.documents for part in state.segments] == [2, 1]


@pytest.mark.parametrize("write", [True, False])
def test_a_state_that_is_dropped_is_not_locked(tmp_path, write):
    (tmp_path / "a.jsonl").write_text('{"text": "one two three four"}\n')
    dedup_files([tmp_path / "a.jsonl"], state=tmp_path / "state")
    dropped = State.open(tmp_path / "state", write=write)
    del dropped
    gc.collect()
    with State.open(tmp_path / "state", write=True):
        pass


def test_a_state_is_used_after_the_working_directory_changed(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text(
        '{"id": "a", "text": "one two three four"}\n{"id": "b", "text": "five six seven"}\n'
    )
    dedup_files([tmp_path / "a.jsonl"], state=tmp_path / "state")
    monkeypatch.chdir(tmp_path)
    with State.open("state", write=True) as state:
        assert state.folder == Path("state")  # as it was named
        monkeypatch.chdir("/")
        state.check()
        assert state.bytes() > 0
        assert state.forget(["a"]).removed == 1
        state.compact()
        with Index.create() as index:
            index.fill(state)
            assert [*index.ids()] == ["b"]
        assert state.folder == tmp_path / "state"
