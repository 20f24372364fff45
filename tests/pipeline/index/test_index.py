"""Making and opening an index, and what is refused: with a reason, and before anything changes."""

import copy
import gc
import json
import os
import pickle
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from neardup import (
    Analysis,
    Checksum,
    Combined,
    Field,
    FracMinHash,
    Index,
    MinHash,
    Sentences,
    Signatures,
    SimHash,
    TermWeights,
    Trials,
)
from neardup.errors import DataError, NeardupError, ParameterError, RecipeMismatch, StorageRefused
from neardup.hamming import TableDesign
from neardup.index.disk.arrays import checksum
from neardup.model.seen import Removal
from neardup.planning import Banding, Blocks
from neardup.results import Document
from neardup.verdicts import Empty, ExactDuplicate, Known, NearDuplicate, New

KEY = bytes.fromhex("00112233445566778899aabbccddeeff")
TEXTS = [
    "the storm broke over the harbour at dawn and tore three boats from their moorings",
    "the storm broke over the harbour at dawn and tore four boats from their moorings",
    "nothing of the kind was said about the weather by anybody else on that day",
]
KINDS = {"rank": int, "host": str, "seen": datetime, "score": float, "ok": bool}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "seen"


def made(folder, *arguments, **options):
    """Make an index with something in it, and close it."""
    with Index.create(folder, *arguments, **options) as index:
        index.admit(["a", "b", "c"], TEXTS)
        index.flush()
        index.admit(["d"], TEXTS[:1])
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Every scheme.

SCHEMES = {
    "minhash": MinHash(),
    "minhash of letters": MinHash(analysis=Analysis(unit="letter"), shingle=5),
    "fracminhash": FracMinHash(shingle=2, measure="overlap"),
    "trials": Trials(words=3, trials=9, needed=3),
    "sentences": Sentences(size=16, relative_to="smaller", threshold=0.8),
    "simhash": SimHash(bits=128, distance=4),
    "checksum": Checksum(fields=(Field(name="body", limit=50),), contribution="host"),
    "combined": Combined(),
    "combined of others": Combined(MinHash(shingle=1, threshold=0.5), Sentences(threshold=0.1)),
}


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("name", SCHEMES)
def test_an_index_is_opened_by_whoever_has_its_key(folder, name, key):
    made_with = SCHEMES[name]
    if key is not None and getattr(made_with, "seed", 1) != 1:
        made_with = replace(made_with, seed=1)  # a key and a seed exclude each other
    with Index.create(folder, made_with, key=key) as index:
        index.admit(["a", "b"], TEXTS[:2])
        judged, scheme = index.judge(TEXTS), index.scheme
        assert judged[:2] == [ExactDuplicate("a"), ExactDuplicate("b")]
    for mode in ("r", "w"):
        with Index.open(folder, mode, key=key) as index:
            assert index.scheme == scheme
            assert index.judge(TEXTS) == judged
    with Index.open(folder, scheme=scheme) as index:
        assert index.judge(TEXTS) == judged
    if key is not None:
        for own, reason in (
            (None, "was created with a secret key, and can only be used with that key"),
            (bytes(16), "was created with another secret key, and can only be used with that key"),
        ):
            for mode in ("r", "w"):
                with pytest.raises(StorageRefused) as refused:
                    Index.open(folder, mode, key=own)
                assert str(refused.value) == f"{folder} {reason}"
                assert KEY.hex() not in str(refused.value)


def test_a_key_is_in_no_file(folder):
    made(folder, key=KEY)
    with Index.open(folder, "w", key=KEY) as index:
        index.remove(["a"])
        index.compact()
        assert KEY.hex() not in repr(index) + repr(index.scheme) + repr(index.stats())
    for data in contents(folder).values():
        for secret in (KEY, KEY[::-1], KEY.hex().encode(), KEY.hex().upper().encode(), KEY[:8], KEY[8:]):
            assert secret not in data


def test_a_key_for_an_index_without_one_is_refused(folder):
    made(folder)
    with pytest.raises(StorageRefused, match="was created without a secret key, and cannot"):
        Index.open(folder, key=KEY)


@pytest.mark.parametrize("key", [b"", b"short", "sixteen letters ", bytearray(16), 16])
def test_invalid_keys_are_refused(folder, key):
    with pytest.raises(ParameterError, match="key='\\(secret\\)' must be 16 bytes"):
        Index.create(folder, key=key)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("scheme", "differing"),
    [
        (MinHash(shingle=4, threshold=0.7, recall=0.9), "shingle was 3 and is 4"),
        (MinHash(seed=2), "seed was 1 and is 2"),
        (
            MinHash(bag=True, analysis=Analysis(stem="english")),
            "stem was not set and is english; bag was off and is on",
        ),
        (SimHash(), "scheme was minhash and is simhash"),
    ],
    ids=["shingle", "seed", "analysis", "scheme"],
)
def test_another_recipe_is_refused(folder, scheme, differing):
    made(folder)
    with pytest.raises(StorageRefused) as refused:
        Index.open(folder, scheme=scheme)
    assert str(refused.value) == f"{folder} was created with other settings: {differing}"


