import pytest

import neardup
from neardup import Sentences
from neardup.model.errors import DataError, InputRefused

FULL = """\
[recipe]
scheme = "minhash"
shingle = 2
stop_words = "the,a"
normalization = "none"
seed = 7

[layout]
recall = 0.99

[policy]
threshold = 0.5
keep = "longest"
verify = "estimate"
"""


@pytest.fixture
def load(tmp_path):
    def load(written):
        path = tmp_path / "neardup.toml"
        path.write_text(written)
        return neardup.load_config(str(path))

    return load


def test_settings_make_a_scheme_and_a_policy(load):
    config = load(FULL)
    analysis = neardup.Analysis(stop_words=("the", "a"), normalization=None)
    assert config.scheme == neardup.MinHash(shingle=2, threshold=0.5, recall=0.99, seed=7, analysis=analysis)
    assert config.policy == neardup.results.Policy(keep="longest", verify="estimate")
    result = neardup.dedup(["a b c d", "a b c d e", "the b c d"], **config.arguments)
    assert result.summary.kept == 1


def test_an_empty_file_is_the_default(load):
    config = load("")
    assert (config.scheme, config.policy) == (neardup.MinHash(), neardup.results.Policy())


def test_a_key_file_is_next_to_the_settings(load, tmp_path):
    (tmp_path / "key").write_bytes(bytes(range(16)))
    assert load('[recipe]\nkey_file = "key"').scheme.recipe == neardup.MinHash(key=bytes(range(16))).recipe


def test_a_missing_key_file_is_named_with_the_settings(load):
    with pytest.raises(InputRefused, match=r"neardup.toml: .*key: the key cannot be read: No such file"):
        load('[recipe]\nkey_file = "key"')


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("[recipe\n", r"neardup.toml:1 is not valid TOML: .*: \[recipe$"),
        ("\n[recipe]\nunit = word\n", "neardup.toml:3 is not valid TOML: .*: unit = word; a string needs quotation"),
        (
            "[recipe]\nseed = 1\nseed = 2\n",
            "neardup.toml:3 is not valid TOML: .*: seed = 2; this name or table is already set",
        ),
        (
            "[recipe]\n[policy]\n[recipe]\n",
            r"neardup.toml:3 is not valid TOML: Cannot declare recipe twice: \[recipe\]; this name or table",
        ),
        ("recipe = 3", r"neardup.toml: recipe must be a table: write \[recipe\] on a line of its own"),
        ("[Policy]", r"neardup.toml: Policy is unknown; did you mean \[policy\]\?"),
        ("a = " + "[" * 100_000, "neardup.toml is not valid TOML: .*recursion"),
        ("a = " + "9" * 5_000, "neardup.toml is not valid TOML: .*4300 digits"),
        ("shingle = 3", r"neardup.toml: shingle belongs in \[recipe\]"),
        ("shingles = 3", r"neardup.toml: shingles is unknown; did you mean shingle, in \[recipe\]\?"),
        ("#" * (1 << 20) + "\n", "^[^:]*neardup.toml is larger than 1,048,576 bytes"),
        (f"[{'a.' * 100_000}a]", "^[^:]*neardup.toml has a hundred names with dots"),
        ("""'a' . "b".""" * 100_000 + "a = 1", "^[^:]*neardup.toml has a hundred names with dots"),
        ("[extra]\n", "neardup.toml: extra is unknown; the tables are"),
        ("[policy]\nshingle = 3", r"shingle in \[policy\] belongs in \[recipe\]"),
        (
            "[recipe]\nshingel = 3",
            r"shingel in \[recipe\] is unknown; the keys .* minhash are: scheme, seed, .*shingle",
        ),
        ('[recipe]\nscheme = "md5"', r"scheme in \[recipe\] must be one of minhash"),
        ("[recipe]\nscheme = []", r"scheme in \[recipe\] must be one of minhash"),
        ('[recipe]\nscheme = "simhash"\npermutations = 8', r"permutations in \[recipe\] is unknown"),
        ("[recipe]\nshingle = true", r"shingle in \[recipe\] must be an integer"),
        ("[recipe]\nshingle = 0", r"shingle in \[recipe\] must be"),
        ("[recipe]\nstop_words = []", r"stop_words in \[recipe\] must be a string"),
        ("[recipe]\nbag = 1", r"bag in \[recipe\] must be true or false"),
        ('[recipe]\nunit = "page"', r"unit in \[recipe\] must be one of letter, word"),
        ("[policy]\nthreshold = 3.0", r"threshold in \[policy\] must be"),
        ('[policy]\nkeep = "best"', r"keep in \[policy\] must be first, last"),
        ('[recipe]\nstop_words = ","', r"stop_words in \[recipe\] has no words"),
        (
            '[recipe]\nscheme = "sentences"\n[policy]\nrelative_to = "union"\nmeasure = "overlap"',
            r"relative_to in \[policy\] cannot be used with measure='overlap': union means resemblance; leave out",
        ),
        ('[recipe]\nseed = 1\nkey_file = "key"', r"key_file in \[recipe\] cannot be used with seed"),
        (
            '[policy]\nverify = "estimate"\nshort = 5\nshort_threshold = 0.9',
            r"short in \[policy\] cannot be used with verify='estimate': the length of a document is not in its sig",
        ),
        (
            '[recipe]\nscheme = "simhash"\n[policy]\nmeasure = "cosine"\ngather = "components"',
            r"gather in \[policy\] cannot be used with measure='cosine'",
        ),
    ],
)
def test_invalid_settings_name_the_file_and_the_key(load, written, message):
    with pytest.raises(InputRefused, match=message):
        load(written)


