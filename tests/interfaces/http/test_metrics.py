import os
import struct
import subprocess
import sys

from neardup.interfaces.http import metrics as module
from neardup.interfaces.http.metrics import Metrics


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


WORKER = """
from neardup.interfaces.http.metrics import Metrics
metrics = Metrics()
metrics.observe("judge", 200, 0.003)
metrics.documents.set(7)
metrics.ready.set(1)
print(metrics.text().decode())
"""


def test_the_values_of_all_workers_are_added(tmp_path):
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for number in (1, 2):
        command = [sys.executable, "-c", WORKER]
        text = subprocess.run(command, check=True, capture_output=True, env=environment, encoding="utf-8").stdout
        assert f'neardup_requests_total{{route="judge",status="200"}} {number}.0\n' in text
        assert f'neardup_request_seconds_count{{route="judge"}} {number}.0\n' in text
    assert "neardup_documents 7.0\n" in text


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
