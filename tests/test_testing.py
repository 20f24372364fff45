"""A scheme of a user, written in one file, works everywhere."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import pytest
from json_lines import write_lines

import neardup
from neardup import Analysis, MinHash, Sentences
from neardup.interfaces.cli import main
from neardup.model.arrays import require_same_recipe, shares
from neardup.model.candidates import chained
from neardup.model.errors import require_share, require_whole
from neardup.model.options import ANALYSIS, THRESHOLD, Option
from neardup.model.ranked_rule import RankedRule, whole_term
from neardup.model.recipe import Hashing, recipe_id
from neardup.schemes import registry
from neardup.schemes.signing import FeatureScheme, ranked_kernel
from neardup.testing import check_scheme
from neardup.text.shingling import Shingling

ABSENT = np.uint64(2**64 - 1)


@dataclass(frozen=True, kw_only=True)
class Smallest(FeatureScheme):
    """Signatures of the few smallest features; two match if all of them agree."""

    features: int = 3
    threshold: float = 0.7
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)
    analysis: Analysis = field(default_factory=Analysis)

    name = "smallest"
    rule = "resemblance"
    measure = "resemblance"
    keys_decide = True
    signatures_decide = True
    match_estimate = 1.0
    key_count = 1
    plan_numbers = ("features",)
    options: ClassVar[tuple[Option, ...]] = (
        THRESHOLD.by_default("0.7"),
        Option("features", "whole", "smallest features that must agree", "3"),
        *ANALYSIS,
    )

    def __post_init__(self):
        object.__setattr__(self, "features", require_whole("features", self.features, 1, 64))
        object.__setattr__(self, "threshold", require_share("threshold", self.threshold))
        _ = self.shingling

    @cached_property
    def shingling(self):
        return Shingling(analysis=self.analysis, size=3, hashing=Hashing(seed=self.seed, key=self.key))

    @cached_property
    def recipe(self):
        return recipe_id(scheme=self.name, features=self.features, shingling=self.shingling.identity)

    def _blank(self, number):
        return np.empty((number, self.features), np.uint64)

    def _fill(self, values, starts, ends, rows):
        rows[:] = ABSENT
        for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            smallest = np.unique(values[start:end])[: self.features]
            rows[row, : len(smallest)] = smallest

    def keys(self, signatures):
        require_same_recipe(self.recipe, signatures.recipe)
        keys = np.zeros((len(signatures), 1), np.uint64)
        for column in signatures.rows.T:
            keys[:, 0] = chained(keys[:, 0], column)
        return keys

    def ranked_rule(self, signatures):
        require_same_recipe(self.recipe, signatures.recipe)
        return RankedRule(ranked_kernel("by_fingerprints"), signatures.rows, whole_term(0))

    def _estimated(self, one, other, left, right):
        agree = (one.rows[left] == other.rows[right]).mean(axis=1)
        return np.where(one.present[left] & other.present[right], agree, 0.0)

    def _matching(self, one, other, left, right):
        return self._estimated(one, other, left, right) == 1.0

    @property
    def signature_rule(self):
        return f"the {self.features} smallest {self.shingles_in_words} agree"

    def probability(self, resemblance):
        return shares(resemblance) ** self.features


A = "The ferry left the harbour at dawn with forty passengers, two dogs and a cargo of salt on board."
TEXTS = [A, "Apples, pears and plums are sold at the market from nine in the morning.", A.upper(), "", A[:-1] + "!"]
KEPT = [0, 1, 3]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))
    registry.register(Smallest)


@pytest.mark.parametrize("scheme", [Smallest(features=1), Smallest(key=bytes(16))], ids=["1", "keyed"])
def test_it_keeps_the_promises(scheme):
    digest = check_scheme(scheme)
    assert check_scheme(scheme, golden=digest) == digest
    with pytest.raises(AssertionError, match="its signatures have the digest"):
        check_scheme(scheme, golden="0" * 32)


def test_a_class_is_no_scheme():
    with pytest.raises(AssertionError, match=r"it is a class, and must be an instance of one, such as MinHash\(\)"):
        check_scheme(MinHash)


def test_a_broken_one_is_found():
    class Forgetful(Smallest):
        def match_pairs(self, _, left, __):
            return np.zeros(len(left), np.bool_)

    registry._KINDS["smallest"] = Forgetful
    with pytest.raises(AssertionError, match="match_pairs answers unlike matches"):
        check_scheme(Forgetful())


def test_rows_of_another_format_are_found():
    class Other(Smallest):
        row_format = (1, np.dtype(np.uint64))

    registry._KINDS["smallest"] = Other
    with pytest.raises(AssertionError, match="row_format is not that of its rows"):
        check_scheme(Other())


def test_a_parameter_that_the_recipe_lacks_is_found():
    class Incomplete(Smallest):
        @cached_property
        def recipe(self):
            return recipe_id(scheme=self.name, shingling=self.shingling.identity)

    registry._KINDS["smallest"] = Incomplete
    with pytest.raises(AssertionError, match="features changes the bits of signatures, but not the recipe"):
        check_scheme(Incomplete())


@dataclass(frozen=True, kw_only=True)
class Beginning(Smallest):
    """Reads only the first shingles."""

    most: int = 64

    def _fill(self, values, starts, ends, rows):
        super()._fill(values, starts, np.minimum(ends, starts + self.most), rows)


@dataclass(frozen=True, kw_only=True)
class Shifted(Smallest):
    """Adds a number that may be None."""

    shift: int | None = None

    def _fill(self, values, starts, ends, rows):
        super()._fill(values, starts, ends, rows)
        rows += np.uint64(self.shift or 0)


class Public(Smallest):
    """Ignores its key."""

    @cached_property
    def shingling(self):
        return Shingling(analysis=self.analysis, size=3, hashing=Hashing(seed=self.seed))


class Fixed(Smallest):
    """Ignores its seed, but for the recipe."""

    @cached_property
    def shingling(self):
        return Shingling(analysis=self.analysis, size=3)

    @cached_property
    def recipe(self):
        return recipe_id(scheme=self.name, features=self.features, hashing=self.hashing.identity)


class Misspelt(Smallest):
    """Has an option for no parameter."""

    options = (Option("feature", "whole", "smallest features that must agree", "3"),)


class Careless(Smallest):
    """Fills the rows of empty texts with whatever is at hand."""

    def _fill(self, values, starts, ends, rows):
        super()._fill(values, starts, ends, rows)
        rows[starts == ends] = len(rows)


class Deaf(Smallest):
    """Compares no pair."""

    floor = 1.5


class Shy(neardup.MinHash):
    """Has one key, which only equal rows share."""

    name = "smallest"
    key_count = 1
    keys = Smallest.keys

    def curves(self, values):
        return {"match": self.probability(values)}


class Strict(neardup.MinHash):
    """Needs more than the threshold."""

    name = "smallest"

    def _matching(self, one, other, left, right):
        return self._estimated(one, other, left, right) > self.threshold


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (Beginning, "most changes the bits of signatures, but not the recipe"),
        (Shifted, "shift changes the bits of signatures, but not the recipe"),
        (Public, "another key does not change the recipe and the bits of signatures"),
        (Fixed, "another seed does not change the recipe and the bits of signatures"),
        (Misspelt, "it has options without a parameter: feature"),
        (Careless, "signatures depend on the batch"),
        (Deaf, "matching pairs are estimated below its floor"),
        (Shy, "most matching pairs share no key"),
        (Strict, "does not decide at a threshold that it equals"),
    ],
)
def test_faults_of_long_and_edited_texts_are_found(kind, promise):
    registry._KINDS["smallest"] = kind
    with pytest.raises(AssertionError, match=promise):
        check_scheme(kind())


def test_a_kind_that_is_not_registered_is_found():
    del registry._KINDS["smallest"]
    with pytest.raises(AssertionError, match="its kind is not registered"):
        check_scheme(Smallest())
    for other in (None, 5, Smallest):
        with pytest.raises(AssertionError):
            check_scheme(other)


@pytest.mark.parametrize(
    ("question", "answer", "promise"),
    [
        ("sign", None, "sign does not return Signatures"),
        ("keys", [], "its keys are not uint64"),
        ("matches", [True], "matches is not an array of bool"),
        ("estimate", [1.0], "estimate is not an array of numbers"),
        ("_blank", np.empty(3), "the check of sign raises IndexError: "),
        ("probability", 1.0, "probability of an array is not an array"),
        ("keys", np.empty((7, 0), np.uint64), "its documents have no keys"),
        ("keys", np.ones((7, 1), np.uint64), "all documents have the same keys"),
    ],
)
def test_answers_that_are_not_arrays_are_found(monkeypatch, question, answer, promise):
    monkeypatch.setattr(Smallest, question, lambda *_: answer)
    with pytest.raises(AssertionError, match=promise):
        check_scheme(Smallest())


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
def test_in_a_corpus(verify):
    assert np.flatnonzero(neardup.dedup(TEXTS, scheme=Smallest(), verify=verify).mask).tolist() == KEPT


@pytest.mark.parametrize("key", [None, bytes(16)])
def test_in_an_index(tmp_path, key):
    with neardup.Index.create(tmp_path / "index", Smallest(features=2), key=key) as index:
        index.admit([str(number) for number in range(len(TEXTS))], TEXTS)
    with neardup.Index.open(tmp_path / "index", key=key) as index:
        assert index.scheme == Smallest(features=2, key=key)
        verdict = index.judge([A])[0]
    assert type(verdict) is neardup.verdicts.ExactDuplicate


def test_stored_schemes_are_read_only_where_they_are_registered(tmp_path, capsys):
    write_lines(tmp_path / "texts.jsonl", [{"text": text} for text in TEXTS])
    names = ("texts.jsonl", "index", "state", "report.parquet", "filled")
    source, index, state, report, filled = (str(tmp_path / name) for name in names)
    neardup.Index.create(index, Smallest()).close()
    neardup.dedup_files([source], tmp_path / "kept.jsonl", scheme=Smallest(), state=state, report=report)
    del registry._KINDS["smallest"]
    for question, refused in [
        (lambda: neardup.Index.open(index), neardup.errors.StorageRefused),
        (lambda: neardup.audit_files([source], of=report), neardup.errors.DataError),
    ]:
        with pytest.raises(refused, match="the scheme 'smallest', which is not registered in this process"):
            question()
    for command in (["stats", index], ["rescue", index, filled], ["index", "--from", state, "--to", filled]):
        assert main(command) == 2
        assert "which is not registered in this process" in capsys.readouterr().err


@pytest.mark.parametrize("verify", ["exact", "estimate"])
def test_of_ranked_hits(verify):
    hits = [{"id": number, "text": text} for number, text in enumerate(TEXTS)]
    done = neardup.collapse(hits, [neardup.NearDuplicates(scheme=Smallest())], verify=verify)
    assert done.kept == KEPT


def test_of_two_texts():
    said = neardup.compare(TEXTS[0], TEXTS[2]).schemes
    assert [one.matches for one in said if one.scheme == "smallest"] == [True]
    assert "the 3 smallest 3-word shingles agree" in str(neardup.explain(TEXTS[0], TEXTS[1], Smallest()))


def test_plans_describe_a_scheme_of_users():
    drawn = neardup.planning.plan("smallest", features=2)
    assert drawn.signature_bytes == 16
    assert drawn.keys == 1
    assert drawn.curves[0].probabilities[50] == 0.25
    assert str(drawn).startswith("smallest: features 2\n")


def test_on_the_command_line(tmp_path, capsys):
    source = write_lines(tmp_path / "texts.jsonl", [{"id": number, "text": text} for number, text in enumerate(TEXTS)])
    options = ["--scheme", "smallest", "--features", "2", "--threshold", "0.9", "--stem", "english"]
    assert main(["dedup", str(source), "--out", str(tmp_path / "kept.jsonl"), *options]) == 0
    kept = [json.loads(line)["id"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert kept == KEPT
    assert main(["index", str(source), "--to", str(tmp_path / "index"), *options]) == 0
    assert main(["plan", "--scheme", "smallest", "--features", "5"]) == 0
    assert "smallest: features 5" in capsys.readouterr().out
    assert main(["dedup", str(source), "--out", str(tmp_path / "again.jsonl"), "--features", "2"]) == 2
    assert "--features 2 cannot be used with --scheme minhash, only with smallest" in capsys.readouterr().err


@dataclass(frozen=True, kw_only=True)
class Plain(FeatureScheme):
    """A scheme without a seed or a key."""

    threshold: float = 0.7

    name = "plain"
    rule = measure = "resemblance"
    features = 3
    shingling = Shingling()
    recipe = recipe_id(scheme="plain")
    _blank, _fill, keys = Smallest._blank, Smallest._fill, Smallest.keys
    _estimated, _matching = Smallest._estimated, Smallest._matching
    probability = Smallest.probability


def test_a_scheme_without_a_seed_or_a_key_on_the_command_line(tmp_path, capsys):
    registry.register(Plain)
    write_lines(tmp_path / "texts.jsonl", [{"text": text} for text in TEXTS])
    (tmp_path / "key").write_bytes(bytes(16))
    run = ["dedup", str(tmp_path / "texts.jsonl"), "--dry-run", "--scheme", "plain"]
    assert main(run) == 0
    assert "3  kept" in capsys.readouterr().out
    for option, value in (("--seed", "2"), ("--key-file", str(tmp_path / "key"))):
        assert main([*run, option, value]) == 2
        assert f"{option} {value} cannot be used with this scheme" in capsys.readouterr().err


class Codes(neardup.Checksum):
    """A scheme of fields of a user."""

    name = "codes"
    rule = "code"
    equality = "equal letter by letter"


def test_a_scheme_of_fields_on_the_command_line(tmp_path, capsys):
    registry.register(Codes)
    source, report = str(tmp_path / "texts.jsonl"), str(tmp_path / "why.html")
    texts = [{"text": A, "name": "a"}, {"text": "other", "name": "a"}, {"text": A}]
    write_lines(tmp_path / "texts.jsonl", texts)
    run = ["dedup", source, "--dry-run", "--scheme", "codes"]
    assert main(run) == 1
    named = "--scheme codes compares title and body by default, and --fields names others, such as --fields body"
    assert named in capsys.readouterr().err
    assert main([*run, "--fields", "name", "--report", report]) == 0
    shown = capsys.readouterr().out
    assert "1  dropped: near duplicate, equal code (verified)" in shown
    assert "1  without a field that the scheme requires, kept" in shown
    assert "code: equal letter by letter" in (tmp_path / "why.html").read_text()
    assert main([*run, "--common", "none.npz"]) == 2
    assert "--common none.npz cannot be used with --scheme codes: it compares fields" in capsys.readouterr().err
    assert main([*run[:-1], "smallest", "--common", "none.npz"]) == 2
    assert "--common none.npz cannot be used with --scheme smallest: it has no such list" in capsys.readouterr().err


def test_a_name_is_taken_once():
    class Another(Smallest):
        name = "minhash"

    for kind in (Another, object):
        with pytest.raises(neardup.errors.ParameterError, match="must"):
            registry.register(kind)
    assert registry.named("minhash") is neardup.MinHash


@pytest.mark.parametrize("scheme", [MinHash(analysis=Analysis(min_length=8)), Sentences(min_length=8)])
def test_schemes_that_leave_out_all_words_of_the_edited_texts_pass(scheme):
    check_scheme(scheme)
