"""Whatever documents, queries and errors say, a page has the elements and attributes of its template, and no others."""

import re
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from urllib.parse import quote, urljoin, urlsplit

import pytest
from answers import answer, group, hit, repeat, shown

from neardup import Checksum, Index
from neardup.evaluation.comparison import explain
from neardup.interfaces.http import problems
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.pages import FILES
from neardup.interfaces.http.problems import Problem, Refusal
from neardup.interfaces.http.templates import render
from neardup.interfaces.http.tokens import Tokens, new_token
from neardup.interfaces.http.views import PageQuery, comparison_view, document_view, members_view, results_view
from neardup.model.errors import QueryTimeout, StorageFailed
from neardup.model.seen import Document
from neardup.pipeline.query.search import Search

WHEN = datetime(2026, 3, 7, tzinfo=UTC)
STEPS = {"loose": 0.4, "default": 0.6, "strict": 0.8, "strictest": 0.95}
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
WEB = "https://a.example/"

PAYLOADS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' onfocus='alert(1)' autofocus='",
    "` onerror=`alert(1)",
    "x onclick=alert(1) y",
    "</title><script>alert(1)</script>",
    "</textarea><img src=x onerror=alert(1)>",
    "</style><script>alert(1)</script>",
    "--><script>alert(1)</script>",
    "<!--",
    "]]><script>alert(1)</script>",
    "<![CDATA[<b>]]>",
    "<?php echo 1 ?>",
    "</bdi></a></li></ol></main></body></html><h1>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<form action=//evil.example><input name=q>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href=javascript:alert(1)>x</a>",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "//evil.example/",
    "\\\\evil.example\\",
    "{{ 7 * 7 }}",
    "{% include 'frame.html' %}",
    "{# x #}${7*7}#{7*7}<%= 7 %>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "&quot; onclick=alert(1) &quot;",
    "a&b=c&q=d#e?f%00%zz+",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "\0<\0script\0>",
    "\u202e<script>\u202c",
    "\u2066\u2067\u2068\u2069\u200e\u200f",
    "שלום <b>עולם</b>",
    "مرحبا \"بالعالم\" '<i>'",
    "\U0001f469\u200d\U0001f33e <u>\U0001f69c</u>",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "\u2028\u2029\x85\x0b\x0c\r\n<br>",
    " \t leading <p> and trailing \t ",
    "\ufeff<script>",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "<" * 200,
    "&" * 200 + "'\"" * 50,
    "x" * 900 + "<script>",
]


