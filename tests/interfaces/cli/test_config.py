import json

import pytest
from json_lines import write_lines


@pytest.fixture
def files(tmp_path):
    texts = [
        "one two three four five six",
        "one two three four five six seven",
        "one two three four five six seven eight",
    ]
    write_lines(tmp_path / "in.jsonl", [{"id": str(number), "text": text} for number, text in enumerate(texts)])
    (tmp_path / "neardup.toml").write_text('[recipe]\nshingle = 1\n[policy]\nthreshold = 0.7\nkeep = "longest"\n')
    return tmp_path


def kept(path):
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_check_shows_what_is_set(neardup, files):
    assert "neardup.toml is valid: shingle = 1, threshold = 0.7, keep = longest" in neardup(
        "config", "check", "neardup.toml"
    ).out.replace("\n", " ")
    shown = neardup("config", "check", "neardup.toml", "--json").json
    assert shown == {"scheme": "minhash", "shingle": 1, "threshold": 0.7, "keep": "longest"}


def test_check_refuses_unknown_keys(neardup, files):
    (files / "neardup.toml").write_text("[recipe]\nshingel = 1\n[policy]\nkeep = 5\n")
    assert "shingel in [recipe] is unknown" in neardup("config", "check", "neardup.toml", code=2).err
    assert "\nneardup: neardup.toml: keep in [policy] must be a string\n" in (
        neardup("config", "check", "neardup.toml", code=2).err
    )
    shown = neardup("dedup", "in.jsonl", "--config", "neardup.toml", "--dry-run", code=2)
    assert shown.err.startswith("neardup: neardup.toml: shingel in [recipe] is unknown")


def test_short_documents_need_more(neardup, files):
    (files / "titles.jsonl").write_text('{"text": "Herons at the weir"}\n{"text": "Two herons at the weir"}\n')
    settings = "[policy]\nshort = 9\nshort_threshold = {}\n"
    (files / "neardup.toml").write_text("[recipe]\nshingle = 1\n" + settings.format(0.9))
    given = ("dedup", "titles.jsonl", "--dry-run")
    assert "1 kept" in neardup(*given, "--shingle", "1").plain
    shown = neardup(*given, "--config", "neardup.toml").plain
    assert "2 kept" in shown
    assert "resemblance at least 0.6, or 0.9 if one of the two has fewer than 9 shingles (verified)" in shown
    assert "1 kept" in neardup(*given, "--config", "neardup.toml", "--short-threshold", "0.7").plain
    (files / "neardup.toml").write_text(settings.format(0.5))
    shown = neardup(*given, "--config", "neardup.toml", code=2).err
    assert "short_threshold in [policy] must be at least the threshold, 0.6" in shown
    for options, rule in (
        (["--short", "9"], "--short-threshold is missing: short and short_threshold are used together"),
        (["--short-threshold", "0.9"], "--short is missing: short and short_threshold are used together"),
        (
            ["--short", "9", "--short-threshold", "1", "--verify", "none"],
            "--short 9 cannot be used with --verify none: the length",
        ),
    ):
        assert rule in neardup(*given, *options, code=2).err
    shown = neardup("index", "titles.jsonl", "--to", "seen", "--short", "9", "--short-threshold", "0.9", code=2)
    asked = (
        "needs an index that stores texts: the length of a document is not in its signature; --texts keeps the texts"
    )
    assert f"--short 9 {asked} in a new index" in shown.err
    (files / "neardup.toml").write_text(settings.format(0.7))
    shown = neardup("index", "titles.jsonl", "--to", "seen", "--config", "neardup.toml", code=2).plain
    assert f"short 9 in neardup.toml {asked} in a new index" in shown


def test_settings_of_options_with_defaults_are_named_by_their_file(neardup, files):
    (files / "neardup.toml").write_text('[policy]\ngather = "components"\n')
    given = ("dedup", "in.jsonl", "--dry-run", "--config", "neardup.toml", "--representative", "closest")
    shown = neardup(*given, code=2).plain
    assert "--representative closest cannot be used with gather components in neardup.toml" in shown


def test_options_replace_settings(neardup, files):
    neardup("dedup", "in.jsonl", "--config", "neardup.toml", "--out", "kept.jsonl")
    assert kept(files / "kept.jsonl") == ["2"]
    neardup("dedup", "in.jsonl", "--config", "neardup.toml", "--keep", "first", "--out", "first.jsonl")
    assert kept(files / "first.jsonl") == ["0"]
    neardup("dedup", "in.jsonl", "--threshold", "1", "--config", "neardup.toml", "--out", "all.jsonl")
    assert kept(files / "all.jsonl") == ["0", "1", "2"]


