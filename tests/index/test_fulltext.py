import math
import os
import random
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index import fulltext
from neardup.index.disk.columns import encoded
from neardup.index.fulltext import FullText, TableState, Texts, TimeLimit, Titles, site_word
from neardup.model.errors import FULL, QueryTimeout, StorageBusy, StorageDamaged, StorageFailed, StorageRefused
from neardup.model.query import Term
from neardup.text.search_words import query_words, search_words

MARK = "ab" * 16
SOON = TimeLimit(3_600)
DOCUMENTS = [
    ("storm", "Storm over the harbour", "The storm broke over the harbour at dawn. Nobody was hurt."),
    ("baker", "The baker", "Rye and water and time, says the baker, and no storm."),
    ("café", None, "Un café à l'aube, e-mail inclus"),
    ("tokyo", "東京の天気", "今日は東京で雨が降ります。ABC東京XYZ"),
    ("thai", "", "สวัสดีครับ"),
]


def texts(documents, first=0):
    ids, titles, bodies = zip(*documents, strict=True)
    return Texts(range(first, first + len(ids)), ids, cut(titles), cut(bodies), [""] * len(ids))


def cut(strings):
    return search_words(encoded([string or "" for string in strings]))


@pytest.fixture(autouse=True)
def opened(monkeypatch):
    """Close the tables that a test opens."""
    tables, begin = [], FullText.__init__

    def noted(table, *given, **ways):
        tables.append(table)
        begin(table, *given, **ways)

    monkeypatch.setattr(FullText, "__init__", noted)
    yield
    for table in tables:
        table.close()


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
    return table.find(query_words(query), top, SOON).ordinals.tolist()


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


def test_the_log_is_emptied_although_there_is_a_query_at_any_moment(table, path, monkeypatch):
    monkeypatch.setattr(table, "_most_log", 1 << 17)
    monkeypatch.setattr(fulltext, "_MOST_LOG", 1 << 17)
    ended, sizes = threading.Event(), []

    def ask(seconds):
        reading = FullText(path, MARK)
        while not ended.is_set():
            with reading._connected() as connection, fulltext._transaction(connection, "DEFERRED"):
                connection.execute("SELECT following FROM state").fetchall()
                ended.wait(seconds)

    threads = [threading.Thread(target=ask, args=(seconds,)) for seconds in (0.017, 0.023, 0.029)]
    for thread in threads:
        thread.start()
    for number in range(100):
        table.update(6 + number, texts([(f"d{number}", "title", f"word{number} " * 40)], 5 + number))
        sizes.append(path.with_name("search.sqlite-wal").stat().st_size)
    ended.set()
    for thread in threads:
        thread.join()
    assert max(sizes) < 1 << 19
    assert found(table, "word0") == [5]


def test_queries_that_take_long_do_not_hold_up_changes(table, path, monkeypatch):
    monkeypatch.setattr(table, "_most_log", 1 << 17)
    monkeypatch.setattr(fulltext, "_MOST_LOG", 1 << 17)
    monkeypatch.setattr(fulltext, "_WAIT", 0.2)
    writing, waits = FullText(path, MARK, writes=True), []
    reading = FullText(path, MARK)
    with reading._connected() as connection, fulltext._transaction(connection, "DEFERRED"):
        connection.execute("SELECT following FROM state").fetchall()
        for number in range(40):
            begun = time.monotonic()
            writing.update(6 + number, texts([(f"d{number}", "title", f"word{number} " * 400)], 5 + number))
            waits.append(time.monotonic() - begun >= 0.2)
    size = path.with_name("search.sqlite-wal").stat().st_size
    assert 1 <= sum(waits) <= 1 + size // (1 << 17)  # once for each time that the log has grown by so much


def test_equal_scores_go_to_the_smallest_ordinal_and_top_is_no_more(path):
    FullText.build(path, MARK, 300, [texts([(f"d{n}", "same", "same text")] * 1, n) for n in range(300)])
    table = FullText(path, MARK)
    assert found(table, "same", 50) == list(range(50))
    matches = table.find(query_words("text"), 7, SOON)
    assert (len(matches.ordinals), matches.total) == (7, 300)
    assert table.matching(query_words("text"), SOON).tolist() == list(range(300))


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
    matches = shared.find(query_words(query), 10, SOON)
    assert len(matches.ordinals) == min(matches.total, 10)
    assert shared.matching(query_words(query), SOON).tolist() == sorted(matches.ordinals.tolist())


