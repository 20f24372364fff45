"""Contamination against sets of runs of words."""

import json

import numpy as np
import pyarrow as pa
import pytest
from invented_crawl import write_archive
from invented_sites import article
from json_lines import write_lines

from neardup import contamination, contamination_in_files
from neardup.decisions import partners
from neardup.errors import DataError, ParameterError
from neardup.pipeline.partners import contamination as module
from neardup.sources.shards import local_shards
from neardup.text.columns import batches
from neardup.web_pages import Extraction, learn_templates

RANDOM = np.random.default_rng(3)
TRAINING = [" ".join(f"w{one}" for one in RANDOM.integers(0, 900, RANDOM.integers(0, 120))) for _ in range(80)]
WORDS = [text.split() for text in TRAINING]
LONGEST = max(WORDS, key=len)
ITEMS = [
    *(" ".join(words[3:30]) for words in WORDS[:20]),
    *(" ".join([*words[:20], *(f"z{n}" for n in range(RANDOM.integers(0, 30)))]) for words in WORDS[20:40]),
    *(" ".join(words[5 : 5 + size]) for size, words in enumerate(WORDS[40:55])),
    " ".join([*LONGEST[:12], "zz"]),  # of just as many words as a run
    "",
    "nothing of this text is in any of the documents that were made above",
]


def runs(words, size):
    if len(words) < size:
        return {tuple(words)} if words else set()
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}


def by_definition(item, words=13):
    own = item.split()
    size = words if len(own) >= words else min(3, words)
    mine = runs(own, size)
    every = [runs(document, size) if len(own) >= size or len(document) < size else set() for document in WORDS]
    shares = [len(mine & other) / len(mine) if mine else 0.0 for other in every]
    anywhere = len(mine & set().union(*every)) / len(mine) if mine else 0.0
    return max(shares), sum(share >= 0.8 for share in shares), anywhere


@pytest.mark.parametrize("words", [13, 5, 2, 1])
def test_items_by_definition(words):
    found = contamination(TRAINING, ITEMS, words=words)
    rows = found.items.to_pylist()
    for row, item in zip(rows, ITEMS, strict=True):
        share, documents, anywhere = by_definition(item, words)
        assert (row["share"], row["documents"], row["anywhere"]) == (share, documents, pytest.approx(anywhere))
        assert row["contaminated"] == (share >= 0.8)
        assert row["words"] == len(item.split())
        assert (row["document"] is None) == (share == 0)
        if row["contaminated"]:
            assert row["passage"]
            assert row["passage"] in TRAINING[row["document_position"]]
    assert 20 < found.contaminated < len(ITEMS)
    assert found.read == len(TRAINING)


def test_the_passage_is_the_longest_shared_run_of_words():
    words = [f"w{number}" for number in range(40)]
    document = " ".join([*words[:25], "x", *words[4:]])
    (row,) = contamination([document], [" ".join(words)]).items.to_pylist()
    assert row["passage"] == " ".join(words[4:])


def test_a_passage_beyond_what_is_searched_is_missing():
    item = " ".join(f"w{number}" for number in range(30))
    near, far = (contamination([f"{'so ' * repeats}{item}"], [item]).items.to_pylist()[0] for repeats in (9, 70_000))
    assert (near["contaminated"], near["passage"]) == (True, item)
    assert (far["contaminated"], far["passage"]) == (True, None)


def test_documents_to_drop_are_those_with_items():
    found = contamination(TRAINING, ITEMS)
    dropped = {row["position"]: row for row in found.documents.to_pylist()}
    for place, document in enumerate(TRAINING):
        alone = contamination([document], ITEMS)
        assert (place in dropped) == (alone.contaminated > 0)
        if place in dropped:
            assert dropped[place]["items"] == alone.contaminated
            assert dropped[place]["id"] == str(place)
            assert dropped[place]["share"] == max(alone.items["share"].to_pylist())


def test_pairs_are_not_all_held_at_once(monkeypatch):
    """Items and documents with the same instructions are as many pairs as the product of both."""
    training, items = [f"{ITEMS[0]} {own}" for own in TRAINING], [f"{ITEMS[0]} {own}" for own in ITEMS]
    whole = contamination(training, items, threshold=0.3)
    monkeypatch.setattr(partners, "_ROOM", 1)
    steps = partners.Partners.steps
    sizes = []
    monkeypatch.setattr(
        partners.Partners, "steps", lambda *of: (sizes.append(len(one.left)) or one for one in steps(*of))
    )
    in_steps = contamination(training, items, threshold=0.3)
    assert whole.items.equals(in_steps.items)
    assert whole.documents.equals(in_steps.documents)
    assert max(sizes) <= 1 + len(items) < sum(sizes)


def test_a_document_with_many_items_is_read_once(monkeypatch):
    """Its text is long, and no copies of it are kept for each of its items."""
    items = [f"first {number} second {number} third {number}" for number in range(40)]
    read, readable = [], module.readable_text
    monkeypatch.setattr(module, "readable_text", lambda texts, at: read.append(readable(texts, at)) or read[-1])
    documents = [" and ".join(items[:20]), " and ".join(items[20:])]
    found = contamination(documents, items, words=3)
    assert found.items["document"].to_pylist() == ["0"] * 20 + ["1"] * 20
    assert found.items["passage"].to_pylist() == items
    assert [text for text in read if text in documents] == documents


