import argparse
from unittest.mock import Mock

import pytest
from json_lines import write_lines

from neardup import Analysis, Checksum, Combined, Field, MinHash, Sentences, SimHash, Trials
from neardup.interfaces.cli import dedup
from neardup.interfaces.cli.scheme_options import add_scheme_options, scheme_of
from neardup.model.errors import InputRefused, ParameterError

KEY = bytes(range(240, 256))
OPENING = "Welcome to the harbour news. Subscribe, share, follow us, and read our privacy policy before you go on. "
OPENING += "Cookies help us to show you what you like; you can refuse them at the foot of each page. "
STORIES = [
    "A storm took three fishing boats",
    "Bakers ask for more rye this year",
    "Seven herons stood in the shallow water",
    "The mayor opened a bridge on Sunday",
]
DOCUMENTS = [OPENING + story for story in STORIES]


def scheme(*options):
    parser = argparse.ArgumentParser()
    add_scheme_options(parser)
    return scheme_of(parser.parse_args(options))


def test_no_options_mean_the_defaults_of_the_library():
    assert scheme() == MinHash()
    assert scheme("--scheme", "trials") == Trials()
    assert scheme("--scheme", "sentences") == Sentences()
    assert scheme("--scheme", "simhash") == SimHash()
    assert scheme("--scheme", "combined") == Combined()
    assert scheme("--scheme", "checksum") == Checksum()


def test_every_option_arrives():
    options = "--threshold 0.8 --unit sentence --shingle 2 --stem german --permutations 64 --seed 7"
    assert scheme(*options.split()) == MinHash(
        threshold=0.8, shingle=2, permutations=64, seed=7, analysis=Analysis(unit="sentence", stem="german")
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            "trials --threshold 0.9 --words 3 --hashes 5 --trials 7 --needed 3 --bag --unit letter --seed 2",
            Trials(
                threshold=0.9, words=3, hashes=5, trials=7, needed=3, bag=True, seed=2, analysis=Analysis(unit="letter")
            ),
        ),
        (
            "sentences --threshold 0.4 --size 8 --relative-to smaller --stem french --min-length 5 --seed 3",
            Sentences(threshold=0.4, size=8, relative_to="smaller", stem="french", min_length=5, seed=3),
        ),
        (
            "simhash --threshold 0.7 --shingle 2 --distance 5 --bits 128 --blocks 7 --stem english --seed 4",
            SimHash(
                threshold=0.7, shingle=2, distance=5, bits=128, blocks=7, seed=4, analysis=Analysis(stem="english")
            ),
        ),
        (
            "combined --threshold 0.7 --seed 5",
            Combined(Trials(words=8, threshold=0.7, seed=5), SimHash(bits=384, distance=29, seed=5)),
        ),
        ("minhash --bag", MinHash(bag=True)),
        ("minhash --min-length 4", MinHash(analysis=Analysis(min_length=4))),
        ("checksum --contribution url", Checksum(contribution="url")),
    ],
)
def test_every_scheme_has_its_options(options, expected):
    assert scheme("--scheme", *options.split()) == expected


def test_fields_may_have_caps():
    assert scheme("--scheme", "checksum", "--fields", "title, body:1024,url:7", "--seed", "3") == Checksum(
        fields=(Field(name="title"), Field(name="body", limit=1024), Field(name="url", limit=7)), seed=3
    )


@pytest.mark.parametrize("fields", ["", "a,", "a:", ":5", "a:0", "a:x", "a:1:2"])
def test_invalid_fields_are_refused(fields):
    with pytest.raises(ParameterError, match="NAME or NAME:BYTES"):
        scheme("--scheme", "checksum", "--fields", fields)


@pytest.mark.parametrize("content", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\r\n"])
def test_a_key_is_bytes_or_hexadecimal(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    assert scheme("--scheme", "checksum", "--key-file", str(tmp_path / "key")).key == KEY


@pytest.mark.parametrize("content", [b"", KEY[:-1], KEY + b"\n", KEY.hex().encode() + b"00", b"g" * 32])
def test_any_other_key_is_refused_and_not_shown(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(InputRefused, match="16 bytes or 32 hexadecimal digits") as caught:
        scheme("--key-file", str(path))
    assert KEY.hex()[:8] not in str(caught.value)


def test_a_key_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InputRefused, match="the key cannot be read") as caught:
            scheme("--key-file", str(path))
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_seed_and_a_key_exclude_each_other(seed):
    with pytest.raises(ParameterError, match="cannot be used with --key-file: the key alone decides"):
        scheme("--seed", seed, "--key-file", "key")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("--fields a", "fields"),
        ("--scheme checksum --threshold 0.5", "threshold"),
        ("--scheme checksum --shingle 2", "shingle"),
        ("--scheme checksum --unit line", "unit"),
        ("--scheme checksum --permutations 64", "permutations"),
        ("--scheme checksum --stem english", "stem"),
        ("--scheme checksum --bag", "bag"),
        ("--scheme sentences --bag", "bag"),
        ("--scheme simhash --bag", "bag"),
        ("--blocks 5", "blocks"),
        ("--contribution url", "contribution"),
        ("--scheme combined --min-length 3", "min_length"),
        ("--scheme combined --words 3", "words"),
        ("--needed 3", "needed"),
        ("--scheme trials --shingle 3", "shingle"),
    ],
)
def test_no_option_is_silently_without_effect(options, name):
    with pytest.raises(ParameterError) as caught:
        scheme(*options.split())
    assert caught.value.name == name


