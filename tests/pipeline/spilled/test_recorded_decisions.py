"""What a run decided is in its report and in its work folder: audits of both are equal."""

import os
from itertools import product

import pytest
from audits import LEAKY, TEXTS, written
from json_lines import write_lines

from neardup import (
    CommonShingles,
    FracMinHash,
    MinHash,
    SimHash,
    audit,
    audit_files,
    dedup_files,
    pair_files,
)
from neardup.engines.files import locked
from neardup.engines.journal import Journal
from neardup.errors import (
    DataError,
    OutputError,
    ParameterError,
    RunChanged,
    StorageBusy,
    StorageDamaged,
    StorageRefused,
)
from neardup.pipeline.spilled import files as module
from neardup.pipeline.spilled import output_records
from neardup.pipeline.spilled.workers import work_on


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


@pytest.mark.parametrize("keep", ["first", "max:score,longest"])
@pytest.mark.parametrize("scheme", [LEAKY, SimHash(rule="cosine", threshold=0.7), FracMinHash(threshold=0.8)])
def test_a_kept_work_folder_is_audited_as_the_report_of_its_run(files, tmp_path, keep, scheme):
    report, work = tmp_path / "why.parquet", tmp_path / "work"
    dedup_files(files, report=report, work=work, keep_work=True, scheme=scheme, keep=keep)
    for sample in (60, 2_000):
        expected = audit_files(files, report, scheme=scheme, keep=keep, sample=sample)
        assert audit_files(files[::-1], work, sample=sample) == expected
        assert audit_files(files, work, scheme=scheme, keep=keep, sample=sample) == expected
    assert expected.recall.value is not None


@pytest.mark.parametrize("options", [{"verify": "estimate"}, {"gather": "components"}, {"ignore_common": 0.5}])
def test_other_policies_are_audited_as_the_report_of_their_run(files, tmp_path, options):
    report, work = tmp_path / "why.parquet", tmp_path / "work"
    done = dedup_files(files, report=report, work=work, keep_work=True, scheme=LEAKY, **options)
    common = done.result.summary.common
    expected = audit_files(files, report, scheme=LEAKY if common is None else LEAKY.with_common(common))
    assert audit_files(files, work) == audit_files(files, work, scheme=LEAKY) == expected


def test_a_run_that_was_interrupted_after_its_decisions_is_audited_and_continues(files, tmp_path, interrupted_at):
    work, out = tmp_path / "work", tmp_path / "kept.jsonl"
    expected = audit_files(files, scheme=LEAKY)
    with interrupted_at(output_records, "write"):
        dedup_files(files, out, work=work, scheme=LEAKY)
    assert audit_files(files, work) == expected
    assert audit_files(files, work) == expected
    dedup_files(files, out, work=work, scheme=LEAKY)
    assert len(out.read_bytes().splitlines()) < len(TEXTS)
    assert not work.exists()
    with pytest.raises(DataError, match="work"):
        audit_files(files, work)


def test_a_run_that_has_not_decided_is_refused(files, tmp_path, interrupted_at):
    work = tmp_path / "work"
    for name in ("_begun", "decided"):
        with interrupted_at(module, name):
            dedup_files(files, work=work)
        with pytest.raises(StorageRefused, match="its run has not decided yet; continue it with the same command"):
            audit_files(files, work)
    dedup_files(files, work=work)
    assert not work.exists()


def test_another_threshold_has_not_been_decided(files, tmp_path, interrupted_at):
    work = tmp_path / "work"
    dedup_files(files, work=work, keep_work=True, threshold=0.9)
    with interrupted_at(module, "decided"):
        dedup_files(files, work=work, threshold=0.7)
    with pytest.raises(StorageRefused, match="has not decided yet"):
        audit_files(files, work)
    dedup_files(files, work=work, keep_work=True, threshold=0.7)
    assert audit_files(files, work).threshold == 0.7


def test_other_inputs_and_settings_are_refused(files, tmp_path):
    work = tmp_path / "work"
    dedup_files(files, work=work, keep_work=True, scheme=LEAKY, keep="last")
    other = write_lines(tmp_path / "other.jsonl", [{"id": "x", "text": "one two three four"}])
    with pytest.raises(DataError, match=r"other\.jsonl is not an input of both the audit and its run"):
        audit_files([*files, other], work)
    with pytest.raises(DataError, match=r"b\.jsonl is not an input of both the audit and its run"):
        audit_files(files[:1], work)
    with pytest.raises(ParameterError, match="is not that of the run, which has recorded 'last'"):
        audit_files(files, work, keep="first")
    with pytest.raises(
        StorageRefused, match="was created with other settings: scheme was minhash and is simhash; use the"
    ):
        audit_files(files, work, scheme=SimHash())
    files[1].write_text("".join(line + "\n" for line in files[1].read_text().splitlines()[:-1]))
    with pytest.raises(DataError, match=r"b.jsonl: it was changed after the run had begun"):
        audit_files(files, work)


