"""The same documents in the same order have the same answer wherever they are asked about.

``dedup``, an index that is reopened, flushed and merged between batches of any size, and ``collapse`` name the same
kept documents and the same representatives, by the definition of ``canonical.py``.
"""

import numpy as np
import pytest
from test_definition import SCHEMES, answer, collection, with_sites

from neardup import Index, MinHash, NearDuplicates, SimHash, Trials, collapse, dedup
from neardup.index.disk import postings, reader, recent_documents
from neardup.index.memory import buckets
from neardup.pipeline.corpus.documents import SITE
from neardup.pipeline.index import fields

REPRESENTATIVES = ("best-ranked", "closest")


def given(table, scheme):
    """Documents as an index takes them: texts, and the fields that are signed, or the sites of pages."""
    texts = [text or "" for text in table["text"].to_pylist()]
    if SITE in table.column_names and not scheme.columns:
        return texts, {fields.SITE: table[SITE].to_numpy().view(np.int64)}
    return texts, {"title": table["title"].to_pylist()} if scheme.columns else None


def part_of(fields, rows):
    return fields and {name: values[rows] for name, values in fields.items()}


def admitted(folder, table, scheme, random, *, texts, representative):
    """The representatives of documents that were admitted in random batches, with a random life in between."""
    documents, values = given(table, scheme)
    ids = [f"d{place}" for place in range(len(documents))]
    layout = None if scheme.table_distance is None else scheme.layout  # tables find by distance, whatever the buckets
    kinds = {fields.SITE: "integer"} if SITE in table.column_names else {}
    ways = {"fields": kinds, "texts": texts, "representative": representative, "durability": "bulk", "layout": layout}
    index = Index.create(folder, scheme, **ways)
    begin = 0
    while begin < len(ids):
        rows = slice(begin, begin + int(random.choice([1, 1, 2, 5, 16])))
        index.admit(ids[rows], documents[rows], part_of(values, rows))
        begin = rows.stop
        match int(random.integers(6)):
            case 0:
                index.flush()
            case 1:
                index.compact()
            case 2:
                index.close()
                index = Index.open(folder, "w", scheme=scheme, durability="bulk")
    kept = [int(document.representative[1:]) for document in index.get(ids)]
    index.close()
    return [-1 if own == place else own for place, own in enumerate(kept)]


def collapsed(table, scheme, expected, representative):
    """What ranked hits are hidden for; as *expected* where they have no signature: no rule for texts compares these."""
    texts = [text or "" for text in table["text"].to_pylist()]
    hits = [{"id": place, "text": text} for place, text in enumerate(texts)]
    by = NearDuplicates(scheme=scheme)
    found = collapse(hits, by, verify="exact", representative=representative).outcome.of.tolist()
    return [
        own if there else known for own, there, known in zip(found, scheme.sign(texts).present, expected, strict=True)
    ]


def differing(folder, seeds, *, sites=False):
    wrong, dropped = [], 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        table = with_sites(collection(random), random) if sites else collection(random)
        scheme = SCHEMES[int(random.integers(len(SCHEMES)))]
        representative = str(random.choice(REPRESENTATIVES))
        texts = bool(random.random() < 0.7)
        verify = "exact" if texts or scheme.columns else "estimate"
        expected = answer(table, scheme, "first", verify, representative=representative)
        answers = {
            "dedup": dedup(table, scheme=scheme, verify=verify, representative=representative).representatives.tolist(),
            "index": admitted(folder / str(seed), table, scheme, random, texts=texts, representative=representative),
        }
        if verify == "exact" and not scheme.columns and not sites:
            answers["collapse"] = collapsed(table, scheme, expected, representative)
        dropped += sum(own >= 0 for own in expected)
        wrong += [(seed, scheme, name, found, expected) for name, found in answers.items() if found != expected]
    return wrong, dropped


def test_random_collections_have_one_answer(tmp_path):
    wrong, dropped = differing(tmp_path, range(30))
    assert wrong == []
    assert dropped > 30


def test_random_pages_have_one_answer(tmp_path):
    wrong, dropped = differing(tmp_path, range(7_000, 7_030), sites=True)
    assert wrong == []
    assert dropped > 15


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_many_random_collections_have_one_answer(tmp_path, part):
    wrong, dropped = differing(tmp_path, range(2_000_000 + 1_000 * part, 2_001_000 + 1_000 * part))
    assert wrong == []
    assert dropped > 1_000


# Oversized buckets.


