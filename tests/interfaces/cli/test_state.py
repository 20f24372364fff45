import json
from datetime import UTC, datetime

import pytest
from json_lines import write_lines

TEXTS = {
    "a": "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon",
    "b": "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf",
    "c": "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before night",
}


@pytest.fixture
def crawls(neardup, tmp_path):
    for name, ids in (("one", "ab"), ("two", "c")):
        write_lines(tmp_path / f"{name}.jsonl", [{"id": one, "text": TEXTS[one]} for one in ids])
    neardup("dedup", "one.jsonl", "--out", "kept1.jsonl", "--state", "crawls")
    return tmp_path


def test_new_documents_are_compared_with_earlier_ones(neardup, crawls):
    shown = neardup("dedup", "two.jsonl", "--out", "kept2.jsonl", "--report", "why.jsonl", "--state", "crawls")
    assert "1  of the dropped documents match a document of --state or --against" in shown.out
    assert "created" not in shown.out
    mistaken = neardup("dedup", "two.jsonl", "--out", "kept3.jsonl", "--state", "crawl").out
    assert "state crawl created: there were no earlier documents" in mistaken.splitlines()
    assert (crawls / "kept2.jsonl").read_text() == ""
    row = json.loads((crawls / "why.jsonl").read_text())
    assert (row["representative"], row["representative_position"]) == ("a", None)
    told = neardup("dedup", "two.jsonl", "--dry-run", "--against", "one.jsonl", "--json").json
    assert (told["known"], told["kept"]) == (1, 0)


def test_a_run_that_added_its_inputs_before_is_reported(neardup, crawls):
    run = ("dedup", "one.jsonl", "--out", "kept1.jsonl", "--state", "crawls", "--force")
    note = "all documents with a text were dropped: an earlier run with the state crawls has read the same paths"
    assert note in neardup(*run).err
    write_lines(crawls / "again.jsonl", [{"text": TEXTS["a"]}])
    assert neardup("dedup", "again.jsonl", "--out", "kept2.jsonl", "--state", "crawls").err == ""
    with (crawls / "one.jsonl").open("a") as file:
        file.write("\n" + json.dumps({"id": "new", "text": "Words that no earlier document has, of bread and rivers"}))
    assert note not in neardup(*run).err


def test_a_state_is_shown(neardup, crawls):
    shown = neardup("state", "info", "crawls").out
    assert "2  stored; the others are equal to one of these, or have nothing to compare" in shown
    assert "2  documents\n2  kept" in "\n".join(line.strip() for line in shown.splitlines())
    assert "one.jsonl" in shown
    neardup("dedup", "two.jsonl", "--out", "kept2.jsonl", "--state", "crawls")
    told = neardup("state", "info", "crawls", "--json").json
    assert (told["documents"], told["kept"], told["leaders"], len(told["segments"])) == (3, 2, 3, 2)
    told = neardup("state", "compact", "crawls", "--json").json
    assert [(one["documents"], one["leaders"], one["kept"]) for one in told["segments"]] == [(3, 3, 2)]
    assert (told["scheme"]["scheme"], told["verify"]) == ("minhash", "exact")


def test_the_last_run_is_forgotten(neardup, crawls):
    before = neardup("state", "info", "crawls").out
    neardup("dedup", "two.jsonl", "--out", "kept2.jsonl", "--state", "crawls")
    assert neardup("state", "info", "crawls").out != before
    forgotten = neardup("state", "forget", "crawls", "--last").out
    assert "1  document removed\n" in forgotten
    [line] = (line for line in forgotten.splitlines() if line.startswith("removed: "))
    assert "1 document from " in line
    assert line.endswith("two.jsonl")
    assert neardup("state", "info", "crawls").out.splitlines()[:-1] == before.splitlines()[:-1]


def test_documents_are_forgotten(neardup, crawls):
    neardup("dedup", "two.jsonl", "--out", "kept2.jsonl", "--state", "crawls")
    (crawls / "gone").write_text("z\n")
    assert "1  id not in the state: z\n" in neardup("state", "forget", "crawls", "--ids", "gone").out
    (crawls / "gone").write_text("a\n")
    assert neardup("state", "forget", "crawls", "--ids", "gone").out.split()[:3] == ["2", "documents", "removed"]
    assert (
        neardup("state", "forget", "crawls", "--before", datetime.now(UTC).isoformat(), "--json").json["removed"] == 1
    )
    assert neardup("state", "info", "crawls", code=0).out.split()[0] == "0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("info nothing", "no such folder"),
        ("forget crawls", "--before TIME or --last is needed"),
        ("info crawls --last", "--last can only be used with forget"),
        ("forget crawls --last --before 1d", "--before 1d cannot be used with --last; forget first by one"),
        ("forget crawls --last", "crawls has no earlier run, or only runs that were merged; to forget all"),
        ("forget crawls --ids gone --before 0h", "--ids gone cannot be used with --before; forget first"),
        ("info crawls --ids gone", "can only be used with forget"),
        ("forget crawls --before yesterday", "--before yesterday: the value must be a time such as 2026-01-31"),
        ("forget crawls --before 2999-01-01", "2999-01-01 is in the future, so everything would be"),
        ("forget crawls --before 0h", "--before 0h is now, so everything would be removed; to do that, write a"),
        ("info .", "not a state"),
    ],
)
def test_wrong_usage_is_reported(neardup, crawls, arguments, words):
    assert words in neardup("state", *arguments.split(), code=2).err


