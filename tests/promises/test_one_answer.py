"""The same documents in the same order have the same answer wherever they are asked about.

``dedup``, an index that is reopened, flushed and merged between batches of any size, and ``collapse`` name the same
kept documents and the same representatives, by the definition of ``canonical.py``.
"""

from itertools import pairwise

import numpy as np
import pytest
from test_definition import SCHEMES, answer, collection

from neardup import Index, NearDuplicates, collapse, dedup
from neardup.model.protocols import FieldScheme

REPRESENTATIVES = ("best-ranked", "closest")


def given(table, scheme):
    """Documents as an index takes them: texts, and the fields that are signed."""
    texts = [text or "" for text in table["text"].to_pylist()]
    return texts, {"title": table["title"].to_pylist()} if scheme.columns else None


def part_of(fields, rows):
    return fields and {name: values[rows] for name, values in fields.items()}


def admitted(folder, table, scheme, random, *, texts, representative):
    """The representatives of documents that were admitted in random batches, with a random life in between."""
    documents, fields = given(table, scheme)
    ids = [f"d{place}" for place in range(len(documents))]
    index = Index.create(folder, scheme, texts=texts, representative=representative, durability="bulk")
    begin = 0
    while begin < len(ids):
        rows = slice(begin, begin + int(random.choice([1, 1, 2, 5, 16])))
        index.admit(ids[rows], documents[rows], part_of(fields, rows))
        begin = rows.stop
        match int(random.integers(6)):
            case 0:
                index.flush()
            case 1:
                index.compact()
            case 2:
                index.close()
                index = Index.open(folder, "w", scheme=scheme, durability="bulk")
    kept = [int(document.kept[1:]) for document in index.get(ids)]
    index.close()
    return [-1 if own == place else own for place, own in enumerate(kept)]


def collapsed(table, scheme, expected):
    """What ranked hits are hidden for; as *expected* where they have no signature: no rule for texts compares these."""
    texts = [text or "" for text in table["text"].to_pylist()]
    hits = [{"id": place, "text": text} for place, text in enumerate(texts)]
    found = collapse(hits, NearDuplicates(scheme=scheme), verify="exact").outcome.of.tolist()
    return [
        own if there else known for own, there, known in zip(found, scheme.sign(texts).present, expected, strict=True)
    ]


def told_by_text(table, scheme):
    """Whether equal features mean equal texts: by these an index groups documents, which matters to the closest."""
    texts = [text or "" for text in table["text"].to_pylist()]
    features = scheme.shingling.features(texts)
    lists = [(*features.values[begin:end].tolist(),) for begin, end in pairwise(features.offsets.tolist())]
    return len({*lists}) == len({*zip(lists, texts, strict=True)})


def differing(folder, seeds):
    wrong, dropped = [], 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        table = collection(random)
        scheme = SCHEMES[int(random.integers(len(SCHEMES)))]
        representative = str(random.choice(REPRESENTATIVES))
        if not told_by_text(table, scheme):
            representative = "best-ranked"
        texts = bool(random.random() < 0.7)
        verify = "exact" if texts or isinstance(scheme, FieldScheme) else "estimate"
        expected = answer(table, scheme, "first", verify, representative=representative)
        answers = {
            "dedup": dedup(table, scheme=scheme, verify=verify, representative=representative).representatives.tolist(),
            "index": admitted(folder / str(seed), table, scheme, random, texts=texts, representative=representative),
        }
        if verify == "exact" and representative == "best-ranked" and not scheme.columns:
            answers["collapse"] = collapsed(table, scheme, expected)
        dropped += sum(own >= 0 for own in expected)
        wrong += [(seed, scheme, name, found, expected) for name, found in answers.items() if found != expected]
    return wrong, dropped


def test_random_collections_have_one_answer(tmp_path):
    wrong, dropped = differing(tmp_path, range(120))
    assert wrong == []
    assert dropped > 120


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_many_random_collections_have_one_answer(tmp_path, part):
    wrong, dropped = differing(tmp_path, range(2_000_000 + 1_000 * part, 2_001_000 + 1_000 * part))
    assert wrong == []
    assert dropped > 1_000