def test_a_part_of_another_recipe_is_refused(folder):
    Index.create(folder, Combined()).close()
    with pytest.raises(StorageRefused, match=r"was created with other settings: .*trials was 6 and is 5$"):
        Index.open(folder, scheme=Combined(first=replace(Combined().first, trials=5)))


@pytest.mark.parametrize("scheme", ["minhash", MinHash, 5])
def test_invalid_schemes_are_refused(folder, scheme):
    with pytest.raises(ParameterError, match="must be a scheme"):
        Index.create(folder, scheme)
    assert not folder.exists()
    made(folder)
    with pytest.raises(ParameterError, match="must be a scheme"):
        Index.open(folder, scheme=scheme)


@pytest.mark.parametrize("combined", [False, True])
def test_a_table_of_weights_is_needed_to_open_an_index(folder, combined):
    scheme = SimHash(weights=TermWeights.fitted(TEXTS), distance=9)
    scheme = Combined(scheme, MinHash(threshold=0.1, recall=0.5)) if combined else scheme
    made(folder, scheme)
    with pytest.raises(StorageRefused, match="with a table of weights, which is not stored; open it with that scheme"):
        Index.open(folder)
    with Index.open(folder, "w", scheme=scheme) as index:
        assert index.judge(TEXTS[2:]) == [ExactDuplicate("c")]
        index.compact()
    other = SimHash(weights=TermWeights.fitted(TEXTS[:1]), distance=9)
    with pytest.raises(StorageRefused, match="was created with"):
        Index.open(folder, scheme=other)


# Policy and layout.


def test_another_policy_counts_and_keys_stay_as_they_are(folder):
    five = TEXTS[0].replace("three", "five")
    made(folder, MinHash(threshold=0.5))
    with Index.open(folder, "w", scheme=MinHash(threshold=0.95)) as index:
        assert index.judge([five]) == [New()]
        index.admit(["e"], [f"{TEXTS[2]} again and again"])
        index.compact()
        assert index.get(["e"])[0].representative == "e"
    with Index.open(folder) as index:
        assert [verdict.of for verdict in index.judge([five, f"{TEXTS[2]} again and again"])] == ["a", "e"]
    with pytest.raises(
        StorageRefused, match=r"has keys for a threshold of 0\.5: only 10\.3 % of the pairs at 0\.1 would be found"
    ):
        Index.open(folder, scheme=MinHash(threshold=0.1, recall=0.5))


@pytest.mark.parametrize(
    ("scheme", "layout", "other"),
    [
        (
            MinHash(permutations=8, recall=0.5),
            Banding(permutations=8, bands=8),
            MinHash(permutations=8, threshold=0.2, recall=0.2),
        ),
        (SimHash(distance=3), Blocks(bits=64, distance=3, blocks=4), SimHash(distance=2)),
    ],
)
def test_a_layout_is_honoured_and_remembered(folder, scheme, layout, other):
    made(folder, scheme, layout=layout)
    assert json.loads((folder / "manifest.json").read_bytes().split(b"\n")[0])["terms"]["layout"] is not None
    for options in ({}, {"scheme": scheme}, {"scheme": other}):
        with Index.open(folder, "w", **options) as index:
            keys = index._store.lookup.keyed(index.scheme.sign(TEXTS).rows, np.ones(3, np.bool_))
            assert (keys == scheme.keys(scheme.sign(TEXTS), layout)).all()
            assert [verdict.of for verdict in index.judge(TEXTS)] == ["a", "b", "c"]
            index.compact()


@pytest.mark.parametrize(
    ("scheme", "layout", "rule"),
    [
        (MinHash(), Banding(permutations=64, bands=8), "must have the scheme's permutations, 128"),
        (SimHash(), Blocks(bits=128, distance=3, blocks=6), "must have the scheme's bits, 64"),
        (SimHash(), Blocks(bits=64, distance=4, blocks=6), "must have the scheme's distance, 3"),
        (SimHash(), Banding(permutations=128, bands=8), "must be a Blocks or a TableDesign"),
        (SimHash(), TableDesign(kind="blocks", distance=2, pieces=4), "must have the scheme's distance, 3"),
        (SimHash(bits=128), TableDesign(kind="blocks", distance=3, pieces=4), "must be a Blocks"),
        (MinHash(), "bands", "must be a Banding"),
        (Trials(), Banding(permutations=128, bands=8), "cannot be used with this scheme"),
        (Checksum(), Blocks(bits=64, distance=3, blocks=6), "cannot be used with this scheme"),
    ],
)
def test_a_layout_that_does_not_fit(folder, scheme, layout, rule):
    with pytest.raises(ParameterError) as refused:
        Index.create(folder, scheme, layout=layout)
    assert refused.value.name == "layout"
    assert refused.value.rule == rule
    assert not folder.exists()