WORDS = st.sampled_from(["storm", "harbour", "dawn", "rye", "x"])
ROWS = st.lists(st.tuples(st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=6)), min_size=1, max_size=8)


def bm25(rows, words):
    """The definition: each row's score, of those that have all words in title and body together."""
    lengths = [len(title) + len(body) for title, body in rows.values()]
    average = sum(lengths) / len(rows)
    scores = {}
    for ordinal, (title, body) in rows.items():
        if not all(word in title or word in body for word in words):
            continue
        score = 0.0
        for word in words:
            having = sum(word in other or word in text for other, text in rows.values())
            weight = max(math.log((len(rows) - having + 0.5) / (having + 0.5)), 1e-6)
            often = 4.0 * title.count(word) + body.count(word)
            length = 1.2 * (1 - 0.75 + 0.75 * (len(title) + len(body)) / average)
            score += weight * often * 2.2 / (often + length)
        scores[ordinal] = score
    return scores


@given(
    rows=ROWS, more=ROWS, gone=st.sets(st.integers(0, 15)), words=st.lists(WORDS, min_size=1, max_size=3, unique=True)
)
def test_ranks_are_bm25_of_what_is_there_however_it_came_there(shared_folder, rows, more, gone, words):
    path = shared_folder / "search.sqlite"
    everything = {**dict(enumerate(rows)), **{len(rows) + place: row for place, row in enumerate(more)}}

    def given_rows(ordinals):
        documents = [(str(own), " ".join(everything[own][0]), " ".join(everything[own][1])) for own in ordinals]
        return Texts(ordinals, *zip(*documents, strict=True), [""] * len(documents)) if documents else None

    FullText.build(path, MARK, len(rows), [given_rows(range(len(rows)))])
    table = FullText(path, MARK, writes=True)
    table.update(len(everything), given_rows(range(len(rows), len(everything))))
    state = table.update(len(everything), removed=sorted(gone))
    left = {own: row for own, row in everything.items() if own not in gone}
    assert state == table.state() == TableState(len(everything), len(left), state.built, 0, len(rows))
    assert table.ordinals().tolist() == sorted(left)
    expected = bm25(left, words) if left else {}
    found = table.find(query_words(" ".join(words)), 100, SOON)
    table.close()
    assert dict(zip(found.ordinals.tolist(), found.scores.tolist(), strict=True)) == pytest.approx(expected)
    assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)
    assert found.total == len(expected)
    ties = list(zip((-found.scores).tolist(), found.ordinals.tolist(), strict=True))
    assert ties == sorted(ties)


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ranked")


def test_what_no_text_should_have_hides_nothing(path):
    hostile = "\ufdd0forged\ufdd1 \x1f<b>storm</b>\x00 behind \ud800 it \ue000"
    FullText.build(path, MARK, 1, [texts([("a", hostile, hostile)])])
    table = FullText(path, MARK)
    assert found(table, "storm") == found(table, "behind") == [0]


@pytest.mark.parametrize("query", ["", " \t\n", "*", '""', '"', "+ - & ( )", "\0", "\x1f", '" "* ""'])
def test_an_empty_query_finds_nothing(table, query):
    assert found(table, query) == []
    assert table.matching(query_words(query), SOON).tolist() == []


def test_a_search_that_takes_too_long_is_stopped_and_the_next_one_answered(path):
    words = [f"w{number}" for number in range(3_000)]
    rng = random.Random(1)  # noqa: S311 - seeded choices are no secrets
    bodies = [" ".join(rng.choices(words, k=200)) for _ in range(1_000)]
    FullText.build(
        path, MARK, 1_000, [Texts(range(1_000), [str(n) for n in range(1_000)], bodies, bodies, [""] * 1_000)]
    )
    table = FullText(path, MARK)
    terms = query_words("w*")
    for ask in (lambda: table.find(terms, 100, TimeLimit(1e-4)), lambda: table.matching(terms, TimeLimit(1e-4))):
        with pytest.raises(QueryTimeout) as error:
            ask()
        assert error.value.seconds == 1e-4
    assert table.find(terms, 100, SOON).total == 1_000


