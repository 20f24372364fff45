import io
import json

import pytest
from json_lines import write_lines

from neardup import Checksum, Field, Index, MinHash, SimHash, dedup_files
from neardup.errors import DataError, ParameterError
from neardup.model.errors import RunChanged, StorageRefused
from neardup.pipeline.index.page_terms import require_extraction
from neardup.pipeline.index.texts import IndexTexts
from neardup.pipeline.spilled import files
from neardup.sources.request import Request
from neardup.text.extraction import Extraction

KEY = bytes(range(16))


def request(*columns, format=None):  # noqa: A002 - what users call it
    return Request(text="body.content", id="name", columns=columns, format=format)


@pytest.fixture
def index(tmp_path):
    """An index with a key, of several parts, with a removed document and a null."""
    scheme = MinHash(key=KEY)
    with Index.create(tmp_path / "index", scheme, texts=True, fields={"size": int, "title": str}) as index:
        index.admit(["a", "b"], ["one two three", "four five six"], {"size": [1, None], "title": ["x", "y"]})
        index.flush()
        index.admit(["c", "d"], ["seven, éight", ""], {"size": [3, 4], "title": ["z", None]})
        index.remove(["a"])
        yield index


def written(texts, *columns):
    file = io.BytesIO()
    texts.write(file, request(*columns))
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_documents_are_records_with_the_fields_of_the_request(index, tmp_path):
    texts = IndexTexts(str(tmp_path / "index"))
    assert written(texts, "size", "other") == [
        {"name": "b", "body.content": "four five six", "size": None},
        {"name": "c", "body.content": "seven, éight", "size": 3},
        {"name": "d", "body.content": "", "size": 4},
    ]


def test_a_change_is_noticed(index, tmp_path):
    texts = IndexTexts(str(tmp_path / "index"))
    assert IndexTexts(str(tmp_path / "index")).identity == texts.identity
    index.admit(["e"], ["other"])
    assert IndexTexts(str(tmp_path / "index")).identity != texts.identity
    with pytest.raises(DataError, match="was changed after the run had begun"):
        written(texts)


def test_what_cannot_be_compared_with_is_refused(index, tmp_path):
    texts = IndexTexts(str(tmp_path / "index"))
    texts.require(request(), ["title", "body", "body.content"], None)
    with pytest.raises(ParameterError, match="without the field 'host', which the scheme signs"):
        texts.require(request(), ["host"], None)
    with pytest.raises(ParameterError, match="cannot be used when comparing with an index"):
        texts.require(request(format="csv"), [], None)
    require_extraction(index, Extraction(view="visible"))
    texts = IndexTexts(str(tmp_path / "index"))
    texts.require(request(), [], Extraction(view="visible"))
    with pytest.raises(StorageRefused, match="pages were read in the text view visible"):
        texts.require(request(), [], Extraction(view="auto"))
    Index.create(tmp_path / "signatures").close()
    with pytest.raises(ParameterError, match="is an index without texts; compare with a state, with files"):
        IndexTexts(str(tmp_path / "signatures"))


LINES = [
    {"id": f"d{number}", "text": text, "title": "abc"[number % 3], "score": number % 4}
    for number, text in enumerate(
        " ".join(f"w{(seed * 7 + place) % 50}" for place in range(20 + seed % 3)) if seed % 5 else ""
        for seed in (*range(40), *range(10, 40))
    )
]


@pytest.fixture
def halves(tmp_path):
    """Two files of the same documents and edited ones, and an index of the first file."""
    paths = [tmp_path / "old.jsonl", tmp_path / "new.jsonl"]
    for path, lines in zip(paths, (LINES[:35], LINES[35:]), strict=True):
        write_lines(path, lines)
    return paths


@pytest.mark.parametrize(
    "scheme", [MinHash(), SimHash(), Checksum(fields=(Field(name="title"), Field(name="text")))], ids=lambda s: s.name
)
def test_the_decisions_are_those_against_files_of_the_same_documents(halves, tmp_path, scheme):
    old, new = halves
    records = LINES[:35]
    with Index.create(tmp_path / "index", texts=True, fields={"title": str, "score": int}) as index:
        fields = {name: [record[name] for record in records] for name in ("title", "score")}
        index.admit([record["id"] for record in records], [record["text"] for record in records], fields)
    with Index.open(tmp_path / "index") as index:
        before = index.state
    by_files = dedup_files([new], tmp_path / "one.jsonl", against=old, scheme=scheme).result
    by_index = dedup_files([new], tmp_path / "two.jsonl", against=tmp_path / "index", scheme=scheme).result
    assert by_index.decisions.equals(by_files.decisions)
    assert by_index.summary.known > 0
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    with Index.open(tmp_path / "index") as index:
        assert index.state == before


A, B, C = (
    " ".join(f"a{number}" for number in range(17)) + " a17 a18 a19",
    " ".join(f"a{number}" for number in range(17)) + " b17 b18 b19",  # like both others, which are not alike
    " ".join(f"a{number}" for number in range(14)) + " c14 c15 a16 b17 b18 b19",
)


def of_new(path, **options):
    [decision] = dedup_files([path], **options).result.decisions.to_pylist()
    return decision["kept"], decision["representative"]


@pytest.mark.parametrize("keep", ["first", "last", "longest", "max:score", "min:score", "shortest-id"])
def test_no_rule_that_ranks_new_documents_changes_the_decisions_of_an_index(tmp_path, keep):
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    records = [{"id": "http://x.example/a", "text": A, "score": 2}, {"id": "http://x.example", "text": B, "score": 3}]
    write_lines(old, records)
    write_lines(new, [{"id": "c", "text": C, "score": 1}])
    with Index.create(tmp_path / "index", texts=True, fields={"score": str}) as index:
        fields = {"score": ["not a number", "3"]}  # it ranks nothing
        index.admit([record["id"] for record in records], [record["text"] for record in records], fields)
    dedup_files([old], state=tmp_path / "state", keep="min:score")
    assert of_new(new, against=tmp_path / "index", keep=keep) == (True, None)
    assert of_new(new, against=tmp_path / "state", keep=keep) == (True, None)
    assert of_new(new, against=[tmp_path / "index", old], keep=keep) == (True, None)


def test_documents_of_files_are_ranked_among_themselves(tmp_path):
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    write_lines(old, [{"id": name, "text": text} for name, text in (("a", A), ("b", B))])
    write_lines(new, [{"id": "c", "text": C}])
    assert of_new(new, against=old) == (True, None)
    assert of_new(new, against=old, keep="last") == (False, "b")


def test_a_run_continues_unless_the_index_has_changed(halves, tmp_path, monkeypatch, interrupted_at):
    with Index.create(tmp_path / "index", texts=True) as index:
        index.admit([record["id"] for record in LINES[:35]], [record["text"] for record in LINES[:35]])
    options = {"against": tmp_path / "index", "work": tmp_path / "work"}
    write, calls = IndexTexts.write, []
    monkeypatch.setattr(IndexTexts, "write", lambda *given: calls.append(given) or write(*given))
    for _ in range(2):
        with interrupted_at(files, "decided"):
            dedup_files([halves[1]], tmp_path / "out.jsonl", **options)
    assert len(calls) == 1
    with Index.open(tmp_path / "index", "w") as index:
        index.admit(["more"], ["some other text"])
    with pytest.raises(RunChanged, match=r"index was changed"):
        dedup_files([halves[1]], tmp_path / "out.jsonl", **options)
    done = dedup_files([halves[1]], tmp_path / "out.jsonl", restart=True, **options).result
    assert done.summary.known > 0
    assert not (tmp_path / "work").exists()
