# ruff: noqa: RUF001 - letters that look like others are the point
import random
import shutil
import threading
from importlib.resources import as_file, files
from itertools import pairwise
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import collapsed

from neardup import Checksum, Index, MinHash, SimHash, Trials, resemblance
from neardup.errors import StorageRefused
from neardup.index import fulltext
from neardup.index.disk import manifest as manifest_module
from neardup.index.disk.files import Disk
from neardup.model.answers import FoundHit
from neardup.model.errors import ParameterError, QueryTimeout
from neardup.model.hits import group_id
from neardup.pipeline.files.ingestion import add_files
from neardup.pipeline.query import search as search_module
from neardup.pipeline.query.search import Search, has_table, keeping_up, site_of
from neardup.text.marking import REACH

WORDS = ("storm", "harbour", "dawn", "rye", "baker")
STORM = "The storm broke over the harbour at dawn"
TITLES = ("weather", "bread", "news")
BAKER = "Rye and water and time, says the baker"
FIELDS = {"title": "string", "url": "string"}


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "seen", SimHash(), texts=True, fields=FIELDS) as made:
        made.admit(
            ["a", "http://b.example/"],
            [STORM, BAKER],
            {"title": ["Weather", None], "url": ["https://a.example/?q=1 2", None]},
            at=0,
        )
        yield made


@pytest.fixture
def search(index):
    with Search.open(index, make=True) as opened:
        yield opened


def found(search, query, top=100, **ways):
    """Return the first hits of a query, without collapsing them, and the number of all."""
    answer = search.answer(query, top=top, size=top, collapse="off", **ways)
    return SimpleNamespace(hits=[shown for group in answer.results for shown in group.shown], total=answer.total)


def ids(search, query, **ways):
    return [hit.id for hit in found(search, query, **ways).hits]


def test_a_hit_has_its_score_address_and_time(search):
    (hit,) = found(search, "weather").hits
    assert (hit.id, hit.title, hit.url, hit.changed_at.timestamp()) == ("a", "Weather", "https://a.example/?q=1 2", 0)
    (hit,) = found(search, "baker").hits
    assert (hit.id, hit.title, hit.url) == ("http://b.example/", None, "http://b.example/")
    assert hit.score > 0
    assert found(search, "nowhere").hits == []


def test_only_the_urls_of_hits_that_are_shown_are_read_unless_sites_are_collapsed(index, search, monkeypatch):
    index.admit(["c", "d"], [f"{STORM}. {extra}" for extra in ("A bell rang", "No boat went out")])
    search.catch_up()
    read, urls = [], search_module._urls
    monkeypatch.setattr(
        search_module, "_urls", lambda store, ids, places: read.append(len(places)) or urls(store, ids, places)
    )
    for collapse, expected in (("off", [1]), ("exact", [1]), ("site", [3, 1])):
        read.clear()
        assert search.answer("storm", collapse=collapse, size=1).examined == 3
        assert read == expected


def test_newest_first_and_of_one_site_only(index, search):
    index.admit(
        ["c", "d", "e"],
        [f"{STORM}. {extra}" for extra in ("A bell rang on the pier", "No boat went out", BAKER)],
        {"title": [None] * 3, "url": ["https://www.A.example/c", "http://b.example/d", None]},
        at=9,
    )
    search.catch_up()
    assert ids(search, "storm", sort="newest") == ["e", "d", "c", "a"]
    assert ids(search, "storm", top=2, sort="newest") == ["e", "d"]
    assert ids(search, "storm", site="a.example") == ["a", "c"]
    assert ids(search, "storm", site="WWW.a.example", sort="newest") == ["c", "a"]
    assert ids(search, "baker", site="b.example") == ["http://b.example/"]
    assert ids(search, "storm", site="nowhere.example") == []
    answer = search.answer("storm", sort="newest", site="a.example", collapse="off")
    assert [group.shown[0].id for group in answer.results] == ["c", "a"]
    for wrong in ({"sort": "oldest"}, {"site": "//"}, {"site": "http://a.example"}, {"site": "a b"}):
        with pytest.raises(ParameterError):
            found(search, "storm", **wrong)


def test_shorter_queries_that_find_something(search):
    assert search.shorter('storm "at dawn" baker') == [("baker", 'storm "at dawn"', 1)]
    assert search.shorter("storm baker") == [("storm", "baker", 1), ("baker", "storm", 1)]
    assert search.shorter("storm baker", site="b.example") == [("storm", "baker", 1)]
    assert search.shorter("storm") == search.shorter("") == []
    assert search.shorter("storm zebra yak") == [("zebra yak", "storm", 1)]
    assert search.shorter('baker "no such words" yak', site="b.example") == [('"no such words" yak', "baker", 1)]
    assert search.shorter("zebra yak") == search.shorter("zebra") == []
    assert search.shorter("zebra yak", site="b.example") == []


