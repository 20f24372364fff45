import json

import pytest
from invented_web import crawl_with_rules
from json_lines import write_lines

from neardup import Index, MinHash, Search
from neardup.errors import StorageDamaged, StorageFailed, StorageRefused
from neardup.index.disk.arrays import checksum
from neardup.index.disk.manifest import MANIFEST, SECOND
from neardup.index.fulltext import FullText
from neardup.pipeline.files.ingestion import add_files
from neardup.pipeline.files.pairs import pair_files
from neardup.pipeline.files.upkeep import check_index, copy_index, index_stats, remove_ids
from neardup.pipeline.index.rescue import rescue
from neardup.sources.url_rules import HostRules, RuleEvidence
from neardup.urls import Addresses, UrlRules, find_url_rules

TEXTS = ["one two three four", "ONE two three four", "five six seven eight"]


@pytest.fixture
def folder(tmp_path):
    with Index.create(tmp_path / "index", MinHash(key=bytes(16))) as index:
        index.admit(["a", "b", "c"], TEXTS)
    return tmp_path / "index"


def test_without_the_key_it_is_checked_and_described(folder):
    report = check_index(folder)
    assert (report.problems, report.documents) == ([], 0)  # all are in the log
    stats = index_stats(folder)
    assert (stats.documents, stats.kept, stats.scheme) == (3, 2, "minhash")


def test_where_there_is_no_index(tmp_path):
    for question in (check_index, index_stats):
        with pytest.raises(StorageRefused):
            question(tmp_path)


def test_folders_are_on_this_machine(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = "s3://bucket/index"
    with Index.open(folder, key=bytes(16)) as index:
        for call in (
            lambda: Index.create(url),
            lambda: Index.open(url),
            lambda: index.copy(url),
            lambda: check_index(url),
            lambda: index_stats(url),
            lambda: copy_index(url, folder),
            lambda: copy_index(folder, url),
            lambda: rescue(url, folder),
            lambda: rescue(folder, url, key=bytes(16)),
            lambda: pair_files(["a.jsonl"], out="out.jsonl", work=url),
        ):
            with pytest.raises(StorageRefused, match="s3://bucket/index is a URL; name a folder on this machine"):
                call()
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_what_was_removed_is_counted(folder):
    with Index.open(folder, "w", key=bytes(16)) as index:
        done = remove_ids(index, ["a", "none", "a"])
        assert (done.removed, done.unknown, done.promoted) == (1, ["none"], 1)
        assert len(index) == 2


def test_blanks_around_a_url_do_not_count():
    with Index.create() as index:
        index.admit(["http://a.example/", " b"], TEXTS[:2])
        done = remove_ids(index, [" http://a.example:80/ ", "b", " b "])
        assert (done.removed, done.unknown) == (1, ["b", " b "])


def test_urls_may_be_removed_by_any_form():
    with Index.create() as index:
        index.admit(["http://a.example/", "http://b.example/x", "HTTP://as-written.example/"], TEXTS)
        other = ["HTTP://A.example:80/?utm_source=x#top", "http://a.example"]
        done = remove_ids(index, [*other, "HTTP://as-written.example/", "http://c.example"])
        assert (done.removed, done.unknown) == (2, ["http://c.example"])
        assert [*index.ids()] == ["http://b.example/x"]


def test_urls_are_removed_by_the_rules_of_their_host(tmp_path):
    rules = UrlRules({"a.example": HostRules(parameters={"view": RuleEvidence(12, 11, 0.9231)})})
    write_lines(tmp_path / "pages.jsonl", [{"url": "http://a.example/?view=1", "text": TEXTS[0]}])
    add_files([tmp_path / "pages.jsonl"], tmp_path / "index", url="url", addresses=Addresses(rules=rules))
    with Index.open(tmp_path / "index", "w") as index:
        assert remove_ids(index, ["other"]).unknown == ["other"]
        with pytest.raises(StorageRefused, match="its ids follow the URL rules"):
            remove_ids(index, ["http://a.example/?view=2"], Addresses(rules=UrlRules()))
        assert remove_ids(index, ["http://a.example/?view=2"]).removed == 1


@pytest.fixture
def searched(tmp_path):
    """An index with a search table."""
    with Index.create(tmp_path / "index", texts=True) as index:
        index.admit(["a", "b", "c"], TEXTS)
        Search.open(index, make=True).close()
    return tmp_path / "index"


def hits(folder, words):
    with Index.open(folder) as index, Search.open(index) as search:
        return search.answer(words).total


def test_an_index_and_its_search_table_are_copied(searched, tmp_path):
    copy_index(searched, tmp_path / "copy")
    assert hits(tmp_path / "copy", "six") == 1
    with Index.open(searched, "w") as index:
        index.admit(["new"], ["a heron stands in the reeds of the lake"])
    copy_index(searched, tmp_path / "copy")
    with Index.open(searched, "w") as index:
        Search.rebuild(index)
    copy_index(searched, tmp_path / "copy")
    assert hits(tmp_path / "copy", "heron") == 1
    assert not check_index(tmp_path / "copy").problems


@pytest.mark.usefixtures("permissions")
def test_a_copy_only_needs_to_read(searched, tmp_path):
    for path in searched.iterdir():
        path.chmod(0o444)
    searched.chmod(0o555)
    before = sorted((path, path.read_bytes()) for path in searched.iterdir())
    copy_index(searched, tmp_path / "copy")
    assert hits(tmp_path / "copy", "six") == 1
    assert sorted((path, path.read_bytes()) for path in searched.iterdir()) == before
    searched.chmod(0o755)


def test_the_rules_of_an_index_count_for_all_ids(folder):
    crawl = crawl_with_rules(hosts=5, pages=20)
    rules = find_url_rules(crawl.urls, crawl.column)
    with Index.open(folder, "w", key=bytes(16)) as index:
        with pytest.raises(StorageRefused, match="rules"):
            remove_ids(index, ["a"], Addresses(rules=rules))
        assert len(index) == 3


def test_one_damage_is_one_problem(folder):
    with Index.open(folder, "w", key=bytes(16)) as index:
        index.compact()
    for path in folder.glob("manifest*"):
        path.write_text("junk")
    problems = check_index(folder).problems
    assert len(problems) == len({*problems}) > 0


def test_a_search_table_that_may_not_be_read_is_no_damage(tmp_path, monkeypatch):
    with Index.create(tmp_path / "index", texts=True) as index:
        index.admit(["a"], TEXTS[:1])
        Search.open(index, make=True).close()

    def refused(_):
        raise StorageFailed.by(PermissionError(13, "Permission denied"), "search.sqlite", "read")

    assert check_index(tmp_path / "index").problems == []
    monkeypatch.setattr(FullText, "check", refused)
    with pytest.raises(StorageFailed, match="cannot be read: Permission denied"):
        check_index(tmp_path / "index")


@pytest.mark.parametrize(
    "fields", [[["host", "integr"]], [["host", "integer"]], [["host", "string"], ["host", "string"]], [["", "string"]]]
)
def test_a_check_finds_what_opening_finds(folder, fields):
    forged = json.loads((folder / MANIFEST).read_bytes().split(b"\n")[0])
    assert check_index(folder).problems == []
    forged["terms"]["fields"] = fields
    line = json.dumps(forged, sort_keys=True).encode()
    for name in (MANIFEST, SECOND):
        (folder / name).write_bytes(b"%b\n%016x\n" % (line, checksum(line)))
    with pytest.raises(StorageDamaged) as error:
        index_stats(folder)
    assert check_index(folder).problems == [str(error.value)]
