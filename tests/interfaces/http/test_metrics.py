import re

from neardup.interfaces.http.metrics import BOUNDS, Metrics

LINE = re.compile(r'[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [0-9.e+-]+')


def test_what_prometheus_reads():
    metrics = Metrics()
    for seconds in (0.0005, 0.003, 0.003, 99.0):
        metrics.count("judge", 200, seconds)
    metrics.count("judge", 422, 0.001)
    metrics.shed = 3
    lines = metrics.text([("neardup_documents", "gauge", "Documents.", 7)]).decode().splitlines()
    for line in lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or LINE.fullmatch(line), line
    assert 'neardup_requests_total{route="judge",status="200"} 4' in lines
    assert 'neardup_requests_total{route="judge",status="422"} 1' in lines
    assert 'neardup_request_seconds_bucket{route="judge",le="0.001"} 2' in lines
    assert 'neardup_request_seconds_bucket{route="judge",le="0.005"} 4' in lines
    assert 'neardup_request_seconds_bucket{route="judge",le="+Inf"} 5' in lines
    assert 'neardup_request_seconds_count{route="judge"} 5' in lines
    assert "neardup_shed_total 3" in lines
    assert "neardup_documents 7" in lines
    assert sum("_bucket" in line for line in lines) == len(BOUNDS) + 1


def test_nothing_counted_yet():
    assert b"neardup_shed_total 0\n" in Metrics().text()
