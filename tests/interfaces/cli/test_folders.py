import shutil
from pathlib import Path

import pytest

from neardup.interfaces.cli import main

TEXTS = "".join(f'{{"id": "{name}", "text": "the {name} of this harbour"}}\n' for name in ("boats", "pilots"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a folder of each kind, once."""
    folder = tmp_path_factory.mktemp("kinds")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("pages.jsonl").write_text(TEXTS)
        Path("empty").mkdir()
        assert main(["index", "pages.jsonl", "--to", "seen"]) == 0
        assert main(["dedup", "pages.jsonl", "--out", "kept.jsonl", "--state", "crawls"]) == 0
        assert main(["dedup", "pages.jsonl", "--out", "kept2.jsonl", "--work", "run", "--keep-work"]) == 0
    return folder


@pytest.fixture
def kinds(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "stats crawls",
            "has no manifest; it is a state; to describe it and list the inputs of its runs: neardup state info crawls",
        ),
        ("rescue crawls new", "to make an index of it: neardup index --from crawls --to DIR"),
        ("compact run", "it is the work folder of a run; to audit the run: neardup audit INPUT ... --of run"),
        (
            "rescue empty new",
            "empty is not an index: it has no manifest; to create an index: neardup index INPUT --to DIR",
        ),
        ("rescue pages.jsonl new", "is a file, not the folder of an index; to create an index: neardup index"),
        ("rescue none new", "there is nothing at this path; to create an index: neardup index"),
        ("index pages.jsonl --to crawls", "is a state; name another folder for an index, and fill it from the state"),
        (
            "state info seen",
            "seen: it is an index, not a state of neardup; to describe it: neardup stats seen; to list",
        ),
        (
            "dedup pages.jsonl --out new.jsonl --state seen",
            "to compare with it: neardup dedup INPUT --out KEPT --against seen",
        ),
        (
            "state info run",
            "run: it is not a state of neardup; it is the work folder of a run; to audit the run: neardup audit",
        ),
        (
            "state info empty",
            "it is not a state of neardup; to create a state: neardup dedup INPUT --out KEPT --state DIR",
        ),
        ("state info pages.jsonl", "pages.jsonl: it is a file; a state is a folder; to create a state: neardup dedup"),
        ("state compact none", "none: there is no such folder; to create a state: neardup dedup"),
        ("dedup pages.jsonl --out new.jsonl --state .", "it is not a state of neardup; to create a state: neardup"),
        ("dedup pages.jsonl --dry-run --against run", "--against run is the work folder of a run; compare with a"),
        ("state forget pages.jsonl --before 2020-01-01", "it is a file; a state is a folder"),
        (
            "work seen",
            "it is not a work folder: it contains 'log-00000001'; it is an index; to describe it: neardup stats",
        ),
        ("work .", "it is not a work folder: it contains 'crawls'; name a new folder for --work"),
        (
            "pairs pages.jsonl --out new.jsonl --work crawls",
            "it is a state; to describe it and list the inputs of its runs: neardup state info crawls",
        ),
        ("pairs pages.jsonl --out new.jsonl --work pages.jsonl", "pages.jsonl: it is a file; name a new folder"),
        ("dedup pages.jsonl --out new.jsonl --work pages.jsonl", "pages.jsonl: it is a file; name a new folder"),
        ("audit pages.jsonl --of empty", "empty is not a kept work folder or the folder of a report"),
        (
            "audit pages.jsonl --of crawls",
            "crawls is not a kept work folder or the folder of a report; name the report",
        ),
        (
            "audit pages.jsonl --of seen",
            "--of seen is an index, which does not record a run; name the report of the run, or leave out --of",
        ),
        ("remove seen --ids crawls", "crawls: it is a folder, not a file; it is a state; to describe it"),
        ("remove seen --ids empty", "empty: it is a folder, not a file; name a file in it"),
        ("remove seen --ids *.jsonl", "*.jsonl: there is no such file"),
        ("dedup pages.jsonl --dry-run --key-file empty", "the key cannot be read: Is a directory; name a file in it"),
        ("dedup pages.jsonl --dry-run --common empty", "cannot be read: Is a directory; name a file in it"),
        ("pairs pages.jsonl --out empty", "and the output is a file; name a file in it\n"),
        ("config check empty", "empty: the settings cannot be read: Is a directory; name a file in it"),
    ],
)
def test_the_command_for_this_kind_of_folder(neardup, command, words):
    assert words in neardup(*command.split(), code=2).err


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("seen", "to list its documents: neardup export seen --to FILE"),
        ("crawls", "to describe it and list the inputs of its runs: neardup state info crawls"),
        ("run", "it is the work folder of a run; to audit the run: neardup audit"),
    ],
)
def test_a_folder_of_neardup_is_no_input(neardup, folder, words):
    assert words in neardup("dedup", folder, "--dry-run", code=1).err


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize(
    "command",
    [
        "dedup {0} --out new.jsonl",
        "dedup pages.jsonl --dry-run --stop-words {0}",
        "mirrors {0} --out new.jsonl",
        "dedup pages.jsonl --out {0}",
        "dedup pages.jsonl --out {0}/new.jsonl",
        "dedup pages.jsonl --dry-run --work {0}",
        "dedup pages.jsonl --out new.jsonl --state {0}",
        "dedup pages.jsonl --dry-run --against {0}",
        "dedup pages.jsonl --dry-run --config {0}",
        "index pages.jsonl --to {0}",
        "work {0}",
        "copy seen {0}",
        "check {0}",
        "serve {0}",
    ],
)
def test_a_name_that_no_file_can_have_is_wrong_usage(neardup, tmp_path, command):
    before = {*tmp_path.rglob("*")}
    refused = neardup(*command.format("x" * 256).split(), code=2).err
    assert "xxx" in refused
    assert refused.endswith(": its name is too long for the file system; choose a shorter one\n")
    assert {*tmp_path.rglob("*")} == before
