import builtins
import pickle
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.errors import NeardupError, ParameterError
from neardup.sources import hosts
from neardup.urls import Addresses, host, path_levels, registered_domain

NO_ADDRESS = [
    "",
    " ",
    "about:blank",
    "mailto:a@b.example",
    "example.com/a",
    "//example.com/a",
    "/a/b",
    "file:///etc/hosts",
    "http://",
    "http:///a",
    "http://:80/",
    "http://./",
    "http://a:99999/",
    "http://[::1",
    "http://[nobody]/",
    "http://a]b/",
    "http://" + "x" * 100_000,
    None,
    7,
    b"http://a.example/",
    ["http://a.example/"],
]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://Example.COM/a", "example.com"),
        ("  https://user:word@www.example.com.:8443/a?b#c\n", "www.example.com"),
        ("http://example.com", "example.com"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://B%C3%BCcher.example/", "xn--bcher-kva.example"),
        ("http://例え.example。/", "xn--r8jz45g.example"),
        ("http://192.0.2.1:80/", "192.0.2.1"),
        ("http://[2001:DB8::0:1]:8080/a", "[2001:db8::1]"),
        ("http://user@[::1]/", "[::1]"),
        ("ftp://localhost/", "localhost"),
        ("http://a\ud800b.example/", "a%ED%A0%80b.example"),
    ],
)
def test_the_host_of_an_address(address, expected):
    assert host(address) == expected


@pytest.mark.parametrize("address", NO_ADDRESS)
def test_what_has_no_host_has_no_levels_either(address):
    assert host(address) is None
    assert path_levels(2)(address) is None


@pytest.mark.parametrize(
    ("address", "levels", "expected"),
    [
        ("https://a.example", 1, "a.example"),
        ("https://a.example/", 1, "a.example"),
        ("https://a.example/x", 1, "a.example/x"),
        ("https://a.example/x/", 1, "a.example/x"),
        ("https://a.example/x/y.html?q#z", 1, "a.example/x"),
        ("http://A.example:8080/x/y/z", 2, "a.example/x/y"),
        ("http://a.example/./x/../%7Ey/z", 1, "a.example/~y"),
        ("http://a.example/x;jsessionid=1/y", 2, "a.example/x/y"),
        ("http://a.example/a b/#c", 3, "a.example/a%20b"),
        ("http://a.example//x", 1, "a.example"),
        ("http://a.example//x", 2, "a.example//x"),
        ("http://[::1]/x/y", 1, "[::1]/x"),
        ("http://a.example/" + "x/" * 50_000, 2, "a.example/x/x"),
        ("http://a.example/x/y", 10**9, "a.example/x/y"),
    ],
)
def test_path_levels(address, levels, expected):
    assert path_levels(levels)(address) == expected


@pytest.mark.parametrize("levels", [0, -1, 1.5, None, True, "2"])
def test_levels_are_a_number(levels):
    with pytest.raises(ParameterError, match="levels"):
        path_levels(levels)


def test_equal_levels_are_equal_functions():
    assert path_levels(2) == path_levels(2) != path_levels(3)
    assert len({path_levels(2), path_levels(2)}) == 1
    assert pickle.loads(pickle.dumps(path_levels(2))) == path_levels(2)  # noqa: S301 - our own


ADDRESSES = (
    st.builds("{}://{}{}".format, st.sampled_from(["http", "HTTPS", "x"]), st.text(max_size=12), st.text()) | st.text()
)


@given(ADDRESSES)
def test_any_text_has_what_its_normal_form_has(address):
    normal = Addresses().normal(address)
    for asked in (host, path_levels(1), path_levels(3)):
        value = asked(address)
        assert value is None or value.isascii()
        if value is not None:
            assert asked(normal) == value
            assert value.startswith(host(address))


@given(ADDRESSES)
@example("http://0 /")
@example("http://0\x1f?")
def test_any_text_has_the_host_of_its_place(address):
    place = Addresses().place(address)
    assert host(address) == (None if place is None else place[0])


def test_a_host_is_normalised_once_and_long_ones_are_not_remembered(monkeypatch):
    placed = []
    place = Addresses.place
    monkeypatch.setattr(Addresses, "place", lambda own, url: placed.append(url) or place(own, url))
    assert {host(f"http://Many.example/{number}") for number in range(100)} == {"many.example"}
    assert placed == ["http://Many.example/"]
    for _ in range(2):
        assert host(f"http://{'a' * 300}@many.example/") == "many.example"
    assert len(placed) == 3


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
    hosts._suffixes.cache_clear()
    try:
        with pytest.raises(NeardupError, match=r"publicsuffixlist.*neardup\[web\]"):
            registered_domain("http://example.com/")
        assert host("http://example.com/") == "example.com"
    finally:
        hosts._suffixes.cache_clear()