def test_a_preset_replaces_the_settings_that_it_sets(neardup, files):
    given = ("dedup", "in.jsonl", "--config", "neardup.toml", "--preset", "copies")
    shown = neardup(*given, "--out", "kept.jsonl")
    assert "preset copies: --shingle 5 --threshold 0.8" in shown.err
    assert kept(files / "kept.jsonl") == ["0", "1", "2"]
    shown = neardup(*given, "--shingle", "1", "--threshold", "0.7", "--out", "one.jsonl")
    assert "preset copies: nothing is left to set" in shown.err
    assert kept(files / "one.jsonl") == ["2"]  # the longest, as in the file


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ("recipe]\nshingle=2", "--scheme trials", "shingle 2 in neardup.toml cannot be used with --scheme trials"),
        ("recipe]\nscheme='trials'", "--shingle 2", "--shingle 2 cannot be used with scheme trials in neardup.toml"),
        (
            "policy]\nshort=3\nshort_threshold=0.6",
            "--threshold 0.7",
            "short_threshold 0.6 in neardup.toml: the value must be at least the threshold, 0.7",
        ),
        (
            "policy]\nmeasure='containment'",
            "--scheme minhash",
            "measure containment in neardup.toml cannot be used with --scheme minhash: ",
        ),
        (
            "recipe]\nscheme='simhash'",
            "--preset copies",
            "--preset copies cannot be used with scheme simhash in neardup.toml, only with minhash",
        ),
        (
            "policy]\nmeasure='cosine'",
            "--preset copies",
            "--preset copies cannot be used with measure cosine in neardup.toml",
        ),
        (
            "layout]\nrecall=0.9",
            "--measure containment",
            "recall 0.9 in neardup.toml cannot be used with --measure containment, only with minhash",
        ),
        (
            "recipe]\nscheme='sentences'\n[policy]\nrelative_to='smaller'",
            "--measure resemblance",
            "relative_to smaller in neardup.toml cannot be used with --measure resemblance: smaller means overlap;",
        ),
        ("recipe]\nbag=true", "--scheme checksum", "bag in neardup.toml cannot be used with --scheme checksum, only"),
    ],
)
def test_errors_name_the_file_of_a_setting(neardup, files, settings, options, message):
    (files / "neardup.toml").write_text(f"[{settings}\n")
    shown = neardup("dedup", "in.jsonl", "--dry-run", "--config", "neardup.toml", *options.split(), code=2).err
    assert shown.startswith(f"neardup: {message}")


def test_an_index_has_the_recipe_of_the_settings(neardup, files):
    from neardup import Index, MinHash

    neardup("index", "in.jsonl", "--to", "seen", "--config", "neardup.toml")
    with Index.open("seen") as index:
        assert index.scheme == MinHash(shingle=1, threshold=0.7)
    shown = neardup("index", "in.jsonl", "--to", "seen", "--config", "neardup.toml", "--shingle", "2", code=2)
    assert "shingle was 1 and is 2" in shown.err
    (files / "other.toml").write_text("[recipe]\nshingle = 2\n")
    assert (
        "seen was created with other settings: shingle was 1 and is 2"
        in neardup("serve", "seen", "--config", "other.toml", "--port", "0", code=2).err
    )


@pytest.mark.parametrize(
    "verb",
    [
        "dedup in.jsonl --dry-run",
        "index in.jsonl --to seen",
        "serve seen",
        "compare in.jsonl in.jsonl",
        "audit in.jsonl --of why.jsonl",
        "pairs in.jsonl --out pairs.jsonl",
        "label in.jsonl --out labels.jsonl",
    ],
)
def test_a_file_that_is_missing_or_invalid_is_refused_by_each_verb(neardup, tmp_path, verb):
    shown = neardup(*verb.split(), "--config", "neardup.toml", code=2)
    assert "neardup.toml: the settings cannot be read: No such file or directory" in shown.err
    assert not shown.out
    (tmp_path / "neardup.toml").write_text("[policy]\nthreshold = 60")
    assert "threshold" in neardup(*verb.split(), "--config", "neardup.toml", code=2).err