HALVES = TableDesign(kind="probes", distance=3, pieces=2)


@pytest.mark.parametrize("layout", [None, HALVES])
def test_fingerprints_are_found_by_tables_of_the_design_that_was_chosen(folder, layout):
    made(folder, SimHash(), layout=layout)
    for _ in range(2):
        with Index.open(folder, "w") as index:
            index.flush()
            index.compact()
            tables = index._store.segments[0]._tables
            assert tables.design == (layout or TableDesign.choose(distance=3, fingerprints=len(TEXTS)))
            assert [verdict.of for verdict in index.judge(TEXTS)] == ["a", "b", "c"]
            index.remove(["b"])
            assert index.judge(TEXTS[1:2]) == [New()]
            index.admit(["b"], TEXTS[1:2])


# Folders.


def test_where_an_index_can_be_made(tmp_path, folder):
    folder.mkdir()
    made(folder)
    before = contents(folder)
    file = tmp_path / "file"
    file.write_text("mine")
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("mine")
    for place, reason in (
        (folder, " is an index already; open it with Index.open"),
        (full, " is not empty: an index needs a folder of its own"),
        (file, " is not a folder"),
        (tmp_path / "no" / "such", f": its folder does not exist: {tmp_path / 'no'}; create it first"),
        (file / "within", f": {file} is a file, or inside one"),
    ):
        with pytest.raises(StorageRefused) as refused:
            Index.create(place)
        assert str(refused.value) == f"{place}{reason}"
    assert contents(folder) == before
    assert file.read_text() == "mine"
    assert [path.name for path in full.iterdir()] == ["mine"]


@pytest.mark.parametrize("mode", ["r", "w"])
def test_folders_without_an_index_are_refused(tmp_path, mode):
    file, empty = tmp_path / "file", tmp_path / "empty"
    file.write_text("mine")
    empty.mkdir()
    reasons = {
        file: " is a file, not the folder of an index",
        empty: " is not an index: it has no manifest",
        tmp_path / "nothing": ": there is nothing at this path",
        tmp_path / "no" / "such": ": there is nothing at this path",
    }
    for place, reason in reasons.items():
        with pytest.raises(StorageRefused) as refused:
            Index.open(place, mode)
        assert str(refused.value) == f"{place}{reason}"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty", "file"]


@pytest.mark.parametrize(
    ("option", "rule"),
    [
        ({"durability": "never"}, "must be commit, interval or bulk"),
        ({"durability": None}, "must be commit, interval or bulk"),
        ({"memory": 1 << 19}, "must be an integer of at least 1,048,576 (bytes)"),
        ({"memory": 1e9}, "must be an integer of at least 1,048,576 (bytes)"),
    ],
)
def test_ways_that_there_are_not(folder, option, rule):
    for make in (Index.create, Index.open):
        with pytest.raises(ParameterError) as refused:
            make(folder, **option)
        assert refused.value.rule == rule
        assert not folder.exists()


@pytest.mark.parametrize("mode", ["a", "rw", None, "", 1])
def test_modes_that_there_are_not(folder, mode):
    made(folder)
    with pytest.raises(ParameterError, match="must be 'r' or 'w'"):
        Index.open(folder, mode)


def rewritten(folder, **changes):
    """Write a manifest as another version would."""
    given = json.loads((folder / "manifest.json").read_bytes().split(b"\n")[0])
    content = json.dumps(given | changes, sort_keys=True).encode()
    (folder / "manifest.json").write_bytes(content + b"\n" + f"{checksum(content):016x}\n".encode())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 1}, "is of format 1, older than the 8 that this neardup reads"),
        ({"format": 9, "what": "else"}, "is of format 9, newer than the 8 that this neardup reads"),
        ({"flags": ["twins", "triplets"]}, "needs triplets, twins, which this neardup does not know"),
    ],
)
def test_what_another_version_has_written(folder, changes, reason):
    made(folder)
    rewritten(folder, **changes)
    for mode in ("r", "w"):
        with pytest.raises(StorageRefused) as refused:
            Index.open(folder, mode)
        assert str(refused.value) == f"{folder / 'manifest.json'} {reason}"