class Skeleton(HTMLParser):
    """The elements of a page with the names of their attributes, and what these hold."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.values, self.texts, self.strange = [], [], [], []
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, *sorted(name for name, _ in attributes)))
        self.values += [(tag, name, value) for name, value in attributes]

    def handle_endtag(self, tag):
        self.elements.append(f"/{tag}")

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        self.strange.append(data)

    handle_pi = unknown_decl = handle_comment


LEADING = {"href", "action", "src"}
ALLOWED = {
    *("action", "aria-current", "aria-hidden", "aria-label", "autocapitalize", "autocomplete", "autofocus", "charset"),
    *(
        "class",
        "content",
        "datetime",
        "dir",
        "enterkeyhint",
        "for",
        "href",
        "id",
        "lang",
        "maxlength",
        "method",
        "name",
    ),
    *("placeholder", "rel", "role", "spellcheck", "start", "tabindex", "title", "type", "value"),
}


def require_safe(page):
    """Check that the values of attributes are allowed; return the skeleton."""
    found = Skeleton(page)
    assert found.strange == []
    for tag, name, value in found.values:
        assert name in ALLOWED, (tag, name)
        if name in LEADING:
            ours = value.startswith(("/", "#")) and not value.startswith(("//", "/\\"))
            assert ours or (tag == "a" and value.startswith(("http://", "https://"))), (tag, value)
            assert not set(value) & set(' \t\r\n\0"<>\\'), value
    for tag, name, value in found.values:
        if tag == "a" and name == "href" and value.startswith("http"):
            assert ("a", "rel", "noreferrer noopener") in found.values
    return found


def results(query="ferry", **hits):
    best = shown(hit(**{"own": "a", "title": "The ferry", "url": "https://a.example/f", **hits}))
    other = hit(**{"own": "b", "title": "The ferry", "url": "https://a.example/g", **hits})
    return results_view(PageQuery(q=query, page=2), answer(group(best, [repeat(other)] * 7), page=2, pages=9), STEPS)


def in_snippet(text):
    best = shown(hit(), title=text, body=text, spans=((0, min(len(text), 3)),))
    return render("results", view=results_view(PageQuery(q="x"), answer(group(best)), STEPS))


def in_reason(text):
    one = repeat(hit("b"), rule="same site", measure="equality", value=text, threshold=None)
    return render(
        "results", view=results_view(PageQuery(q="x", rule="site"), answer(group(shown(hit()), [one])), STEPS)
    )


def in_members(text):
    whole = group(shown(hit(text, title=text)), [repeat(hit(text, title=text), of=text)] * 3, hides=30)
    asked = PageQuery(q=text, include="7", page=2)
    return render("members", view=members_view(asked, answer(whole, include="7", page=2, pages=3)))


def in_document(text):
    one = Document(text, WHEN, WHEN, WHEN, text, {"title": text, "url": text, "a": text}, text)
    members = [(Document(f"{place}{text}", WHEN, WHEN, WHEN, text, {"title": text}, text), 0.9) for place in range(20)]
    view = document_view(one, 25, members, 1, asked=PageQuery(q=text, site=text, page=2))
    return render("document", view=view)


def in_field_name(text):
    return render("document", view=document_view(Document("a", WHEN, WHEN, WHEN, "a", {text: "value"}, "x"), 0, [], 1))


def in_repeat(text):
    return render("document", view=document_view(Document("a", WHEN, WHEN, WHEN, text, {}, None), 0, [], 1))


def in_comparison(text):
    a, b = (Document(own, WHEN, WHEN, WHEN, own, {"title": text}, f"{BAKER} {text}") for own in ("a", text))
    found = explain(str(a.text), str(b.text))
    return render("comparison", view=comparison_view(a, b, found, asked=PageQuery(q=text, site=text)))


CONTEXTS = {
    "title": lambda text: render("results", view=results(title=text)),
    "address": lambda text: render("results", view=results(url=text)),
    "address of the web": lambda text: render("results", view=results(url=WEB + text)),
    "id": lambda text: render("results", view=results(own=text, title=None, url=None)),
    "query": lambda text: render("results", view=results(query=text)),
    "query without results": lambda text: render(
        "results", view=results_view(PageQuery(q="x", site=text), answer(), STEPS, [(text, text, 3)])
    ),
    "snippet": in_snippet,
    "reason": in_reason,
    "members": in_members,
    "document": in_document,
    "field": in_field_name,
    "representative": in_repeat,
    "error": lambda text: render("problem", problem=Problem(text, text, 422, text)),
}


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_page_has_the_elements_of_its_template_only(context):
    made = CONTEXTS[context]
    harmless = require_safe(made("harmless words")).elements
    for payload in PAYLOADS:
        assert require_safe(made(payload)).elements == harmless, payload


def test_a_comparison_has_the_elements_of_its_template_only():
    harmless = {*require_safe(in_comparison("harmless words")).elements, ("mark",), "/mark", ("span",), "/span"}
    for payload in PAYLOADS:
        assert set(require_safe(in_comparison(payload)).elements) <= harmless, payload


def test_there_are_enough_of_them():
    assert len(PAYLOADS) * (len(CONTEXTS) + 1) >= 700


def test_what_is_shown_is_what_was_there():
    texts = Skeleton(CONTEXTS["title"]("<b>&amp; 'x'")).texts
    assert "<b>&amp; 'x'" in texts


@pytest.mark.parametrize("kind", problems.KINDS, ids=lambda kind: kind.name)
def test_every_problem_is_a_safe_page(kind):
    assert kind.title in "".join(require_safe(render("problem", problem=Refusal(kind).problem)).texts)


def test_the_start_says_what_there_is():
    assert "12,345 documents" in render("start", documents=12345, searches=True, keeps_texts=True).decode()
    assert b"neardup reindex" in render("start", documents=1, searches=False, keeps_texts=True)
    bare = render("start", documents=1, searches=False, keeps_texts=False)
    assert b"neardup reindex" not in bare
    assert b"--texts --search" in bare
    assert b"<form" not in render("start", documents=1, searches=False, keeps_texts=True)


# Through the service.

HTML = {"accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """An index whose documents are of the payloads; each has a near duplicate."""
    folder = tmp_path_factory.mktemp("hostile") / "seen"
    ids = [f"{place}{payload}"[:300] for place, payload in enumerate(PAYLOADS)]
    ids = [own for own in ids if len(own.encode()) <= 1024]
    with Index.create(folder, texts=True, fields={"title": str, "url": str}) as index:
        for more in ("", " too"):
            texts = [f"{BAKER} {own}{more}" for own in ids]
            index.admit([own + more for own in ids], texts, {"title": ids, "url": [WEB + own for own in ids]})
        Search.open(index, make=True).close()
    return str(folder)


@pytest.fixture
def paged(serve):
    def paged(folder, **options):
        return serve(folder, read_only=True, **options)

    return paged


def test_every_link_leads_somewhere(hostile, paged):
    service = paged(hostile)
    begin = "/?q=baker"
    met, left, elsewhere = {begin}, [begin], set()
    while left and len(met) < 250:
        page = left.pop()
        got = service.get(page, headers=HTML)
        assert got.status_code == 200, (page, got.text)
        if not got.headers["content-type"].startswith("text/html"):
            continue
        for tag, name, value in require_safe(got.content).values:
            if name == "href" and tag == "a" and value.startswith("http"):
                elsewhere.add(urlsplit(value).netloc)
            elif name == "href" and not value.startswith(("#", "/docs")):
                target = urljoin(page, value)
                if target not in met:
                    met.add(target)
                    left.insert(0, target)
    assert {urlsplit(one).path for one in met} >= {"/", "/compare", "/documents", "/static/page.css"}
    assert elsewhere == {"a.example"}
    assert len(met) >= 200
    assert service.reports == []


def test_any_query_is_answered(hostile, paged):
    service = paged(hostile)
    for payload in PAYLOADS:
        got = service.get("/", params={"q": payload}, headers=HTML)
        assert got.status_code == 200, payload
        require_safe(got.content)


PATHS = ["/", "/?q=baker", "/compare?a=0", "/documents?id=nobody", "/nowhere", "/?q=x&page=0", "/static/page.css"]


@pytest.mark.parametrize("path", PATHS)
def test_headers_forbid_all_that_is_not_needed(hostile, paged, path):
    got = paged(hostile).get(path, headers=HTML)
    policy = dict(part.strip().split(" ", 1) for part in got.headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in got.headers
    assert "access-control-allow-origin" not in got.headers


@pytest.mark.parametrize("name", FILES)
def test_files_of_pages_are_kept_by_browsers(hostile, paged, name):
    got = paged(hostile).get(f"/static/{name}?v=1")
    assert got.status_code == 200
    assert got.headers["content-type"].partition(";")[0] == FILES[name]
    assert "immutable" in got.headers["cache-control"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/?q=x&page=0", 422),
        ("/?q=x&page=x", 422),
        ("/?q=x&rule=other", 422),
        ("/?q=x&strictness=7", 422),
        ("/?q=x&include=-1", 422),
        ("/?q=x&q=y", 422),
        ("/?q=x&other=1", 422),
        ("/?q=" + "x" * 1025, 422),
        ("/?q=%ff", 400),
        ("/?q=" + "x" * 5000, 414),
        ("/compare", 422),
        ("/compare?a=0&b=", 422),
        ("/compare?a=nobody&b=none", 404),
        ("/documents?id=nobody", 404),
        ("/nowhere", 404),
        ("/static/../page.py", 404),
        ("/static/page.py", 404),
        ("/documents/0", 404),
    ],
)
def test_bad_requests_get_a_page_with_their_status(hostile, paged, path, status):
    service = paged(hostile)
    got = service.get(path, headers=HTML)
    assert got.status_code == status
    assert got.headers["content-type"].startswith("text/html")
    assert str(status) in require_safe(got.content).texts
    assert service.reports == []


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["/", "/compare", "/documents", "/static/page.css"])
def test_pages_only_read(hostile, paged, method, path):
    got = paged(hostile)(method, path, headers=HTML)
    assert got.status_code == 405
    assert got.headers["allow"] == "GET, HEAD"


def test_a_head_is_that_of_the_page(hostile, paged):
    service = paged(hostile)
    head, page = (service(method, "/?q=baker") for method in ("HEAD", "GET"))
    assert head.content == b""
    assert head.headers["content-length"] == str(len(page.content))


def test_the_day_of_a_result_is_called_that_of_its_admission(hostile, paged):
    assert re.search(r'admitted <time datetime="2', paged(hostile).get("/?q=baker").text)


@pytest.mark.parametrize(
    ("place", "words"), [("page=999", "There is no page 999"), ("include=1", "These results have no such group")]
)
def test_pages_and_groups_that_do_not_exist(hostile, paged, place, words):
    got = paged(hostile).get(f"/?q=baker&{place}")
    assert got.status_code == 200
    assert words in got.text


def test_rules_and_repeats_change_what_is_shown(hostile, paged):
    service = paged(hostile)
    totals = {}
    for ways in ("", "&rule=exact", "&rule=site", "&repeats=shown", "&strictness=strictest", "&strictness=loose"):
        page = service.get(f"/?q=baker{ways}").text
        totals[ways] = page.partition('role="status">')[2].partition("<")[0]
    count = 2 * len(PAYLOADS)
    assert totals["&rule=site"].startswith(f"1 result, {min(count, 100) - 1} more from the same sites hidden")
    assert "repeats shown" in totals["&repeats=shown"]
    assert len(set(totals.values())) >= 4


def test_an_index_without_a_search_table(folder, paged):
    service = paged(folder)
    assert b"neardup reindex" in service.get("/").content
    assert service.get("/?q=x", headers=HTML).status_code == 409
    assert service.get("/compare?a=a&b=b").status_code == 200
    assert "It is a repeat" in service.get("/documents?id=b").text


def test_an_index_without_texts(tmp_path, paged):
    with Index.create(tmp_path / "bare") as index:
        index.admit(["a", "b"], [BAKER, BAKER])
    service = paged(str(tmp_path / "bare"))
    assert "The index keeps no texts." in service.get("/documents?id=a").text
    assert "Compare" not in service.get("/documents?id=a").text
    assert service.get("/compare?a=a&b=b", headers=HTML).status_code == 422
    for address in ("/?q=x", "/v1/search?q=x"):
        answer = service.get(address, headers=HTML if address.startswith("/?") else {})
        assert answer.status_code == 409
        assert "This index keeps no texts and cannot be searched." in answer.text


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("page=x", "page"),
        ("page=0", "page"),
        ("rule=best", "rule"),
        ("dark blue=1", "dark blue"),
        ("q=" + "x" * 1025, "q"),
    ],
)
def test_a_wrong_parameter_is_named(hostile, paged, query, name):
    got = paged(hostile).get(f"/?q=baker&{query}" if not query.startswith("q=") else f"/?{query}", headers=HTML)
    assert got.status_code == 422
    assert f"The parameter '{name}' of this address is unknown, missing or invalid." in unescape(got.text)
    assert "Go back, or start a new search." in got.text


def test_an_index_of_checksums_has_no_strictness(tmp_path, paged):
    with Index.create(tmp_path / "other", Checksum(), texts=True, fields={"title": str}) as index:
        index.admit(["a", "b", "c"], ["x ferry", "x ferry", "y ferry"], {"title": ["T", "T", "T"]})
        Search.open(index, make=True).close()
    page = paged(str(tmp_path / "other")).get("/?q=ferry").text
    assert "2 results, 1 repeat hidden" in page
    assert "Strictness" not in page


def test_a_search_that_takes_too_long_is_reported(hostile, paged, monkeypatch):
    def slow(*_, seconds, **__):
        raise QueryTimeout(seconds)

    service = paged(hostile, limits=Limits(query_seconds=0.5))
    monkeypatch.setattr(service.service.search, "answer", slow)
    got = service.get("/?q=x", headers=HTML)
    assert got.status_code == 422
    assert "Query too slow" in got.text


def test_an_index_that_cannot_be_read_is_reported_without_its_name(hostile, paged, monkeypatch):
    def broken(*_, **__):
        raise StorageFailed("/secret/path", "no such thing")

    service = paged(hostile)
    monkeypatch.setattr(service.service.search, "answer", broken)
    got = service.get("/?q=x", headers=HTML)
    assert got.status_code == 503
    assert "secret" not in got.text
    assert len(service.reports) == 1
    assert "/secret/path" in service.reports[0]


def test_with_tokens_the_browser_asks_for_one(hostile, paged):
    token, line = new_token("read")
    service = paged(hostile, tokens=Tokens.parsed([line]))
    for path in ("/", "/?q=baker", "/compare?a=a&b=b", "/documents?id=a", "/static/page.css", "/nowhere"):
        got = service.get(path, headers=HTML)
        assert got.status_code == 401
        assert "Basic" in got.headers["www-authenticate"]
        assert "style-src 'self'" in got.headers["content-security-policy"]
        require_safe(got.content)
    assert service.get("/?q=baker", headers=HTML, auth=("anybody", token)).status_code == 200
    assert service.get("/?q=baker", headers=HTML, auth=("anybody", f"{token}x")).status_code == 401


def test_too_much_at_a_time_is_reported_on_a_page(hostile, paged):
    service = paged(hostile, limits=Limits(long_requests=1))
    answers = service.together(*[(("GET", "/?q=baker"), {"headers": HTML})] * 6)
    assert {got.status_code for got in answers} == {200, 429}
    refused = next(got for got in answers if got.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert "Too many requests" in "".join(require_safe(refused.content).texts)
    assert "'unsafe-inline'" not in refused.headers["content-security-policy"]


def test_an_index_without_documents(tmp_path, paged):
    with Index.create(tmp_path / "none", texts=True) as index:
        Search.open(index, make=True).close()
    service = paged(str(tmp_path / "none"))
    assert "No documents are here yet." in service.get("/").text
    assert "No document has all of these words." in service.get("/?q=x").text


def test_browsers_can_offer_the_search(hostile, paged):
    service = paged(hostile)
    answer = service.get("/opensearch.xml")
    assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")
    assert answer.text.startswith("<?xml ")  # an XML declaration can only be at the beginning
    assert re.search(r'template="http://[^/"]+/\?q=\{searchTerms\}"', answer.text)
    assert 'href="/opensearch.xml"' in service.get("/", headers=HTML).text


def test_documents_and_comparisons_lead_back_to_the_search(hostile, paged):
    service = paged(hostile)
    found = service.get("/?q=baker&sort=newest", headers=HTML).text
    hrefs = [one.replace("&amp;", "&") for one in re.findall(r'href="(/documents[^"]*)"', found)]
    assert "back=q%3Dbaker%26sort%3Dnewest" in hrefs[0]
    page = service.get(hrefs[0], headers=HTML).text
    assert 'href="/?q=baker&amp;sort=newest">← All results' in page
    assert "All results" not in service.get(hrefs[0].partition("&back=")[0], headers=HTML).text
    for broken in ("q=%FF", "q=x&page=0", "colour=red", "q=" + "a%26" * 40 + "&"):
        plain = hrefs[0].partition("&back=")[0]
        got = service.get(f"{plain}&back={quote(broken)}", headers=HTML)
        assert got.status_code == 200


def test_repeats_may_be_shown_after_another_strictness_was_chosen(hostile, paged):
    assert paged(hostile).get("/?q=baker&strictness=strict&repeats=shown", headers=HTML).status_code == 200


def test_shorter_queries_count_the_documents_of_the_site(hostile, paged):
    page = paged(hostile).get("/?q=baker+zeppelin&site=b.example", headers=HTML).text
    assert "Without zeppelin" not in page
    assert "Without zeppelin" in paged(hostile).get("/?q=baker+zeppelin&site=a.example", headers=HTML).text


def test_the_documents_that_one_represents_are_on_pages(tmp_path, paged):
    ids = [f"d{number:02}" for number in range(26)]
    with Index.create(tmp_path / "many", texts=True) as index:
        index.admit(ids, [BAKER] * len(ids))
    service, listed = paged(str(tmp_path / "many")), []
    for page in (1, 2):
        text = service.get(f"/documents?id=d00&page={page}", headers=HTML).text
        listed.append({*re.findall(r'href="/documents\?id=(d\d\d)"', text)} - {"d00"})
    assert (*map(len, listed), len(listed[0] | listed[1])) == (20, 5, 25)
    assert {*re.findall(r'href="/documents\?id=(d\d\d)"', service.get("/documents?id=d01").text)} <= {"d00", "d01"}


def test_a_comparison_is_of_all_fields_that_are_signed(titled, texts, paged):
    with Index.open(titled, "w") as index:
        index.admit(["c"], [texts.storm], {"title": ["Another"]})
    service = paged(titled)
    assert "These two repeat each other" in service.get("/compare?a=a&b=b", headers=HTML).text
    assert "These two do not repeat each other" in service.get("/compare?a=a&b=c", headers=HTML).text


def test_browsers_get_no_pages_from_the_operations(folder, paged):
    got = paged(folder).get("/v1/documents/nobody", headers=HTML)
    assert (got.status_code, got.headers["content-type"]) == (404, problems.MEDIA)