@pytest.mark.parametrize(
    ("written", "first", "others"),
    [
        (
            '[recipe]\nshingel = 3\nseed = "x"\n[Policy]\n[policy]\nshingle = 3\nkeep = 1',
            "Policy is unknown; did you mean [policy]?",
            ["shingel in [recipe] is", "seed in [recipe] must", "shingle in [policy] belongs", "keep in [policy] must"],
        ),
        ("[recipe]\nshingle = 0\n[policy]\nkeep = 'best'", "shingle in [recipe] must", ["keep in [policy] must"]),
        ("[recipe]\nscheme = 'md5'\n[policies]", "policies is unknown", ["scheme in [recipe] must"]),
    ],
)
def test_all_faults_of_a_file_are_reported(load, written, first, others):
    with pytest.raises(InputRefused) as refused:
        load(written)
    notes = refused.value.__notes__
    assert first in str(refused.value)
    assert len(notes) == len(others)
    assert all(f"neardup.toml: {other}" in note for other, note in zip(others, notes, strict=True))


def test_stop_words_without_a_comma_are_a_file_next_to_the_settings(load, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "stopwords").write_text("a\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for written in ("stopwords", "the.txt", "lists/de", ""):
        with pytest.raises(InputRefused, match=rf"neardup.toml: stop_words in \[recipe\]: '{written}' is not a file"):
            load(f'[recipe]\nstop_words = "{written}"')
    (tmp_path / "stopwords").write_text("the\n")
    for written in ('"stopwords"', '"the,"'):
        assert load(f"[recipe]\nstop_words = {written}").scheme.analysis.stop_words == ("the",)


def test_stems_can_be_switched_off(load):
    assert load('[recipe]\nscheme = "sentences"\nstem = "none"').scheme == Sentences(stem=None)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("in\nthe,a,of\n", ": 'the,a,of' is not a word"),
        ("in\nthe a of\n", ": 'the a of' is not a word"),
        ("\n \n", " has no words"),
    ],
)
def test_a_file_of_stop_words_has_one_on_each_line(load, tmp_path, content, fault):
    (tmp_path / "stopwords").write_text(content)
    with pytest.raises(DataError, match=f"stopwords{fault}; write each word on a line of its own"):
        load('[recipe]\nstop_words = "stopwords"')


def test_a_list_of_stop_words_may_be_longer_than_the_name_of_a_file(load):
    words = [f"word{number}" for number in range(1_000)]
    assert load(f'[recipe]\nstop_words = "{",".join(words)}"').scheme.analysis.stop_words == (*sorted(words),)


def test_settings_are_utf_8_with_or_without_a_byte_order_mark(load, tmp_path):
    assert load("\ufeff[recipe]\nshingle = 2\n").scheme == neardup.MinHash(shingle=2)
    (tmp_path / "wide.toml").write_text("[recipe]\n", encoding="utf-16")
    with pytest.raises(InputRefused, match=r"wide\.toml: it should be plain UTF-8 text") as caught:
        neardup.load_config(tmp_path / "wide.toml")
    assert caught.value.code == "utf-16"
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(InputRefused, match=r"latin\.toml is not valid UTF-8"):
        neardup.load_config(tmp_path / "latin.toml")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputRefused, match=r"missing\.toml: the settings cannot be read: No such file"):
        neardup.load_config(str(tmp_path / "missing.toml"))
