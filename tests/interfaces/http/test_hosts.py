import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ParameterError
from neardup.interfaces.http.hosts import Hosts, is_loopback


@pytest.mark.parametrize(
    ("bound", "known", "unknown"),
    [
        (
            "127.0.0.1",
            ["localhost", "LOCALHOST:80", "127.0.0.1:8000", "[::1]:1", "localhost."],
            ["127.0.0.2", "a.example"],
        ),
        ("::1", ["[::1]", "localhost"], ["::1", "[::2]"]),
        ("10.1.2.3", ["10.1.2.3:8000", "localhost"], ["10.1.2.4"]),
        ("::", ["10.1.2.3", "[fe80::1]:80", "search.example"], ["evil.example", "1.2.3.4.evil.example"]),
        ("host.example", ["host.example", "search.example"], ["example"]),
    ],
)
def test_names_that_are_served(bound, known, unknown):
    hosts = Hosts(bound, ["search.example"])
    for _ in range(2):
        assert all(hosts.knows(name.encode()) for name in known)
        assert not any(hosts.knows(name.encode()) for name in unknown)


@given(st.binary().filter(lambda name: not name.lower().startswith((b"localhost", b"127.0.0.1", b"[::1]"))))
def test_no_other_name_is_served(name):
    assert not Hosts("127.0.0.1").knows(name)


@pytest.mark.parametrize("name", ["", "a b", "http://a.example", "a@b", "a/b", "*", "*.example"])
def test_names_that_cannot_be_allowed(name):
    with pytest.raises(ParameterError):
        Hosts("127.0.0.1", [name])


def test_what_only_this_machine_reaches():
    assert all(map(is_loopback, ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost"]))
    assert not any(map(is_loopback, ["::", "", "localhost.example", "10.0.0.1", "256.1.1.1"]))
