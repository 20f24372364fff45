import random
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import CrawlFilter, Index
from neardup.errors import DataError, StorageDamaged, StorageFailed, StorageMoved
from neardup.model.errors import FULL
from neardup.pipeline.crawl import recorded_visits
from neardup.pipeline.crawl.keyed_visits import KeyedVisits
from neardup.pipeline.crawl.recorded_visits import FILE
from neardup.verdicts import Known


def words(seed, number=40):
    dice = random.Random(seed)  # noqa: S311 - no secrets
    return " ".join(f"word{dice.randrange(5000)}" for _ in range(number))


def url(number):
    return f"http://a.example/{number}"


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "seen", fields={"url": "string", "rank": "integer"}, durability="bulk") as index:
        yield index


PAGES = [(1, 1), (2, 1), (3, 3), (4, 4)]


def sent(visits, pages, key, **more):
    urls, texts = [url(number) for number, _ in pages], [words(seed) for _, seed in pages]
    return visits.judge_and_admit(urls, texts, None, key, repr(pages).encode(), **more)


def kept(verdicts):
    return [verdict.representative for verdict in verdicts]


def passed_on(pages, verdicts):
    return sorted(number for (number, _), name in zip(pages, kept(verdicts), strict=True) if name is None)


def restarted_before_the_answer(index):
    """Return the visits as after a kill before the verdicts of any batch were written."""
    with closing(sqlite3.connect(index.store.folder / FILE)) as file, file:
        file.execute("UPDATE batches SET verdicts = NULL")
    return KeyedVisits(index)


@pytest.mark.parametrize("restarted", [None, KeyedVisits, restarted_before_the_answer])
def test_a_repeated_batch_gets_the_same_verdicts(index, restarted):
    pages = KeyedVisits(index)
    first = sent(pages, PAGES, "one")
    assert [verdict.name for verdict in first] == ["new", "exact duplicate", "new", "new"]
    changed = sent(pages, [(3, 33), (5, 5)], "two")
    assert changed[0] == Known(url(3), changed=True)
    before = index.next_admission, len(index)
    if restarted is not None:
        pages = restarted(index)
    for _ in range(2):
        again = sent(pages, [(3, 33), (5, 5)], "two")
        assert again == changed or restarted is restarted_before_the_answer
        assert [verdict.representative for verdict in again] == [None, None]
    assert (index.next_admission, len(index)) == before
    assert sent(pages, [(5, 5)], "three")[0].representative == url(5)  # another request knows the page


def test_a_repeated_batch_of_signatures_keeps_the_same_pages(index):
    def sent_signed(pages, key):
        signed = index.scheme.sign([words(seed) for _, seed in pages])
        own = restarted_before_the_answer(index) if (index.store.folder / FILE).exists() else KeyedVisits(index)
        return own.judge_and_admit([url(number) for number, _ in pages], signed, None, key, repr(pages).encode())

    assert [verdict.name for verdict in sent_signed(PAGES, "one")] == ["new", "near duplicate", "new", "new"]
    changed = sent_signed([(3, 33), (4, 4), (5, 5)], "two")
    assert changed[:2] == [Known(url(3), changed=True), Known(url(4), representative=url(4))]
    assert kept(sent_signed([(3, 33), (4, 4), (5, 5)], "two")) == kept(changed) == [None, url(4), None]


def test_without_a_key_each_batch_counts(index):
    pages = KeyedVisits(index)
    assert sent(pages, PAGES, None)[0].name == "new"
    assert sent(pages, PAGES, None) == [Known(url(number)) for number, _ in PAGES]
    assert not (index.store.folder / FILE).exists()


def test_a_key_belongs_to_one_batch(index):
    pages = KeyedVisits(index)
    sent(pages, PAGES, "one")
    with pytest.raises(DataError, match="Idempotency-Key was used for another request; each request needs its own key"):
        sent(pages, PAGES[:1], "one")
    with pytest.raises(DataError, match="was used for another"):
        sent(KeyedVisits(index), PAGES[:1], "one")


@pytest.mark.parametrize("restarted", [None, KeyedVisits, restarted_before_the_answer])
def test_a_refused_batch_does_not_use_its_key(index, restarted):
    pages = KeyedVisits(index)
    with pytest.raises(DataError, match="nope"):
        pages.judge_and_admit([url(1)], [words(1)], {"nope": [1]}, "one", b"refused")
    pages = pages if restarted is None else restarted(index)
    first = sent(pages, PAGES, "one")
    assert [verdict.name for verdict in first] == ["new", "exact duplicate", "new", "new"]
    assert sent(KeyedVisits(index), PAGES, "one") == first


