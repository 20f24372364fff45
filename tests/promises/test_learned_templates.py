"""Templates that runs learn: states and indexes keep them, and interrupted runs continue with them."""

import shutil

import pytest
from archives_made import http, packed, record
from invented_crawl import PAGES, SITES, of_host, templates_in, write_archive, write_table

from neardup import Index, SimHash, State, dedup_files
from neardup.engines import journal
from neardup.engines.journal import read_header
from neardup.errors import DataError
from neardup.model.errors import RunChanged, RunComplete, StorageBusy, StorageDamaged, StorageRefused
from neardup.pipeline.crawl.file_templates import RunTemplates
from neardup.pipeline.crawl.templates import learn_templates
from neardup.pipeline.files import pairs
from neardup.pipeline.files.ingestion import add_files, fill_index
from neardup.pipeline.files.pairs import pair_files
from neardup.pipeline.files.upkeep import check_index
from neardup.pipeline.files.visits import FileAnswers
from neardup.pipeline.spilled import files as spilled_files
from neardup.pipeline.spilled import run as stages
from neardup.text.extraction import Extraction
from neardup.text.host_templates import HostTemplates

TABLE = {"html": "html", "url": "url"}


@pytest.fixture
def archive(crawl):
    return crawl / "crawl.warc.gz"


@pytest.fixture
def first(tmp_path):
    """An archive of the pages of the first host."""
    return write_archive(tmp_path / "first.warc.gz", of_host(SITES[0]))


@pytest.fixture
def both(tmp_path):
    """An archive of the pages of both hosts."""
    return write_archive(tmp_path / "both.warc.gz")


@pytest.fixture
def known(tmp_path):
    """A file with the templates of the first host."""
    learn_templates(of_host(SITES[0])).save(tmp_path / "t.arrow")
    return tmp_path / "t.arrow"


@pytest.fixture
def other(tmp_path):
    """A file with the templates of the second host."""
    learn_templates(of_host(SITES[1])).save(tmp_path / "other.arrow")
    return tmp_path / "other.arrow"


@pytest.fixture
def ways(tmp_path):
    return {"work": tmp_path / "work", "report": tmp_path / "why.jsonl"}


@pytest.fixture
def learns_nothing(monkeypatch):
    """Return a function after which learning templates fails."""
    return lambda: monkeypatch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("it learns templates"))


@pytest.mark.parametrize("way", ["memory", "pieces", "state", "index"])
@pytest.mark.parametrize("there", [True, False])
def test_a_run_learns_the_templates_of_new_hosts_first(archive, tmp_path, known, way, there):
    before = HostTemplates.load(known)
    file = known if there else tmp_path / "new.arrow"
    if way == "index":
        done = add_files([archive], tmp_path / "index", learn_templates=file)
    else:
        folder = {"memory": {}, "pieces": {"work": tmp_path / "w"}, "state": {"state": tmp_path / "s"}}[way]
        done = dedup_files([archive], learn_templates=file, **folder).result.summary
    assert done.near == 1
    found = HostTemplates.load(file)
    assert [one.id for one in found.templates] == [one.id for one in templates_in(archive.parent).templates]
    assert found.earlier[-1] == before.identity if there else found.templates[0].id == before.templates[0].id


@pytest.mark.parametrize("kind", ["state", "index"])
def test_a_state_and_an_index_keep_the_templates_of_their_pages(archive, tmp_path, first, both, kind):
    """Each run learns those of new hosts: the decisions are those with a named file that every run extends."""

    def results(place, **learn):
        found = []
        for part in (first, both):
            if kind == "state":
                report = tmp_path / "why.jsonl"
                done = dedup_files([part], state=place, report=report, force=True, **learn)
                found.append((len(done.templates), report.read_text()))
            else:
                done = add_files([part], place, **learn)
                found.append((done.hosts_with_templates, done.new, done.near, done.unchanged, done.total))
        return found

    named = results(tmp_path / "named", learn_templates=tmp_path / "t.arrow")
    assert results(tmp_path / "kept") == named
    assert [one[0] for one in named] == [1, 2]
    kept = HostTemplates.load(tmp_path / "kept")
    assert kept == HostTemplates.load(tmp_path / "t.arrow") == HostTemplates.load(tmp_path / "named")
    if kind == "state":
        done = dedup_files([archive], against=tmp_path / "kept")
        assert (done.templates, done.hosts_learned, done.result.summary.kept) == (kept, 0, 1)  # a note
    else:
        with Index.open(tmp_path / "kept") as index:
            verdicts = [one["verdict"] for answers in FileAnswers(index).answer([archive]) for one in answers]
        assert verdicts.count("known") == 46  # but for a note


