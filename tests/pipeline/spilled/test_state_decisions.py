"""What the runs of a state decided is what their reports have: audits of both are equal."""

import json
from datetime import UTC, datetime

import pytest
from audits import LEAKY, TEXTS, written

from neardup import DataError, FracMinHash, MinHash, ParameterError, SimHash, audit_files, dedup_files
from neardup.errors import StorageRefused
from neardup.pipeline.spilled import addition
from neardup.pipeline.spilled.earlier import RunInputs
from neardup.pipeline.spilled.state import State


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


@pytest.fixture
def with_equals(files, tmp_path):
    """Write a third file, with equal texts, and texts that have no words."""
    texts = [*TEXTS[::3], *TEXTS[:9], "", "", "  ", "!!", "!!", "?!"]
    lines = [json.dumps({"id": f"e{n}", "text": text, "score": n % 7}) for n, text in enumerate(texts)]
    (tmp_path / "c.jsonl").write_text("\n".join(lines) + "\n")
    return [*files, tmp_path / "c.jsonl"]


@pytest.mark.parametrize("keep", ["first", "last", "max:score,longest"])
@pytest.mark.parametrize("scheme", [LEAKY, SimHash(rule="cosine", threshold=0.7), FracMinHash(threshold=0.8)])
def test_a_state_is_audited_as_the_report_of_its_run(with_equals, tmp_path, keep, scheme):
    report, state = tmp_path / "why.parquet", tmp_path / "state"
    dedup_files(with_equals, report=report, state=state, scheme=scheme, keep=keep)
    for sample in (60, 2_000):
        expected = audit_files(with_equals, report, scheme=scheme, keep=keep, sample=sample)
        assert audit_files(with_equals[::-1], state, sample=sample) == expected
        assert audit_files(with_equals, state, scheme=scheme, sample=sample) == expected
    assert expected.recall.value is not None


@pytest.mark.parametrize("verify", ["estimate", "none"])
def test_a_state_without_verified_texts_is_audited_as_the_report_of_its_run(with_equals, tmp_path, verify):
    report, state = tmp_path / "why.parquet", tmp_path / "state"
    dedup_files(with_equals, report=report, state=state, scheme=LEAKY, verify=verify)
    assert audit_files(with_equals, state) == audit_files(with_equals, report, scheme=LEAKY)


def test_all_runs_of_a_state_are_audited_together(with_equals, tmp_path):
    report, state = tmp_path / "why.parquet", tmp_path / "state"
    dedup_files(with_equals, report=report, scheme=LEAKY)
    expected = audit_files(with_equals, report, scheme=LEAKY, sample=150)
    for path in with_equals:
        dedup_files([path], state=state, scheme=LEAKY)
    assert audit_files(with_equals, state, sample=150) == expected
    with State.open(state, write=True) as opened:
        opened.compact()
    assert audit_files(with_equals, state, sample=150) == expected
    with pytest.raises(DataError, match=r"have read; also name '.*b.jsonl', '.*c.jsonl' as inputs"):
        audit_files(with_equals[:1], state)


def test_a_state_knows_its_ranks_unless_an_earlier_version_wrote_it(files, tmp_path, monkeypatch):
    report, state = tmp_path / "why.parquet", tmp_path / "state"
    monkeypatch.setattr(addition, "RunInputs", lambda shards, edges, _: RunInputs(shards, edges))
    dedup_files(files, report=report, state=state, scheme=LEAKY, keep="last")
    with pytest.raises(ParameterError, match="is not that of the run"):
        audit_files(files, state)
    assert audit_files(files, state, keep="last") == audit_files(files, report, scheme=LEAKY, keep="last")


def test_other_inputs_and_schemes_than_those_of_a_state_are_refused(files, tmp_path):
    state, other = tmp_path / "state", tmp_path / "other.jsonl"
    with pytest.raises(StorageRefused, match="there is no such folder"), State.open(state):
        pass
    dedup_files(files, state=state, scheme=LEAKY)
    other.write_text('{"id": "x", "text": "a text of its own"}\n')
    with pytest.raises(DataError, match=r"other\.jsonl.*is not an input of the state"):
        audit_files([*files, other], state)
    with pytest.raises(StorageRefused, match=r"with other settings.*; use the same, or leave them out"):
        audit_files(files, state, scheme=MinHash())
    with State.open(state, write=True) as opened:
        opened.forget(["d3"])
    with pytest.raises(DataError, match="document 'd3' was forgotten; what a run missed"):
        audit_files(files, state)
    with files[0].open("a") as file:
        file.write("{}\n")
    with pytest.raises(DataError, match=r"a\.jsonl.*it was moved or changed since it was added; restore it with"):
        audit_files(files, state)
    with State.open(state, write=True) as opened:
        opened.forget(before=datetime.now(UTC))
    with pytest.raises(DataError, match="all its documents were forgotten, so it cannot be audited; audit the report"):
        audit_files(files, state)


def test_a_state_has_recorded_which_copies_stay(files, tmp_path):
    state, report = tmp_path / "state", tmp_path / "why.parquet"
    dedup_files(files, state=state, report=report, scheme=LEAKY, keep="longest")
    with pytest.raises(ParameterError, match=r"keep='first' is not that of the runs .* has recorded 'longest'"):
        audit_files(files, state, keep="first")
    assert audit_files(files, state, keep="longest") == audit_files(files, state)


def test_a_state_with_a_key_needs_it(files, tmp_path):
    state, report = tmp_path / "state", tmp_path / "why.parquet"
    secret = MinHash(recall=0.5).with_key(bytes(range(16)))
    dedup_files(files, state=state, report=report, scheme=secret)
    with pytest.raises(StorageRefused, match="the state has a secret key: the same key is needed"):
        audit_files(files, state)
    assert audit_files(files, state, key=bytes(range(16))) == audit_files(files, report, scheme=secret)


def test_a_state_without_words_has_nothing_to_miss(tmp_path):
    (tmp_path / "blank.jsonl").write_text('{"text": " "}\n' * 3)
    dedup_files([tmp_path / "blank.jsonl"], state=tmp_path / "state", scheme=LEAKY)
    found = audit_files([tmp_path / "blank.jsonl"], tmp_path / "state")
    assert (found.documents, found.sample, found.missed) == (3, 3, ())
