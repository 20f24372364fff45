import builtins
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import NeardupError
from neardup.sources import domains
from neardup.urls import host, registered_domain


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://www.example.com/a", "example.com"),
        ("https://a.b.Example.CO.UK.:8080/", "example.co.uk"),
        ("http://example.co.uk/", "example.co.uk"),
        ("http://co.uk/", "co.uk"),
        ("http://com/", "com"),
        ("http://somebody.github.io/x", "somebody.github.io"),
        ("http://a.somebody.github.io/x", "somebody.github.io"),
        ("http://www.bücher.de/", "xn--bcher-kva.de"),
        ("http://www.食狮.中国/", "xn--85x722f.xn--fiqs8s"),
        ("http://localhost:8000/", "localhost"),
        ("http://a.b.intranet/", "b.intranet"),
        ("http://192.0.2.1/", "192.0.2.1"),
        ("http://127.1/", "127.1"),
        ("http://[2001:db8::1]/", "[2001:db8::1]"),
        ("http://a..example.com/", "a..example.com"),
        ("http://a.b.%3C/", "b.%3C"),
    ],
)
def test_domains(address, expected):
    assert registered_domain(address) == expected


@pytest.mark.parametrize("address", ["", "about:blank", "example.com/a", "http://./", "http://[::1", None, 7, b"x"])
def test_what_has_no_host_has_no_domain(address):
    assert registered_domain(address) is None


@given(
    st.text()
    | st.text(max_size=12).map("http://{}/a".format)
    | st.from_regex(r"http://[a-z0-9.\-]{1,30}/", fullmatch=True)
)
def test_nothing_is_raised_and_a_domain_is_the_end_of_its_host(address):
    own, domain = host(address), registered_domain(address)
    assert (own is None) == (domain is None)
    assert domain is None or own == domain or own.endswith(f".{domain}")


def test_without_the_library_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def refusing(name, *rest, **more):
        if name.startswith("publicsuffixlist"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refusing)
    monkeypatch.delitem(sys.modules, "publicsuffixlist", raising=False)
    domains._suffixes.cache_clear()
    try:
        with pytest.raises(NeardupError, match=r"publicsuffixlist.*neardup\[web\]"):
            registered_domain("http://example.com/")
        assert host("http://example.com/") == "example.com"
    finally:
        domains._suffixes.cache_clear()