@pytest.mark.parametrize("kind", ["state", "index"])
def test_a_new_file_begins_with_the_templates_of_the_state_or_index(tmp_path, first, both, kind):
    def run_over(path, **learn):
        if kind == "state":
            dedup_files([path], state=tmp_path / kind, **learn)
        else:
            add_files([path], tmp_path / kind, **learn)
        return HostTemplates.load(tmp_path / kind)

    before, file = run_over(first), tmp_path / "t.arrow"
    assert run_over(both, learn_templates=file) == HostTemplates.load(file)
    assert before.identity in HostTemplates.load(file).earlier


def test_an_index_reads_pages_with_the_templates_that_it_keeps(crawl, tmp_path):
    pages, index = [crawl / "pages.jsonl"], tmp_path / "index"
    assert add_files(pages, index, **TABLE, extraction=Extraction(templates=templates_in(crawl))).near == 1
    assert add_files(pages, index, **TABLE).unchanged == 46
    with pytest.raises(StorageRefused, match=r"with the templates .*, and the new ones without"):
        add_files(pages, index, **TABLE, learn_templates=False)


def test_an_index_of_plain_texts_in_an_archive_gets_templates_with_its_first_pages(archive, tmp_path):
    note = record(uri="https://a.example/", number=0, block=http(b"A note", kind="text/plain"))
    (tmp_path / "notes.warc.gz").write_bytes(packed([note]))
    add_files([tmp_path / "notes.warc.gz"], tmp_path / "index")
    found = add_files([archive], tmp_path / "index")
    assert (found.hosts_with_templates, found.near) == (2, 1)


def test_an_index_is_filled_from_a_state_with_templates(crawl, tmp_path):
    pages, own = [crawl / "pages.jsonl"], {"extraction": Extraction(templates=templates_in(crawl))}
    dedup_files(pages, html="html", id="url", state=tmp_path / "state", **own)
    fill_index(tmp_path / "state", tmp_path / "filled")
    counts = add_files(pages, tmp_path / "filled", **TABLE, **own)
    assert (counts.unchanged, counts.near, counts.new) == (45, 1, 0)


def test_a_state_replaces_its_templates_only_if_they_change(tmp_path, first, both):
    state, found = tmp_path / "state", []
    for part in (first, shutil.copy(first, tmp_path / "again.warc.gz"), both):
        dedup_files([part], state=state)
        found.append(((state / "templates.arrow").stat().st_ino, len(HostTemplates.load(state))))
    assert found[0] == found[1]
    assert [hosts for _, hosts in found] == [1, 1, 2]
    assert found[1][0] != found[2][0]


def test_states_and_indexes_accept_the_templates_that_theirs_were_replaced_by(archive, tmp_path, known):
    state, index, filled, old = (tmp_path / name for name in ("state", "index", "filled", "old.arrow"))
    shutil.copy(known, old)
    table = [write_table(tmp_path / "one.jsonl", of_host(SITES[0]))]
    own = {"extraction": Extraction(templates=HostTemplates.load(old))}
    dedup_files(table, html="html", id="url", state=state, **own)
    add_files(table, index, texts=True, **TABLE, **own)
    add_files(table, index, **TABLE, learn_templates=known)  # nothing is new
    assert add_files([archive], index, learn_templates=known).near == 1
    added = dedup_files([archive], state=state, learn_templates=known).result.summary
    assert (added.known, added.kept) == (24, 23)
    assert dedup_files([archive], against=index, learn_templates=known).result.summary.kept == 0
    with Index.open(index) as opened:
        assert opened.extraction["templates"] == HostTemplates.load(known).identity
    for use in (lambda: add_files([archive], index, **own), lambda: dedup_files([archive], against=state, **own)):
        with pytest.raises(StorageRefused, match="which were not made of those"):
            use()
    fill_index(state, filled)
    counts = add_files([archive], filled, extraction=Extraction(templates=HostTemplates.load(known)))
    assert (counts.unchanged, counts.near, counts.new) == (46, 1, 0)
    with State.open(state, write=True) as opened:
        opened.forget(
            [f"https://{SITES[1].host}/p{n}" for n in range(22)]
            + [f"https://{SITES[0].host}/note", f"https://{SITES[1].host}/both"]
        )
        assert [one.leaders for one in opened.segments] == [23, 0]
    fill_index(state, tmp_path / "less")


