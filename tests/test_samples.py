"""The bundled collection is what its script makes, and its truth is true by plain arithmetic."""

import importlib.util
import json
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

import neardup

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "src" / "neardup" / "samples"
FIELDS = ["id", "url", "title", "text", "published", "source"]


@pytest.fixture(scope="module")
def documents():
    lines = (SAMPLES / "collection.jsonl").read_text("utf-8").splitlines()
    return {document["id"]: document for document in map(json.loads, lines)}


@pytest.fixture(scope="module")
def truth():
    return json.loads((SAMPLES / "truth.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def plain():
    """The plain-Python rule of the script, which imports nothing of the package."""
    path = ROOT / "tools" / "samples" / "resemblance.py"
    specification = importlib.util.spec_from_file_location("plain_resemblance", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_script_makes_the_committed_files(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools" / "make_samples.py", tmp_path], check=True, capture_output=True)
    for name in ("collection.jsonl", "truth.json"):
        assert (tmp_path / name).read_bytes() == (SAMPLES / name).read_bytes()


def test_the_collection_is_as_large_as_promised_and_every_document_is_whole(documents):
    lines = (SAMPLES / "collection.jsonl").read_bytes().splitlines()
    assert len(lines) == len(documents) >= 350
    assert len({document["url"] for document in documents.values()}) == len(documents)
    assert all(list(document) == FIELDS for document in documents.values())
    assert all(isinstance(document["text"], str | None) for document in documents.values())


def test_every_kind_of_difficulty_is_there(documents, truth):
    kinds = Counter(kind.removesuffix("-near-copy") for kind in truth["kinds"].values())
    assert truth["kinds"].keys() == documents.keys()
    assert kinds["boilerplate-heavy"] + kinds["boilerplate"] == 40
    assert kinds["boilerplate"] == 3
    for kind in ("exact-copy", "light-edit", "heavy-rewrite", "page-chrome", "version", "translation", "empty", "null"):
        assert kinds[kind]
    texts = [document["text"] for document in documents.values() if document["text"]]
    assert any(unicodedata.normalize("NFC", text) != text for text in texts)
    characters = set("".join(texts))
    for script in ("CJK", "HIRAGANA", "HANGUL", "THAI"):
        assert sum(unicodedata.name(character, "").startswith(script) for character in characters) >= 30


def test_every_stated_pair_is_what_it_is_stated_to_be(documents, truth, plain):
    for left, right, kind, verdict in truth["pairs"]:
        matches = plain.matches(documents[left]["text"], documents[right]["text"])
        assert matches == (verdict == "match"), (left, right, kind)


def test_every_pair_that_matches_is_stated_and_no_unstated_pair_is_near_the_threshold(documents, truth, plain):
    texts = {name: document["text"] for name, document in documents.items()}
    stated = {frozenset((left, right)): verdict for left, right, _, verdict in truth["pairs"]}
    for pair, resemblance in plain.alike(texts, 0.5).items():
        assert frozenset(pair) in stated, (pair, resemblance)
        assert (stated[frozenset(pair)] == "match") == (resemblance >= 0.6), (pair, resemblance)


def test_a_chain_of_versions_leads_from_a_document_to_one_that_it_does_not_match(documents, truth, plain):
    chains = [pair[:2] for pair in truth["pairs"] if pair[2] == "version-drift"]
    follows = {tuple(pair[:2]) for pair in truth["pairs"] if pair[2] == "version"}
    assert len(chains) >= 3
    for first, last in chains:
        seen = {first}
        for left, right in sorted(follows):
            if left in seen:
                seen.add(right)
        assert last in seen
        assert not plain.matches(documents[first]["text"], documents[last]["text"])


def test_a_run_judges_the_collection_as_its_truth_says(tmp_path, documents, truth):
    for left, right, kind, verdict in truth["pairs"]:
        texts = documents[left]["text"] or "", documents[right]["text"] or ""
        same = texts[0] == texts[1] != ""
        assert (same or neardup.resemblance(*texts) >= 0.6) == (verdict == "match"), (left, right, kind)
    kept, gone = tmp_path / "kept.jsonl", tmp_path / "gone.jsonl"
    done = neardup.dedup_files([SAMPLES / "collection.jsonl"], kept, dropped=gone)
    kept, gone = ({json.loads(line)["id"] for line in path.read_text().splitlines()} for path in (kept, gone))
    assert not kept & gone
    assert kept | gone == documents.keys()
    matches = {frozenset(pair[:2]) for pair in truth["pairs"] if pair[3] == "match"}
    assert not [pair for pair in matches if pair <= kept]
    for row in done.result.decisions.to_pylist():
        assert row["kept"] == (row["id"] in kept)
        if not row["kept"]:
            assert row["representative"] in kept
            texts = documents[row["id"]]["text"], documents[row["representative"]]["text"]
            assert frozenset((row["id"], row["representative"])) in matches or row["exact"]
            assert row["exact"] == (texts[0] == texts[1])
            assert row["exact"] or row["resemblance"] == pytest.approx(neardup.resemblance(*texts))


def test_the_words_of_the_plain_rule(plain):
    assert list(plain.words("Form 1506, STRASSE Straße e\u0301t\u00e9!")) == [
        "form",
        "1506",
        "strasse",
        "strasse",
        "été",
    ]
    assert list(plain.words("東京は3つ ไทย 한국어")) == ["東", "京", "は", "3", "つ", "ไ", "ท", "ย", "한국어"]
    assert plain.resemblance(frozenset(), frozenset()) == 0