def differing_with_little_room(folder, seeds):
    wrong, dropped, passed_over = [], 0, 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        scheme = SCHEMES[int(random.integers(len(SCHEMES)))]
        room = int(random.choice([1, 2, 3, 5]))
        table, representative = collection(random), str(random.choice(REPRESENTATIVES))
        expected = answer(table, scheme, "first", "exact", room=room, representative=representative)
        with pytest.MonkeyPatch.context() as patch:
            for module in (buckets, postings, reader, recent_documents):
                patch.setattr(module, "ROOM", room)
            found = dedup(table, scheme=scheme, threads=1, representative=representative)
            index = admitted(folder / str(seed), table, scheme, random, texts=True, representative=representative)
        dropped += sum(own >= 0 for own in expected)
        passed_over += found.summary.not_compared
        answers = {"dedup": found.representatives.tolist(), "index": index}
        wrong += [(seed, scheme, room, name, own, expected) for name, own in answers.items() if own != expected]
    return wrong, dropped, passed_over


def test_random_collections_have_one_answer_with_little_room(tmp_path):
    wrong, dropped, passed_over = differing_with_little_room(tmp_path, range(3_100, 3_130))
    assert wrong == []
    assert min(dropped, passed_over) > 15


@pytest.mark.soak
@pytest.mark.parametrize("part", range(5))
def test_many_random_collections_have_one_answer_with_little_room(tmp_path, part):
    seeds = range(3_000_000 + 1_000 * part, 3_001_000 + 1_000 * part)
    wrong, dropped, _ = differing_with_little_room(tmp_path, seeds)
    assert wrong == []
    assert dropped > 1_000


def under_one_licence(number, clauses):
    """Documents that have so many words in common, with some near copies."""
    random = np.random.default_rng(7)
    licence = [f"clause{place}" for place in range(clauses)]
    bodies = [[f"w{word}" for word in random.integers(0, 5000, 30)] for _ in range(number)]
    for place in range(number // 2, number, 3):
        bodies[place] = list(bodies[int(random.integers(place))])
        bodies[place][int(random.integers(30))] = f"edited{place}"
    return [" ".join([*licence, *body]) for body in bodies]


OVERSIZED = {
    "minhash": (MinHash(shingle=1, permutations=64, threshold=0.7), 40),
    "trials": (Trials(words=1, hashes=2, trials=8), 120),
    "simhash": (SimHash(shingle=1, distance=3), 1000),
}


@pytest.mark.parametrize(
    ("together", "name"),
    [
        (1, "minhash"),
        *((37, name) for name in OVERSIZED),
        (600, "trials"),
        *(pytest.param(1, name, marks=pytest.mark.soak) for name in ("trials", "simhash")),
        *(pytest.param(600, name, marks=pytest.mark.soak) for name in ("minhash", "simhash")),
    ],
)
def test_oversized_buckets_have_one_answer(tmp_path, name, together):
    scheme, clauses = OVERSIZED[name]
    texts = under_one_licence(600, clauses)
    expected = dedup(texts, scheme=scheme, threads=1)
    assert expected.summary.not_compared > 0
    ids = [f"d{place}" for place in range(len(texts))]
    ways = {"texts": True, "durability": "bulk"} | ({"layout": scheme.layout} if scheme.table_distance else {})
    index = Index.create(tmp_path / "index", scheme, **ways)
    for turn, begin in enumerate(range(0, len(ids), together)):
        rows = slice(begin, begin + together)
        index.admit(ids[rows], texts[rows])
        if turn % 90 == 1 or together > 1:
            index.flush()
        if turn == len(ids) // together // 2:
            index.compact()
            index.close()
            index = Index.open(tmp_path / "index", "w", scheme=scheme, durability="bulk")
    kept = [int(document.representative[1:]) for document in index.get(ids)]
    assert [-1 if own == place else own for place, own in enumerate(kept)] == expected.representatives.tolist()
    index.flush()
    index.compact()
    before = index.stats().oversized_buckets
    more = [f"{text} more" for text in texts[::50]]
    again = dedup([*texts, *more], scheme=scheme, threads=1).representatives[len(texts) :].tolist()
    index.admit([f"d{len(ids) + place}" for place in range(len(more))], more)
    got = [
        int(document.representative[1:])
        for document in index.get([f"d{len(ids) + place}" for place in range(len(more))])
    ]
    assert got == [len(ids) + place if own < 0 else own for place, own in enumerate(again)]
    assert index.stats().oversized_buckets > before
    assert index.check().problems == []
    index.close()