@pytest.mark.parametrize("against", ["state", "index"])
def test_pages_that_were_stored_without_templates_are_compared_without_any(crawl, archive, tmp_path, against):
    place = tmp_path / against

    def add(path, **learn):
        if against == "state":
            dedup_files([path], state=place, **learn)
        else:
            add_files([path], place, texts=True, **learn)

    add(archive, learn_templates=False)
    done = dedup_files([archive], against=place)
    assert (done.templates, done.result.summary.kept) == (None, 0)
    assert dedup_files([crawl / "pages.jsonl"], html="html", id="url", against=place).templates is None
    add(shutil.copy(archive, tmp_path / "again.warc.gz"))  # without templates, as before
    with pytest.raises(DataError, match="is a folder without templates"):
        HostTemplates.load(place)


def test_pages_of_tables_are_read_with_the_templates_of_a_state(tmp_path, first):
    state, report = tmp_path / "state", tmp_path / "why.jsonl"
    dedup_files([first], state=state)
    asked = {"html": "html", "url": "address", "id": "address", "report": report, "force": True, "against": state}
    table = [write_table(tmp_path / "pages.jsonl", url="address")]
    own = {"extraction": Extraction(templates=HostTemplates.load(state))}
    for more, hosts, near in (({}, 2, 1), (own, 1, 0)):  # with the templates of other hosts, or not
        done = dedup_files(table, **asked, **more)
        assert (len(done.templates), done.result.summary.near) == (hosts, near)
        assert report.read_text().count("same text") == 23


def test_texts_are_read_with_states_and_indexes_of_pages(archive, tmp_path):
    state, index, texts = tmp_path / "state", tmp_path / "index", tmp_path / "text.jsonl"
    texts.write_text('{"text": "a text that is not of a page"}\n')
    dedup_files([archive], state=state)
    add_files([archive], index, texts=True)
    assert dedup_files([texts], against=state).result.summary.kept == 1
    assert dedup_files([texts], against=index).result.summary.kept == 1
    assert dedup_files([texts], state=state).result.summary.kept == 1
    with Index.open(index) as opened:
        assert [one["verdict"] for answers in FileAnswers(opened).answer([texts]) for one in answers] == ["new"]
    assert add_files([texts], index).new == 1
    assert dedup_files([archive], against=state).result.summary.kept == 0


def test_an_index_may_grow_while_templates_are_learned(tmp_path, monkeypatch, first, both):
    index, extended = tmp_path / "index", RunTemplates.extended
    add_files([first], index, texts=True)

    def extending(*given):
        with Index.open(index, "w") as opened:
            opened.admit(["another"], ["one more document that a crawler admits to the index"])
        return extended(*given)

    monkeypatch.setattr(RunTemplates, "extended", extending)
    done = dedup_files([both], against=index, report=tmp_path / "why.jsonl")
    assert (done.result.summary.kept, len(done.templates)) == (22, 2)


def test_a_state_is_locked_and_verified_once_while_a_run_learns(tmp_path, monkeypatch, first, both):
    state = tmp_path / "state"
    dedup_files([first], state=state)
    extended, check, done = RunTemplates.extended, State.check, []

    def extending(*given):
        with pytest.raises(StorageBusy), State.open(state, write=True):
            pass
        done.append("learned")
        return extended(*given)

    monkeypatch.setattr(RunTemplates, "extended", extending)
    monkeypatch.setattr(State, "check", lambda own: (done.append("checked"), check(own)))
    dedup_files([both], state=state)
    assert done == ["checked", "learned"]


