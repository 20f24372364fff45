import http.server
import json
import os
import re
import threading
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from served import serving

from neardup import Checksum, Client, CrawlFilter, Field, Index, MinHash
from neardup.errors import DataError, NeardupError, ParameterError, QueryTimeout, StorageFailed, StorageRefused
from neardup.interfaces import client as client_module
from neardup.interfaces.http.tokens import Tokens, new_token
from neardup.pipeline.query.search import Search
from neardup.sources.url_rules import HostRules, RuleEvidence, UrlRules
from neardup.urls import Addresses
from neardup.verdicts import Empty, ExactDuplicate, New

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
FIELDS = {"url": "string", "rank": "integer", "at": "time"}
ABOUT = (200, {"fields": {}, "signs": [], "addresses": Addresses().id, "next": 0}, {})
NEW = (200, {"verdicts": [{"verdict": "new", "id": "http://a.example/"}]}, {})
LATER = (429, {"type": "/docs#overloaded", "detail": "Too many requests."}, {"Retry-After": "7"})
BROKEN = (None, b"", {})
UNWRITABLE = (503, {"type": "/docs#unwritable", "detail": "The index cannot be written."}, {})


@pytest.fixture
def folder(tmp_path):
    Index.create(tmp_path / "seen", texts=True, fields=FIELDS).close()
    return tmp_path / "seen"


@pytest.fixture
def service(folder):
    with serving(folder) as url:
        yield url


@pytest.fixture
def client(service):
    with Client(service) as client:
        yield client


def test_verdicts_are_those_of_the_index_and_the_filter(client):
    visits = [
        [("http://a.example/", STORM), ("http://a.example:80/#x", STORM), ("http://b.example/", f"{STORM} too")],
        [("http://c.example/", STORM), ("http://b.example/", BAKER), ("http://d.example/", "")],
    ]
    with Index.create(texts=True, fields=FIELDS) as index:
        own = CrawlFilter(index)
        for visit in visits:
            for said, expected in (
                (client.judge_each(visit), own.judge_each(visit)),
                (client.judge_and_admit(visit), own.judge_and_admit(visit)),
            ):
                assert said == expected
                assert [one.representative for one in said] == [one.representative for one in expected]
        assert client.id_of("HTTP://a.example/#x") == own.id_of("HTTP://a.example/#x")
        texts = [STORM, BAKER, "something else"]
        assert client.judge(texts) == index.judge(texts)
        named = ["http://a.example/", "x", "y"]
        assert client.judge(texts, ids=named) == index.judge(texts, ids=named)
        assert client.admit(["x", "y", "z"], texts) == index.admit(["x", "y", "z"], texts)
        ids = ["x", "nobody", "http://a.example/", "http://b.example/"]
        assert client.admissions(ids) == index.admissions(ids)
        assert [client.group(name) for name in ids] == [index.group(name) for name in ids]
        assert len(client) == len(index)
        assert client.next_admission == index.next_admission
        assert client.fields == index.fields
        several = ["x", *map(str, range(client_module.MOST)), "y"]  # more than one request takes
        assert client.remove(several).removed == index.remove(several).removed == 2
        assert client.expire(datetime(2001, 1, 1, tzinfo=UTC)).removed == 0
        for before in (None, float("nan"), 1e12):
            with pytest.raises(ParameterError, match=r"must be a datetime, or seconds since 1970"):
                client.expire(before)
        assert client.expire(time.time(), by="first_seen").removed == len(index)
    assert len(client) == 0


@pytest.mark.parametrize("call", ["judge", "admit", "judge_each", "judge_and_admit"])
def test_an_unknown_field_of_no_documents_is_an_error_as_in_an_index(client, call):
    given = ([],) if call == "judge" else ([], [])
    with pytest.raises(DataError, match="field 'x' is unknown; this index has at, rank, url"):
        getattr(client, call)(*given, {"x": []})
    assert getattr(client, call)(*given, {"rank": []}) == []