# Ends.


def test_a_reader_changes_nothing(folder):
    made(folder)
    before = contents(folder)
    with Index.open(folder) as index:
        for change in (
            lambda: index.admit(["e"], TEXTS[:1]),
            lambda: index.remove(["a"]),
            lambda: index.remove([]),
            lambda: index.expire(0),
            lambda: index.see(["a"]),
            index.flush,
            index.compact,
        ):
            with pytest.raises(StorageRefused) as refused:
                change()
            assert str(refused.value) == f'{folder} was opened to read; open it with mode="w" to change it'
        index.sync()
        assert len(index) == 4
    assert contents(folder) == before


@pytest.mark.parametrize("mode", ["r", "w"])
def test_what_was_closed_answers_nothing(folder, mode):
    made(folder)
    with Index.open(folder, mode) as index:
        assert repr(index) == f"<Index of 4 documents in {str(folder)!r}, minhash>"
    index.close()
    assert repr(index) == f"<Index closed in {str(folder)!r}, minhash>"
    for use in (
        lambda: index.judge(TEXTS),
        lambda: index.get(["a"]),
        lambda: index.group("a"),
        lambda: [*index.ids()],
        lambda: len(index),
        lambda: index.admit(["e"], TEXTS[:1]),
        lambda: index.remove(["a"]),
        lambda: index.expire(0),
        lambda: index.see(["a"]),
        lambda: index.admissions(["a"]),
        lambda: index.next_admission,
        index.refresh,
        index.sync,
        index.flush,
        index.compact,
        index.check,
        index.stats,
    ):
        with pytest.raises(StorageRefused, match="is closed"):
            use()


def test_an_error_within_the_block_closes_it_too(folder):
    def stopped():
        with Index.create(folder) as index:
            index.admit(["a"], TEXTS[:1])
            index.admit(["b"], 5)

    with pytest.raises(DataError):
        stopped()
    with Index.open(folder, "w") as index:
        assert [*index.ids()] == ["a"]


# Documents.


def test_a_refused_admission_changes_nothing(folder):
    index = Index.create(made(folder).parent / "other", fields=KINDS)
    index.admit(["a"], TEXTS[:1], {"rank": [1]})
    before, documents = contents(index._store.folder), index.get(["a", "b"])
    two = TEXTS[:2]
    signatures = MinHash().sign(two)
    for arguments in (
        (["b"], two),
        (["b", "c"], TEXTS),
        (["b", "b", "b"], two),
        ("bc", two),
        (b"bc", two),
        (5, two),
        (["b", None], two),
        (["b", ""], two),
        (["b", "c"], "a single text"),
        (["b", "c"], b"bytes"),
        (["b", "c"], ["text", 5]),
        (["b", "c"], [b"text", "text"]),
        (["b", "c"], 5),
        (["b", "c"], {"a": "b"}),
        (["b", "c"], pa.array([1, 2])),
        (["b", "c"], two, {"rank": [1]}),
        (["b", "c"], two, {"rank": [1, 2, 3]}),
        (["b", "c"], two, {"rank": [1, 2], "host": ["h"]}),
        (["b", "c"], two, {"unknown": [1, 2]}),
        (["b", "c"], two, {"title": [1, 2]}),
        (["b", "c"], two, {"rank": 5}),
        (["b", "c"], two, {"host": "ab"}),
        (["b", "c"], two, {"rank": [1, "two"]}),
        (["b", "c"], two, {"rank": ["1", "2.5"]}),
        (["b", "c"], two, {"rank": [1, 2**63]}),
        (["b", "c"], two, {"rank": [1, 10**400]}),
        (["b", "c"], two, {"rank": [1, 1.5]}),
        (["b", "c"], two, {"rank": [1.5, float("nan")]}),
        (["b", "c"], two, {"host": [1.0, float("nan")]}),
        (["b", "c"], two, {"rank": [float("inf"), None]}),
        (["b", "c"], two, {"rank": [True, False]}),
        (["b", "c"], two, {"host": [1, 2]}),
        (["b", "c"], two, {"host": ["a", "\ud800"]}),
        (["b", "c"], two, {"host": pa.array([b"a", b"\xff"])}),
        (["b", "c"], two, {"score": ["a", None]}),
        (["b", "c"], two, {"seen": [5, 6]}),
        (["b", "c"], two, {"seen": [1.5, 6.5]}),
        (["b", "c"], two, {"seen": ["yesterday", None]}),
        (["b", "c"], two, {"seen": pa.array([10**12, None], pa.timestamp("s"))}),
        (["b", "c"], two, {"seen": pa.array([-(10**11), None], pa.timestamp("s", "UTC"))}),
        (["b", "c"], two, {"ok": [0, 1]}),
        (["b", "c"], two, {"ok": [{}, []]}),
        (["b", "c"], two, ["rank"]),
        (["b", "c"], two, 5),
        (["b", "c"], two, pa.array([1, 2])),
        (["b"], signatures),
        (["b", "c"], Signatures(signatures.rows[:, :8], signatures.present, signatures.recipe)),
        (["b", "c"], Signatures(signatures.rows.astype(np.uint64), signatures.present, signatures.recipe)),
        (["b", "c"], SimHash().sign(two)),
    ):
        with pytest.raises(NeardupError) as refused:
            index.admit(*arguments)
        assert isinstance(refused.value, DataError | RecipeMismatch), arguments
        assert (len(index), index.get(["a", "b"])) == (1, documents)
        assert contents(index._store.folder) == before, arguments
    for at in (True, "now", float("nan"), float("inf"), 10**400, -(10**12), date(2024, 1, 1), Decimal(1)):
        with pytest.raises(ParameterError, match="must be a datetime, or seconds since 1970"):
            index.admit(["b", "c"], two, at=at)
        with pytest.raises(ParameterError, match="must be a datetime, or seconds since 1970"):
            index.expire(at)
    assert contents(index._store.folder) == before
    assert index.admit(["b", "c"], two) == [
        ExactDuplicate("a"),
        NearDuplicate("a", "resemblance", pytest.approx(0.7, abs=0.2)),
    ]
    index.close()