def test_options_are_refused_before_anything_is_compiled(monkeypatch, capsys):
    monkeypatch.setattr(dedup, "say_if_cold", Mock(side_effect=AssertionError("compiled for nothing")))
    arguments = argparse.Namespace(dry_run=True, scheme="trials", permutations=8, inputs=["in.jsonl"], restart=False)
    with pytest.raises(ParameterError, match="cannot be used with --scheme trials"):
        dedup.run(arguments)
    assert capsys.readouterr().err == ""


def test_stop_words_come_from_a_file_or_a_list(tmp_path):
    (tmp_path / "stop.txt").write_text("the\n\n of \r\n")
    expected = MinHash(analysis=Analysis(stop_words=("the", "of")))
    assert scheme("--stop-words", str(tmp_path / "stop.txt")) == expected
    assert scheme("--stop-words", "the, of,") == expected
    with pytest.raises(InputRefused, match=r"nowhere\.txt: there is no such file"):
        scheme("--stop-words", "nowhere.txt")


@pytest.mark.parametrize(("name", "expected"), [("NFC", "NFC"), ("NFKC", "NFKC"), ("none", None)])
def test_normalization_is_used(name, expected):
    assert scheme("--normalization", name) == MinHash(analysis=Analysis(normalization=expected))
    with pytest.raises(ParameterError, match="cannot be used with --scheme sentences"):
        scheme("--scheme", "sentences", "--normalization", name)


@pytest.fixture
def source(tmp_path):
    return write_lines(tmp_path / "in.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(DOCUMENTS)])


def test_a_list_is_made_saved_and_used_again(neardup, source):
    plain = neardup("dedup", source, "--dry-run", "--json").json
    assert (plain["kept"], plain["common"]) == (1, None)
    shown = neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz").out
    assert (
        "shingles did not count: they are in at least 3 of 4 different documents, as fewer never count as common (list "
        in shown
    )
    again = neardup("dedup", source, "--dry-run", "--common", "list.npz", "--json").json
    assert again["kept"] == 4
    assert again["common"]["documents"] == 4
    assert again["common"]["id"] in shown
    assert (
        "exists" in neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz", code=2).err
    )
    neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz", "--force")


def test_an_index_keeps_the_list(neardup, source):
    neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz")
    added = neardup("index", source, "--to", "seen", "--common", "list.npz", "--json").json
    assert added["new"] == 4
    assert neardup("index", source, "--to", "seen", "--json").json["unchanged"] == 4
    neardup("index", source, "--to", "seen", "--common", "list.npz")
    assert "other settings: common was" in neardup("index", source, "--to", "seen", "--shingle", "3", code=2).err
    neardup("check", "seen")


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        ("--ignore-common 10", "must be a number above 0 and below 1; for 10 % write 0.1", 2),
        ("--scheme checksum --common none.npz", "none.npz cannot be used with --scheme checksum: it", 2),
        ("--ignore-common 0.1 --common list.txt", "must end in .npz", 2),
        ("--ignore-common 0.1 --common no/list.npz", "its folder does not exist", 2),
        ("--common none.npz", "the common shingles cannot be read: No such file", 2),
        ("--common in.jsonl", "is not a file of common shingles", 1),
        ("--scheme checksum --fields text --ignore-common 0.1", "cannot be used with --scheme checksum", 2),
    ],
)
def test_wrong_usage_of_common_shingles(neardup, source, options, message, code):
    assert message in neardup("dedup", source, "--dry-run", *options.split(), code=code).err


def test_a_list_of_other_shingles_is_refused(neardup, source):
    neardup("dedup", source, "--dry-run", "--ignore-common", "0.1", "--common", "list.npz")
    shown = neardup("dedup", source, "--dry-run", "--shingle", "4", "--common", "list.npz", code=2)
    assert "list.npz was created with other settings; use the same --shingle, --unit, --stem and --seed" in shown.err


def test_a_preset_is_printed_and_options_replace_it(neardup, source):
    shown = neardup("dedup", source, "--dry-run", "--preset", "code", "--json")
    assert shown.err == "neardup: preset code: --shingle 5 --threshold 0.8 --ignore-common 0.002\n"
    told = shown.json
    assert (told["kept"], told["threshold"], told["common"]["share"]) == (4, 0.8, 0.002)
    shown = neardup("dedup", source, "--dry-run", "--preset", "copies", "--threshold", "0.5", "--json")
    assert shown.err == "neardup: preset copies: --shingle 5\n"
    assert shown.json["threshold"] == 0.5
    assert "letter" in neardup("dedup", source, "--dry-run", "--preset", "short").err


def test_an_index_reports_the_share_of_a_preset_that_it_does_not_use(neardup, source):
    shown = neardup("index", source, "--to", "seen", "--preset", "code").err
    assert "--ignore-common 0.002 is not used" in shown
    way, ending = shown.split("`")[1], shown.rpartition("then add ")[2].strip()
    assert ending == "--common FILE.npz"
    neardup(*way.replace("INPUT", str(source)).split()[1:])
    neardup("index", source, "--to", "other", "--preset", "code", *ending.split())


def test_a_preset_and_a_list(neardup, source):
    neardup("dedup", source, "--dry-run", "--preset", "code", "--ignore-common", "0.1", "--common", "list.npz")
    shown = neardup("dedup", source, "--dry-run", "--preset", "code", "--common", "list.npz", "--json")
    assert shown.json["kept"] == 4
    shown = neardup("index", source, "--to", "seen", "--preset", "code", "--common", "list.npz", "--json")
    assert shown.err == "neardup: preset code: --shingle 5 --threshold 0.8\n"
    assert shown.json["new"] == 4
    assert (
        "cannot be used with --scheme simhash"
        in neardup("dedup", source, "--dry-run", "--preset", "code", "--scheme", "simhash", code=2).err
    )
