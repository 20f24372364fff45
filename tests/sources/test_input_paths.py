import os
import time

import pytest

from neardup.model.errors import OutputRefused
from neardup.sources.input_paths import InputPaths


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("folder/sub/a.txt", "deep/in/b.jsonl", "c.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link.jsonl").symlink_to("c.jsonl")
    os.link("c.jsonl", "hard.jsonl")
    return InputPaths(["folder", "deep/in/b.jsonl", "c.jsonl", "-", "memory:///x/d.jsonl"])


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("c.jsonl", "it is one of the inputs"),
        ("deep/../c.jsonl", "it is one of the inputs"),
        ("link.jsonl", "it is one of the inputs"),
        ("hard.jsonl", "it is one of the inputs"),
        ("folder", "it is one of the inputs"),
        ("folder/new/x.jsonl", "it is inside the input folder folder"),
        ("deep", "it contains the input deep/in/b.jsonl"),
        ("memory://x/d.jsonl", "it is one of the inputs"),
        ("memory:///x/d.jsonl", "it is one of the inputs"),
    ],
)
def test_outputs_are_apart_from_inputs(inputs, path, rule):
    with pytest.raises(OutputRefused, match=f"^{path}: {rule}; name a path elsewhere$"):
        inputs.check(path)


@pytest.mark.parametrize("path", ["new.jsonl", "deep/in/new.jsonl", "folder2", "memory://x/e.jsonl", "none/c.jsonl"])
def test_other_places_are_accepted(inputs, path):
    assert inputs.check(path) is None


def test_many_outputs_are_compared_with_many_inputs_in_linear_time(tmp_path):
    paths = [str(tmp_path / f"{number}.jsonl") for number in range(4000)]
    begin = time.process_time()
    inputs = InputPaths(paths)
    for path in paths:
        inputs.check(f"{path}.out")
    assert time.process_time() - begin < 10  # 16 million pairs take minutes