def test_an_unknown_field_is_named(folder):
    with Index.create(folder, Checksum(), fields={"rank": int}) as index:
        with pytest.raises(DataError) as refused:
            index.admit(["a"], TEXTS[:1], {"title": ["t"], "rnak": [1]})
        assert str(refused.value) == "field 'rnak' is unknown; this index has body, rank, title"
        with pytest.raises(DataError, match="'rnak'"):
            index.judge(TEXTS[:1], {"title": ["t"], "rnak": [1]})
        assert index.admit(["a"], TEXTS[:1], {"title": ["t"], "rank": [1]}) == [New()]
        assert index.judge(TEXTS[:1], {"title": ["t"]}) == [ExactDuplicate("a")]


def test_fields_come_back_as_they_were(folder):
    zone = timezone(timedelta(hours=5, minutes=30))
    moments = [datetime.min.replace(tzinfo=UTC), datetime.max, datetime(2024, 5, 1, 12, tzinfo=zone), None]  # noqa: DTZ901
    fields = {
        "rank": [-(2**63), 2**63 - 1, 0, None],
        "host": ["", "\0\n\u202e", "x" * 100_000, None],
        "seen": moments,
        "score": [float("-inf"), 5e-324, 1, None],
        "ok": [True, False, None, None],
        "a field/with\0a strange\nname.data": ["1", "2", "3", None],
    }
    ids = list("abcd")
    with Index.create(folder, fields=KINDS | {"a field/with\0a strange\nname.data": "string"}) as index:
        index.admit(ids, ["one two three", "", None, "four five six"], fields, at=datetime.max)  # noqa: DTZ901
        index.flush()
        index.admit(["e", "f"], TEXTS[:2], pa.table({"rank": pa.array([1, 2], pa.uint8())}), at=-62_135_596_800)
        index.admit(
            ["g"], TEXTS[2:], {"score": [float("nan")], "host": pa.array(["h"]).dictionary_encode()}, at=np.int64(5)
        )
    with Index.open(folder) as index:
        assert index.fields == {
            "rank": "integer",
            "host": "string",
            "seen": "time",
            "score": "number",
            "ok": "flag",
            "a field/with\0a strange\nname.data": "string",
        }
        found = index.get(ids)
        for name, values in fields.items():
            expected = [
                value.replace(tzinfo=UTC) if isinstance(value, datetime) and not value.tzinfo else value
                for value in values
            ]
            assert [document.fields[name] for document in found] == expected
        assert {document.changed_at for document in found} == {datetime.max.replace(tzinfo=UTC)}
        earliest, _, last = index.get(["e", "f", "g"])
        assert earliest == Document(
            "e", *[datetime.min.replace(tzinfo=UTC)] * 3, "e", dict.fromkeys(index.fields) | {"rank": 1}, None
        )
        assert np.isnan(last.fields["score"])
        assert last.changed_at == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)


def test_fields_are_taken_as_they_are_written_in_files(folder):
    with Index.create(folder, fields=KINDS) as index:
        written = {"rank": ["-7"], "seen": ["2026-01-31T12:00:00+01:00"], "score": ["1e3"], "ok": ["true"]}
        index.admit(["a"], TEXTS[:1], written)
        assert index.get(["a"])[0].fields == {
            "rank": -7,
            "host": None,
            "seen": datetime(2026, 1, 31, 11, tzinfo=UTC),
            "score": 1000.0,
            "ok": True,
        }