def test_values_that_are_nested_too_deeply_for_json_are_refused(client):
    deep = []
    for _ in range(2000):
        deep = [deep]
    for call in (lambda: client.collapse(["a"], near=deep), lambda: client.admit(["a"], [STORM], {"url": [deep]})):
        written = "/docs lists the fields|must be a string, but is the list"  # by Python 3.13; the service refuses them
        with pytest.raises(DataError, match=f"cannot be written as JSON: maximum recursion depth|{written}"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda one: one.expire(0, "nope"),
        lambda one: one.expire(4e9, "first_seen"),
        lambda one: one.judge(MinHash(seed=5).sign(["a b c"])),
        lambda one: one.judge(MinHash(seed=5).sign([])),
    ],
)
def test_errors_are_those_of_the_index(client, call):
    with Index.create(texts=True, fields=FIELDS) as index, pytest.raises(NeardupError) as expected:
        call(index)
    with pytest.raises(type(expected.value)) as refused:
        call(client)
    assert str(refused.value) == str(expected.value)


def test_documents_come_back(client, folder):
    at = datetime(2026, 1, 31, 12, tzinfo=UTC)
    client.judge_and_admit(pa.table({"url": ["http://a.example/#x"], "text": [STORM], "at": [at], "rank": [3]}))
    client.admit(["http://b.example/../%", "none"], [BAKER, ""], {"rank": [4, None]})
    ids = ["http://a.example/", "nobody", "http://b.example/../%", "none"]
    with Index.open(folder) as reader:
        assert client.get(ids) == reader.get(ids)
    assert client.get(ids)[0].fields == {"url": "http://a.example/#x", "rank": 3, "at": at}


def test_groups_of_any_size_come_back(client):
    ids = [f"page {number:03}" for number in range(250)]
    client.admit(ids, [STORM] * 250)
    assert client.group("page 100") == ids
    assert client.group("nobody") == []


def test_hits_are_collapsed_and_found(folder):
    with Index.open(folder, "w") as index:
        index.admit(["a", "b", "c"], [STORM, f"{STORM} too", BAKER])
        Search.open(index, make=True).close()
    with serving(folder) as url, Client(url) as client:
        found = client.collapse(["c", "a", "b"], size=10, representative="closest")
        assert [group["kept"][0]["id"] for group in found["results"]] == ["c", "a"]
        assert client.search("storm harbour", size=1, representative="closest")["total"] == 2


def test_large_batches_are_sent_in_parts(client, monkeypatch):
    monkeypatch.setattr(client_module, "MOST", 3)
    monkeypatch.setattr(client_module, "MOST_BYTES", 300)
    pages = [(f"http://a.example/{number}", f"{number} {STORM * (1 + number % 3)}") for number in range(10)]
    with Index.create(texts=True, fields=FIELDS) as index:
        assert client.judge_and_admit(pages) == CrawlFilter(index).judge_and_admit(pages)
        ids = [client.id_of(url) for url, _ in pages]
        assert client.admissions(ids) == index.admissions(ids)
    with pytest.raises(DataError, match="the service, documents 4 to 4: "):
        client.admit([*"abcdef"], ["text"] * 6, {"url": [None] * 4 + ["x" * (9 << 20), None]})
    assert client.judge_and_admit([]) == []


def test_errors_are_those_of_the_library(folder):
    reading, line = new_token("read")
    with serving(folder, tokens=Tokens.parsed([line])) as url:
        with Client(url, patience=0) as client, pytest.raises(StorageRefused, match="token is missing or unknown"):
            len(client)
        with Client(url, token=reading) as client:
            assert len(client) == 0
            with pytest.raises(StorageRefused, match="This token is read-only"):
                client.judge_and_admit([("http://a.example/", STORM)])
            with pytest.raises(StorageRefused, match="search table"):
                client.search("storm")
            with pytest.raises(DataError, match="field 'nope'"):
                client.judge([STORM], {"nope": [1]})
            with pytest.raises(DataError, match="url 1"):
                client.judge_each([("http://a.example/", STORM), (" ", STORM)])
    with (
        serving(folder, read_only=True) as url,
        Client(url) as client,
        pytest.raises(StorageRefused, match="only reads"),
    ):
        client.admit(["a"], [STORM])


