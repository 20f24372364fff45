import os
import re
import time
from pathlib import Path

import pytest

from neardup import Index, State, dedup_files, pair_files
from neardup.model.errors import OutputRefused
from neardup.pipeline.index.rescue import rescue
from neardup.sources.output_places import InputPaths, require_outside

LINE = '{"text": "one two three four five"}\n'


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("folder/sub/a.txt", "deep/in/b.jsonl", "c.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link.jsonl").symlink_to("c.jsonl")
    os.link("c.jsonl", "hard.jsonl")
    return InputPaths(["folder", "deep/in/b.jsonl", "c.jsonl", "-", "memory:///x/d.jsonl", "memory://folder"])


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("c.jsonl", "it is one of the inputs"),
        ("deep/../c.jsonl", "it is one of the inputs"),
        ("link.jsonl", "it is one of the inputs"),
        ("hard.jsonl", "it is one of the inputs"),
        ("folder", "it is one of the inputs"),
        ("folder/new/x.jsonl", "it is inside the input folder folder"),
        ("memory://folder/x.jsonl", "it is inside the input folder memory://folder"),
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


@pytest.mark.parametrize(
    ("pattern", "path", "refused"),
    [
        ("in/*.jsonl", "in/new.jsonl", True),
        ("./in/../in/*.jsonl", "in/new.jsonl", True),
        ("in/*.jsonl", "in/new.parquet", False),
        ("in/*.jsonl", "in/_new.jsonl", False),
        ("in/*.jsonl", "in/more", False),
        ("in/*.jsonl", "in/more/new.jsonl", False),
        ("in/*/*.jsonl", "in/more/", True),
        ("in/**/*.jsonl", "in/more/new.jsonl", True),
        ("in/*", "in/more", True),
        ("in/[1].jsonl", "in/1.jsonl", False),
        ("in/*/*.jsonl", "in/v1.0/", True),
        ("in/*", "in/sub/new.jsonl", True),
        ("in/*/", "in/new.jsonl", False),
        ("in/*/", "in/sub/new.jsonl", True),
        ("in/*", "in/_new.html", True),
        ("in/*", "in/_sub/new.jsonl", False),
        ("l*/*.jsonl", "link/new.jsonl", True),
        ("link/*.jsonl", "in/new.jsonl", True),
        ("*/../in/more/new.jsonl", "in/more/", True),
        ("memory://in/*.jsonl", "memory:///in/new.jsonl", True),
        ("memory://in/*.jsonl", "memory://new.jsonl", False),
        ("*", "memory://in/new.jsonl", False),
    ],
)
def test_an_output_that_a_pattern_of_the_inputs_matches_is_refused(tmp_path, monkeypatch, pattern, path, refused):
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("link").symlink_to("in")
    Path("in/[1].jsonl").write_text(LINE)  # a name, and not a pattern
    inputs = InputPaths([pattern])
    if not refused:
        inputs.check(path)
        return
    rule = f"{path}: it would be read as one of the files of {pattern}; name a path elsewhere"
    with pytest.raises(OutputRefused, match=f"^{re.escape(rule)}$"):
        inputs.check(path)


@pytest.mark.parametrize("work", [None, "work"])
def test_no_run_writes_where_its_patterns_would_read(tmp_path, monkeypatch, work):
    monkeypatch.chdir(tmp_path)
    for name in ("in/a.jsonl", "b.jsonl"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(LINE)
    for name in ("out", "report", "dropped", "mark"):
        for inputs, ways in ((["in/*.jsonl"], {}), (["b.jsonl"], {"against": "in/*.jsonl"})):
            with pytest.raises(OutputRefused, match="it would be read as one of the files of"):
                dedup_files(inputs, **{name: "in/new.jsonl"}, work=work, **ways)
    for inputs in ("memory://in", "memory://in/*.jsonl"):
        with pytest.raises(OutputRefused, match=r"it is inside .* memory://in|it would be read as .* memory://in/\*"):
            dedup_files([inputs], out="memory://in/new.jsonl", work=work)
    with pytest.raises(OutputRefused, match="it would be read as one of the files of"):
        dedup_files(["in/*"], learn_templates="in/templates.arrow", work=work)
    with pytest.raises(OutputRefused, match="it would be read as one of the files of"):
        pair_files(["in/*.jsonl"], out="in/new.jsonl", work="work")


def test_many_outputs_are_compared_with_many_inputs_in_linear_time(tmp_path):
    paths = [str(tmp_path / f"{number}.jsonl") for number in range(4000)]
    begin = time.process_time()
    inputs = InputPaths(paths)
    for path in paths:
        inputs.check(f"{path}.out")
    assert time.process_time() - begin < 10  # 16 million pairs take minutes


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(LINE)
    Index.create("index").close()
    dedup_files(["a.jsonl"], state="state")
    dedup_files(["a.jsonl"], work="work", keep_work=True)


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(("folder", "kind"), [("index", "index"), ("state", "state"), ("work", "work folder")])
def test_nothing_is_written_inside_the_folders_of_neardup(folder, kind):
    before = {*Path().rglob("*")}
    inside = f"{folder}/inside"
    with Index.open("index") as index:
        for attempt in (
            lambda: index.copy(inside),
            lambda: rescue("index", inside),
            lambda: Index.create(inside),
            lambda: dedup_files(["a.jsonl"], out=f"{inside}.jsonl"),
            lambda: dedup_files(["a.jsonl"], report=f"{inside}.html", page=lambda _: b""),
            lambda: dedup_files(["a.jsonl"], state=inside),
            lambda: dedup_files(["a.jsonl"], work=inside),
            lambda: pair_files(["a.jsonl"], out="p.jsonl", work=inside),
        ):
            rule = f"it is inside the {kind} {Path(folder).absolute()}, which is for its own files; name a path"
            with pytest.raises(OutputRefused, match=re.escape(rule)):
                attempt()
    assert {*Path().rglob("*")} == before


@pytest.mark.usefixtures("folders")
def test_the_work_folder_of_a_state_is_inside_it():
    require_outside("state/work")
    with pytest.raises(OutputRefused, match="it is inside the state"):
        require_outside("state/work/more")
    Path("b.jsonl").write_text(LINE)
    dedup_files(["b.jsonl"], state="state")
    with State.open("state") as state:
        assert len(state.segments) == 2


def test_folders_of_other_programs_are_not_recognised_by_one_name(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    require_outside(tmp_path / "kept.jsonl")


@pytest.mark.parametrize("state", ["new", "there"])
def test_an_output_is_not_inside_the_state_of_its_run(tmp_path, monkeypatch, state):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(LINE)
    Path("there").mkdir()
    with pytest.raises(OutputRefused, match="it must not be inside the state; name a path elsewhere"):
        dedup_files(["a.jsonl"], state=state, out=f"{state}/kept.jsonl")