@pytest.mark.parametrize("common", [None, 0.5])
def test_a_run_with_a_secret_key_needs_it(files, tmp_path, common):
    work, scheme = tmp_path / "work", MinHash(key=bytes(16))
    dedup_files(files, work=work, keep_work=True, scheme=scheme, ignore_common=common)
    for given, code in (
        ({}, "key needed"),
        ({"key": bytes(15) + b"1"}, "other key"),
        ({"scheme": MinHash()}, "key needed"),
    ):
        with pytest.raises(StorageRefused, match="was created with") as caught:
            audit_files(files, work, **given)
        assert caught.value.code == code
    assert audit_files(files, work, key=bytes(16)) == audit_files(files, work, scheme=scheme)


def test_inputs_are_found_from_another_folder(files, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    dedup_files([path.name for path in files], work="work", keep_work=True, scheme=LEAKY)
    expected = audit_files(files, scheme=LEAKY)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert audit_files([f"../{path.name}" for path in files], "../work") == expected
    (tmp_path / "elsewhere" / "a.jsonl").write_bytes(files[0].read_bytes())
    with pytest.raises(DataError, match="is not an input of both"):
        audit_files(["a.jsonl", files[1]], "../work")


def test_a_run_in_progress_and_other_runs_are_refused(files, tmp_path, monkeypatch):
    work = tmp_path / "work"
    dedup_files(files, work=work, keep_work=True)
    lock = locked(work / "coordinator.lock")
    with pytest.raises(StorageBusy, match="is using it; wait until that ends"):
        audit_files(files, work)
    os.close(lock)
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "finish", lambda _, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        for name, options in (("s", {"state": tmp_path / "state"}), ("f", {"against": files[1:]})):
            with pytest.raises(KeyboardInterrupt):
                dedup_files(files[:1], work=tmp_path / name, **options)
            with pytest.raises(StorageRefused, match="its run compared with documents of other runs or files; audit"):
                audit_files(files[:1], tmp_path / name)
        with pytest.raises(KeyboardInterrupt):
            pair_files(files, out=tmp_path / "pairs.parquet", work=tmp_path / "p")
    with pytest.raises(StorageRefused, match="its run finds all pairs, which leaves nothing to audit"):
        audit_files(files, tmp_path / "p")
    (tmp_path / "p" / "terms.json").write_text("{}")
    with pytest.raises(StorageDamaged, match=r"terms.json: it is damaged"):
        audit_files(files, tmp_path / "p")


def test_the_next_run_in_a_kept_folder_writes_outputs_of_its_own(files, tmp_path, monkeypatch):
    work, out = tmp_path / "work", tmp_path / "kept.jsonl"
    dedup_files(files, out, work=work, keep_work=True)
    content = out.read_bytes()
    assert work_on(work, idle=0.1).ended == "finished"
    out.write_text("mine")
    with pytest.raises(OutputError, match=r"kept.jsonl: it exists already"):
        dedup_files(files, out, work=work, keep_work=True)
    assert out.read_text() == "mine"
    monkeypatch.setattr("neardup.pipeline.spilled.run.sign", lambda *_: pytest.fail("it was read again"))
    dedup_files(files, out, work=work, keep_work=True, force=True)
    assert out.read_bytes() == content
    out.unlink()
    dedup_files(files, out, work=work, keep_work=True)
    assert out.read_bytes() == content
    dedup_files(files, tmp_path / "other.jsonl", work=work, threshold=0.9)
    assert (tmp_path / "other.jsonl").read_bytes() != content
    assert not work.exists()


def test_a_kept_folder_is_of_its_run_only(files, tmp_path):
    work, out = tmp_path / "work", tmp_path / "kept.jsonl"
    dedup_files(files, work=work, keep_work=True)
    with pytest.raises(RunChanged, match=r"b.jsonl was left out"):
        dedup_files(files[:1], out, work=work)
    assert audit_files(files, work).documents == len(TEXTS)
    dedup_files(files[:1], out, work=work, restart=True)
    assert not work.exists()


def test_only_a_work_folder_that_was_named_is_kept(files, tmp_path):
    with pytest.raises(ParameterError, match="can only be used with a named work folder"):
        dedup_files(files, keep_work=True)
    for name, path in (("state", tmp_path / "s"), ("against", files[1])):
        with pytest.raises(ParameterError, match=f"keep_work=True cannot be used with {name}='.*{path.name}'"):
            dedup_files(files[:1], work=tmp_path / "w", keep_work=True, **{name: path})
        assert not path.is_dir()
    with pytest.raises(ParameterError, match="must be True or False"):
        dedup_files(files, work=tmp_path / "w", keep_work="yes")


def test_a_refused_run_leaves_a_kept_folder_as_it_is(files, tmp_path):
    work, out = tmp_path / "work", tmp_path / "kept.jsonl"
    dedup_files(files, out, work=work, keep_work=True, scheme=LEAKY)
    expected = audit_files(files, work)
    for options in ({}, {"threshold": 0.9}):
        with pytest.raises(OutputError, match="exists"):
            dedup_files(files, out, work=work, keep_work=True, scheme=LEAKY, **options)
        assert audit_files(files, work) == expected
    with pytest.raises(DataError, match="nowhere"):
        dedup_files(files, out, work=work, keep_work=True, scheme=LEAKY, keep="max:nowhere", force=True)
    assert audit_files(files, work) == expected


@pytest.mark.parametrize("name", ["representatives.raw", "order.raw", "rules.raw"])
def test_incomplete_files_are_named(files, tmp_path, name):
    work = tmp_path / "work"
    dedup_files(files, work=work, keep_work=True, scheme=LEAKY)
    [path] = work.rglob(name)
    for change in (lambda: path.write_bytes(path.read_bytes()[:40]), path.unlink):
        change()
        with pytest.raises(StorageRefused, match="missing or damaged; repeat the run"):
            audit_files(files, work)


def test_a_missing_record_is_noticed(files, tmp_path):
    dedup_files(files, work=tmp_path / "work", keep_work=True, scheme=LEAKY)
    next(tmp_path.glob("work/run-*/done/sign-*.json")).unlink()
    with pytest.raises(StorageRefused, match="missing or damaged; repeat the run"):
        audit_files(files, tmp_path / "work")


def test_standard_input_is_found_from_another_folder(files, tmp_path, piped, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    joined = b"".join(path.read_bytes() for path in files)
    for here in (other, tmp_path, other):
        monkeypatch.chdir(here)
        piped(joined)
        dedup_files(["-"], tmp_path / "kept.jsonl", work=os.path.relpath(tmp_path / "work"), keep_work=True, force=True)
        piped(joined)
        assert audit_files(["-"], tmp_path / "work").documents == len(TEXTS)


def test_damaged_tables_and_records_are_refused(files, tmp_path):
    work = tmp_path / "work"
    dedup_files(files, work=work, scheme=LEAKY, keep_work=True)
    path = next(work.glob("run-*/signed-*/ids-000000.arrow"))
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(StorageRefused, match=r"files of its run are missing or damaged; repeat the run"):
        audit_files(files, work)
    for content in (b"[" * 100_000, b"null", b'{"a": "\xff"}'):
        next(work.glob("run-*/done/split-*.json")).write_bytes(content)
        with pytest.raises(StorageDamaged, match=r"split--0.json"):
            audit_files(files, work)


def test_the_list_of_a_run_may_be_named_again(tmp_path):
    """The list that a run made or was given is the same list, in its report, and for audits of all that it left."""
    words = [f"word{number}" for number in range(400)]
    texts = [" ".join([*words[:30], *words[30 + 10 * at : 60 + 10 * at]]) for at in range(30)]
    source, report = tmp_path / "a.jsonl", tmp_path / "why.parquet"
    write_lines(source, [{"text": text} for text in [*texts, f"{texts[0]} more"]])
    found = dedup_files([source], ignore_common=0.5, work=tmp_path / "first", keep_work=True)
    common, plain = found.result.summary.common, MinHash()
    listed = plain.with_common(common)
    assert listed.with_common(common) == listed
    dedup_files([source], scheme=listed, work=tmp_path / "second", keep_work=True)
    again = dedup_files([source], scheme=listed, report=report)
    assert again.result.decisions.equals(found.result.decisions)
    expected = audit_files([source], report, scheme=listed)
    for folder, scheme in product(("first", "second"), (None, plain, listed)):
        assert audit_files([source], tmp_path / folder, scheme=scheme) == expected
    other = plain.with_common(
        CommonShingles.fitted([f"an other beginning {text}" for text in texts], plain.shingling, 0.5)
    )
    for folder in ("first", "second"):
        with pytest.raises(StorageRefused, match=r"common was .*; use the same settings$"):
            audit_files([source], tmp_path / folder, scheme=other)
    assert audit(again.result, [*texts, f"{texts[0]} more"], scheme=listed) == expected
