"""An argument of a wrong type is refused by name: no ``TypeError`` or ``AttributeError`` comes from deep inside."""

import inspect

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import neardup
from neardup import Index, MinHash, NearDuplicates, Search, Trials
from neardup.errors import NeardupError
from neardup.planning import Banding, Blocks

TEXTS = [
    "The quick brown fox jumps over the lazy dog near the river",
    "Another text, of nothing at all, but as long as it",
]
TABLE = pa.table({"id": ["a", "b"], "text": TEXTS})
HITS = TABLE.to_pylist()
PAIR = {"a": TEXTS[0], "b": TEXTS[1]}
NAMES = [{"x": 0}]  # names can be the keys of a mapping
LABELLED = neardup.labels.LabelledPair(a="1", b="2", label="same", text_a="x", text_b="y")
WRONG = [2.5, b"x", object(), [object()], *NAMES, float("nan"), -1, ""]
ODD = [np.array(["x", "y"]), np.array([]), TABLE, pd.NA, pd.DataFrame({"x": [1]}), 10**30]  # right for some arguments

# Each with arguments that are right, and with values that are right in spite of WRONG: by argument.
FUNCTIONS = {
    "dedup": ({"table_or_texts": TABLE}, {}),
    "dedup_files": ({"inputs": ["nowhere.jsonl"]}, {}),
    "explain": (PAIR, {"a": [""], "b": [""]}),
    "compare": (PAIR, {"a": [""], "b": [""]}),
    "containment": (PAIR, {"a": [""], "b": [""]}),
    "resemblance": (PAIR, {"a": [""], "b": [""]}),
    "audit": ({"result": neardup.dedup(TABLE)}, {}),
    "audit_files": ({"inputs": ["nowhere.jsonl"]}, {}),
    "contamination": ({"training": TABLE, "items": TABLE}, {}),
    "contamination_in_files": ({"training": ["nowhere.jsonl"], "items": ["nowhere.jsonl"]}, {}),
    "load_config": ({"path": "nowhere.toml"}, {}),
    "pairs": ({"documents": TABLE}, {}),
    "pair_files": ({"inputs": ["nowhere.jsonl"], "out": "pairs.parquet", "work": "work"}, {}),
    "draw_pairs": ({"documents": TABLE}, {}),
    "read_labels": ({"path": "nowhere.jsonl"}, {}),
    "tune": ({"labels": [LABELLED]}, {}),
    "compare_labels": ({"first": [LABELLED], "second": [LABELLED]}, {}),
    "collapse": ({"hits": HITS, "by": NearDuplicates()}, {}),
    "collapse_response": ({"response": {"hits": {"hits": []}}, "by": NearDuplicates()}, {}),
    "group_keys": ({"signatures": Trials().sign(TEXTS), "scheme": Trials()}, {}),
    "plan": ({}, {}),
    "plan_tables": ({"fingerprints": 1000}, {"memory": [2.5]}),
    "preset": ({}, {}),
    "path_levels": ({}, {}),
    "Addresses": ({}, {"tracking": NAMES, "sessions": NAMES}),
    "Analysis": ({}, {"stop_words": NAMES}),
    "Banding": ({"permutations": 128, "bands": 16}, {}),
    "Blocks": ({"bits": 64, "distance": 3, "blocks": 4}, {}),
    "Checksum": ({}, {}),
    "Costs": ({}, {"probe": [2.5], "spread": [2.5], "compare": [2.5]}),
    "CrawlFilter": ({"index": None}, {}),
    "LabelledPair": (
        {"a": "1", "b": "2", "label": "same"},
        {"a": [""], "b": [""], "weight": [2.5], "text_a": [""], "text_b": [""]},
    ),
    "LabelledPairs": ({"labels": [LABELLED]}, {"texts": NAMES}),
    "Field": ({"name": "body"}, {}),
    "FracMinHash": ({}, {}),
    "JudgedSets": ({}, {}),
    "MinHash": ({}, {}),
    "NearDuplicates": ({}, {}),
    "Policy": ({}, {}),
    "SameValue": ({"field": "host"}, {}),
    "Sentences": ({}, {}),
    "SimHash": ({}, {}),
    "TableDesign": ({"kind": "blocks", "distance": 3, "pieces": 4}, {}),
    "Trials": ({}, {}),
}
HOMES = (
    neardup,
    *(neardup.collapsing, neardup.hamming, neardup.labels, neardup.planning),
    *(neardup.results, neardup.urls, neardup.web_pages),
)
OF_AN_INDEX = {"at": [2.5, -1], "before": [2.5, -1], "ids": NAMES, "id": [""]}  # seconds since 1970


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with Index.create(tmp_path_factory.mktemp("arguments") / "index", texts=True) as made:
        made.admit(["a", "b"], TEXTS)
        with Search.open(made, make=True):
            pass
        yield made