def test_a_table_of_another_index_or_format_is_refused(table, path):
    with pytest.raises(StorageRefused, match="another index; rebuild it"):
        FullText(path, "cd" * 16)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(StorageRefused, match=r"format 1.*; rebuild it"):
        FullText(path, MARK)


def test_a_file_that_is_not_a_table_is_closed(path, monkeypatch):
    path.write_bytes(b"none" * 2000)
    connections, connect = [], sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **ways: connections.append(connect(*given, **ways)) or connections[-1]
    )
    with pytest.raises(StorageDamaged, match=r"not a database.*rebuild it"):
        FullText(path, MARK)
    for connection in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


def test_no_table_is_refused_and_none_is_made(path):
    with pytest.raises(StorageRefused, match="is missing"):
        FullText(path, MARK, writes=True)
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(84)])
def test_a_file_that_is_not_a_table_is_refused_and_can_be_replaced(path, content):
    path.write_bytes(content)
    with pytest.raises((StorageRefused, StorageDamaged), match="rebuild it"):
        FullText(path, MARK)
    FullText.build(path, MARK, 5, [texts(DOCUMENTS)])
    assert found(FullText(path, MARK), "storm") == [0, 1]


def test_damage_is_told_or_harmless_and_building_again_helps(table, path):
    table.close()
    whole = path.read_bytes()
    rng = random.Random(5)  # noqa: S311 - seeded choices are no secrets
    for _ in range(60):
        damaged = bytearray(whole)
        at = rng.randrange(len(whole))
        damaged[at : at + 200] = rng.randbytes(len(damaged[at : at + 200]))
        fulltext.remove(path)
        path.write_bytes(damaged[: rng.choice([len(damaged), at])])
        try:
            opened = FullText(path, MARK, writes=True)
            for query in ("storm", "baker harb*", "東京"):
                opened.find(query_words(query), 10, SOON)
            opened.update(6, removed=[0, 1])
        except (StorageDamaged, StorageRefused):
            pass
        FullText.build(path, MARK, 5, [texts(DOCUMENTS)])
        again = FullText(path, MARK)
        assert found(again, "storm") == [0, 1]
        again.close()


@pytest.mark.parametrize("whole", [True, False], ids=["in place", "as another file"])
def test_readers_continue_with_what_is_built_again(table, path, whole):
    reader = FullText(path, MARK)
    assert found(reader, "storm") == [0, 1]
    if not whole:
        table.close()
        path.write_bytes(b"damaged" * 100)
    FullText.build(path, MARK, 9, [texts([("new", "storm", "only")], 8)])
    assert found(reader, "storm") == [8]
    assert reader.state()[:2] == (9, 1)
    assert sorted(name.name for name in path.parent.iterdir() if name.suffix == ".new") == []


def test_readers_have_the_old_one_while_it_is_built(table, path):
    reader = FullText(path, MARK)

    def slowly():
        yield texts([("new", "storm", "only")], 8)
        assert found(reader, "storm") == [0, 1]

    FullText.build(path, MARK, 9, slowly())
    assert found(reader, "storm") == [8]


def test_what_stops_building_leaves_what_was_there(table, path):
    def broken():
        yield texts([("new", "storm", "only")], 8)
        raise KeyError("stopped")

    with pytest.raises(KeyError):
        FullText.build(path, MARK, 9, broken())
    assert found(table, "storm") == [0, 1]
    fulltext.remove(path)
    with pytest.raises(KeyError):
        FullText.build(path, MARK, 9, broken())
    assert not path.exists()


def test_a_system_that_refuses_is_reported_and_nothing_is_half_done(table, path, monkeypatch):
    connect = fulltext._connect

    def full(*arguments):
        connection = connect(*arguments)
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    monkeypatch.setattr(fulltext, "_connect", full)
    bounded = FullText(path, MARK, writes=True)
    many = [(f"d{number}", "x", " ".join(f"w{number}x{word}" for word in range(300))) for number in range(200)]
    with pytest.raises(StorageFailed, match="full"):
        bounded.update(300, texts(many, 5))
    monkeypatch.undo()
    assert table.state()[:2] == (5, 5)
    table.update(300, texts(many, 5))
    assert table.state()[:2] == (300, 205)