def test_other_addresses_than_those_of_the_service_are_refused(service):
    rule = r"addresses.*must be those of the service"
    with Client(service, addresses=Addresses(ignore_scheme=True)) as client, pytest.raises(ParameterError, match=rule):
        client.judge_each([("http://a.example/", STORM)])


def test_addresses_of_a_service_that_are_not_the_default_ones_are_given(tmp_path):
    with Index.create(tmp_path / "index"):
        pass
    own = Addresses(ignore_scheme=True)
    with serving(tmp_path / "index", addresses=own) as url:
        with Client(url) as client, pytest.raises(ParameterError, match=r"service was started with, .* give the same"):
            client.id_of("http://a.example/")
        with Client(url, addresses=own) as client:
            assert client.id_of("https://a.example/") == own.id_of("http://a.example/")


def test_the_url_rules_of_the_index_are_those_of_a_client(tmp_path):
    rules = UrlRules({"a.example": HostRules(parameters={"sid": RuleEvidence(9, 9, 1.0)})})
    with Index.create(tmp_path / "ruled") as index:
        CrawlFilter(index, Addresses(rules=rules)).judge_and_admit([("http://a.example/1?sid=x", STORM)])
    with serving(tmp_path / "ruled") as url, Client(url) as client:
        assert client.id_of("http://a.example/1?sid=y") == client.id_of("http://a.example/1")
        [verdict] = client.judge_each([("http://a.example/1?sid=z", STORM)])
        assert verdict.name == "known"


def test_a_closed_client_sends_nothing(service):
    client = Client(service)
    client.close()
    client.close()
    with pytest.raises(StorageRefused, match="the client is closed"):
        len(client)


def test_json_has_no_infinity():
    rule = "field 'rank' of document 1 is infinite, which JSON does not have; send a finite number"
    with pytest.raises(DataError, match=rule):
        Client("http://127.0.0.1:9", patience=0).admit(["a", "b"], [STORM] * 2, {"rank": [float("nan"), float("inf")]})


def test_json_has_no_bytes(client):
    rule = "field 'url' of document 1 is a byte string, which JSON does not have; send a string"
    with pytest.raises(DataError, match=rule):
        client.admit(["a", "b"], [STORM] * 2, {"url": [None, b"http://a.example/"]})
    assert len(client) == 0


def test_a_forked_process_has_connections_of_its_own(client):
    client.admit(["a"], [STORM])
    (connection,) = client._service._idle
    child = os.fork()
    if not child:
        try:
            os._exit(client.get(["a"])[0].id != "a" or connection in client._service._idle)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert client.get(["a"])[0].id == "a"
    assert client._service._idle == [connection]


def test_times_of_pandas_are_sent(tmp_path):
    pandas = pytest.importorskip("pandas")
    times = pandas.Series([pandas.Timestamp("2026-01-31T12:00:00.000001"), pandas.NaT]).astype("datetime64[ns]")
    with Index.create(tmp_path / "seen", fields={"when": "time"}) as index:
        index.admit(["a", "b"], [STORM, BAKER], {"when": times})
        fields = [one.fields for one in index.get(["a", "b"])]
    with serving(tmp_path / "seen") as url, Client(url) as client:
        client.admit(["c", "d"], [STORM, BAKER], {"when": times})
        assert [one.fields for one in client.get(["c", "d"])] == fields
        with pytest.raises(DataError, match="document 0: field 'when' must be a time such as"):
            client.admit(["e", "f"], [STORM, BAKER], {"when": times + pandas.Timedelta(1)})
        with pytest.raises(DataError, match="document 0: field 'when' must be a time such as"):
            client.admit(["e"], [STORM], {"when": np.array([1], "timedelta64[ns]")})
        with pytest.raises(DataError, match="a time is outside the years 1 to 9999"):
            client.admit(["e"], [STORM], {"when": pa.array([10**12], pa.timestamp("s"))})
        hits = [
            {"id": "a", "text": STORM, "fields": {"at": times[0] + pandas.Timedelta(1)}},
            {"id": "b", "text": BAKER},
        ]
        assert client.collapse(hits)["groups"] == 2