def test_documents_expire_at_their_moment(folder):
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    with Index.create(folder) as index:
        for number in range(3):
            index.admit([f"d{number}"], [f"text number {number} says this"], at=begin + timedelta(days=number))
        index.flush()
        assert index.expire(begin).removed == 0
        assert index.expire(begin.replace(tzinfo=None) + timedelta(microseconds=1)).removed == 1
        assert [*index.ids()] == ["d1", "d2"]
        assert index.expire(np.float64(begin.timestamp() + 86400 * 2)).removed == 1
        for other in ("changed_at", "unknown", 5, None):
            with pytest.raises(ParameterError, match="must be last_seen or first_seen"):
                index.expire(0, other)
        with pytest.raises(ParameterError, match="must be a datetime, or seconds since 1970"):
            index.expire(None)
        later = datetime.now(UTC) + timedelta(hours=8)  # an hour ago in Tokyo, without its zone
        for by in ("last_seen", "first_seen"):
            for before in (later, later.timestamp()):
                with pytest.raises(ParameterError, match="is in the future, so everything would be removed; it is 2"):
                    index.expire(before, by)
        assert [*index.ids()] == ["d2"]


def test_a_clock_that_was_set_back_leaves_documents_seen(folder):
    with Index.create(folder) as index:
        index.admit(["a", "b"], ["the ferry leaves at dawn", "a heron stands in the reeds"], at=1000)
        index.admit(["a"], ["the ferry leaves at noon, they say"], at=200)
        index.visit(["b"], ["a heron sleeps in the reeds, they say"], at=300)
    with Index.open(folder, "w") as index:
        for own, changed in zip(index.get(["a", "b"]), (200, 300), strict=True):
            assert [time.timestamp() for time in (own.first_seen, own.changed_at, own.last_seen)] == [
                1000,
                changed,
                1000,
            ]
        assert index.expire(1000) == Removal(0, [])


def test_documents_expire_by_when_they_were_first_or_last_seen(folder):
    texts = ["the ferry leaves at dawn", "a heron stands in the reeds", "rye and water and time"]
    with Index.create(folder) as index:
        index.admit(["a", "b", "c"], texts, at=1)
        index.admit(["a"], ["the ferry leaves at noon, they say"], at=5)
        index.flush()
        index.admit(["b"], texts[1:2], at=6)
        index.compact()
    with Index.open(folder, "w") as index:
        found = index.get(["a", "b", "c"])
        times = [[one.first_seen, one.changed_at, one.last_seen] for one in found]
        assert [[time.timestamp() for time in own] for own in times] == [[1, 5, 5], [1, 1, 6], [1, 1, 1]]
        assert index.expire(2, by="last_seen") == Removal(1, [])
        assert [*index.ids()] == ["b", "a"]
        assert index.expire(1, by="first_seen") == Removal(0, [])
        assert index.expire(2, by="first_seen") == Removal(2, [])
        assert index.expire(2, by="first_seen") == Removal(0, [])


def test_many_are_seen_again_in_steps(folder, monkeypatch):
    monkeypatch.setattr("neardup.pipeline.index.index.TOGETHER", 2)
    with Index.create(folder) as index:
        index.admit(["a", "b", "c"], TEXTS)
        assert index.see(["a", "x", "c", "b", "c"]) == ["a", None, "c", "a", "c"]


def test_many_that_are_seen_again_take_few_bytes(folder):
    with Index.create(folder, durability="bulk") as index:
        ids = [f"d{number}" for number in range(2000)]
        index.admit(ids, [f"this is text number {number}" for number in range(2000)])
        before = index.stats().bytes_in_log
        index.see(ids)
        assert index.stats().bytes_in_log - before < 2000 * 8 + 500


def test_a_log_of_what_was_seen_does_not_grow_for_ever(folder):
    with Index.create(folder, durability="bulk", memory=1 << 20) as index:
        ids = [f"d{number}" for number in range(2000)]
        index.admit(ids, [f"this is text number {number}" for number in range(2000)])
        for moment in range(60):
            index.see(ids, at=moment)
            assert index.stats().bytes_in_log < 1 << 20
        assert index.check().problems == []


