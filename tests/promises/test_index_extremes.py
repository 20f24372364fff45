"""Extreme contents of an index: endless chains, oversized buckets, a million copies, and ids of every kind."""

from dataclasses import replace

import numpy as np
import pytest

from neardup import Index, MinHash, Signatures, SimHash
from neardup.errors import DataError
from neardup.index.disk import growing_part, reader
from neardup.model.candidates import ROOM
from neardup.model.verdicts import as_record
from neardup.pipeline.index.verification import Verifier
from neardup.planning import Banding
from neardup.verdicts import ExactDuplicate, New

WAYS = {"durability": "bulk"}


@pytest.fixture
def candidates(monkeypatch):
    """Count what is proposed, call by call: how many documents asked, and how many candidates they had."""
    counts = []
    original = Verifier.matches

    def counted(self, given, found, **more):
        counts.append((len(given), len(found.rows)))
        return original(self, given, found, **more)

    monkeypatch.setattr(Verifier, "matches", counted)
    return counts


# Chains: each like the next.


def walk(number, distance, seed):
    """Make fingerprints of 64 bits, each 1 to *distance* bits from the next."""
    random = np.random.default_rng(seed)
    bits = np.uint64(1) << random.integers(0, 64, (number, distance), dtype=np.uint64)
    bits[:, 1:][random.integers(0, distance, (number, 1)) < np.arange(1, distance)] = 0
    return np.bitwise_xor.accumulate(np.bitwise_xor.reduce(bits, axis=1))