def test_a_number_that_json_does_not_have_is_missing(tmp_path):
    with Index.create(tmp_path / "seen", fields={"share": "number"}) as index:
        index.admit(["a", "b"], [STORM, BAKER], {"share": [float("nan"), float("inf")]})
    with serving(tmp_path / "seen") as url, Client(url) as client:
        client.admit(["c"], [STORM], {"share": [float("nan")]})
        assert [one.fields for one in client.get(["a", "b", "c"])] == 3 * [{"share": None}]


@pytest.mark.parametrize(
    "value",
    [
        *(
            datetime(2026, 1, 31, 12, tzinfo=UTC),
            timedelta(seconds=5),
            date(2026, 1, 31),
            Decimal("1E+3"),
            1e16,
            5.0,
            True,
        ),
        *(
            pa.scalar(5, pa.timestamp("s", "Europe/Paris")),
            pa.scalar(0.1, pa.float32()),
            pa.scalar(5, pa.duration("s")),
        ),
        UUID(int=5),
    ],
)
def test_values_are_signed_as_by_an_index(tmp_path, value):
    values = pa.array([value.as_py()], value.type) if isinstance(value, pa.Scalar) else [value]
    scheme = Checksum(fields=(Field(name="x"),))
    with Index.create(tmp_path / "seen", scheme) as index:
        index.admit(["a"], [STORM], {"x": values})
    with serving(tmp_path / "seen") as url, Client(url) as client:
        assert client.judge([STORM], {"x": values}) == [ExactDuplicate("a")]


def test_values_of_another_kind_are_refused_as_by_an_index(client):
    with Index.create(texts=True, fields=FIELDS) as index:
        for value in (datetime(2026, 1, 31, tzinfo=UTC), timedelta(1), Decimal(1), UUID(int=5), 5):
            errors = []
            for target in (index, client):
                with pytest.raises(DataError) as refused:
                    target.admit(["a"], [STORM], {"url": [value]})
                errors.append(str(refused.value))
            assert errors[0] == errors[1]
    assert len(client) == 0


def test_missing_values_of_signed_fields_are_sent(tmp_path):
    scheme = Checksum(fields=(Field(name="title"), Field(name="body")))
    with Index.create(tmp_path / "seen", scheme) as index, serving(tmp_path / "seen") as url, Client(url) as client:
        assert client.judge([STORM], {"title": [None]}) == index.judge([STORM], {"title": [None]}) == [Empty()]
        with pytest.raises(DataError, match="field 'nope' is unknown; this index has body, title"):
            client.judge([STORM], {"title": ["a"], "nope": [None]})


def test_every_call_is_explained():
    guide = (Path(__file__).resolve().parents[2] / "docs/guide/serving.md").read_text("utf-8")
    _, _, section = guide.partition("### The client")
    calls = {
        *re.findall(r"`(\w+)[`(]", "".join(line.split("|")[1] for line in section.splitlines() if line[:3] == "| `"))
    }
    assert {name for name in vars(Client) if name[0] != "_"} == calls - {"len"}


def test_the_token_of_a_file_ends_with_a_line_break(folder):
    reading, line = new_token("read")
    with serving(folder, tokens=Tokens.parsed([line])) as url, Client(url, token=f"{reading}\n") as client:
        assert len(client) == 0


def test_the_share_of_unchanged_content_is_checked_at_once():
    with pytest.raises(ParameterError, match="changed_at_least=2 must be a number above 0 and at most 1"):
        Client("http://127.0.0.1:9", changed_at_least=2)


