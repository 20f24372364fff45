"""Records of a work folder with other contents than those of their stage are made again, or refused by name."""

import json
import shutil

import pytest
from audits import written

from neardup import MinHash, audit_files, dedup_files
from neardup.errors import StorageDamaged


def places(tree):
    """Yield the containers and keys of a JSON tree."""
    for key in tree if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from places(tree[key])


@pytest.mark.parametrize("stage", ["split", "sign", "rank", "pair", "bucket", "arrange", "gather", "settle", "decide"])
@pytest.mark.parametrize("value", ["deleted", None, [{}], "x"])
def test_records_with_other_contents_are_not_used(tmp_path, stage, value):
    files = written(tmp_path)
    work, report, again = (tmp_path / name for name in ("work", "report.jsonl", "again.jsonl"))
    dedup_files(files, work=work, keep_work=True, report=report, scheme=MinHash())
    (path,) = list(work.glob(f"run-*/done/{stage}-*-0.json"))
    tree = json.loads(path.read_text())
    container, key = next((own, key) for own, key in places(tree) if key not in {"files", "shards", "request"})
    if value == "deleted":
        del container[key]
    else:
        container[key] = value
    path.write_text(json.dumps(tree))
    shutil.copytree(work, tmp_path / "copy")
    if stage in {"split", "sign", "decide"}:
        with pytest.raises(StorageDamaged, match=path.name):
            audit_files(files, tmp_path / "copy", sample=10)
    if stage == "split":  # everything depends on it
        with pytest.raises(StorageDamaged, match=path.name):
            dedup_files(files, work=work, keep_work=True, report=again, scheme=MinHash())
        return
    dedup_files(files, work=work, keep_work=True, report=again, scheme=MinHash())
    assert again.read_bytes() == report.read_bytes()


def test_shards_of_inputs_that_a_run_does_not_have_are_not_used(tmp_path):
    files, work = written(tmp_path), tmp_path / "work"
    dedup_files(files, work=work, keep_work=True, scheme=MinHash())
    (path,) = work.glob("run-*/done/split-*-0.json")
    tree = json.loads(path.read_text())
    tree["shards"]["shards"][-1][0] = len(files)
    path.write_text(json.dumps(tree))
    with pytest.raises(StorageDamaged, match=path.name):
        audit_files(files, work, sample=10)


def test_a_run_without_a_cap_is_one_of_the_run(tmp_path):
    made = dedup_files(written(tmp_path), work=tmp_path / "work", max_bytes=1 << 62)
    assert made.result.summary.documents
