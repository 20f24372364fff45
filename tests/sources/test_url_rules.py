import re
import xml.etree.ElementTree as ET

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.errors import DataError, ParameterError
from neardup.sources.url_rules import HostRules, RuleEvidence
from neardup.urls import Addresses, UrlRules

EVIDENCE = RuleEvidence(12, 11, 0.9231)
ONE_EACH = [
    HostRules(parameters={"sid": EVIDENCE}),
    HostRules(parameters={"a.b+": EVIDENCE}),
    HostRules(path_parameters={"v": EVIDENCE}),
    HostRules(index_pages={"index.html": EVIDENCE}),
    HostRules(final_slash=EVIDENCE),
]
SESSION = "(S(lit3py55t21z5v55vlm25s55))"
NAMES = st.sampled_from(["sid", "xsid", "sidx", "print", "a.b+", "aXb+", "id", ""])
VALUES = st.sampled_from(["", "=", "=1", "=a=b", "=?sid=3", "=/;v=1"])
PARAMETERS = st.tuples(NAMES, VALUES).map("".join)
SEGMENTS = st.sampled_from(
    [
        "",
        "a",
        "index.html",
        "xindex.html",
        "a;v=1",
        ";v",
        "a;w=1;v=2",
        "a;v=1;v=2;w",
        "b;vv=1",
        "a;v=1;w=2;v=3",
        "%3Bv=1",
        SESSION,
        f"{SESSION};v=1",
        f"{SESSION};w;v",
    ]
)
URLS = st.builds(
    lambda scheme, host, path, query, end: (
        f"{scheme}://{host}/{'/'.join(path)}{'?' if query else ''}{'&'.join(query)}{end}"
    ),
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "b.a.example", "a.example:8080", "aXexample"]),
    st.lists(SEGMENTS, max_size=4),
    st.lists(PARAMETERS, max_size=5),
    st.sampled_from(["", "#top", "#sid=1&sid=2"]),
)


def applied(patterns, url):
    """What Nutch does with a URL."""
    for pattern in patterns:
        url = re.sub(pattern, r"\1", url)
    return url


@pytest.mark.parametrize("hosts", [None, [], "a.example", {"a.example": 5}, {5: HostRules()}])
def test_rules_map_hosts_to_rules(hosts):
    with pytest.raises(ParameterError, match="must "):
        UrlRules(hosts)


@pytest.mark.parametrize("own", ONE_EACH, ids=repr)
@given(url=URLS)
@example("http://a.example/?sid&sid")
@example("http://a.example/a;v=1/a;v=1;v=2/b")
@example("http://a.example/index.html/index.html;v/index.html")
def test_the_export_equals_the_rule(own, url):
    rules = UrlRules({"a.example": own})
    options = {"ignore_fragment": False, "tracking": (), "sessions": ()}
    normal = Addresses(**options).normal(url)
    assert applied(rules.patterns(), normal) == Addresses(**options, rules=rules).normal(normal)


ALL = HostRules(
    parameters={"sid": EVIDENCE, "print": EVIDENCE},
    path_parameters={"v": EVIDENCE, "w": EVIDENCE},
    index_pages={"index.htm": EVIDENCE, "index.html": EVIDENCE},
    final_slash=EVIDENCE,
)
ENDS = st.sampled_from(["/", "//", "/index.html;v=1", "/index.html;v;w=1/", ";v=2/", ";x;v/", "/index.html;x/", "/;v/"])


@given(url=URLS, path=st.lists(SEGMENTS, max_size=2), ends=st.lists(ENDS, max_size=3))
@example("http://a.example/", ["b", "index.html;v=1"], ["//"])
@example("http://a.example/", ["a;v=1;x"], ["/"])
@example("http://a.example/", ["a;v=1;w=2;v=3"], [";x;v/"])
def test_the_export_equals_several_rules_together(url, path, ends):
    start, mark, rest = url.partition("?")
    address = f"{start.partition('#')[0].rstrip('/')}/{'/'.join(path)}{''.join(ends)}{mark}{rest}"
    rules = UrlRules({"a.example": ALL})
    options = {"ignore_fragment": False, "tracking": (), "sessions": ()}
    normal = Addresses(**options).normal(address)
    assert applied(rules.patterns(), normal) == Addresses(**options, rules=rules).normal(normal)