def test_snippets_show_title_and_marked_words(search):
    weather, other = (found(search, query).hits[0].snippet for query in ("storm", "baker"))
    assert weather.title.text == "Weather"
    assert [weather.body.text[begin:end] for begin, end in weather.body.spans] == ["storm"]
    assert other.title.text == ""


def test_snippets_of_long_texts_are_of_their_beginnings(tmp_path):
    long = "storm " + "x " * (REACH // 2)
    texts = ["storm", long + "storm", "a storm", "y " * (REACH // 2) + "storm", "the storm"]
    with Index.create(tmp_path / "long", texts=True, fields={"title": str}) as index:
        index.admit([*"abcde"], texts, {"title": [None, None, None, "Storm", None]})
        with Search.open(index, make=True) as search:
            shown = [hit.snippet.body for hit in sorted(found(search, "storm").hits, key=attrgetter("id"))]
            assert [len(body.spans) for body in shown] == [1, 1, 1, 0, 1]
            assert [body.text.endswith("…") for body in shown] == [False, True, False, True, False]
            assert [body.text for body in shown[::2]] == ["storm", "a storm", "the storm"]


def test_of_long_texts_the_beginning_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(search_module, "MOST_BODY", 11)
    with Index.create(tmp_path / "seen", SimHash(), texts=True) as index:
        index.admit(["a"], ["été à l’aube"])
        with Search.open(index, make=True) as search:
            assert [found(search, query).total for query in ("ete", "aub", "aube")] == [1, 1, 0]


def test_an_index_without_titles_and_addresses(tmp_path):
    with Index.create(tmp_path / "seen", texts=True, fields={"title": int}) as index:
        index.admit(["a"], [STORM], {"title": [7]})
        with Search.open(index, make=True) as search:
            (hit,) = found(search, "storm").hits
            assert (hit.title, hit.url) == (None, None)
            assert found(search, "7").hits == []


def test_what_is_removed_or_replaced_is_never_shown(index, search):
    index.admit(["a"], [BAKER])
    assert ids(search, "storm") == []
    assert found(search, "storm").total == 0
    assert ids(search, "baker") == ["http://b.example/"]
    assert search.catch_up() == 2
    assert ids(search, "baker") == ["http://b.example/", "a"]
    index.remove(["a"])
    assert ids(search, "baker") == ["http://b.example/"]
    assert found(search, "baker", top=1).total == 1


def test_removed_documents_do_not_count_among_the_first_hits(index, search):
    index.admit([f"d{number}" for number in range(20)], [STORM] * 20)
    search.catch_up()
    index.remove([f"d{number}" for number in range(0, 20, 2)])
    assert ids(search, "storm harbour", top=5) == ["d1", "d3", "d5", "d7", "d9"]
    assert found(search, "storm", top=1).total == 11


def test_catching_up_does_what_is_left_to_do(index, search):
    assert search.catch_up() == 0
    index.admit(["c"], [STORM])
    index.remove(["c"])
    assert search.catch_up() == 0
    assert search._table.state()[:2] == (3, 2)
    index.admit([f"d{number}" for number in range(1_500)], [STORM] * 1_500)
    told = []
    assert search.catch_up(lambda *stage: told.append(stage)) == 1_500
    assert [stage for stage, _, _ in told] == ["search"] * 3
    assert told[-1][1:] == (1_500, 1_500)
    assert found(search, "storm").total == 1_501


def test_it_knows_what_is_in_a_table_that_was_built_again(index, search):
    index.admit(["c"], [STORM])
    index.remove(["a"])
    search.catch_up()
    index.admit(["d", "e"], [STORM, STORM])
    Search.rebuild(index)
    index.remove(["d"])
    assert search.catch_up() == 1
    assert search._table.ordinals().tolist() == [1, 2, 4]
    index.admit(["f"], [STORM])
    index.remove(["c"])
    assert search.catch_up() == 2
    assert search._table.ordinals().tolist() == [1, 4, 5]
    assert search._is_level(search._table.state())


def test_the_whole_table_is_read_once_to_follow_many_removals(index, search, monkeypatch):
    read = []
    ordinals = search._table.ordinals
    monkeypatch.setattr(search._table, "ordinals", lambda: read.append(1) or ordinals())
    for number in range(20):
        index.admit(["a"], [f"{STORM} {number}"])
        assert search.catch_up() == 2
    assert len(read) == 1
    assert ordinals().tolist() == [1, 21]


@pytest.mark.parametrize("flushed", [False, True])
def test_removals_that_could_not_be_written_are_written_later(index, search, monkeypatch, flushed):
    index.admit(["c", "d"], [STORM, STORM])
    index.remove(["a"])
    search.catch_up()
    index.remove(["c"])
    with monkeypatch.context() as full:
        full.setattr(search._table, "update", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            search.catch_up()
    if flushed:
        index.flush()
    index.remove(["d"])
    assert search.catch_up() == 2
    assert search._table.ordinals().tolist() == [1]


def test_a_reader_sees_what_the_writer_has_done(index, search):
    with Index.open(index.store.folder) as reading, Search.open(reading) as reader:
        index.admit(["c"], [STORM])
        assert ids(reader, "storm") == ["a"]
        search.catch_up()
        assert ids(reader, "storm") == ["c", "a"]
        index.remove(["a"])
        assert ids(reader, "storm") == ["c"]
        index.flush()
        index.compact()
        assert ids(reader, "storm") == ["c"]
        Search.rebuild(index)
        assert ids(reader, "storm") == ["c"]
        with pytest.raises(StorageRefused, match="opened to read"):
            reader.catch_up()


def test_who_opens_it_to_write_catches_up(index):
    Search.open(index, make=True).close()
    index.admit(["c"], [STORM])
    index.remove(["a"])
    with keeping_up(index) as catch_up:
        index.admit(["d"], [BAKER])
        assert catch_up() == 1
    with Search.open(index) as search:
        assert search._table.ordinals().tolist() == [1, 2, 3]


AGAIN = {"title": ["Forecast"], "url": ["https://c.example/"]}


def test_a_page_that_is_admitted_again_is_found_by_its_new_title_and_site(index, search):
    index.admit(["c"], [STORM])
    search.catch_up()
    with Index.open(index.store.folder) as reading, Search.open(reading) as reader:
        assert ids(search, "weather") == ids(reader, "weather") == ["a"]
        assert ids(search, "storm", site="a.example") == ["a"]
        index.visit(["a"], [STORM], AGAIN)
        assert search.behind == 1
        assert {hit.title for hit in found(search, "storm").hits} == {"Forecast", None}  # they are read from the index
        assert search.catch_up() == 1
        assert search.behind == 0
        for one in (search, reader):
            assert ids(one, "weather") == []
            assert [(hit.id, hit.title) for hit in found(one, "forecast").hits] == [("a", "Forecast")]
            assert ids(one, "storm", site="a.example") == []
            assert ids(one, "storm", site="c.example") == ["a"]
            assert found(one, "storm").total == 2
            (group,) = one.answer("forecast").results
            assert group.shown[0].snippet.title.text == "Forecast"
    assert search.catch_up() == 0


@pytest.mark.parametrize("then", ["", "flush", "compact"])
@pytest.mark.parametrize("more", [False, True])
def test_titles_that_changed_without_the_table_are_found_when_it_is_opened(index, search, then, more):
    """Also if it is not known any more which they are, and if other documents were admitted since."""
    search.close()
    if more:
        index.admit(["c"], [STORM], {"title": ["Weather"]})
    index.admit(["a"], [STORM], AGAIN)
    if more:
        index.admit(["d"], [STORM], {"title": ["Weather"]})
        index.admit(["d"], [STORM], AGAIN)
        index.remove(["c"])
    if then:
        getattr(index, then)()
    with Search.open(index) as again:
        assert ids(again, "weather") == []
        assert sorted(ids(again, "forecast")) == (["a", "d"] if more else ["a"])
        assert again._is_level(again._table.state())
        index.flush()
        assert again.catch_up() == 0


def test_a_title_that_changed_while_the_table_was_brought_up_to_date_is_not_forgotten(index, search, monkeypatch):
    """The table may have seen later admissions than changes of fields."""
    index.admit(["c"], [BAKER])
    index.admit(["a"], [STORM], AGAIN)
    update = search._table.update

    def updated(*given, **ways):  # of the texts, after the titles
        monkeypatch.setattr(search._table, "update", update)
        index.admit(["a"], [STORM], {"title": ["Squall"]})
        index.admit(["d"], [BAKER])
        return update(*given, **ways)

    monkeypatch.setattr(search._table, "update", updated)
    search.catch_up()
    search.close()
    index.flush()
    with Search.open(index) as again:
        assert ids(again, "squall") == ["a"]
        assert ids(again, "forecast") == []


def test_an_index_that_was_set_back_by_a_title_gets_a_new_table(index, search, tmp_path):
    old = tmp_path / "old"
    shutil.copytree(index.store.folder, old)
    index.admit(["a"], [STORM], AGAIN)
    search.catch_up()
    search.close()
    shutil.copy(index.store.folder / "search.sqlite", old)
    with Index.open(old, "w") as before, Search.open(before) as again:
        assert ids(again, "weather") == ["a"]
        assert ids(again, "forecast") == []


def admit_another(index):
    index.admit(["b2"], ["another baker"])


def admit_another_and_flush(index):
    admit_another(index)
    index.flush()


def change_another_title(index):
    index.admit(["http://b.example/"], [BAKER], {"title": ["A baker"], "url": [None]})


def remove_another(index):
    index.remove(["http://b.example/"])


@pytest.mark.parametrize("then", [admit_another, admit_another_and_flush, change_another_title, remove_another])
@pytest.mark.parametrize(
    "first",
    [
        lambda index: index.admit(["a2"], ["another storm"]),
        lambda index: index.admit(["a"], [STORM], AGAIN),
        lambda index: index.remove(["a"]),
    ],
    ids=["admitted", "titled", "removed"],
)
def test_a_table_with_other_changes_than_the_index_is_not_used(index, search, tmp_path, first, then):
    search.close()  # the last one to close it leaves one file
    index.close()
    old = tmp_path / "old"
    shutil.copytree(index.store.folder, old)
    with Index.open(index.store.folder, "w") as changed, Search.open(changed) as table:
        first(changed)
        table.catch_up()
    shutil.copy(index.store.folder / "search.sqlite", old)
    with Index.open(old, "w") as other:
        then(other)
    with (
        Index.open(old) as reader,
        pytest.raises(StorageRefused, match="has changes that the index does not have, as after"),
    ):
        Search.open(reader)
    with Index.open(old, "w") as writer, Search.open(writer) as again:
        assert ids(again, "storm") == ["a"]
        assert set(ids(again, "baker")) == {*writer.ids()} - {"a"}
        assert again._is_level(again._table.state())
    with Index.open(old) as reader, Search.open(reader) as again:
        assert ids(again, "storm") == ["a"]


def test_a_table_without_a_document_of_the_index_is_built_again(index, search, tmp_path):
    """The index is a copy that was made between two changes by one writer."""
    index.admit(["c"], [STORM])
    old = tmp_path / "old"
    shutil.copytree(index.store.folder, old)
    index.remove(["c"])
    search.catch_up()
    search.close()
    shutil.copy(index.store.folder / "search.sqlite", old)
    with Index.open(old, "w") as writer, Search.open(writer) as again:
        assert sorted(ids(again, "storm")) == ["a", "c"]


def test_a_table_with_later_changes_of_a_writer_than_the_index_is_not_used(index, search, tmp_path):
    """The index is a copy that was made between two changes by one writer, and was then changed by another one."""
    old = tmp_path / "old"
    shutil.copytree(index.store.folder, old)
    index.admit(["a2"], ["another storm"])
    search.catch_up()
    search.close()
    shutil.copy(index.store.folder / "search.sqlite", old)
    with Index.open(old, "w") as other:
        admit_another(other)
    with Index.open(old) as reader, pytest.raises(StorageRefused, match="has changes that the index does not have"):
        Search.open(reader)


def test_readers_use_a_table_that_a_writer_has_changed_since(index, search):
    for number in range(3):
        with Index.open(index.store.folder) as reader:
            index.admit([f"c{number}"], [STORM])
            index.flush()
            search.catch_up()
            with Search.open(reader) as reading:
                assert len(ids(reading, "storm")) == number + 2


@pytest.fixture
def writers(index, search, monkeypatch):
    """Yield the numbers of five writers after each has admitted a document; three of them are remembered."""
    monkeypatch.setattr(manifest_module, "SESSIONS", 3)
    search.close()
    index.close()

    def numbers(then=lambda _: None):
        for number in range(5):
            with Index.open(index.store.folder, "w") as writer:
                writer.admit([f"c{number}"], [STORM])
                then(writer)
            yield number

    return numbers


def test_a_table_that_is_behind_many_writers_is_built_again(index, writers):
    for number in writers(Index.flush):
        if number != 2:
            continue
        with Index.open(index.store.folder, "w") as writer, Search.open(writer) as again:
            assert len(ids(again, "storm")) == 4
    with Index.open(index.store.folder, "w") as writer, Search.open(writer) as again:
        assert len(writer.store.sessions) == 3
        assert len(ids(again, "storm")) == 6


def test_readers_remember_as_many_writers_as_writers_do(index, writers):
    assert [*writers()] == [0, 1, 2, 3, 4]
    with Index.open(index.store.folder) as reader:
        assert len(reader.store.sessions) == 3


def test_without_a_table(index, tmp_path):
    assert not has_table(index.store.folder)
    with keeping_up(index) as catch_up:
        catch_up()
    assert not has_table(index.store.folder)
    with pytest.raises(StorageRefused, match="has no search table"):
        Search.open(index)
    with Index.open(index.store.folder) as reading:
        with pytest.raises(StorageRefused, match="has no search table"):
            Search.open(reading, make=True)
        with pytest.raises(StorageRefused, match="opened to read"):
            Search.rebuild(reading)
    with Index.create(tmp_path / "other", Checksum()) as bare:
        for ask in (Search.rebuild, Search.open):
            with pytest.raises(StorageRefused, match="keeps no texts"):
                ask(bare)


def test_a_table_of_another_index_is_refused_until_it_is_built_again(index, search, tmp_path):
    with Index.create(tmp_path / "other", SimHash(), texts=True) as other:
        other.admit(["x"], [STORM])
        Search.open(other, make=True).close()
        search.close()
        shutil.copy(tmp_path / "other/search.sqlite", index.store.folder)
    with pytest.raises(StorageRefused, match="another index"):
        Search.open(index)
    Search.rebuild(index)
    with Search.open(index) as again:
        assert ids(again, "storm") == ["a"]


def test_an_index_that_was_set_back_gets_a_new_table(tmp_path):
    path, old = tmp_path / "seen", tmp_path / "old"
    with Index.create(path, SimHash(), texts=True) as index:
        index.admit(["a"], [STORM])
    shutil.copytree(path, old)
    with Index.open(path, "w") as index, Search.open(index, make=True) as search:
        index.admit(["b", "c", "d"], [BAKER] * 3)
        search.catch_up()
    shutil.copy(path / "search.sqlite", old)
    with Index.open(old, "w") as index, Search.open(index) as search:
        assert ids(search, "baker") == []
        index.admit(["e"], ["another baker"])
        assert search.catch_up() == 1
        assert ids(search, "baker") == ["e"]


def test_nothing_is_in_the_table_that_a_power_failure_may_take_from_the_index(tmp_path):
    synced = []

    class Noting(Disk):
        def sync(self, file, path):
            super().sync(file, path)
            synced.append(path.name)

    with (
        Index.create(tmp_path / "seen", SimHash(), texts=True, durability="bulk", disk=Noting()) as index,
        Search.open(index, make=True) as search,
    ):
        synced.clear()
        index.admit(["a"], [STORM])
        assert synced == []
        search.catch_up()
        assert synced == ["log-00000001"]


@pytest.mark.parametrize("wrong", [{"top": 0}, {"top": 100_000}, {"seconds": 0}, {"top": "x"}])
def test_what_is_refused(search, wrong):
    with pytest.raises(ParameterError):
        found(search, "storm", **wrong)


def test_a_search_takes_no_longer_than_it_may(index, search):
    rng = random.Random(1)  # noqa: S311 - seeded choices are no secrets
    bodies = [" ".join(f"w{rng.randrange(2_000)}" for _ in range(200)) for _ in range(500)]
    index.admit([f"d{number}" for number in range(500)], bodies)
    search.catch_up()
    with pytest.raises(QueryTimeout):
        found(search, "w*", seconds=1e-4)
    assert found(search, "w1*").total == 500


def test_kernels_that_are_compiled_for_the_first_query_take_none_of_its_time(search, monkeypatch):
    cut, clock = search_module.query_words, [0.0]

    def slow_at_first(query):
        clock[0] = 60.0
        return cut(query)

    monkeypatch.setattr(fulltext.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(search_module, "query_words", slow_at_first)
    assert search.answer("storm").total


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_what_a_look_at_every_text_finds(tmp_path, seed):  # noqa: C901, PLR0915 - a life, step by step
    rng = random.Random(seed)  # noqa: S311 - the same
    path = tmp_path / "seen"
    there, searchable, titles = {}, {}, {}

    def require_right(search, level):
        for query in [(word,) for word in WORDS] + [tuple(rng.sample(WORDS, 2))]:
            wanted = {own for own, words in (there if level else searchable).items() if set(query) <= set(words)}
            if not level:  # new documents are not found yet, and removed ones are not shown
                wanted = {own for own in wanted if there.get(own) is searchable[own]}
            every = found(search, " ".join(query), top=1_000, seconds=60)
            assert {hit.id for hit in every.hits} == wanted
            assert every.total == len(every.hits) == len(wanted)
            few = found(search, " ".join(query), top=3, seconds=60)
            assert (few.hits, few.total) == (every.hits[:3], every.total)
        for title in TITLES if level else ():
            assert {*ids(search, title, top=1_000, seconds=60)} == {own for own in there if titles[own] == title}

    index = Index.create(path, SimHash(), texts=True, fields={"title": str}, memory=1 << 20)
    search = Search.open(index, make=True)
    with Index.open(path) as reading, Search.open(reading) as reader:
        for number in range(36):
            does = rng.choice([*["admit"] * 3, "retitle", "remove", "flush", "compact", "rebuild", "open", "level"])
            if does == "admit":
                names = rng.sample([f"d{own}" for own in range(30)], rng.randint(1, 8))
                words = [[*rng.choices(WORDS, k=rng.randint(1, 4)), f"v{number}"] for _ in names]
                titles |= {name: rng.choice(TITLES) for name in names}
                index.admit(names, [" ".join(own) for own in words], {"title": [titles[name] for name in names]})
                there.update(zip(names, words, strict=True))
            elif does == "retitle":
                names = sorted({*there} & {*rng.sample([f"d{own}" for own in range(30)], 10)})
                titles |= {name: rng.choice(TITLES) for name in names}
                texts = [" ".join(there[name]) for name in names]
                index.admit(names, texts, {"title": [titles[name] for name in names]})
            elif does == "remove":
                names = rng.sample([f"d{own}" for own in range(30)], 5)
                index.remove(names)
                for name in names:
                    there.pop(name, None)
            elif does in {"flush", "compact"}:
                getattr(index, does)()
            elif does == "rebuild":
                Search.rebuild(index)
                search.close()
            elif does == "open":
                search.close()
                index.close()
                index = Index.open(path, "w")
            if does in {"rebuild", "open"}:
                search = Search.open(index)
            level = does in {"rebuild", "open", "level"}
            if does == "level":
                search.catch_up()
            if level:
                searchable = dict(there)
            require_right(search, level)
            require_right(reader, level)
    search.close()
    index.close()


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The bundled collection, with what a search of it hides by brute force."""
    path = tmp_path_factory.mktemp("sample") / "seen"
    with as_file(files("neardup.samples") / "collection.jsonl") as collection:
        add_files([collection], path, search=True)
    with Index.open(path) as index, Search.open(index) as opened:
        yield opened


def hidden_by(search, hits, *, collapse, threshold, keep, verify):
    """Return for each hit, by the definition, which better-ranked hit that stays hides it."""
    index = search._index
    documents = {hit.id: index.get([hit.id])[0] for hit in hits}
    scheme = index.scheme if threshold is None else index.scheme.with_threshold(threshold)
    signed = index.signatures([hit.id for hit in hits])
    features = scheme.shingling.features([documents[hit.id].text for hit in hits])
    sets = [{*features.values[begin:end].tolist()} for begin, end in pairwise(features.offsets.tolist())]

    def same(rank, better):
        if collapse == "near" and verify == "exact":
            common, whole = sets[rank] & sets[better], sets[rank] | sets[better]
            return bool(common) and len(common) / len(whole) >= scheme.threshold
        if collapse == "near":
            return bool(scheme.match_pairs(signed, np.array([rank]), np.array([better]))[0])
        if collapse == "exact":
            own = documents[hits[rank].id].text
            return bool(own.strip()) and own == documents[hits[better].id].text
        return site_of(hits[rank].url) == site_of(hits[better].url)

    of, _, heads = collapsed(len(hits), [keep], lambda _, better, rank: same(rank, better))
    return [None if better < 0 else better for better in of], heads


def as_found(hit):
    """Return what a hit of an answer has of the hit that was found."""
    return FoundHit(**{name: getattr(hit, name) for name in FoundHit.__struct_fields__})


@pytest.mark.parametrize(
    "way",
    [
        *(("near", *of, verify) for of in ((None, 1), (0.4, 1), (0.9, 2)) for verify in ("exact", "estimate")),
        ("exact", None, 1, None),
        ("site", None, 1, None),
        ("site", None, 3, None),
    ],
)
@pytest.mark.parametrize("query", ["the harbour", "said", "tram", "nowhereword"])
def test_an_answer_is_what_is_found_without_repeats(sample, query, way):
    hits = [*map(as_found, found(sample, query).hits)]
    ways = dict(zip(("collapse", "threshold", "keep", "verify"), way, strict=True))
    of, heads = hidden_by(sample, hits, **ways)
    answers, results = [], []
    for page in range(1, 100):
        answers.append(sample.answer(query, page=page, size=3, **ways))
        results += answers[-1].results
        if page >= answers[-1].pages:
            break
    groups = sorted(set(heads))
    assert [hits.index(as_found(group.shown[0])) for group in results] == groups
    for group, head in zip(results, groups, strict=True):
        members = [rank for rank in range(len(hits)) if heads[rank] == head]
        assert [as_found(own) for own in group.shown] == [hits[rank] for rank in members if of[rank] is None]
        assert [as_found(own) for own in group.repeats] == [hits[rank] for rank in members if of[rank] is not None]
        assert [own.of for own in group.repeats] == [hits[of[rank]].id for rank in members if of[rank] is not None]
        assert group.hides == len(group.repeats)
    for answer in answers:
        assert (answer.total, answer.examined) == (found(sample, query).total, len(hits))
        assert (answer.groups, answer.pages) == (len(groups), -(-len(groups) // 3))
        assert answer.hidden == sum(rank is not None for rank in of)


def test_why_a_hit_is_hidden(sample):
    near = [repeat for group in sample.answer("the", size=100).results for repeat in group.repeats]
    assert near
    for repeat in near:
        assert (repeat.rule, repeat.measure, repeat.threshold) == ("minhash", "resemblance", 0.6)
        assert repeat.verified
        own, other = (document.text for document in sample._index.get([repeat.id, repeat.of]))
        assert repeat.value == resemblance(own, other) >= 0.6
    estimated = sample.answer("the", size=100, verify="estimate").results
    assert not any(repeat.verified for group in estimated for repeat in group.repeats)
    exact = [repeat for group in sample.answer("the", collapse="exact", size=100).results for repeat in group.repeats]
    assert {(repeat.rule, repeat.value) for repeat in exact} == {("same text", None)}
    sites = [repeat for group in sample.answer("the", collapse="site", size=100).results for repeat in group.repeats]
    assert {repeat.rule for repeat in sites} == {"same site"}
    assert all(repeat.value == site_of(repeat.url) for repeat in sites)


@pytest.mark.parametrize(("collapse", "keep"), [("near", 1), ("near", 2), ("exact", 1), ("site", 1), ("site", 3)])
def test_a_group_by_its_id_page_by_page(sample, collapse, keep):
    ways = {"collapse": collapse, "keep": keep}
    results = sample.answer("the", size=100, **ways).results
    assert [group.id for group in results] == [str(group_id(group.shown[0].id)) for group in results]
    whole = max(results, key=lambda group: group.hides)
    hits, repeats = [], []
    for page in range(1, 100):
        answer = sample.answer("the", include=whole.id, page=page, size=2, **ways)
        hits += [own for group in answer.results for own in (*group.shown, *group.repeats)]
        repeats += [own for group in answer.results for own in group.repeats]
        if page == answer.pages:
            break
    by_id = attrgetter("id")
    assert sorted(hits, key=by_id) == sorted((*whole.shown, *whole.repeats), key=by_id)
    assert repeats == list(whole.repeats)
    assert sample.answer("the", include="12345", **ways).results == ()


def test_nothing_is_hidden_where_nothing_is_collapsed(sample):
    answer = sample.answer("the", collapse="off", size=100)
    assert (len(answer.results), answer.groups) == (answer.examined, answer.examined)
    assert (answer.hidden, answer.threshold) == (0, None)


def test_what_is_shown_of_an_answer(sample):
    for group in sample.answer("harbour").results:
        (hit,) = group.shown
        assert hit.snippet.title.text == (hit.title or "")
        parts = hit.snippet.title, hit.snippet.body
        marked = {part.text[begin:end].lower() for part in parts for begin, end in part.spans}
        assert marked == {"harbour"}


def test_the_same_hits_in_another_order_are_another_set(tmp_path):
    texts = {
        "a": "storm storm storm storm harbour at dawn",
        "b": "storm storm storm harbour at dawn",
        "c": "harbour harbour harbour harbour harbour of stone walls and grey boats in storm",
    }
    with Index.create(tmp_path / "three", MinHash(shingle=1, threshold=0.6), texts=True) as index:
        index.admit([*texts], [*texts.values()])
        with Search.open(index, make=True) as search:
            orders = {query: [hit.id for hit in found(search, query).hits] for query in ("storm", "harbour")}
            assert [order.index("c") for order in orders.values()] == [2, 0]
            for query, order in orders.items():
                groups = search.answer(query).results
                better, worse = (own for own in order if own != "c")
                assert {own.id for group in groups for own in group.shown} == {"c", better}
                assert [own.id for group in groups for own in group.repeats] == [worse]


def test_the_representative_changes_only_what_repeats_are_listed_below(sample):
    """Some of the bundled documents have a closer match than the best-ranked."""
    moved = 0
    for query in ("the", "said", "a"):
        first, closest = (
            sample.answer(query, size=100, threshold=0.3, representative=way).results
            for way in ("best-ranked", "closest")
        )
        assert [group.shown for group in first] == [group.shown for group in closest]
        named = [{own.id: own for group in some for own in group.repeats} for some in (first, closest)]
        assert named[0].keys() == named[1].keys()
        assert all(named[0][own].value <= named[1][own].value for own in named[0])
        assert all(own.of in {hit.id for hit in group.shown} for group in closest for own in group.repeats)
        moved += sum(named[0][own].of != named[1][own].of for own in named[0])
    assert moved


def test_what_was_judged_is_remembered(sample):
    sample.answer("the market")
    before = sample.judged.hits
    sample.answer("the market", page=2)
    assert sample.judged.hits == before + 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"collapse": "nearly"},
        {"collapse": "site", "threshold": 0.5},
        {"collapse": "exact", "verify": "exact"},
        {"representative": "first"},
        {"collapse": "site", "representative": "first"},
        {"threshold": 2},
        {"keep": 0},
        {"page": 0},
        {"size": 0},
        {"include": "-1"},
        {"include": 1},
        {"seconds": -1},
    ],
)
def test_what_an_answer_refuses(sample, wrong):
    with pytest.raises(ParameterError):
        sample.answer("the", **wrong)


@pytest.mark.parametrize("scheme", [MinHash(shingle=1), SimHash(), Trials(words=1)], ids=lambda one: one.name)
def test_near_duplicates_of_texts_have_at_least_the_threshold(tmp_path, scheme):
    words = [f"w{number}" for number in range(100)]
    texts = [" ".join(["needle", *words[:-few], *(f"y{number}" for number in range(few))]) for few in (1, 2, 10)]
    values = [resemblance(" ".join(["needle", *words]), text, shingle=1) for text in texts]
    with Index.create(tmp_path / "seen", scheme, texts=True) as index, Search.open(index, make=True) as search:
        index.admit(["a", "b", "c", "d"], [" ".join(["needle", *words]), *texts])
        search.catch_up()
        for threshold in (0.3, 0.6, 0.8, 0.9, 0.97):
            answer = search.answer("needle", threshold=threshold)
            assert answer.threshold == threshold
            told = [repeat for group in answer.results for repeat in group.repeats]
            assert all(repeat.verified and repeat.value >= repeat.threshold == threshold for repeat in told)
            if threshold < scheme.threshold and scheme.name != "trials":  # whose signatures miss many
                assert min(values) > threshold
                assert len(told) == 3
        estimated = search.answer("needle", threshold=0.9, verify="estimate")
        assert estimated.threshold >= 0.9


@pytest.mark.parametrize("sort", ["score", "newest"])
def test_documents_that_are_removed_between_two_reads_of_the_table_are_replaced(index, search, monkeypatch, sort):
    index.admit([f"d{number:02}" for number in range(40)], [f"gale number {number}" for number in range(40)])
    search.catch_up()
    index.remove(["d00", "d39"])  # the table has them
    find, times = search._table.find, []

    def removing(*asked, **ways):
        times.append(asked)
        if 1 < len(times) < 5:
            gone = len(times) * 5
            index.remove([f"d{number:02}" for number in range(40) if number < gone or number >= 40 - gone])
        return find(*asked, **ways)

    monkeypatch.setattr(search._table, "find", removing)
    hits = found(search, "gale", top=5, sort=sort)
    left = sum(own.startswith("d") for own in index.ids())
    assert (len(hits.hits), hits.total) == (min(5, left), left)


@pytest.mark.parametrize("rebuilt", [True, False])
def test_a_table_is_written_by_one_thread_at_a_time(index, search, monkeypatch, rebuilt):
    failures, batches = [], search_module._batches

    def write():
        try:
            with Search.open(index) as other:
                Search.rebuild(index) if rebuilt else other.catch_up()
        except Exception as error:  # noqa: BLE001 - of whatever kind
            failures.append(error)

    def meanwhile(*given):
        monkeypatch.undo()
        other.start()
        other.join(0.3)
        return batches(*given)

    other = threading.Thread(target=write)
    index.admit(["c"], [f"{STORM}. A bell rang"])
    monkeypatch.setattr(search_module, "_batches", meanwhile)
    assert search.catch_up() == 1
    other.join()
    assert (failures, ids(search, "bell")) == ([], ["c"])


def test_while_another_thread_admits_and_removes(index, search):
    failed = []

    def change():
        try:
            for number in range(60):
                index.admit([f"d{number % 7}"], [f"{STORM} {number}"])
                index.remove([f"d{(number + 3) % 7}"])
                if number % 2:
                    search.catch_up()
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    changing = threading.Thread(target=change)
    changing.start()
    while changing.is_alive():
        answer = search.answer("storm", size=100)
        assert answer.examined == answer.total == sum(len(own.shown) + own.hides for own in answer.results)
    changing.join()
    assert not failed
    search.catch_up()
    assert found(search, "storm").total == len(index) - 1


def test_a_table_that_counts_more_documents_than_it_has_is_built_again(index, search):
    index.admit(["one"], ["words of the first document"])
    search.catch_up()
    with search._table._changing() as connection:
        connection.execute("UPDATE state SET documents = documents + 2")
    assert search.catch_up() == len(index)
    assert found(search, "words").total == 1
    assert search.catch_up() == 0


def test_documents_without_text_are_not_of_one_text(tmp_path):
    with Index.create(tmp_path / "titles", texts=True, fields=FIELDS) as index:
        index.admit(["a", "b"], ["", " "], {"title": ["The storm", "A storm"]})
        with Search.open(index, make=True) as search:
            assert [search.answer("storm", collapse=way).groups for way in ("exact", "near", "site")] == [2, 2, 2]


def test_the_url_of_a_hit_is_the_field_before_its_id(index, search):
    index.admit(
        ["http://id.example/"], ["a page of two addresses"], {"title": [None], "url": ["https://field.example/"]}
    )
    search.catch_up()
    assert found(search, "addresses").hits[0].url == "https://field.example/"
    assert ids(search, "addresses", site="field.example") == ["http://id.example/"]
