"""What becomes of a service whose disk is full, whose folder is replaced, or whose index another process writes."""

import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neardup import Index, SimHash
from neardup.index.disk.files import LOCK, Disk
from neardup.interfaces.http import problems, service
from neardup.model.errors import StorageBusy, StorageFailed

BODY = {"documents": [{"id": "new", "text": "a text that has not been there before today"}]}


class Full(Disk):
    """A disk that takes half of what is written while it is *full*."""

    full = False

    def _write(self, file, data):
        if Full.full:
            super()._write(file, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super()._write(file, data)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(service, "REFRESH_SECONDS", 0.01)
    monkeypatch.setattr(service, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr(Full, "full", False)


def kind(answer):
    return answer.json()["type"].removeprefix("/docs#")


def readiness(ask):
    plain, to_write, again = (ask.get(f"/readyz{query}") for query in ("", "?writes=true", ""))
    if again.text != plain.text:  # it changed meanwhile
        return readiness(ask)
    assert to_write.status_code == (200 if plain.status_code == 200 and plain.json()["writes"] == "yes" else 503)
    return plain.json().get("writes")


def metric(ask, name):
    return next(float(line.split()[1]) for line in ask.get("/metrics").text.splitlines() if line.startswith(f"{name} "))


def files_of(folder):
    return {path.name for path in Path(folder).iterdir()} - {LOCK, "manifest.json", "manifest.copy"}


def require_reads(ask, texts, documents=3):
    assert ask.post("/v1/judge", {"documents": [{"text": texts.storm}]}).json()["verdicts"][0]["of"] == "a"
    assert ask.get("/v1/documents/a?text=true").json()["text"] == texts.storm
    assert ask.post("/v1/collapse", {"hits": ["a", "b", "c"]}).json()["hidden"] == 1
    assert ask.get("/healthz").status_code == 200
    ask.until(lambda: metric(ask, "neardup_documents") == documents)  # it stays as it was while the index changes


def test_a_full_disk_ends_neither_reading_nor_metrics_and_writing_continues_by_itself(serve, folder, texts):
    ask = serve(disk=Full)
    assert (readiness(ask), metric(ask, "neardup_writes")) == ("yes", 1)
    Full.full = True
    for _ in range(2):
        refused = ask.post("/v1/admit", BODY)
        assert (refused.status_code, kind(refused)) == (503, "unwritable")
        assert ask("DELETE", "/v1/documents/a").status_code == 503
        require_reads(ask, texts)
        assert (readiness(ask), metric(ask, "neardup_writes"), metric(ask, "neardup_ready")) == ("failed", 0, 1)
        ask.until(lambda: files_of(folder) == set(ask.service.index.store.manifest.files))  # but while it is retried
        ask.until(lambda: any("cannot be written, and is retried" in report for report in ask.reports))
    Full.full = False
    ask.until(lambda: ask.reports[-1] == "the index can be written again")
    assert readiness(ask) == "yes"
    assert ask.post("/v1/admit", BODY).json()["verdicts"][0]["verdict"] == "new"
    require_reads(ask, texts, 4)
    told = [report for report in ask.reports if not report.startswith("error ")]
    assert len(told) == 2  # what began and what ended, however often it was tried and probed
    assert all("No space left on device" in report for report in ask.reports[:-1])


def test_documents_are_not_counted_while_the_index_changes(serve):
    ask = serve()
    store = ask.service.index.store
    begun, ended = threading.Event(), threading.Event()

    def change():
        with store.busy:
            store.segments, segments = [], store.segments
            store.recent, recent = store._new_recent(), store.recent
            begun.set()
            ended.wait(60)
            store.segments, store.recent = segments, recent

    with ThreadPoolExecutor(1) as other:
        done = other.submit(change)
        begun.wait(60)
        found = metric(ask, "neardup_documents")
        ended.set()
        done.result()
    assert found == 3


def test_an_index_that_cannot_be_written_at_the_start_is_read_until_it_can(serve, folder, texts):
    with Path(folder, "log-00000001").open("ab") as log:
        log.write(b"of no record")
    Full.full = True
    ask = serve(disk=Full)
    assert readiness(ask) == "failed"
    require_reads(ask, texts)
    assert kind(ask.post("/v1/admit", BODY)) == "unwritable"
    Full.full = False
    with pytest.warns(RuntimeWarning, match="12 bytes behind its last record"):
        ask.until(lambda: readiness(ask) == "yes")
    assert ask.post("/v1/admit", BODY).status_code == 200
    require_reads(ask, texts, 4)


def test_a_service_becomes_the_writer_when_the_other_one_has_ended(serve, folder):
    with Index.open(folder, "w") as other:
        ask = serve()
        assert readiness(ask) == "no"
        refused = ask.post("/v1/admit", BODY)
        assert (kind(refused), refused.json()["detail"][:41]) == (
            "read-only",
            "Another process writes the index; this on",
        )
        pages = {"pages": [{"url": "http://a.example/", "text": "a page"}]}
        assert ask.post("/v1/seen/judge", pages).json()["verdicts"][0]["verdict"] == "new"
        assert len(other) == 3
    ask.until(lambda: readiness(ask) == "yes")
    assert ask.post("/v1/admit", BODY).status_code == 200
    assert [ask.post("/v1/seen", pages).json()["verdicts"][0]["verdict"] for _ in range(2)] == ["new", "known"]
    assert [report.partition(": ")[0] for report in ask.reports] == ["the service only reads for now"]


@pytest.mark.parametrize("error", [StorageFailed, StorageBusy])
def test_an_index_that_cannot_be_read_is_not_reported_as_one_that_cannot_be_written(error):
    reports = []

    def opening(mode):
        raise (
            error("seen", "cannot be opened")
            if mode == "w"
            else StorageFailed("seen/log", "cannot be read: Permission denied")
        )

    with pytest.raises(StorageFailed, match="cannot be read"):
        service.Service(opening, report=reports.append)
    assert not reports


@pytest.mark.parametrize("read_only", [False, True])
def test_an_index_that_is_moved_into_the_place_is_served_and_the_old_one_is_whole(serve, folder, tmp_path, read_only):
    with Index.create(tmp_path / "other", SimHash(), texts=True) as other:
        other.admit(["x", "y"], ["one of the other index", "and another one of it"])
    ask = serve(read_only=read_only)
    if not read_only:
        assert ask.post("/v1/admit", BODY).status_code == 200
    Path(folder).rename(tmp_path / "old")
    ask.until(lambda: ask.get("/readyz").status_code == 503)
    for _ in range(3):
        assert ask.get("/readyz").status_code == 503
    assert len(ask.reports) <= 1, "each probe is reported"
    assert "Kind(" not in "".join(ask.reports)
    assert ask.get("/healthz").status_code == 200
    assert ask.get("/metrics").status_code == 200
    (tmp_path / "other").rename(folder)
    ask.until(lambda: ask.get("/readyz").status_code == 200)
    assert metric(ask, "neardup_documents") == 2
    assert ask.get("/v1/documents/x?text=true").json()["text"] == "one of the other index"
    assert ask.get("/v1/documents/a").status_code == 404
    assert readiness(ask) == ("no" if read_only else "yes")
    if not read_only:
        assert str(tmp_path / "old") in "".join(ask.reports)
        assert ask.post("/v1/admit", BODY).status_code == 200
    for name, number in (("old", 3), (folder, 2)):
        with Index.open(tmp_path / name) as index:
            assert index.check().problems == []
            assert len(index) == number + (not read_only)


def test_a_service_that_watches_its_index_no_more_is_not_healthy(serve, monkeypatch):
    ask = serve()
    assert ask.get("/healthz").status_code == 200
    monkeypatch.setattr(ask.service, "_look", lambda: 1 / 0)
    ask.until(lambda: ask.get("/healthz").status_code == problems.BROKEN.status)
    assert "no longer watched: ZeroDivisionError" in ask.reports[0]
    assert ask.get("/readyz").status_code == 200


def test_writing_is_not_tried_at_every_look(serve, folder, monkeypatch):
    monkeypatch.setattr(service, "RETRY_SECONDS", 3600)
    with Index.open(folder, "w"):
        ask = serve()
    for _ in range(3):
        ask.service._look()
    assert readiness(ask) == "no"