@given(url=URLS, chosen=st.sets(st.sampled_from(range(len(ONE_EACH)))), case=st.booleans())
def test_applied_again_the_rules_change_nothing(url, chosen, case):
    parts = {}
    for place in chosen:
        for kind in ("parameters", "path_parameters", "index_pages", "final_slash"):
            parts[kind] = getattr(ONE_EACH[place], kind) or parts.get(kind) or getattr(HostRules(), kind)
    addresses = Addresses(rules=UrlRules({"a.example": HostRules(**parts, case=EVIDENCE if case else None)}))
    once = addresses.normal(url)
    assert addresses.normal(once) == once


def test_the_rules_of_a_host_change_only_its_urls():
    own = HostRules(
        parameters={"sid": EVIDENCE}, index_pages={"index.php": EVIDENCE}, final_slash=EVIDENCE, case=EVIDENCE
    )
    addresses = Addresses(rules=UrlRules({"a.example": own}))
    assert addresses.normal("http://A.example/B%2fc/index.php?id=7&sid=1") == "http://a.example/b%2Fc?id=7"
    assert addresses.normal("http://b.example/B/?sid=1") == "http://b.example/B/?sid=1"
    assert addresses.place("http://a.example/B/") == ("a.example", "/b")


@pytest.mark.timeout(120)
def test_names_of_a_host_without_case_have_none():
    own = {"path_parameters": {"SID": EVIDENCE}, "index_pages": {"Index.html": EVIDENCE}}
    rules = Addresses(rules=UrlRules({"a.example": HostRules(**own, case=EVIDENCE), "b.example": HostRules(**own)}))
    assert rules.normal("http://a.example/A/INDEX.html;Sid=1") == "http://a.example/a/"
    assert rules.normal("http://b.example/A/Index.html;Sid=1") == "http://b.example/A/Index.html;Sid=1"


def test_a_session_with_a_parameter_of_a_rule_makes_no_difference():
    own = HostRules(path_parameters={"v": EVIDENCE}, index_pages={"index.html": EVIDENCE})
    rules = UrlRules({"a.example": own})
    for path, normal in {
        f"/{SESSION};v=1": "/",
        f"/b/index.html;v=2/{SESSION};v=1": "/b/",
        f"/b/{SESSION};v=1/{SESSION};v=1": "/b",
        f"/b/{SESSION};v=1/c": f"/b/{SESSION};v=1/c",
    }.items():
        assert Addresses(rules=rules).normal(f"http://a.example{path}") == f"http://a.example{normal}"
    lowered = Addresses(rules=UrlRules({"a.example": msgspec.structs.replace(own, case=EVIDENCE)}))
    for path in (f"/B/{SESSION};V=1", f"/b/{SESSION}", f"/b/{SESSION.lower()}"):
        assert lowered.normal(f"http://a.example{path}") == "http://a.example/b"
    kept = Addresses(rules=rules, sessions=()).normal(f"http://a.example/{SESSION};v=1")
    assert kept == f"http://a.example/{SESSION}"


def test_long_paths_take_linear_time():
    own = HostRules(path_parameters={"v": EVIDENCE}, index_pages={"index.html": EVIDENCE}, final_slash=EVIDENCE)
    rules = Addresses(rules=UrlRules({"a.example": own}))
    assert rules.normal("http://a.example" + "/index.html;v=1" * 100_000 + "/" * 100_000) == "http://a.example/"
    assert rules.normal("http://a.example" + f"/{SESSION};v=1" * 50_000) == "http://a.example/"


