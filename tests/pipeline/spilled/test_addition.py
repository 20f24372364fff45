import numpy as np
from json_lines import write_lines

from neardup import dedup_files
from neardup.pipeline.spilled import files
from neardup.pipeline.spilled.state import State


def test_a_state_is_small(tmp_path):
    words = np.random.default_rng(1).integers(0, 50_000, (3000, 60))
    texts = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    write_lines(tmp_path / "some.jsonl", [{"id": str(number), "text": text} for number, text in enumerate(texts)])
    done = dedup_files([tmp_path / "some.jsonl"], state=tmp_path / "state")
    ids = sum(len(str(number)) + 8 for number in range(len(texts)))  # a large string has an offset of 8 bytes
    with State.open(tmp_path / "state") as state:
        assert state.bytes() - ids < 300 * done.result.summary.documents + 10_000


def test_a_run_that_is_interrupted_adds_its_documents_once(batches, tmp_path, interrupted_at):
    dedup_files(batches[0], state=tmp_path / "state")
    wanted = dedup_files(batches[1], against=tmp_path / "state").result.decisions
    for failing in ("_write", "_replace"):
        with interrupted_at(State, failing):
            dedup_files(batches[1], state=tmp_path / "state")
    with interrupted_at(files.Journal, "finish"):  # it was added, and that is not recorded
        dedup_files(batches[1], state=tmp_path / "state")
    found = dedup_files(batches[1], state=tmp_path / "state").result.decisions
    assert found.equals(wanted)
    with State.open(tmp_path / "state") as state:
        assert len(state.segments) == 2
    assert {path.name for path in (tmp_path / "state").iterdir()} == {
        "state.json",
        "state.lock",
        *(f"segment-{part.name}" for part in state.segments),
    }