def unrefused(function, right, accepted, wrong=WRONG):
    """Every argument with a wrong value that is taken, or answered by an error of another kind."""
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            continue
        for value in wrong:
            if any(value is one or value == one for one in accepted.get(name, ())):
                continue
            try:
                function(**{**right, name: value})
            except NeardupError:
                continue
            except Exception as error:  # noqa: BLE001 - what is looked for
                found.append((name, value, repr(error)))
            else:
                found.append((name, value, "taken"))
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_refuse_wrong_arguments(name):
    right, accepted = FUNCTIONS[name]
    home = next(home for home in HOMES if name in home.__all__)
    assert unrefused(getattr(home, name), right, accepted) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_refuse_values_that_cannot_be_compared(name):
    right, _ = FUNCTIONS[name]
    home = next(home for home in HOMES if name in home.__all__)
    found = unrefused(getattr(home, name), right, {}, ODD)
    assert [one for one in found if one[2] != "taken"] == []


@pytest.mark.parametrize(
    "name",
    [
        *("admit", "judge", "visit", "see", "remove", "expire", "compact", "check"),
        *("get", "values", "signatures", "estimates_of", "group_page", "admissions", "changes"),
    ],
)
def test_an_index_refuses_wrong_arguments(index, name):
    function = getattr(index, name)
    right = {"ids": ["c"], "documents": TEXTS[:1], "texts": TEXTS[:1], "before": 0, "id": "c", "name": "n"}
    taken = {key: value for key, value in right.items() if key in inspect.signature(function).parameters}
    assert unrefused(function, taken, OF_AN_INDEX) == []


@pytest.mark.parametrize("name", ["get", "numbers", "updated", "since", "added_to"])
def test_templates_refuse_wrong_arguments(name):
    templates = neardup.web_pages.HostTemplates([], {})
    function = getattr(templates, name)
    assert unrefused(function, {}, {"host": [""], "learned": [""]}) == []


@pytest.mark.parametrize("name", ["answer", "catch_up", "rebuild"])
def test_a_search_refuses_wrong_arguments(index, name):
    with Search.open(index) as search:
        right = {"query": "fox", "index": index}
        function = getattr(search, name)
        taken = {key: value for key, value in right.items() if key in inspect.signature(function).parameters}
        assert unrefused(function, taken, {"query": [""], "seconds": [2.5]}) == []


def test_opening_refuses_wrong_arguments(index, tmp_path):
    empty = {"fields": [""], "path": [""]}
    assert unrefused(Index.create, {"path": tmp_path / "made"}, empty) == []
    assert unrefused(Index.open, {"path": index.store.folder}, empty) == []
    assert unrefused(Search.open, {"index": index}, {}) == []
    assert unrefused(Search, {"index": index, "table": None}, dict.fromkeys(["table"], WRONG)) == []
    assert not (tmp_path / "made").exists()


