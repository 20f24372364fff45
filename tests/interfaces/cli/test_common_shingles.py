"""Documents of one template on the command line: dedup tells, finds the list, keeps it, and an index takes it."""

import json

import pytest

OPENING = "Welcome to the harbour news. Subscribe, share, follow us, and read our privacy policy before you go on. "
OPENING += "Cookies help us to show you what you like; you can refuse them at the foot of each page. "
STORIES = [
    "A storm took three fishing boats",
    "Bakers ask for more rye this year",
    "Seven herons stood in the shallow water",
    "The mayor opened a bridge on Sunday",
]
DOCUMENTS = [OPENING + story for story in STORIES]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(DOCUMENTS)))
    return path


def test_a_list_is_made_saved_and_used_again(neardup, source):
    plain = json.loads(neardup("dedup", source, "--dry-run", "--json").out)
    assert (plain["kept"], plain["common"]) == (1, None)
    shown = neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz").out
    assert "shingles did not count: they are in more than 10% of 4 different documents (list " in shown
    again = json.loads(neardup("dedup", source, "--dry-run", "--common", "list.npz", "--json").out)
    assert again["kept"] == 4
    assert again["common"]["documents"] == 4
    assert again["common"]["id"] in shown
    assert (
        "exists" in neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz", code=2).err
    )
    neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz", "--force")


def test_an_index_keeps_the_list(neardup, source):
    neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz")
    added = json.loads(neardup("index", source, "--to", "seen", "--common", "list.npz", "--json").out)
    assert added["new"] == 4
    assert json.loads(neardup("index", source, "--to", "seen", "--json").out)["unchanged"] == 4
    neardup("index", source, "--to", "seen", "--common", "list.npz")
    assert "other minhash settings" in neardup("index", source, "--to", "seen", "--shingle", "3", code=2).err
    neardup("check", "seen")


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--ignore-common", "10"], "must be a number above 0 and below 1; for 10 % write 0.1", 2),
        (["--scheme", "checksum", "--common", "none.npz"], "--common cannot be used with --scheme checksum, which", 2),
        (["--ignore-common", "0.1", "--common", "list.txt"], "must end in .npz", 2),
        (["--ignore-common", "0.1", "--common", "no/list.npz"], "its folder does not exist", 2),
        (["--common", "none.npz"], "the common shingles cannot be read: No such file", 2),
        (["--common", "in.jsonl"], "is not a file of common shingles", 1),
        (["--scheme", "checksum", "--fields", "text", "--ignore-common", "0.1"], "cannot be used with checksum", 2),
    ],
)
def test_wrong_usage(neardup, source, options, message, code):
    assert message in neardup("dedup", source, "--dry-run", *options, code=code).err


def test_a_list_of_other_shingles_is_refused(neardup, source):
    neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz")
    shown = neardup("dedup", source, "--dry-run", "--shingle", "4", "--common", "list.npz", code=2)
    assert "list.npz was created with other settings; use the same --shingle, --unit, --stem and --seed" in shown.err


def test_a_preset_is_printed_and_options_replace_it(neardup, source):
    shown = neardup("dedup", source, "--dry-run", "--preset", "code", "--json")
    assert shown.err == "neardup: preset code: --shingle 5 --threshold 0.8 --ignore-common 0.002\n"
    told = json.loads(shown.out)
    assert (told["kept"], told["threshold"], told["common"]["share"]) == (4, 0.8, 0.002)
    shown = neardup("dedup", source, "--dry-run", "--preset", "copies", "--threshold", "0.5", "--json")
    assert shown.err == "neardup: preset copies: --shingle 5\n"
    assert json.loads(shown.out)["threshold"] == 0.5
    assert "letter" in neardup("dedup", source, "--dry-run", "--preset", "short").err


def test_a_preset_makes_the_list_that_does_not_exist(neardup, source, tmp_path):
    neardup("dedup", source, "--dry-run", "--preset", "code", "--common", "list.npz")
    assert (tmp_path / "list.npz").exists()
    neardup("dedup", source, "--dry-run", "--preset", "code", "--common", "list.npz")


def test_an_index_reports_the_share_of_a_preset_that_it_does_not_use(neardup, source):
    shown = neardup("index", source, "--to", "seen", "--preset", "code").err
    assert "--ignore-common 0.002 is not used" in shown
    assert "neardup index --common FILE" in shown


def test_a_preset_and_a_list(neardup, source):
    neardup("dedup", source, "--dry-run", "--preset", "code", "--ignore-common", "0.1", "--common", "list.npz")
    shown = neardup("dedup", source, "--dry-run", "--preset", "code", "--common", "list.npz", "--json")
    assert json.loads(shown.out)["kept"] == 4
    shown = neardup("index", source, "--to", "seen", "--preset", "code", "--common", "list.npz", "--json")
    assert shown.err == "neardup: preset code: --shingle 5 --threshold 0.8\n"
    assert json.loads(shown.out)["new"] == 4
    assert (
        "cannot be used with --scheme simhash"
        in neardup("dedup", source, "--dry-run", "--preset", "code", "--scheme", "simhash", code=2).err
    )
