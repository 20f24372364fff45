"""What the process that writes says of itself."""

import socket
import threading

import pytest

from neardup.interfaces.http.writer import writes_of


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b'{"writes":"yes","status":"ready"}', "yes"),
        (200, b'{"writes":"no","status":"ready"}', "no"),
        (503, b'{"type":"/docs#unavailable","status":503}', "failed"),
        (200, b'{"writes":"perhaps"}', "failed"),
        (200, b"no JSON", "failed"),
    ],
)
def test_it_says_whether_it_writes(tmp_path, status, body, said):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(tmp_path / "writer"))
        listening.listen()

        def answer():
            connection, _ = listening.accept()
            with connection:
                assert connection.recv(4096).startswith(b"GET /readyz HTTP/1.1\r\n")
                connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))

        thread = threading.Thread(target=answer)
        thread.start()
        assert writes_of(str(tmp_path / "writer"), 60) == said
        thread.join()
        assert writes_of(str(tmp_path / "writer"), 0.01) == "failed"  # nobody accepts
    assert writes_of(str(tmp_path / "nobody"), 60) == "failed"