def test_passages_are_looked_for_in_the_best_of_several_documents(monkeypatch):
    item = " ".join(f"word{number}" for number in range(20))
    looked, longest = [], module.longest_passage
    monkeypatch.setattr(module, "longest_passage", lambda *two, least: looked.append(two) or longest(*two, least=least))
    monkeypatch.setattr(module, "batches", lambda texts: batches(texts, 1))
    documents = [" ".join(item.split()[:size]) for size in range(12, 21)]  # each has more of the item
    found = contamination(documents, [item], words=3)
    assert (found.items["document"].to_pylist(), found.items["passage"].to_pylist()) == (["8"], [item])
    assert looked == [(item, item)]


def test_files_in_pieces_have_the_same_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(local_shards.__wrapped__, "__kwdefaults__", {"others": (), "size": 2_000})
    for name, texts in (("train", TRAINING), ("tests", ITEMS)):
        lines = [json.dumps({"id": str(place), "text": text}) for place, text in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join([*lines, "{broken"]) + "\n")
    found = contamination_in_files([tmp_path / "train.jsonl"], [tmp_path / "tests.jsonl"], threads=2)
    expected = contamination(TRAINING, ITEMS)
    assert found.items.to_pylist() == expected.items.to_pylist()
    assert found.documents.to_pylist() == expected.documents.to_pylist()
    assert len(found.rejected) == 2


@pytest.mark.parametrize("bad", ["training", "items"])
def test_files_whose_records_are_all_rejected_are_an_error(tmp_path, bad):
    for name in ("training", "items"):
        value = ["a list"] if name == bad else "one two three four"
        write_lines(tmp_path / f"{name}.jsonl", [{"text": value}])
    with pytest.raises(DataError, match=rf"{bad}\.jsonl: its only record, .*, was rejected: .*must be a string"):
        contamination_in_files([tmp_path / "training.jsonl"], [tmp_path / "items.jsonl"])


def test_a_result_is_shown_in_one_line():
    found = contamination(["one two three four"] * 1200, ["one two three four", "five"])
    assert repr(found) == "Contamination(items=2, contaminated=1, documents=1,200, read=1,200)"


def test_no_documents_are_not_contaminated():
    assert contamination([], ITEMS).contaminated == 0
    assert len(contamination(TRAINING, []).items) == 0
    assert contamination(["a b c"], ["", "..."]).items["share"].to_pylist() == [0.0, 0.0]


def test_invalid_arguments_are_refused():
    for wrong in ({"words": 0}, {"threshold": 0}, {"threshold": 2}, {"analysis": "words"}):
        with pytest.raises(ParameterError):
            contamination(TRAINING, ITEMS, **wrong)


@pytest.mark.parametrize("kind", [None, pa.binary(), pa.large_binary(), pa.binary_view()])
def test_texts_that_are_not_utf8_are_compared(kind):
    def container(texts):
        if kind is None:
            return texts
        raw = [text.encode("utf-8", "surrogatepass") for text in texts]
        return pa.table({"text": pa.array(raw).cast(kind), "id": [*map(str, range(len(raw)))]})

    training, items = [*TRAINING, "\ud800 " + TRAINING[0]], [f"{item} \udfff" for item in ITEMS]
    found, usual = contamination(container(training), container(items)), contamination(TRAINING, ITEMS)
    assert found.items.drop_columns(["documents"]) == usual.items.drop_columns(["documents"])


def test_the_share_of_a_document_is_its_largest_of_long_and_short_items():
    long, short = " ".join(f"w{number}" for number in range(20)), "a b c d e f g h"
    for items in ([long, f"{short} i"], [f"{short} i", long]):
        found = contamination([f"{long} {short}"], items)
        assert sorted(found.items["share"].to_pylist()) == [6 / 7, 1.0]
        assert found.documents.to_pylist() == [{"id": "0", "position": 0, "items": 2, "share": 1.0}]


def test_a_share_of_just_the_threshold_is_contaminated():
    words = [f"w{number}" for number in range(14)]
    found = contamination([" ".join(words[:13])], [" ".join(words)], threshold=0.5)  # one of two runs
    (row,) = found.items.to_pylist()
    assert (row["share"], row["contaminated"], row["documents"]) == (0.5, True, 1)
    assert row["passage"] == " ".join(words[:13])
    assert len(found.documents) == 1


def test_items_that_are_pages_need_templates(tmp_path):
    """Without them every line of a training page counts, and short items are contaminated by the menu of their host."""
    menu = "".join(f"<p>line {line} of the menu of this host that all of its pages have</p>" for line in range(10))
    pages, plain = {}, Extraction(view="visible")
    for name, number, letters in (("train", 20, None), ("tests", 4, 100)):
        bodies = [f"{menu}<p>{' '.join(article(f'{name} {n}'))[:letters]}</p>" for n in range(number)]
        pages[name] = [(f"https://a.example/{n}", body) for n, body in enumerate(bodies)]
    training, items = (write_archive(tmp_path / f"{name}.warc.gz", own) for name, own in pages.items())
    own = Extraction(view="visible", templates=learn_templates(pages["train"], extraction=plain))
    for extraction, contaminated in ((plain, 4), (own, 0)):
        assert contamination_in_files([training], [items], extraction=extraction).contaminated == contaminated