def test_a_link_in_place_of_the_file_is_not_followed(index, tmp_path):
    (tmp_path / "outside").write_bytes(b"")
    (index.store.folder / FILE).symlink_to(tmp_path / "outside")
    with pytest.raises(StorageFailed, match=FILE):
        sent(KeyedVisits(index), PAGES, "one")
    assert not (tmp_path / "outside").read_bytes()


def test_a_batch_that_was_never_admitted_is_admitted_when_it_is_repeated(index, interrupted_at):
    pages = KeyedVisits(index)
    with interrupted_at(CrawlFilter, "judge_and_admit"):
        sent(pages, PAGES, "one")
    verdicts = sent(KeyedVisits(index), PAGES, "one")
    assert [verdict.name for verdict in verdicts] == ["new", "exact duplicate", "new", "new"]


def test_pages_that_another_batch_admitted_meanwhile_are_its_own(index, monkeypatch):
    """The process is killed after it has recorded a batch; another crawler's batch comes before the repetition."""
    with monkeypatch.context() as patch:
        patch.setattr(CrawlFilter, "judge_and_admit", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sent(KeyedVisits(index), [(1, 1), (7, 7)], "killed")
    pages = KeyedVisits(index)
    assert [verdict.representative for verdict in sent(pages, [(1, 1), (2, 2)], "other")] == [None, None]
    verdicts = sent(pages, [(1, 1), (7, 7)], "killed")
    assert (verdicts[0].name, verdicts[0].representative, verdicts[1].name) == ("known", url(1), "new")
    for again in (pages, KeyedVisits(index), restarted_before_the_answer(index)):
        assert [verdict.representative for verdict in sent(again, [(1, 1), (7, 7)], "killed")] == [url(1), None]
        assert [verdict.representative for verdict in sent(again, [(1, 1), (2, 2)], "other")] == [None, None]


def test_a_page_that_is_kept_again_is_reported_again(index):
    pages = KeyedVisits(index)
    sent(pages, PAGES, "one")
    index.remove([url(1)])  # page 2 repeated it
    told = sent(pages, PAGES[1:2], "two")
    assert told == [Known(url(2))]
    assert told[0].representative is None
    for some in (pages, KeyedVisits(index), restarted_before_the_answer(index)):
        assert sent(some, PAGES[1:2], "two")[0].representative is None
    assert sent(pages, PAGES[1:2], "three")[0].representative == url(2)


def test_nearly_unchanged_pages_are_unchanged_when_they_are_repeated(index):
    pages = KeyedVisits(index)
    sent(pages, PAGES, "one")
    text = words(3) + " again"
    first = pages.judge_and_admit([url(3)], [text], None, "two", b"x", 0.5)
    assert (first[0].changed, first[0].representative) == (False, url(3))
    for some in (pages, KeyedVisits(index), restarted_before_the_answer(index)):
        assert some.judge_and_admit([url(3)], [text], None, "two", b"x", 0.5) == first
    assert index.next_admission == len(PAGES)


def test_a_repeated_batch_does_not_bring_back_what_was_changed_or_removed_since(index):
    first = sent(KeyedVisits(index), PAGES, "one")
    sent(KeyedVisits(index), [(3, 33)], "two")
    index.remove([url(4)])
    state = index.next_admission, len(index)
    for _ in range(2):
        again = sent(KeyedVisits(index), PAGES, "one")
        assert index.visit([url(3)], [words(33)], remember=False) == [Known(url(3))]
        assert (index.next_admission, len(index)) == state
        assert again == first


def test_an_index_that_was_moved_leaves_the_file_of_another_one_alone(index):
    pages, folder = KeyedVisits(index), index.store.folder
    sent(pages, PAGES, "one")
    folder.rename(folder.with_name("moved"))
    folder.mkdir()
    with pytest.raises(StorageMoved):
        sent(pages, PAGES, "two")
    assert not any(folder.iterdir())
    folder.rmdir()
    folder.with_name("moved").rename(folder)


def test_a_damaged_file_is_refused(index):
    (index.store.folder / FILE).write_bytes(b"damaged" * 999)
    with pytest.raises(StorageDamaged, match=r"visits\.sqlite is damaged .*; remove it"):
        sent(KeyedVisits(index), PAGES, "one")
    assert len(index) == 0


def edited(index, column, value):
    with closing(sqlite3.connect(index.store.folder / FILE)) as file, file:
        file.execute(f"UPDATE batches SET {column} = ?", (value,))  # noqa: S608 - names of columns
    return KeyedVisits(index)


@pytest.mark.parametrize(
    "verdicts",
    ['[{"x":1}]', '[{"verdict":"known"}]', '[{"verdict":[]}]', "[1]", "{", "[]", '[{"verdict":"new"}]', b'["\xff"]', 5],
)
def test_recorded_verdicts_of_another_form_are_computed_again(index, verdicts):
    first = sent(KeyedVisits(index), PAGES, "one")
    for _ in range(2):
        assert kept(sent(edited(index, "verdicts", verdicts), PAGES, "one")) == kept(first)


@pytest.mark.parametrize(("column", "value"), [("content", b"x"), ("first", "x")])
def test_a_recorded_batch_of_another_form_is_damage(index, column, value):
    sent(KeyedVisits(index), PAGES, "one")
    with pytest.raises(StorageDamaged, match=r"visits\.sqlite is damaged .*; remove it"):
        sent(edited(index, column, value), PAGES, "one")


def test_only_the_last_keys_are_remembered(index, monkeypatch):
    monkeypatch.setattr(recorded_visits, "MOST_VISITS", 5)
    pages = KeyedVisits(index)
    for number in range(40):
        sent(pages, [(number, number)], f"key {number}")
    for some in (pages, KeyedVisits(index)):
        assert sent(some, [(36, 36)], "key 36")[0].name == "new"
        assert sent(some, [(20, 20)], "key 20" + str(some is pages))[0].name == "known"


def test_a_forgotten_key_has_no_verdicts(index, monkeypatch):
    """A key that is forgotten is used again, and the process cannot admit the new pages at once."""
    monkeypatch.setattr(recorded_visits, "MOST_VISITS", 2)
    pages = KeyedVisits(index)
    for number in range(3):
        sent(pages, [(number, number)], f"key {number}")
    with monkeypatch.context() as patched:
        patched.setattr(CrawlFilter, "judge_and_admit", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sent(pages, [(7, 7), (8, 8)], "key 0")
    assert [verdict.name for verdict in sent(pages, [(7, 7), (8, 8)], "key 0")] == ["new", "new"]


def test_a_full_disk_records_nothing(index):
    pages = KeyedVisits(index)
    sent(pages, PAGES[:1], "first")
    pages._visits._file.execute("PRAGMA max_page_count = 1")

    def fill():
        for number in range(10, 999):
            sent(pages, [(number, number)], f"key {number}")

    with pytest.raises(StorageFailed, match=r"visits\.sqlite cannot be written: database or disk is full") as caught:
        fill()
    assert caught.value.code == FULL
    assert len(index) < 900
    pages._visits._file.execute("PRAGMA max_page_count = 1000000")
    assert sent(pages, PAGES[::-1], "one")[0].name == "new"


CONTENTS = st.dictionaries(st.integers(0, 5), st.integers(0, 3), min_size=1)
BATCHES = st.lists(CONTENTS.flatmap(lambda pages: st.lists(st.sampled_from([*pages.items()]), max_size=8)), max_size=6)


@pytest.mark.parametrize("restarted", [KeyedVisits, restarted_before_the_answer])
@given(batches=BATCHES)
def test_the_last_batch_keeps_the_same_pages_after_a_restart(tmp_path_factory, restarted, batches):
    folder = tmp_path_factory.mktemp("visits") / "seen"
    with Index.create(folder, durability="bulk") as index:
        for number, batch in enumerate(batches):
            pages, texts = [page for page, _ in batch], [words(seed) for _, seed in batch]
            ids = [*map(url, pages)]
            next_one, there = index.next_admission, index.admissions(ids)
            told = {page for page, one in zip(pages, there, strict=True) if one and one.reported == next_one}
            first = sent(KeyedVisits(index), batch, str(number))
            later = passed_on(
                batch, index.visit(ids, texts, remember=False)
            )  # they are kept since other pages of the batch changed
            state = index.next_admission, [index.group(own) for own in index.ids()]
            again = sent(restarted(index), batch, str(number))
            assert again == first or restarted is restarted_before_the_answer
            if restarted is KeyedVisits:
                assert kept(again) == kept(first)
            kept_again = passed_on(batch, again)
            assert {*passed_on(batch, first)} <= {*kept_again} <= {*passed_on(batch, first), *told, *later}
            assert len({*kept_again}) == len(kept_again)
            assert (index.next_admission, [index.group(own) for own in index.ids()]) == state


def test_a_repeated_batch_leaves_fields_as_they_are(index):
    urls, texts, fields = [url(1), url(2), url(1)], [words(1), words(2), words(1)], {"rank": [1, 2, 3]}
    pages = KeyedVisits(index)
    first = pages.judge_and_admit(urls, texts, fields, "one", b"x")
    assert index.values("rank", urls[:2]) == [3, 2]
    changes = index.store.field_changes.number
    again = restarted_before_the_answer(index).judge_and_admit(urls, texts, fields, "one", b"x")
    assert kept(again) == kept(first) == [None, None, url(1)]
    assert index.values("rank", urls[:2]) == [3, 2]
    assert index.values("url", urls[:2]) == urls[:2]
    assert index.store.field_changes.number == changes + 2  # of the page that is in it twice
