import argparse

import pytest

from neardup import Analysis, Checksum, Combined, Field, MinHash, Sentences, SimHash, Trials
from neardup.interfaces.cli import dedup
from neardup.interfaces.cli.options import add_scheme_options, scheme_of
from neardup.model.errors import InputRefused, ParameterError

KEY = bytes(range(240, 256))


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


@pytest.mark.parametrize("fields", ["", ",", "a,", "a:", ":5", "a:0", "a:-1", "a:x", "a:1.5", "a:1:2"])
def test_fields_that_are_none(fields):
    with pytest.raises(ParameterError, match="NAME or NAME:BYTES"):
        scheme("--scheme", "checksum", "--fields", fields)


@pytest.mark.parametrize("content", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\r\n"])
@pytest.mark.parametrize("name", ["minhash", "checksum"])
def test_a_key_is_bytes_or_hexadecimal(tmp_path, content, name):
    (tmp_path / "key").write_bytes(content)
    assert scheme("--scheme", name, "--key-file", str(tmp_path / "key")).key == KEY


@pytest.mark.parametrize(
    "content",
    [
        b"",
        KEY[:-1],
        KEY + b"\n",
        KEY.hex()[:-1].encode(),
        KEY.hex().encode() + b"00",
        b"g" * 32,
        KEY.hex().encode() * 9,
    ],
)
def test_any_other_key_is_refused_and_not_shown(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(InputRefused, match="16 bytes or 32 hexadecimal digits") as caught:
        scheme("--key-file", str(path))
    assert KEY.hex()[:8] not in str(caught.value)


def test_a_key_is_not_shown_with_the_scheme(tmp_path):
    (tmp_path / "key").write_text(KEY.hex())
    shown = repr(scheme("--key-file", str(tmp_path / "key")))
    assert KEY.hex() not in shown
    assert repr(KEY) not in shown


def test_a_key_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InputRefused, match="the key cannot be read") as caught:
            scheme("--key-file", str(path))
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_seed_and_a_key_exclude_each_other(seed, capsys):
    with pytest.raises(SystemExit):
        scheme("--seed", seed, "--key-file", "key")
    assert "not allowed with argument" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--fields", "a"], "fields"),
        (["--scheme", "checksum", "--threshold", "0.5"], "threshold"),
        (["--scheme", "checksum", "--shingle", "2"], "shingle"),
        (["--scheme", "checksum", "--unit", "line"], "unit"),
        (["--scheme", "checksum", "--permutations", "64"], "permutations"),
        (["--scheme", "checksum", "--stem", "english"], "stem"),
        (["--scheme", "checksum", "--bag"], "bag"),
        (["--scheme", "sentences", "--bag"], "bag"),
        (["--scheme", "simhash", "--bag"], "bag"),
        (["--blocks", "5"], "blocks"),
        (["--contribution", "url"], "contribution"),
        (["--scheme", "combined", "--min-length", "3"], "min_length"),
        (["--scheme", "combined", "--words", "3"], "words"),
        (["--needed", "3"], "needed"),
        (["--scheme", "trials", "--shingle", "3"], "shingle"),
    ],
)
def test_no_option_is_silently_without_effect(options, name):
    with pytest.raises(ParameterError) as caught:
        scheme(*options)
    assert caught.value.name == name


def test_options_are_refused_before_anything_is_compiled(monkeypatch, capsys):
    def cold():
        raise AssertionError("compiled for nothing")

    monkeypatch.setattr(dedup, "say_if_cold", cold)
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
def test_normalization_arrives(name, expected):
    assert scheme("--normalization", name) == MinHash(analysis=Analysis(normalization=expected))
    with pytest.raises(ParameterError, match="cannot be used with --scheme sentences"):
        scheme("--scheme", "sentences", "--normalization", name)