def test_ids_that_no_document_can_have_are_unknown_or_refused_as_by_an_index(client):
    client.admit(["a"], [STORM])
    with Index.create(texts=True) as index:
        index.admit(["a"], [STORM])
        for name in ("", "\ud800", "x" * 1025):
            assert client.get([name]) == index.get([name]) == [None]
            assert client.group(name) == index.group(name) == []
            assert client.remove([name]) == index.remove([name])
            told, unknown = client.admissions(["a", name])
            assert (told.number, unknown) == (0, None)
            for method in (client.admit, index.admit):
                with pytest.raises(DataError, match="id 0 has"):
                    method([name], [BAKER])
        with pytest.raises(DataError, match="id 0 must be a string"):
            client.group(7)


def test_urls_with_half_a_surrogate_pair_are_those_of_the_filter(client):
    pages = [("http://a.example/\udcff", STORM), ("http://a.example/%ED%B3%BF", STORM)]
    with Index.create(texts=True, fields=FIELDS) as index:
        assert client.judge_and_admit(pages) == CrawlFilter(index).judge_and_admit(pages)
        assert client.get([*index.ids()])[0].text == STORM


@pytest.mark.parametrize("url", [b"http://a.example/", datetime(2020, 1, 1, tzinfo=UTC), None, 7, " "], ids=repr)
def test_urls_that_are_not_strings_are_refused_as_by_the_filter(client, url):
    with Index.create(texts=True, fields=FIELDS) as index:
        for pages in (client, CrawlFilter(index)):
            with pytest.raises(DataError, match=r"^url 1 (must be a string|is empty)"):
                pages.judge_and_admit([("http://a.example/", STORM), (url, BAKER)])
    assert len(client) == 0


def test_strings_of_numpy_are_strings(client):
    urls = np.array(["http://a.example/"])
    assert client.judge_and_admit(zip(urls, [STORM], strict=True), None) == [New()]
    assert client.collapse(urls)["groups"] == 1


@pytest.mark.parametrize(
    ("hits", "reason"),
    [
        ("news-0001", "hits must be a sequence of ids or records, not a string"),
        (None, "hits must be a sequence of ids or records, not None"),
        ({"id": "a"}, "hits must be a sequence of ids or records, not a dict"),
        (pa.table({"id": ["a"]}), "hits must be a sequence of ids or records, not a Table"),
        (["a", b"b"], "hit 1 must be an id, which is a string, or a record, not bytes"),
        (["\ud800"], "the request cannot be written as JSON"),
        ([{"id": "a"}, {"id": b"b"}], "field 'id' of hit 1 is a byte string, which JSON does not have; send a string"),
        ([{"id": "a", "fields": {"site": b"b"}}], "field 'site' of hit 0 is a byte string"),
        ([{"id": "a", "fields": {"rank": np.int64(1)}}], "the request cannot be written as JSON"),
    ],
    ids=str,
)
def test_hits_that_json_does_not_have_are_refused(client, hits, reason):
    with pytest.raises(DataError, match=reason):
        client.collapse(hits)


def test_any_string_is_a_query_and_options_may_be_none(folder):
    with Index.open(folder, "w") as index, Search.open(index, make=True) as search:
        index.admit(["a"], [STORM])
        search.catch_up()
    with serving(folder) as url, Client(url) as client:
        assert client.search("storm", threshold=None, include=None)["total"] == 1
        assert client.search("storm\ud800")["total"] == 1
        with pytest.raises(DataError, match="must be a host"):
            client.search("storm", site="\ud800")
        with pytest.raises(ParameterError, match="query=None must be a string"):
            client.search(None)