def test_texts_of_every_kind(folder):
    texts = [
        None,
        "\ud800 lone surrogates \udfff are three bytes each",
        "\0" * 5,
        "a\0b c\0d e\0f",
        "\u202e right to left and back \u202c again",
        "word " * 3,
    ]
    with Index.create(folder, texts=True) as index:
        first = index.admit([f"d{place}" for place in range(len(texts))], texts)
        index.flush()
        assert first == [Empty(), New(), Empty(), New(), New(), New()]
        assert index.judge(texts)[1:] == [ExactDuplicate(f"d{place}") for place in range(1, len(texts))]
        kept = [document.text for document in index.get([f"d{place}" for place in range(len(texts))])]
        assert kept[2:] == texts[2:]
        assert kept[0] == ""
        assert "lone surrogates" in kept[1]
        raw = pa.array([b"\xff\xfe no utf-8 \xc3 at all \xed\xa0\x80", None, b"word word word "], pa.binary())
        assert index.admit(["x", "y", "z"], raw) == [New(), Empty(), ExactDuplicate("d5")]
        assert index.judge(raw)[0] == ExactDuplicate("x")
        assert "no utf-8" in index.get(["x"])[0].text
        for column in (
            pa.chunked_array([["one two three"], ["four five six"]]),
            pa.array(["one two three", "four five six"]),
        ):
            assert index.judge(column) == [New(), New()]
        assert index.judge([]) == []
        assert index.admit([], []) == []
        assert index.check().problems == []


def test_ids_come_as_columns_too(folder):
    with Index.create(folder) as index:
        index.admit(pa.array(["a", "b"]), TEXTS[:2])
        index.admit(np.array(["c"]), TEXTS[2:])
        assert [document.id for document in index.get(pa.chunked_array([["a"], ["c"]]))] == ["a", "c"]
        for call in (index.get, index.remove):
            with pytest.raises(DataError, match="must be a sequence of strings"):
                call("ab")
        assert len(index) == 3
        assert index.remove(name for name in "ab").removed == 2


