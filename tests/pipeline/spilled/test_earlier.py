import json

import numpy as np
import pytest

from neardup import dedup_files
from neardup.model.errors import DataError, OutputError
from neardup.pipeline.spilled import run
from neardup.pipeline.spilled.earlier import Earlier
from neardup.pipeline.spilled.state import State


def test_no_segments_have_no_leaders():
    nothing = Earlier()
    assert (len(nothing), nothing.sizes, nothing.ids()) == (0, [], [])
    assert nothing.column("equal", np.uint64).tolist() == nothing.representatives.tolist() == []
    assert nothing.settled().shape == (5, 0)


def test_leaders_are_numbered_from_best_to_worst(batches, tmp_path):
    rows = []
    for batch in batches:
        rows += dedup_files(batch, state=tmp_path / "state").result.decisions.to_pylist()
    with State.open(tmp_path / "state") as state:
        earlier = state.earlier()
    ids = [one for chunk in earlier.ids() for one in chunk.to_pylist()]
    by_id = {row["id"]: row for row in rows}
    for one, number in zip(ids, earlier.representatives.tolist(), strict=True):
        assert by_id[one]["representative"] == (None if number < 0 else ids[number])
    for number, other, common, size, of_other in earlier.settled().T.tolist():
        row = by_id[ids[number]]
        assert row["representative"] == ids[other]
        assert row["resemblance"] == common / (size + of_other - common)
    found = {}
    for shard in range(len(earlier.sizes)):
        leaders, places = earlier.kept_of(shard)
        texts = [text for piece in earlier.pieces(shard) for text in piece.texts.to_pylist()]
        found |= {ids[leader]: texts[place] for leader, place in zip(leaders.tolist(), places.tolist(), strict=True)}
    lines = [json.loads(line) for batch in batches for path in batch for line in path.read_text().splitlines()]
    texts = {line["id"]: line["text"] for line in lines}
    kept = [one for one, number in zip(ids, earlier.representatives.tolist(), strict=True) if number < 0]
    assert found == {one: texts[one] for one in kept}
    lengths = earlier.column("length", np.int64)[earlier.representatives < 0]
    assert lengths.tolist() == [len(texts[one].encode()) for one in kept]


def test_texts_that_are_gone_are_named_and_nothing_is_added(batches, tmp_path, monkeypatch):
    dedup_files(batches[0], state=tmp_path / "state")
    moved = batches[0][0].rename(tmp_path / "moved.jsonl")
    copies = tmp_path / "copies.jsonl"
    texts = [{**json.loads(line), "title": "other"} for line in moved.read_text().splitlines()]
    for text in texts:
        text["text"] = f"{text['text']} and more" if text["text"] else None
    copies.write_text("".join(json.dumps(text) + "\n" for text in texts))
    with pytest.raises(DataError, match=r"batch00\.jsonl.*moved or changed since"):
        dedup_files([copies], state=tmp_path / "state")
    with State.open(tmp_path / "state") as state:
        assert len(state.segments) == 1
    moved.rename(batches[0][0])
    monkeypatch.setattr(run, "sign", lambda *_: 1 / 0)  # it continues
    assert dedup_files([copies], state=tmp_path / "state").result.summary.known > 0


def test_texts_are_read_again_with_the_fields_that_are_wanted(batches, tmp_path):
    dedup_files(batches[0], state=tmp_path / "state")
    dedup_files(batches[1], state=tmp_path / "state")
    with State.open(tmp_path / "state") as state:
        earlier = state.earlier().with_fields(["title"])
    lines = [json.loads(line) for batch in batches[:2] for path in batch for line in path.read_text().splitlines()]
    titles = [
        title
        for shard in range(len(earlier.sizes))
        for piece in earlier.pieces(shard)
        for title in piece.column("title").to_pylist()
    ]
    assert titles == [line["title"] for line in lines]
    assert [earlier.segment_of(shard) for shard in range(len(earlier.sizes))] == [0, 0, 1, 1]


@pytest.mark.parametrize("target", ["out", "report", "mark", "folder"])
@pytest.mark.parametrize("way", ["state", "against"])
def test_inputs_of_earlier_runs_are_not_replaced(batches, tmp_path, target, way):
    dedup_files(batches[0], state=tmp_path / "state")
    before = batches[0][0].read_bytes()
    name, path = ("out", tmp_path) if target == "folder" else (target, batches[0][0])
    new = batches[1]
    if target == "folder":
        (tmp_path / "new").mkdir()
        new = [one.rename(tmp_path / "new" / old.name) for one, old in zip(new, batches[0], strict=True)]
    with pytest.raises(OutputError, match="it is an input of an earlier run, which later runs"):
        dedup_files(new, **{name: path, way: tmp_path / "state"}, force=True)
    assert batches[0][0].read_bytes() == before