def test_options_that_do_not_fit_are_refused(neardup, crawls):
    one = ("dedup", "two.jsonl", "--out", "kept2.jsonl", "--state", "crawls")
    dry = ("dedup", "two.jsonl", "--dry-run", "--state", "crawls")
    assert "replace --state by --against, or leave out --dry-run" in neardup(*dry, code=2).err
    assert "threshold" in neardup(*one, "--threshold", "0.7", code=2).err
    assert (
        "cannot be used with --state crawls: compare with one of them per run"
        in neardup(*one, "--against", "one.jsonl", code=2).err
    )
    assert "--gather components cannot be used with --state" in neardup(*one, "--gather", "components", code=2).err


def test_inputs_of_earlier_runs_that_are_needed_and_moved(neardup, crawls):
    (crawls / "one.jsonl").rename(crawls / "moved.jsonl")
    err = neardup("dedup", "two.jsonl", "--out", "kept2.jsonl", "--state", "crawls", code=1).err
    assert "one.jsonl: its texts are needed again, but it was moved or changed" in err
    assert "or remove what its run added: neardup state forget DIR" in err
    (crawls / "gone").write_text("a\n")
    neardup("state", "forget", "crawls", "--ids", "gone")
    again = ("dedup", "two.jsonl", "--out", "kept2.jsonl", "--state", "crawls")
    assert "the same command with --restart begins again" in neardup(*again, code=2).err
    assert "1  kept" in neardup(*again, "--restart").out


def test_new_documents_are_compared_with_an_index(neardup, crawls):
    neardup("index", "one.jsonl", "--to", "signatures")
    shown = neardup("dedup", "two.jsonl", "--dry-run", "--against", "signatures", code=2).err
    assert "--against signatures is an index without texts; compare with a state, with files" in shown


def test_a_state_is_no_index(neardup, crawls):
    for verb in (["seen"], ["check"], ["search"]):
        shown = neardup(*verb, "crawls", *(["storm"] if verb == ["search"] else []), code=2).err
        assert "crawls is not an index: it has no manifest" in shown


def test_an_index_is_no_state(neardup, crawls):
    neardup("index", "one.jsonl", "--to", "pages")
    for verb in (("state", "info", "pages"), ("index", "--from", "pages", "--to", "new")):
        assert "pages: it is an index, not a state of neardup" in neardup(*verb, code=2).err


def test_a_file_is_no_work_folder(neardup, crawls):
    assert "one.jsonl: it is a file; name a new folder" in neardup("work", "one.jsonl", code=2).err


def test_a_missing_file_is_named_with_what_to_do(neardup, crawls):
    (path,) = (crawls / "crawls").glob("segment-*/ids.arrow")
    path.unlink()
    for command in (("dedup", "two.jsonl", "--dry-run", "--against", "crawls"), ("state", "info", "crawls")):
        shown = neardup(*command, code=1).err
        assert f"{path.relative_to(crawls)}: it is missing: restore the state from a copy, or make a new one" in shown


def test_a_damaged_index_has_one_advice(neardup, crawls):
    neardup("index", "one.jsonl", "--to", "found", "--texts")
    log = next((crawls / "found").glob("log-*"))
    log.write_bytes(log.read_bytes()[:60])
    content = bytearray(log.read_bytes())
    content[52] ^= 1
    log.write_bytes(content)
    assert "; restore the index from a copy; or run neardup check found" in neardup("stats", "found", code=1).err


@pytest.mark.usefixtures("permissions")
def test_a_file_that_the_user_may_not_read_is_named(neardup, crawls):
    (crawls / "crawls" / "state.json").chmod(0)
    shown = neardup("dedup", "two.jsonl", "--dry-run", "--against", "crawls", code=1).err
    assert "neardup: crawls/state.json cannot be read: Permission denied; change its permissions" in shown


@pytest.mark.usefixtures("permissions")
def test_a_folder_that_the_user_may_not_enter_is_named(neardup, crawls):
    (crawls / "crawls").chmod(0)
    for command in (("dedup", "two.jsonl", "--dry-run", "--against"), ("audit", "two.jsonl", "--of")):
        assert "neardup: crawls cannot be read: Permission denied" in neardup(*command, "crawls", code=1).err
    (crawls / "crawls").chmod(0o755)


def test_an_unknown_action_is_refused(neardup, crawls):
    assert neardup("state", "purge", "crawls", code=2).err.startswith("neardup: action: invalid choice: 'purge'")