@pytest.mark.parametrize("size", [4_000_000, pytest.param(50_000_000, marks=pytest.mark.soak)])
def test_a_text_of_many_megabytes(folder, size):
    random = np.random.default_rng(11)
    text = " ".join(f"w{number}" for number in random.integers(0, 10**6, size // 7))
    with Index.create(folder, texts=True) as index:
        assert index.admit(["a", "b", "c"], [text, TEXTS[0], f"{text} end"])[:2] == [New(), New()]
        index.flush()
        [verdict] = index.judge([f"one more {text}"])
        assert verdict.of == "a"
        assert verdict.value > 0.999
        assert index.get(["a"])[0].text == text


# What is known again.


@pytest.mark.parametrize("name", ["text", "body"])
def test_the_texts_are_the_field_of_a_checksum_that_has_their_name(name):
    with Index.create(scheme=Checksum(fields=(Field(name=name),))) as index:
        assert index.admit(["a", "b", "c"], ["one", "two", "one"])[2] == ExactDuplicate("a")


def test_a_checksum_is_of_its_fields(folder):
    """Equal texts under another title are another document, and without what is required none is a duplicate."""
    scheme = Checksum(fields=(Field(name="title"), Field(name="body", limit=20)), contribution="host")
    with Index.create(folder, scheme, fields={"title": str}) as index:
        titles = ["t", "u", "t", None, None, "t", "t"]
        hosts = [None, None, None, None, None, "h", None]
        texts = [*TEXTS[:1] * 6, TEXTS[1]]
        fields = {"title": titles, "host": hosts}
        verdicts = index.admit(list("abcdefg"), texts, fields)
        near = NearDuplicate("a", "checksum", 1.0)
        assert verdicts == [New(), New(), ExactDuplicate("a"), Empty(), Empty(), New(), near]
        assert index.get(["f"])[0].fields == {"title": "t"}
        assert index.judge(texts, fields) == [
            ExactDuplicate("a"),
            ExactDuplicate("b"),
            ExactDuplicate("a"),
            Empty(),
            Empty(),
            ExactDuplicate("f"),
            ExactDuplicate("g"),
        ]
        assert index.admit(["a"], TEXTS[:1], {"title": ["another"]}) == [New()]
        assert index.get(["a"])[0].fields == {"title": "another"}
        with pytest.raises(
            DataError, match=r"^fields must have 'title', which the scheme signs; add it, with None for"
        ):
            index.judge(TEXTS[:1])
        with pytest.raises(DataError):
            index.judge(TEXTS[:2], {"title": ["t"]})


def test_who_is_known_by_its_id(folder):
    folder.mkdir()
    for scheme, fields in ((MinHash(), None), (Checksum(), {"title": ["t", "t", None]})):
        with Index.create(folder / scheme.name, scheme) as index:
            index.admit(["a", "b", "c"], [*TEXTS[:1] * 2, ""], fields)
            for _ in range(2):
                again = None if fields is None else {"title": ["t", None, "t"]}
                found = index.visit(["b", "c", "a"], [TEXTS[0], None, TEXTS[2]], again, remember=False)
                assert found == [Known("b"), Known("c"), Known("a", changed=True)]
                assert [known.representative for known in found] == ["a", "c", None]
                index.flush()


def test_clusters_are_judged_again_after_the_index_was_opened_with_less_memory(folder):
    """What is in the log may then be more than there is memory for, and becomes a file in the middle."""
    texts = [f"text number {number // 3} has {number // 3 * 7} words and some more" for number in range(6000)]
    with Index.create(folder) as index:
        ids = [f"d{number}" for number in range(6000)]
        index.admit(ids, texts)
        kept = [document.id for document in index.get(ids) if document.representative == document.id]
    with Index.open(folder, "w", memory=1 << 20) as index:
        promoted = index.remove(kept).promoted
        assert index.stats().segments == 1
        assert len(promoted) >= 2000
        assert all(document.representative in set(promoted) for document in index.get([*index.ids()]))
        assert index.check().problems == []


def test_ids_are_listed_while_the_files_change(folder):
    """What is there all the time is given once, in order."""
    number = 5000
    ids = [f"d{place}" for place in range(number)]
    texts = [f"text number {place} says {place * 7} in {place * 11} words" for place in range(number)]
    with Index.create(folder) as index:
        index.admit(ids, texts)
        seen = []
        for name in index.ids():
            seen.append(name)
            if len(seen) == 100:
                index.remove(ids[:50])
                index.flush()
            if len(seen) == 2500:
                index.remove(ids[2000:2048])
                index.admit(["later"], ["text that comes later than others"])
                index.compact()
        assert seen == [*ids, "later"]


def test_progress_of_looking_after_the_files(folder):
    made(folder)
    steps = []
    with Index.open(folder, "w") as index:
        index.compact(lambda done, total: steps.append(("compact", done, total)))
        index.check(lambda done, total: steps.append(("check", done, total)))
    assert steps[0] == ("compact", 1, 1)
    assert steps[-1][0] == "check"
    assert steps[-1][1] == steps[-1][2] > 0


def test_the_process_may_go_to_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Index.create("seen") as writer, Index.open("seen") as reader:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        writer.admit(["a"], TEXTS[:1])
        writer.flush()
        assert reader.refresh()
        assert reader.check().problems == []
        assert len(reader) == 1


@pytest.mark.parametrize("send", [pickle.dumps, copy.copy, copy.deepcopy])
def test_an_index_is_opened_in_each_process_and_neither_pickled_nor_copied(folder, send):
    with (
        Index.create(folder) as index,
        pytest.raises(TypeError, match=r"cannot be pickled.*open it in each process") as error,
    ):
        send(index)
    assert str(folder) in str(error.value)
    with (
        Index.create() as index,
        pytest.raises(TypeError, match="cannot be pickled or copied; create an index in a folder"),
    ):
        send(index)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (None, "create an index in a folder to read it in several processes"),
        ("index", "is written by the process that forked this one"),
    ],
)
def test_a_child_process_does_not_write(tmp_path, name, reason):
    """The index belongs to the parent; the child may open the folder again to read."""
    with Index.create(name and tmp_path / name) as index:
        index.admit(["a"], TEXTS[:1])
        child = os.fork()
        if child == 0:
            try:
                index.admit(["b"], TEXTS[1:2])
            except StorageRefused as refused:
                os._exit(0 if reason in str(refused) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        index.admit(["b"], TEXTS[1:2])
        assert len(index) == 2


@pytest.mark.parametrize("ends", ["flush", "compact", "close"])
def test_an_index_whose_documents_were_all_removed(tmp_path, ends):
    """The removals are still reported, although no document is left."""
    path = tmp_path / "index"
    with Index.create(path) as index:
        index.admit(["a", "b"], TEXTS[:2])
        index.flush()
        since = index.changes().generation
        index.remove(["a", "b"])
        getattr(index, ends)()
    with Index.open(path, "w") as index:
        assert len(index) == 0
        assert index.check().problems == []
        index.compact()
        index.admit(["c"], TEXTS[:1])
    with Index.open(path) as index:
        assert [*index.ids()] == ["c"]
        assert {*index.changes(since).removed} == {"a", "b"}


@pytest.mark.parametrize("durability", ["commit", "interval", "bulk"])
def test_a_writer_that_is_dropped_does_not_keep_the_folder(folder, durability):
    dropped = Index.create(folder, durability=durability)
    dropped.admit(["a"], ["one two three"])
    del dropped
    gc.collect()
    with Index.open(folder, "w") as index:
        assert "a" in index
