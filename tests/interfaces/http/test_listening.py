import os
import resource
import socket
import sys
import time
from pathlib import Path

import pytest
from programs import by_then, get

from neardup.interfaces.http.listening import listen
from neardup.model.errors import ParameterError


def test_a_socket_that_workers_share_never_blocks():
    with listen("127.0.0.1", 0) as listening, socket.socket(fileno=os.dup(listening.fileno())) as received:
        assert not os.get_blocking(received.fileno())


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_connections_beyond_the_limit_of_open_files_wait_and_are_reported_once(run, folder):
    process = run(folder)
    pid = process.process.pid
    assert get(f"{process.url}/readyz").status_code == 200
    there = len([*Path(f"/proc/{pid}/fd").iterdir()])
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (2 * there + 6, 2 * there + 6))  # a half is for the service
    connections = [process.connection() for _ in range(12)]
    by_then(lambda: "new connections wait: Too many open files; raise the limit" in process.complaints())
    time.sleep(2.5)  # in which connections are accepted again twice
    assert len([*Path(f"/proc/{pid}/fd").iterdir()]) <= there + 4
    for connection in connections:
        connection.close()
    by_then(lambda: get(f"{process.url}/readyz").status_code == 200)
    code, _, complaints = process.end()
    assert (code, len(complaints.splitlines())) == (0, 1), complaints[:1000]


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_that_does_not_exist_is_refused(port):
    with pytest.raises(ParameterError, match="must be from 0 to 65535"):
        listen("127.0.0.1", port)