def test_a_file_has_all(tmp_path):
    rules = UrlRules({'a"b.example': ONE_EACH[0], "c.example": ONE_EACH[4]})
    path = tmp_path / "rules.json"
    path.write_bytes(rules.to_bytes())
    assert UrlRules.read(path) == rules
    assert (rules.id, len(rules), rules.counts()["parameters"]) == (UrlRules.read(path).id, 2, 1)
    assert UrlRules.read(path).hosts["c.example"].final_slash == EVIDENCE


def test_no_rules_are_rules(tmp_path):
    path = tmp_path / "rules.json"
    path.write_bytes(UrlRules().to_bytes())
    assert len(UrlRules.read(path)) == 0


def test_the_id_is_that_of_the_rules_not_of_their_evidence():
    one = UrlRules({"a.example": HostRules(final_slash=EVIDENCE)})
    other = UrlRules({"a.example": HostRules(final_slash=RuleEvidence(20, 20, 1.0))})
    assert one.id == other.id != UrlRules({"a.example": HostRules(case=EVIDENCE)}).id
    assert Addresses(rules=one).id == Addresses(rules=other).id != Addresses().id


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a file of URL rules"),
        (b'{"format": 2, "id": "", "hosts": {}}', "has the format 2"),
        (b'{"format": 1, "id": "", "hosts": {"a": {"parameter": {}}}}', "unknown field"),
        (b"\xff", "is not a file of URL rules"),
        (b'{"format": 1, "id": "", "hosts": {"\xff": {}}}', "is not a file of URL rules"),
        (b'{"format": 1, "a": ' + b"[" * 100_000, "is not a file of URL rules"),
    ],
)
def test_other_files_are_refused(tmp_path, content, words):
    path = tmp_path / "rules.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        UrlRules.read(path)


def test_addresses_take_no_other_rules():
    with pytest.raises(ParameterError, match="must be UrlRules"):
        Addresses(rules={})


@pytest.mark.parametrize("host", ["a.example:8080", "a.example", "[::1]", "xn--bcher-kva.example", "a_b"])
def test_hosts_in_normal_form_have_rules(host):
    own = HostRules(parameters={"a.b+": EVIDENCE}, path_parameters={"%2F": EVIDENCE}, index_pages={"a;b": EVIDENCE})
    assert Addresses(rules=UrlRules({host: own})).normal(f"http://{host}/x/a;b?a.b+=1") == f"http://{host}/x/"


@pytest.mark.parametrize(
    "host", ["A.example", "http://a.example", "a.example/", "a.example:", "u@a.example", "bücher.example", "a.example."]
)
def test_a_host_without_a_url_is_refused(host):
    with pytest.raises(ParameterError, match="is not a host in normal form"):
        Addresses(rules=UrlRules({host: ONE_EACH[0]}))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("parameters", name) for name in ("", "a=b", "a&b", "a#", "ü", "%7e", "a b")),
        *(("path_parameters", name) for name in ("", ";v", "v=", "a/b", "?")),
        *(("index_pages", name) for name in ("", "/index.html", "index.html?", "a b.html")),
    ],
)
def test_a_name_that_no_url_has_is_refused(kind, name):
    with pytest.raises(ParameterError, match=f"is a name in the {kind} of a.example that no URL"):
        Addresses(rules=UrlRules({"a.example": HostRules(**{kind: {name: EVIDENCE}})}))


def test_the_file_for_nutch_is_xml_of_the_patterns():
    rules = UrlRules({"a.example": HostRules(parameters={"s&d": EVIDENCE}, case=EVIDENCE)})
    root = ET.fromstring(rules.nutch())  # noqa: S314 - made here
    assert [each.text for each in root.iter("pattern")] == list(rules.patterns())
    assert {each.text for each in root.iter("substitution")} == {"$1"}


def test_rules_are_shown_in_one_line():
    evidence = RuleEvidence(10, 10, 1.0)
    rules = UrlRules({f"h{n}.example": HostRules(parameters={"a": evidence}, case=evidence) for n in range(1000)})
    assert repr(rules) == f"UrlRules(hosts=1,000, rules=2,000, id='{rules.id}')"
