import os
import struct
import subprocess
import sys

from neardup import Index
from neardup.interfaces.http import metrics as module
from neardup.interfaces.http.metrics import Metrics
from neardup.pipeline.query.result_cache import JudgedSets
from neardup.pipeline.query.search import Search


def test_requests_are_counted_by_route_and_status():
    metrics = Metrics()
    for seconds in (0.0005, 0.003, 0.003, 99.0):
        metrics.observe("judge", 200, seconds)
    metrics.observe("judge", 422, 0.001)
    metrics.rejected.inc(3)
    metrics.documents.set(7)
    lines = metrics.text().decode().splitlines()
    assert 'neardup_requests_total{route="judge",status="200"} 4.0' in lines
    assert 'neardup_requests_total{route="judge",status="422"} 1.0' in lines
    assert 'neardup_request_seconds_bucket{le="0.005",route="judge"} 4.0' in lines
    assert 'neardup_request_seconds_count{route="judge"} 5.0' in lines
    assert "neardup_rejected_total 3.0" in lines
    assert "neardup_documents 7.0" in lines


def test_the_index_and_its_verdicts_are_measured(serve, folder, texts):
    with Index.open(folder, "w") as index:
        Search.open(index, make=True).close()
    ask = serve()
    pages = [{"url": f"http://a.example/{name}", "text": texts.heron} for name in "xyz"]
    ask.post("/v1/seen", {"pages": pages})
    ask.post("/v1/judge", {"documents": [{"text": texts.storm}]})
    ask.service.measure()
    lines = ask.get("/metrics").text.splitlines()
    stats = ask.service.index.stats()
    assert {
        "neardup_documents 6.0",
        "neardup_documents_kept 3.0",
        f"neardup_bytes {float(stats.bytes)}",
        f"neardup_segments {float(stats.segments)}",
        "neardup_search_lag 0.0",
        'neardup_in_progress{work="long"} 0.0',
        'neardup_verdicts_total{route="seen",verdict="new"} 1.0',
        'neardup_verdicts_total{route="seen",verdict="exact duplicate"} 2.0',
        'neardup_verdicts_total{route="judge",verdict="exact duplicate"} 1.0',
    } <= set(lines)


def test_a_search_table_that_is_opened_again_takes_nothing_from_the_counts(serve, folder):
    with Index.open(folder, "w") as index:
        Search.open(index, make=True).close()
    ask = serve()
    for _ in range(2):
        assert ask.get("/v1/search?q=storm").status_code == 200
    for _ in range(2):
        assert "neardup_collapse_hits_total 1.0\n" in ask.get("/metrics").text
        ask.service.search.judged = JudgedSets()


def test_the_size_of_an_index_is_measured_in_time(serve):
    ask = serve()
    ask.until(lambda: "neardup_documents_kept 2.0" in ask.get("/metrics").text)


WORKER = """
import sys
from neardup.interfaces.http.metrics import Metrics
metrics = Metrics()
metrics.observe("judge", 200, 0.003)
metrics.documents.set(7)
metrics.in_progress.labels("long").set(3)
metrics.ready.set(sys.argv[1] == "1")
metrics.writes.set(sys.argv[1] == "1")
print(metrics.text().decode())
"""


def test_the_values_of_all_workers_are_added(tmp_path):
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for number in (1, 2):
        command = [sys.executable, "-c", WORKER, str(number)]
        text = subprocess.run(command, check=True, capture_output=True, env=environment, encoding="utf-8").stdout
        assert f'neardup_requests_total{{route="judge",status="200"}} {number}.0\n' in text
        assert f'neardup_request_seconds_count{{route="judge"}} {number}.0\n' in text
        assert f'neardup_in_progress{{work="long"}} {3 * number}.0\n' in text
    for line in ("neardup_documents 7.0", "neardup_ready 0.0", "neardup_writes 1.0"):
        assert f"{line}\n" in text


def test_a_file_that_a_worker_has_just_made_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv(module.FOLDER, str(tmp_path))
    made = tmp_path / "counter_1.db"
    made.touch()  # without its first bytes

    def written(seconds):
        assert seconds < 1
        made.write_bytes(struct.pack("i", 8).ljust(4096, b"\0"))

    monkeypatch.setattr(module.time, "sleep", written)
    assert isinstance(Metrics().text(), bytes)
    assert made.stat().st_size == 4096