def test_signatures_are_sent_instead_of_texts(tmp_path):
    key = bytes(range(16))
    visits = [
        [("http://a.example/", STORM), ("http://b.example/", f"{STORM} too"), ("http://c.example/", "")],
        [("http://a.example/", STORM), ("http://b.example/", BAKER), ("http://d.example/", STORM)],
    ]
    Index.create(tmp_path / "seen", key=key, fields=FIELDS).close()
    with serving(tmp_path / "seen", key=key) as url, Client(url, signatures=True, key=key) as client:
        with Index.create(key=key, fields=FIELDS) as index:
            own = CrawlFilter(index)
            for visit in visits:
                urls, signed = [page for page, _ in visit], index.scheme.sign([text for _, text in visit])
                for said, expected in (
                    (client.judge_each(visit), own.judge_each(urls, signed)),
                    (client.judge_and_admit(urls, signed), own.judge_and_admit(urls, signed)),
                ):
                    assert said == expected
            assert [one.name for one in said] == ["known", "known", "near duplicate"]
            assert client.admit(["x", "y"], [STORM, BAKER]) == index.admit(["x", "y"], [STORM, BAKER])
            assert client.judge([STORM, ""]) == index.judge(index.scheme.sign([STORM, ""]))
        with Client(url, signatures=True) as other, pytest.raises(StorageRefused, match="has another key"):
            other.judge([STORM])
        with Client(url, signatures=True, changed_at_least=0.5, key=key) as lenient:
            assert not lenient.judge_each([("http://d.example/", f"{STORM} again")])[0].changed


def test_signatures_of_fields_are_not_sent(tmp_path):
    Index.create(tmp_path / "seen", Checksum()).close()
    with (
        serving(tmp_path / "seen") as url,
        Client(url, signatures=True) as client,
        pytest.raises(ParameterError, match="signs fields"),
    ):
        client.judge([STORM], {"title": ["Storm"]})


def test_texts_that_are_not_utf8_are_sent(client):
    pages = [("http://a.example/", f"{STORM} \ud800"), ("http://b.example/", f"{STORM}\ud800!")]
    assert client.judge_each(pages) == [New(), New()]
    raw = pa.array([text.encode("utf-8", "surrogatepass") for _, text in pages])
    assert len(client.judge(raw)) == 2


@pytest.mark.parametrize("key", [5, "secret", b"short"])
def test_a_key_has_sixteen_bytes(key):
    with pytest.raises(ParameterError, match="must be 16 bytes"):
        Client("http://127.0.0.1:8000", key=key)


class Script(http.server.ThreadingHTTPServer):
    """A server with given answers: a status with a body and a header, or no answer."""

    daemon_threads = True

    def __init__(self, answers):
        self.answers, self.asked = list(answers), []
        super().__init__(("127.0.0.1", 0), self.handler())
        self.url = f"http://127.0.0.1:{self.server_port}/below"

    def handler(self):
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                script.asked.append((self.path, self.headers["Idempotency-Key"], self.rfile.read(length)))
                status, body, head = script.answers.pop(0)
                if status is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": len(content), **head}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(content)

            def do_GET(self):
                self.do_POST()

            def log_message(self, *_):
                pass

            def finish(self):
                pass

        return Handler


@pytest.fixture
def scripted():
    made = []

    def make(*answers):
        server = Script(answers)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        made.append((server, thread))
        return server

    yield make
    for server, thread in made:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def pauses(monkeypatch):
    waited = []
    monkeypatch.setattr(client_module.time, "sleep", waited.append)
    return waited


def test_a_batch_is_repeated_with_its_key_until_it_is_answered(scripted, pauses):
    server = scripted(ABOUT, BROKEN, LATER, UNWRITABLE, BROKEN, (502, b"<html>", {}), NEW, NEW)
    with Client(server.url) as client:
        (verdict,) = client.judge_and_admit([("http://a.example/", STORM)])
        assert verdict.name == "new"
        client.judge_and_admit([("http://a.example/", STORM)])
    first, *sent, other = [one for one in server.asked if one[0] == "/below/v1/seen"]
    assert first[1] is not None
    assert set(sent) == {first}
    assert other[1] not in {None, first[1]}
    assert 7 in pauses