def test_where_another_one_writes(table, path, monkeypatch):
    monkeypatch.setattr(fulltext, "_WAIT", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    late = FullText(path, MARK, writes=True)
    with pytest.raises(StorageBusy):
        late.update(9)
    assert found(late, "storm") == [0, 1]
    other.close()
    late.update(9)


def test_a_full_disk_is_known_by_its_code(tmp_path):
    table = sqlite3.connect(tmp_path / "full.sqlite", isolation_level=None)
    table.execute("PRAGMA max_page_count = 2")
    with pytest.raises(StorageFailed, match="full") as caught, fulltext._translated(tmp_path / "full.sqlite"):
        table.execute("CREATE TABLE a AS SELECT randomblob(100000)")
    table.close()
    assert caught.value.code == FULL


def test_a_copy_to_a_full_disk_names_the_copy(table, tmp_path, monkeypatch):
    connect, to = sqlite3.connect, tmp_path / "copy"
    to.mkdir()

    def full(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 2")
        return connection

    monkeypatch.setattr(sqlite3, "connect", full)
    with pytest.raises(StorageFailed, match=r"copy/search\.sqlite\.new cannot be written: .*full") as caught:
        fulltext.copy(tmp_path, to)
    assert caught.value.code == FULL


def test_a_copy_that_the_system_refuses_to_write_names_the_copy(table, tmp_path):
    (to := tmp_path / "copy").mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(StorageFailed, match=r"copy/search\.sqlite\.new cannot be used: disk I/O error"):
            fulltext.copy(tmp_path, to)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_reader_changes_nothing_and_after_the_end_nothing_goes(table, path):
    reader = FullText(path, MARK)
    with pytest.raises(StorageFailed, match="readonly"):
        reader.update(9)
    reader.close()
    reader.close()
    with pytest.raises(StorageRefused, match="is closed"):
        reader.state()


def test_where_nobody_may_write_it_is_read(table, path, monkeypatch):
    table.close()
    monkeypatch.setattr(fulltext.os, "access", lambda *_: False)
    assert sorted(one.name for one in path.parent.iterdir()) == ["search.sqlite"]
    reader = FullText(path, MARK)
    assert found(reader, "storm") == [0, 1]
    assert sorted(one.name for one in path.parent.iterdir()) == ["search.sqlite"]
    writer = FullText(path, MARK, writes=True)  # another user, who may
    writer.update(6, removed=[0])
    assert found(reader, "storm") == [1]
    writer.close()
    assert found(reader, "storm") == [1]


def test_without_fts5_it_says_so(path, monkeypatch):
    class Connection:
        def execute(self, _):
            return self

        def fetchall(self):
            return []

        def close(self):
            pass

    monkeypatch.setattr(fulltext.sqlite3, "connect", lambda *_: Connection())
    with pytest.raises(StorageRefused, match="needs FTS5"):
        FullText.build(path, MARK, 0, [])


def test_a_forked_process_has_connections_of_its_own(table):
    state = table.state()
    (connection,) = table._idle
    child = os.fork()
    if not child:
        try:
            os._exit(table.state() != state or connection in table._idle)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert table._idle == [connection]


def test_threads_read_and_write_side_by_side(table):
    failed = []

    def read():
        try:
            for _ in range(50):
                matches = table.find(query_words("storm"), 100, SOON)
                assert matches.total == len(matches.ordinals) == matches.state.documents - 3
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    def write(begin):
        try:
            for ordinal in range(begin, begin + 20):
                table.update(100, Texts([ordinal], ["x"], [""], ["storm"], [""]))
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    threads += [threading.Thread(target=write, args=(begin,)) for begin in (100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert table.state().documents == 45


def test_what_is_remembered_is_forgotten_with_every_change(table, path, monkeypatch):
    monkeypatch.setattr(fulltext, "MOST_KNOWN", 3)
    reader = FullText(path, MARK)
    assert found(reader, "storm") == found(reader, "storm") == [0, 1]
    assert len(reader._known) == 1
    table.update(6, Texts([5], ["x"], ["storm"], ["storm"], [""]))
    assert found(reader, "storm") == [5, 0, 1]
    table.update(6, removed=[5])
    assert found(reader, "storm") == [0, 1]
    FullText.build(path, MARK, 6, [texts([*DOCUMENTS[1:], DOCUMENTS[0]])])
    assert found(reader, "storm") == [4, 0]
    for query in ("rye", "water", "harbour", "storm"):
        found(reader, query)
    assert list(reader._known) == [(query_words(query), 100, False) for query in ("water", "harbour", "storm")]


@pytest.mark.parametrize("name", ["a b", "q?mode=memory#x", "100%41", "d\udcff", "東京"])
def test_odd_names_of_folders(tmp_path, name):
    (tmp_path / name).mkdir()
    path = tmp_path / name / "search.sqlite"
    FullText.build(path, MARK, 5, [texts(DOCUMENTS)])
    assert path.exists()
    assert found(FullText(path, MARK), "storm") == [0, 1]


def test_a_table_that_changes_while_it_is_copied_is_copied_again(tmp_path, monkeypatch):
    FullText.build(tmp_path / fulltext.NAME, MARK, 5, [texts(DOCUMENTS)])
    (tmp_path / "to").mkdir()
    monkeypatch.setattr(fulltext, "_reading", lambda _: fulltext._STILL)
    states = iter([None, (1, 1, 1), (1, 1, 1), (1, 1, 1)])
    monkeypatch.setattr(fulltext, "_written", lambda _: next(states))
    fulltext.copy(tmp_path, tmp_path / "to")
    assert next(states, None) is None
    times = iter(range(100))
    monkeypatch.setattr(fulltext, "_written", lambda _: next(times))
    with pytest.raises(StorageBusy, match="another process is changing it"):
        fulltext.copy(tmp_path, tmp_path / "to")


def test_titles_and_sites_are_replaced(path):
    rows = [("a", "weather", "storm at dawn"), ("b", "", "storm at noon")]
    FullText.build(path, MARK, 2, [texts(rows)], 7)
    table = FullText(path, MARK, writes=True)
    before = table.state()
    assert (before.following, before.field_changes, before.clock) == (2, 7, 2)

    def found(query):
        return sorted(table.find(query_words(query), 9, SOON).ordinals.tolist())

    assert found("weather") == [0]
    site = site_word("a.example")
    table.update_titles(Titles([1, 0, 5], ["forecast", "news", "nobody"], [site, "", site]))
    state = table.end_update(8, 3)
    assert state == table.state() == before._replace(field_changes=8, clock=3)
    assert [found(word) for word in ("weather", "news", "forecast", "nobody", "storm")] == [[], [0], [1], [], [0, 1]]
    assert table.find((Term(site),), 9, SOON).ordinals.tolist() == [1]
    assert table.update(6, removed=[0]) == before._replace(following=6, documents=1, field_changes=8, clock=3)
    table.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO documents(documents, rank) VALUES ('integrity-check', 1)")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *((column, value) for column in ("following", "changes", "clock", "session") for value in (None, "x", 1.5)),
        *(("documents", None), ("documents", b"x"), ("built", None), ("built", b"x")),
    ],
)
def test_a_state_of_other_types_is_damage(path, column, value):
    FullText.build(path, MARK, 2, [])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE state SET {column} = ?", (value,))  # noqa: S608 - a name of this test
    table = FullText(path, MARK, writes=True)
    for use in (table.state, lambda: table.find((Term("a"),), 9, SOON), lambda: table.update(3)):
        with pytest.raises(StorageDamaged, match="is damaged; rebuild it"):
            use()
    table.close()


LIMITED = """
import resource, sys
from pathlib import Path
from neardup.index.disk.columns import encoded
from neardup.index.fulltext import FullText, Texts
from neardup.text.search_words import search_words
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
ids = [str(number) for number in range(2_000)]
words = search_words(encoded(ids))
FullText.build(Path(sys.argv[1]), "ab" * 16, 2_000, [Texts(range(2_000), ids, words, words, [""] * 2_000)])
"""


def test_a_file_that_may_not_grow_is_named_and_removed(path):
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=False)
    assert done.stderr.endswith(f"{path} cannot be used: disk I/O error\n")
    assert list(path.parent.iterdir()) == []