@pytest.mark.parametrize("number", [20_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_a_chain_makes_small_groups_of_what_matches_directly(tmp_path, number, candidates):
    scheme = SimHash(distance=3)
    rows = walk(number, 3, 1)
    signatures = Signatures(rows.reshape(-1, 1), np.ones(number, np.bool_), scheme.recipe)
    ids = [f"d{place}" for place in range(number)]
    place = {name: at for at, name in enumerate(ids)}
    with Index.create(tmp_path / "index", scheme, memory=1 << 24, **WAYS) as index:
        verdicts = index.admit(ids, signatures)
        assert (
            sum(found for _, found in candidates) < 40 * number
        )  # neighbours on the chain, and no more the longer it is
        representatives = np.array([place[document.representative] for document in index.get(ids)])
        apart = (
            np.bitwise_count(rows ^ rows[representatives])
            if hasattr(np, "bitwise_count")
            else popcounts(rows ^ rows[representatives])
        )
        assert apart.max() <= 3
        assert (representatives[representatives] == representatives).all()
        assert np.bincount(representatives).max() < 40
        assert all(
            len(index.group(ids[at])) == (representatives == representatives[at]).sum()
            for at in range(0, number, number // 20)
        )
        assert sum(isinstance(verdict, New) for verdict in verdicts) <= index.stats().kept

        candidates.clear()
        kept = [
            name for name, representative in zip(ids, representatives, strict=True) if place[name] == representative
        ]
        removed, promoted = index.remove(kept)
        assert removed == len(kept)
        assert index.stats().kept == len(promoted)
        assert sum(found for _, found in candidates) < 40 * number
        rest = [document for document in index.get(ids) if document]
        assert all(document.representative for document in rest)
        representatives = rows[[place[document.representative] for document in rest]]
        assert popcounts(rows[[place[document.id] for document in rest]] ^ representatives).max() <= 3


def popcounts(words):
    return np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1)


# Crowds.

OVERSIZED = MinHash(permutations=8, threshold=0.8, recall=0.5)
LAYOUT = Banding(permutations=8, bands=2)


def same_bucket(number, seed=1):
    """Make signatures that share the first of two keys, and have no match: an index keeps 16 bits of each value."""
    rows = np.full((number, 8), 7, np.uint32)
    rows[:, 4:] = np.random.default_rng(seed).integers(100, 1 << 16, (number, 4))
    return Signatures(rows, np.ones(number, np.bool_), OVERSIZED.recipe)


@pytest.mark.parametrize("number", [20_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_a_key_that_everybody_shares_costs_each_no_more(tmp_path, number, candidates):
    everything = same_bucket(number + 5)
    with Index.create(tmp_path / "index", OVERSIZED, layout=LAYOUT, memory=1 << 23, **WAYS) as index:
        for begin in range(0, number, 10_000):
            end = min(begin + 10_000, number)
            verdicts = index.admit([f"d{place}" for place in range(begin, end)], everything[np.arange(begin, end)])
            assert verdicts == [New()] * (end - begin)
        assert max(found / asked for asked, found in candidates) <= ROOM
        assert index.stats().oversized_buckets > number - 2 * ROOM
        before = index.stats().oversized_buckets
        candidates.clear()
        assert index.judge(everything[np.arange(number, number + 5)]) == [New()] * 5
        assert candidates == [(5, sum(found for _, found in candidates))]
        assert candidates[0][1] <= 5 * ROOM
        assert index.stats().oversized_buckets > before
        [verdict] = index.judge(everything[np.array([3])])
        assert (verdict.of, verdict.value) == ("d3", 1.0)  # by the key that it does not share with others


def test_removed_documents_leave_room_for_others(tmp_path):
    """In memory and in files alike: the first ones of an oversized bucket are removed, and later ones are found."""
    everything = same_bucket(200)
    rows = everything.rows.copy()
    rows[:, 4:] = np.arange(200)[:, None] // 100  # the second hundred match each other
    everything = replace(everything, rows=rows)
    for name in ("memory", "file"):
        with Index.create(tmp_path / name, OVERSIZED, layout=LAYOUT, **WAYS) as index:
            index.admit([f"d{place}" for place in range(150)], everything[np.arange(150)])
            if name == "file":
                index.flush()
            index.remove([f"d{place}" for place in range(120)])
            [verdict] = index.judge(everything[np.array([199])])
            assert (verdict.of, verdict.value) == ("d120", 1.0)


@pytest.mark.parametrize("number", [3000, pytest.param(300_000, marks=pytest.mark.soak)])
def test_of_many_copies_the_first_that_is_left_counts(tmp_path, number):
    text = "page not found, please try again later"
    with Index.create(tmp_path / "index", **WAYS) as index:
        ids = [f"d{place}" for place in range(number)]
        verdicts = index.admit(ids, [text] * number)
        assert verdicts == [New(), *[ExactDuplicate("d0")] * (number - 1)]
        assert index.group("d7") == ids
        assert index.judge([text], ids=["d0"]) == [ExactDuplicate("d1")]
        assert index.judge([text], ids=["d1"]) == [ExactDuplicate("d0")]
        index.flush()
        assert index.group("d7") == ids
        assert index.judge([text], ids=["d0"]) == [ExactDuplicate("d1")]
        assert index.remove(ids[: number - 2]).promoted == [ids[-2]]
        assert index.judge([text]) == [ExactDuplicate(ids[-2])]
        assert index.group(ids[-1]) == ids[-2:]


@pytest.mark.parametrize("number", [5000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_copies_come_and_go_however_many_have_gone(tmp_path, number):
    """In memory, the first ones first and the last ones first: removed documents do not slow lookups down for ever."""
    with Index.create(tmp_path / "index", **WAYS) as index:
        for order in (1, -1):
            ids = [f"d{place}" for place in range(number)]
            index.admit(ids, ["page not found, please try again later"] * len(ids))
            for name in ids[:: number // 50 * order]:
                index.remove([name])
            assert index.remove(ids).removed == number - 50


def test_the_few_that_are_left_of_many_are_found_in_a_merged_file(tmp_path):
    """In lists a key gives its low bits for the number of its document: a smaller file does not bring them back."""
    number, left = 5000, [3, 1234, 4999]
    texts = [f"text number {place} says {place * 7} in {place * 11} words" for place in range(number)]
    ids = [f"d{place}" for place in range(number)]
    with Index.create(tmp_path / "index", **WAYS) as index:
        index.admit(ids, texts)
        index.flush()
        index.remove(set(ids) - {ids[place] for place in left})
        index.compact()
        for _ in range(2):
            assert [document.id for document in index.get([ids[place] for place in left])] == [
                ids[place] for place in left
            ]
            assert [verdict.of for verdict in index.judge([texts[place] for place in left])] == [
                ids[place] for place in left
            ]
            assert [verdict.of for verdict in index.judge([f"{texts[place]} again" for place in left])] == [
                ids[place] for place in left
            ]
            index.admit(
                [f"more {place}" for place in range(5)], [f"some more text of number {place}" for place in range(5)]
            )
            index.flush()
            index.compact()


# Ids.

STRANGE = [
    "a",
    "A",
    " a",
    "a ",
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\",
    "\\\\server\\share",
    "a/",
    "a//",
    ".",
    "..",
    "\0",
    "a\0",
    "a\0b",
    "\n",
    "a\nb",
    "\r\n",
    *map(chr, range(1, 32)),
    "\x7f",
    "\u202egnp.exe",
    "\u200b",
    "\ufeff",
    "\N{GRINNING FACE}",
    "\N{WOMAN}\u200d\N{ROCKET}",
    "é",
    "e\u0301",
    "x" * 1024,
    "é" * 512,
    "\N{GRINNING FACE}" * 256,
    "%00",
    "manifest.json",
    "None",
    "nan",
    "'; DROP TABLE documents; --",
    "\uffff",
    "\U0010ffff",
]
SMALL = MinHash(permutations=8, threshold=0.6, recall=0.5)


def words(number):
    return [f"text number {place} of {place * 7} words" for place in range(number)]


@pytest.mark.parametrize("colliding", [False, True])
def test_every_id_is_itself(tmp_path, monkeypatch, colliding):
    if colliding:  # all ids have one key: more of them than there is room for
        constant = lambda ids, _: np.full(len(ids), 42, np.uint64)  # noqa: E731
        for module in (growing_part, reader):
            monkeypatch.setattr(module, "checksums", constant)
    ids = list(dict.fromkeys([*STRANGE, *(f"more {place}" for place in range(300))]))
    texts = words(len(ids))
    with Index.create(tmp_path / "index", SMALL, fields={"name": str}, texts=True, **WAYS) as index:
        index.admit(ids, texts, {"name": ids})
        index.flush()
        index.remove(ids[50:60])
        index.admit(ids[55:60], texts[55:60], {"name": ids[55:60]})
        index.admit(ids[:3], texts[3:6], {"name": ids[:3]})
    for mode in ("r", "w"):
        with Index.open(tmp_path / "index", mode) as index:
            there = [*ids[3:50], *ids[60:], *ids[55:60], *ids[:3]]
            assert [*index.ids()] == there
            found = index.get(ids)
            assert [document and document.id for document in found] == [
                None if 50 <= place < 55 else name for place, name in enumerate(ids)
            ]
            assert all(document.fields == {"name": document.id} for document in found if document)
            assert found[0].text == texts[3]
            assert index.judge([texts[7]])[0].of == ids[7]
            assert all(name in index.group(name) for name in there[::9])
            assert index.check().problems == []
    with Index.open(tmp_path / "index", "w") as index:
        assert index.remove(ids) == (len(ids) - 5, [])
        assert len(index) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "has 0 bytes, but must have 1 to 1,024"),
        ("x" * 1025, "has 1,025 bytes, but must have 1 to 1,024"),
        ("é" * 513, "has 1,026 bytes, but must have 1 to 1,024"),
        ("a\ud800", "has a lone surrogate, which UTF-8 cannot write"),
        (b"a", "must be a string, but is the byte string b'a'"),
        (5, "must be a string, but is the integer 5"),
        (None, "must be a string, but is None"),
    ],
)
def test_an_invalid_id_is_refused_before_anything_changes(tmp_path, name, why):
    with Index.create(tmp_path / "index", SMALL, **WAYS) as index:
        index.admit(["before"], words(1))
        state = (tmp_path / "index" / "log-00000001").read_bytes()
        for call in (lambda: index.admit(["a", name], words(2)), lambda: index.judge(words(2), ids=["a", name])):
            with pytest.raises(DataError) as refused:
                call()
            assert str(refused.value) == f"id 1 {why}"
        assert [*index.ids()] == ["before"]
        assert (tmp_path / "index" / "log-00000001").read_bytes() == state
        if isinstance(name, str):  # what cannot be an id is not there
            assert index.get(["before", name])[1] is None
            assert index.group(name) == []
            assert index.remove([name]) == (0, [])
        else:
            for call in (index.get, index.remove):
                with pytest.raises(DataError, match="must be a string"):
                    call([name])
            with pytest.raises(DataError, match="must be a string"):
                index.group(name)


@pytest.mark.parametrize("number", [5000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_ids_that_differ_only_behind_their_first_thousand_bytes(tmp_path, number):
    scheme = replace(SMALL, threshold=1.0)
    ids = [f"{'x' * 1000}{place}" for place in range(number)]
    random = np.random.default_rng(3)
    rows = random.integers(0, 2**32 - 1, (number, 8), dtype=np.uint32)
    signatures = Signatures(rows, np.ones(number, np.bool_), scheme.recipe)
    with Index.create(tmp_path / "index", scheme, memory=1 << 24, **WAYS) as index:
        index.admit(ids, signatures)
        index.flush()
        assert index.admit(ids[:100], signatures[np.arange(100)]) == [New()] * 100
        assert len(index) == number
        assert [document.id for document in index.get(ids[:: number // 50])] == ids[:: number // 50]
        assert index.get(["x" * 1000, f"{'x' * 1000}{number}"]) == [None, None]
        assert [as_record(verdict)["of"] for verdict in index.judge(signatures[np.arange(9)])] == ids[:9]