def test_templates_of_a_killed_run_are_not_those_of_a_state_without_any(archive, tmp_path, interrupted_at):
    state = tmp_path / "state"
    with interrupted_at(State, "_replace"):
        dedup_files([archive], state=state)
    assert (state / "templates.arrow").exists()
    dedup_files([archive], state=state, learn_templates=False, restart=True)
    with pytest.raises(DataError, match="is a folder without templates"):
        HostTemplates.load(state)


def test_a_folder_with_a_file_of_templates_is_not_a_state(crawl, archive, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(crawl / "templates.arrow", folder)
    with pytest.raises(StorageRefused, match="it is not a state of neardup"):
        dedup_files([archive], state=folder)
    assert HostTemplates.load(folder) == templates_in(crawl)


def test_damaged_templates_of_a_state_and_of_an_index_are_named(crawl, archive, tmp_path, other):
    state, index = tmp_path / "state", tmp_path / "index"
    dedup_files([archive], state=state)
    add_files([archive], index)
    own = (state / "templates.arrow").read_bytes()
    for content, message in (
        (None, "are missing"),
        (own[:-9], "are damaged"),
        (other.read_bytes(), "are others than"),
    ):
        for folder, use in (
            (state, lambda: dedup_files([archive], against=state)),
            (index, lambda: add_files([archive], index)),
        ):
            file = folder / "templates.arrow"
            file.unlink() if content is None else file.write_bytes(content)
            with pytest.raises(StorageDamaged, match=f"{file}: the templates {message}"):
                use()
        assert [message in problem for problem in check_index(index).problems] == [True]
    add_files([archive], index, extraction=Extraction(templates=templates_in(crawl)))  # the same ones
    assert HostTemplates.load(index) == templates_in(crawl)
    assert not check_index(index).problems


def test_an_interrupted_run_continues_with_what_it_learned(archive, tmp_path, known, monkeypatch, interrupted_at):
    def begin(name):
        report = tmp_path / f"{name}.jsonl"
        return dedup_files([archive], learn_templates=tmp_path / name, work=tmp_path / "work", report=report)

    with interrupted_at(stages, "rank"):
        begin("t.arrow")
    learned = known.read_bytes()
    sign = stages.sign
    monkeypatch.setattr(stages, "sign", lambda *_: pytest.fail("it was signed before"))
    with monkeypatch.context() as patch:
        patch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("templates were learned before"))
        assert begin("t.arrow").result.summary.near == 1
    assert known.read_bytes() == learned
    monkeypatch.setattr(stages, "sign", sign)
    begin("new.arrow")
    assert (tmp_path / "t.arrow.jsonl").read_text() == (tmp_path / "new.arrow.jsonl").read_text()


def test_a_run_that_was_interrupted_while_it_learned_learns_again(archive, ways, interrupted_at):
    with interrupted_at(RunTemplates, "extended"):
        dedup_files([archive], **ways)
    done = dedup_files([archive], **ways)
    assert (done.result.summary.near, len(done.templates), done.hosts_learned) == (1, 2, 2)
    assert not ways["work"].exists()


def test_a_run_that_learned_continues_only_with_these_templates(archive, known, other, ways, interrupted_at):
    with interrupted_at(stages, "rank"):
        dedup_files([archive], learn_templates=known, **ways)
    before = other.read_bytes()
    with pytest.raises(RunChanged, match=r"with templates of hosts \(id .{16}\), and are read with templates of hosts"):
        dedup_files([archive], learn_templates=other, **ways)
    assert other.read_bytes() == before
    assert dedup_files([archive], learn_templates=known, **ways).result.summary.near == 1


def test_a_kept_run_that_learned_stays_complete_if_other_templates_are_refused(archive, known, other, ways):
    dedup_files([archive], learn_templates=known, keep_work=True, **ways)
    with pytest.raises(RunChanged, match="templates of hosts"):
        dedup_files([archive], learn_templates=other, force=True, **ways)
    assert read_header(ways["work"]).finished


def test_a_complete_run_that_learned_is_not_done_again(archive, known, ways, interrupted_at):
    with interrupted_at(journal, "_remove"):
        dedup_files([archive], learn_templates=known, **ways)
    with pytest.raises(RunComplete):
        dedup_files([archive], learn_templates=known, **ways)
    assert not ways["work"].exists()