def test_nothing_is_repeated_without_patience(scripted, pauses):
    server = scripted(*[LATER] * 3)
    with Client(server.url, patience=0) as client, pytest.raises(StorageFailed, match="Too many requests"):
        client.judge([STORM])
    assert pauses == []


@pytest.mark.parametrize(
    ("answer", "error", "reason"),
    [
        (
            (301, b"", {"Location": "https://b.example/"}),
            StorageRefused,
            "redirects to https://b.example/; use that URL",
        ),
        ((404, b"<html>", {}), StorageRefused, "answers with status 404"),
        ((200, b"<html>", {}), StorageRefused, "does not answer as a service of neardup"),
        ((200, b'{"a":"\xff"}', {}), StorageRefused, "does not answer as a service of neardup"),
        ((200, b'{"a":' + b"[" * 5000, {}), StorageRefused, "does not answer as a service of neardup"),
        ((422, b'{"detail":"\xff"}', {}), StorageRefused, "answers with status 422"),
        ((422, b'{"a":' + b"[" * 5000, {}), StorageRefused, "answers with status 422"),
        ((422, {"type": "/docs#query-time", "detail": "x"}, {}), QueryTimeout, "stopped after 2 seconds"),
        ((422, {"type": "/docs#invalid", "detail": "url 0: is empty"}, {}), DataError, "the service: url 0: is empty"),
        ((500, {"type": "/docs#broken", "detail": "error 7 of the log"}, {}), StorageRefused, "error 7 of the log"),
    ],
)
def test_other_answers_are_errors(scripted, pauses, answer, error, reason):
    server = scripted(answer)
    with Client(server.url) as client, pytest.raises(error, match=reason):
        client.search("storm")
    assert len(server.asked) == 1


def test_an_answer_that_lacks_what_was_asked_for_is_an_error(scripted):
    strange = {"verdicts": [{"verdict": "strange"}]}
    server = scripted(*((200, answer, {}) for answer in ({}, {}, {"verdicts": []}, strange)))
    with Client(server.url) as client:
        for ask in (lambda: len(client), *[lambda: client.judge([STORM])] * 3):
            with pytest.raises(StorageRefused, match="does not answer as a service of neardup"):
                ask()


@pytest.mark.parametrize(
    "url", ["", "seen", "ftp://a", "http://", "http://..", "http://a b", "http://a:b", "http://u:p@a", "http://a/?q", 3]
)
def test_only_urls_of_services_are_taken(url):
    with pytest.raises(ParameterError):
        Client(url)


@pytest.mark.parametrize("url", ["http://u:pass@a/", "http://:pass@a", "http://u:pass@[b", "//pass@a", "ftp://pass@a"])
def test_a_password_in_a_url_is_not_shown(url):
    with pytest.raises(ParameterError, match="token=") as refused:
        Client(url)
    assert "pass@" not in f"{refused.value} {refused.value!r}"


def test_the_path_of_a_service_may_have_an_at_sign():
    Client("http://127.0.0.1:1/@a").close()


def test_a_service_that_does_not_run_cannot_be_reached():
    with Client("http://127.0.0.1:1", patience=0) as client, pytest.raises(StorageFailed, match="cannot be reached"):
        len(client)


def test_a_token_is_never_shown():
    assert "secret" not in repr(Client("http://127.0.0.1:9", token="secret"))  # noqa: S106 - none


@pytest.mark.parametrize("token", ["a\nb", "é", "", " \n", b"secret", 7])
def test_tokens_that_no_header_can_have_are_refused(token):
    with pytest.raises(ParameterError, match=r"token='\(secret\)' must be one token of printable ASCII characters"):
        Client("http://127.0.0.1:9", token=token)


@pytest.mark.parametrize("ways", [{"patience": None}, {"patience": -1}, {"timeout": 0}, {"timeout": "5"}], ids=str)
def test_times_are_numbers_of_seconds(ways):
    with pytest.raises(ParameterError, match="must be a number of seconds"):
        Client("http://127.0.0.1:9", **ways)