KINDS = [MinHash, Trials, neardup.Sentences, neardup.SimHash, neardup.FracMinHash, neardup.Combined, neardup.Checksum]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_scheme_refuses_wrong_signatures(kind):
    scheme = kind.for_texts()
    signatures = scheme.sign(TEXTS)
    rows = {"left": signatures, "right": signatures}
    pairs = {"signatures": signatures, "left": np.array([0]), "right": np.array([1])}
    for method, right in (
        ("keys", {"signatures": signatures}),
        ("ranked_rule", {"signatures": signatures}),
        ("matches", rows),
        ("estimate", rows),
        ("match_pairs", pairs),
        ("estimate_pairs", pairs),
    ):
        assert unrefused(getattr(scheme, method), right, {}) == [], method


@pytest.mark.parametrize(
    ("scheme", "layouts"),
    [
        (MinHash(), [Banding(permutations=10**7, bands=1), Banding(permutations=64, bands=8)]),
        (neardup.SimHash(), [Blocks(bits=384, distance=3, blocks=6)]),
    ],
    ids=["minhash", "simhash"],
)
def test_keys_of_another_layout_are_refused(scheme, layouts):
    for layout in layouts:
        with pytest.raises(neardup.errors.ParameterError, match="must have the scheme's"):
            scheme.keys(scheme.sign(TEXTS), layout)


def test_class_methods_refuse_wrong_arguments(tmp_path):
    listed = {"texts": TEXTS, "shingling": MinHash().shingling, "share": 0.5}
    assert unrefused(neardup.CommonShingles.fitted, listed, {"texts": [""]}) == []
    assert unrefused(Banding.choose, {"permutations": 128, "threshold": 0.8, "recall": 0.9}, {}) == []
    assert unrefused(neardup.urls.UrlRules.read, {"path": tmp_path / "nowhere"}, {}) == []
    numbers = {"distance": 3, "fingerprints": 1000}
    assert unrefused(neardup.hamming.TableDesign.choose, numbers, {}) == []


def test_a_state_refuses_wrong_arguments(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n')
    neardup.dedup_files([tmp_path / "in.jsonl"], state=tmp_path / "state")
    with neardup.State.open(tmp_path / "state", write=True) as state:
        assert unrefused(state.forget, {}, {"ids": NAMES}) == []


def test_the_error_names_the_argument():
    with pytest.raises(neardup.errors.ParameterError, match=r"^text=5 must be a string$"):
        neardup.dedup(TABLE, text=5)
    with pytest.raises(neardup.errors.ParameterError, match=r"^contribution=\['x'\] must be the name of a column$"):
        neardup.Checksum(contribution=["x"])
    with pytest.raises(neardup.errors.ParameterError, match=r"^scheme='minhash' must be "):
        neardup.compare(*TEXTS, schemes=["minhash"])
    with pytest.raises(neardup.errors.ParameterError, match=r"^signatures must be of both texts"):
        neardup.explain(*TEXTS, signatures=MinHash().sign(TEXTS[:1]))


def test_numbers_that_no_kernel_takes_are_refused():
    for make in (lambda: neardup.Analysis(min_length=10**30), lambda: neardup.Field(name="a", limit=10**30)):
        with pytest.raises(neardup.errors.ParameterError, match="must be an integer from 1 to"):
            make()


def test_any_memory_is_enough(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a b c d"}\n{"text": "A b c d"}\n')
    ways = {"out": tmp_path / "pairs.parquet", "work": tmp_path / "work", "memory": 10**30}
    assert neardup.pair_files([tmp_path / "a.jsonl"], **ways).pairs == 1


def test_known_contents_are_those_of_pages():
    with pytest.raises(neardup.errors.ParameterError, match="must be PageContents, not an int"):
        neardup.web_pages.Extraction(known=5)


@pytest.mark.parametrize("name", ["text", "id"])
def test_names_of_columns_are_strings(name):
    result = neardup.dedup(TEXTS)
    for question in (
        lambda: neardup.audit(result, **{name: 1}),
        lambda: neardup.pairs(TEXTS, **{name: 1}),
        lambda: neardup.contamination(TEXTS, TABLE, **{name: 1}),
        lambda: neardup.labels.draw_pairs(TABLE, **{name: 1}),
    ):
        with pytest.raises(neardup.errors.ParameterError, match=f"{name}=1 must be a string"):
            question()