def test_an_interrupted_run_with_a_state_continues_with_what_it_learned(
    tmp_path, first, both, monkeypatch, interrupted_at
):
    ways = {"state": tmp_path / "state", "report": tmp_path / "why.jsonl"}
    dedup_files([first], state=tmp_path / "state")
    shutil.copytree(tmp_path / "state", tmp_path / "copy")
    for module, name in ((stages, "rank"), (spilled_files.Journal, "finish")):  # before the addition, and after it
        with interrupted_at(module, name):
            dedup_files([both], **ways)
    monkeypatch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("templates were learned before"))
    done = dedup_files([both], **ways)
    monkeypatch.undo()
    expected = dedup_files([both], state=tmp_path / "copy", report=tmp_path / "expected.jsonl")
    assert (tmp_path / "why.jsonl").read_text() == (tmp_path / "expected.jsonl").read_text()
    assert done.templates == expected.templates == HostTemplates.load(tmp_path / "state")


def test_a_run_that_found_no_template_continues_without_learning_again(tmp_path, ways, learns_nothing, interrupted_at):
    few = write_archive(tmp_path / "few.warc.gz", PAGES[:12])
    with interrupted_at(stages, "rank"):
        dedup_files([few], **ways)
    learns_nothing()
    assert len(dedup_files([few], **ways).templates) == 0


def test_a_run_that_learned_unasked_continues_without_learning_again(  # noqa: PLR0917 - fixtures
    crawl, archive, tmp_path, ways, monkeypatch, interrupted_at
):
    with interrupted_at(stages, "rank"):
        dedup_files([archive], **ways)
    rule = r"web pages were read with templates of hosts \(learned from the inputs\), and are read without templates"
    with pytest.raises(RunChanged, match=rule):
        dedup_files([archive], **ways, learn_templates=False)
    with monkeypatch.context() as patch:
        patch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("templates were learned before"))
        for others in ({"scheme": SimHash()}, {"extraction": Extraction(view="main")}):
            with pytest.raises(RunChanged):
                dedup_files([archive], **{**ways, **others})
        with pytest.raises(RunChanged, match=r"files was added"):
            dedup_files([archive, crawl / "files"], **ways)
        patch.setattr(stages, "sign", lambda *_: pytest.fail("it was signed before"))
        done = dedup_files([archive], **ways, keep_work=True)
        assert (done.result.summary.near, len(done.templates)) == (1, 2)
        ways |= {"report": tmp_path / "again.jsonl", "learn_templates": tmp_path / "t.arrow"}
        dedup_files([archive], **ways, keep_work=True)
    assert HostTemplates.load(tmp_path / "t.arrow") == done.templates
    assert not [*(tmp_path / "work").glob("*/workers/*")]


def test_the_folder_of_another_run_is_refused_before_templates_are_learned(
    archive, tmp_path, learns_nothing, interrupted_at
):
    of_pairs, of_dedup = tmp_path / "of pairs", tmp_path / "of dedup"
    with interrupted_at(pairs, "compare"):
        pair_files([archive], out=tmp_path / "pairs.jsonl", work=of_pairs)
    with interrupted_at(stages, "rank"):
        dedup_files([archive], learn_templates=False, work=of_dedup)
    learns_nothing()
    with pytest.raises(StorageRefused, match="it has a run of pairs, and cannot have one of dedup, too"):
        dedup_files([archive], work=of_pairs)
    with pytest.raises(RunChanged, match="its run was begun with other inputs or settings"):
        dedup_files([archive], work=of_dedup)


def test_a_kept_folder_with_damaged_or_removed_files_learns_again(archive, tmp_path):
    def run_over(name, **options):
        ways = {"work": tmp_path / "work", "keep_work": True, "report": tmp_path / name}
        done = dedup_files([archive], **ways, **options)
        return done.templates, (tmp_path / name).read_text()

    expected = run_over("first.jsonl")
    [begun] = (tmp_path / "work").glob("run-*/done/split--0.json")
    begun.write_text("{")
    with pytest.raises(StorageDamaged, match="restart=True begins again"):
        run_over("second.jsonl")
    assert run_over("second.jsonl", restart=True) == expected
    [begun] = (tmp_path / "work").glob("run-*/done/split--0.json")
    shutil.rmtree(begun.parents[1])
    assert run_over("third.jsonl") == expected
