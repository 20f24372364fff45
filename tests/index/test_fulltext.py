import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index import fulltext
from neardup.index.fulltext import FullText, Marked, State, Texts, terms_of
from neardup.model.errors import QueryTimeout, StorageBusy, StorageDamaged, StorageFailed, StorageRefused

MARK = "ab" * 16
DOCUMENTS = [
    ("storm", "Storm over the harbour", "The storm broke over the harbour at dawn. Nobody was hurt."),
    ("baker", "The baker", "Rye and water and time, says the baker, and no storm."),
    ("café", None, "Un café à l'aube, e-mail inclus"),
    ("tokyo", "東京の天気", "今日は東京で雨が降ります。ABC東京XYZ"),
    ("thai", "", "สวัสดีครับ"),
]


def texts(documents, first=0):
    ids, titles, bodies = zip(*documents, strict=True)
    return Texts(range(first, first + len(ids)), ids, titles, bodies)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.sqlite"


@pytest.fixture
def table(path):
    FullText.build(path, MARK, 5, [texts(DOCUMENTS)])
    opened = FullText(path, MARK, writes=True)
    yield opened
    opened.close()


def found(table, query, top=100):
    return table.find(query, top, 5.0).ordinals.tolist()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("storm", [0, 1]),
        ("STORM harbour", [0]),
        ('"harbour at dawn"', [0]),
        ('"dawn at"', []),
        ('"harbour at daw', []),
        ('"harbour at daw"*', [0]),
        ("harb", []),
        ("harb*", [0]),
        ("cafe", [2]),
        ("CAFÉ", [2]),
        ("e-mail", [2]),
        ("mail-e", []),
        ("東京", [3]),
        ("京東", []),
        ("天", [3]),
        ("abc", [3]),
        ("ABC東京", [3]),
        ("สวัส", [4]),
        ("storm OR baker", []),
        ("title:storm", []),
        ("NEAR(storm baker)", []),
        ("the AND baker", [1]),
    ],
)
def test_what_is_found(table, query, expected):
    assert found(table, query) == expected


def test_a_title_weighs_more_than_a_body(path):
    FullText.build(path, MARK, 2, [texts([("a", "x", "storm"), ("b", "storm", "x")])])
    assert found(FullText(path, MARK), "storm") == [1, 0]


def test_equal_scores_go_to_the_smallest_ordinal_and_top_is_no_more(path):
    FullText.build(path, MARK, 300, [texts([(f"d{n}", "same", "same text")] * 1, n) for n in range(300)])
    table = FullText(path, MARK)
    assert found(table, "same", 50) == list(range(50))
    matches = table.find("text", 7, 5.0)
    assert (len(matches.ordinals), matches.total) == (7, 300)
    assert table.matching("text", 5.0).tolist() == list(range(300))


QUERIES = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="\"*()^:+-{}\\,.'#&;\0\x1f\t\n OR AND NOT NEAR a東é🎉\ud800\ufdd0\u200b", max_size=40),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    path = tmp_path_factory.mktemp("shared") / "search.sqlite"
    FullText.build(path, MARK, 5, [texts(DOCUMENTS)])
    opened = FullText(path, MARK)
    yield opened
    opened.close()


@given(query=QUERIES)
def test_no_query_raises(shared, query):
    matches = shared.find(query, 10, 30.0)
    assert len(matches.ordinals) == min(matches.total, 10)
    assert shared.matching(query, 30.0).tolist() == sorted(matches.ordinals.tolist())
    assert None not in shared.show(query, matches.ordinals.tolist(), 30.0)
