"""Real crawls, each in a process of its own, of sites that this process serves on loopback."""

import http.server
import importlib.util
import json
import math
import os
import random
import select
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from served import serving

from neardup import Checksum, Field, Index
from neardup.errors import ParameterError, StorageError
from neardup.interfaces import scrapy
from neardup.interfaces.http.tokens import Tokens, new_token
from neardup.interfaces.scrapy import SEEN, UNFINISHED, NearDuplicatePipeline
from neardup.pipeline.crawl.templates import known_templates
from neardup.urls import Addresses
from neardup.web_pages import Extraction

pytestmark = pytest.mark.skipif(importlib.util.find_spec("scrapy") is None, reason="Scrapy is not installed")

# Loads everything, and forks for each crawl: a line of standard input describes one, and is answered by its process
# and, in the end, its exit code.
CRAWLS = """
import gc, json, os, sys, tempfile
import tldextract
from neardup import Index
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.downloadermiddlewares import cookies
from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

cookies._split_domain = tldextract.TLDExtract(suffix_list_urls=())  # or it would ask the network for a list

class Pages(Spider):
    name = "pages"

    async def start(self):
        yield Request(begin, dont_filter=True)

    def parse(self, response):
        if response.css("article"):
            text = " ".join(response.css("article ::text, footer ::text").getall())
            yield {"url": response.url, "text": text, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a")
        for form in response.css("form"):
            for word in ("a", "a", "b"):
                yield Request(response.urljoin(form.attrib["action"]), method="POST", body=word)

    def closed(self, reason):
        with open(stats, "w") as file:
            json.dump({"reason": reason, **self.crawler.stats.get_stats()}, file, default=str)


def crawl():
    process = CrawlerProcess({
        "ADDONS": {"neardup.interfaces.scrapy.NeardupAddon": 500},
        "NEARDUP_INDEX": folder,
        "FEEDS": {feed: {"format": "jsonlines", "overwrite": False}},
        "TELNETCONSOLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": 4,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
        "LOG_LEVEL": "WARNING",
        **settings,
    })
    process.crawl(Pages)
    process.start()


with tempfile.TemporaryDirectory() as loaded, Index.create(loaded + "/seen") as index:
    index.admit(["a"], ["a text"])
for components in (
    default_settings.EXTENSIONS_BASE,
    default_settings.DOWNLOADER_MIDDLEWARES_BASE,
    default_settings.FEED_EXPORTERS_BASE.values(),
    default_settings.DOWNLOAD_HANDLERS_BASE.values(),
    ["neardup.interfaces.scrapy.NeardupAddon"],
):
    for component in components:
        load_object(component)
gc.freeze()  # or each process, when it ends, would copy and collect all that was loaded: a second
for line in sys.stdin:
    begin, folder, feed, stats, said, settings = json.loads(line)
    number = os.fork()
    if number == 0:
        for place, name in enumerate((os.devnull, os.devnull, said)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), place)
        crawl()
        sys.exit()
    print(number, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)
"""


def words(seed, number=60):
    dice = random.Random(seed)  # noqa: S311 - no secrets
    return " ".join(f"word{dice.randrange(5000)}" for _ in range(number))


def page(text, links=(), footer=""):
    anchors = " ".join(f'<a href="{link}">x</a>' for link in links)
    return f"<title>t</title><article>{text}</article>{anchors}<footer>{footer}</footer>"


class Site:
    """Pages by path, without their queries; a path that begins with ``>`` in its page is a redirect.

    After so many pages, the *most*, it does not answer any more, until it is told to go *on*.
    """

    def __init__(self, most=1 << 30):
        self.pages: dict[str, str] = {}
        self.served: list[str] = []
        self.posted: list[bytes] = []
        self.most, self.lock, self.on = most, threading.Lock(), threading.Event()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                content = site.pages.get(self.path.partition("?")[0]) if site.serves(self.path) else None
                if content is None:
                    self.answer(404, "nothing here")
                elif content.startswith(">"):
                    seen = "seen=1" in self.headers.get("Cookie", "")
                    if content == ">cookie" and seen:
                        self.answer(200, page(words("cookie")))
                        return
                    target = self.path.partition("?")[0] if content in {">cookie", ">clean"} else content[1:]
                    cookie = {"Set-Cookie": "seen=1"} if content == ">cookie" else {}
                    if content == ">clean" and "?" not in self.path:
                        self.answer(200, page(words("clean")))
                        return
                    self.answer(302, "", {"Location": target, **cookie})
                else:
                    self.answer(200, content)

            def do_POST(self):
                site.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.answer(200, "thanks")

            def answer(self, status, content, headers=()):
                raw = f"<html>{content}</html>".encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(raw)))
                for name, value in dict(headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.root = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def serves(self, path):
        """Note a request; one too many is not noted, and waits."""
        with self.lock:
            if len(self.served) < self.most:
                self.served.append(path)
                return True
        return not self.on.wait()

    def go_on(self):
        self.most = 1 << 30
        self.on.set()

    def close(self):
        self.on.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def sites():
    made = []

    def make(**options):
        made.append(Site(**options))
        return made[-1]

    yield make
    for site in made:
        site.close()


@pytest.fixture(scope="module")
def crawls():
    environment = os.environ | {"no_proxy": "*"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", CRAWLS], bufsize=0, env=environment, **pipes) as program:
        yield program


@pytest.fixture
def crawl(tmp_path, crawls):
    number = iter(range(100))

    def crawl(root, kill_when=None, scrapy=None, **settings):
        run = next(number)
        names = ("seen", f"items{run}.jsonl", f"stats{run}.json", f"said{run}")
        folder, items, stats, said = (str(tmp_path / name) for name in names)
        given = {f"NEARDUP_{name.upper()}": value for name, value in settings.items()}
        given |= scrapy or {}
        crawls.stdin.write(json.dumps([f"{root}/", folder, items, stats, said, given]).encode() + b"\n")
        process = int(crawls.stdout.readline())
        if kill_when is not None:
            while not kill_when():
                ended, _, _ = select.select([crawls.stdout], [], [], 0.05)
                assert not ended, Path(said).read_text()
            os.kill(process, signal.SIGKILL)
        code = int(crawls.stdout.readline())
        assert code == (0 if kill_when is None else -signal.SIGKILL)
        told = "\n".join(line for line in Path(said).read_text().splitlines() if "DropItem" not in line)
        passed = []
        if Path(items).exists():
            for line in Path(items).read_text().splitlines():
                try:
                    passed.append(json.loads(line))
                except ValueError:
                    assert kill_when is not None
        counted = json.loads(Path(stats).read_text()) if Path(stats).exists() else {}
        return passed, {name.removeprefix("neardup/"): count for name, count in counted.items()}, told

    return crawl


def known(folder):
    """Return the number of documents that a running crawl has admitted."""
    if not (folder / "manifest.json").exists():
        return 0
    with Index.open(folder) as index:
        return len(index)


def ids(folder):
    with Index.open(folder) as index:
        return {document.id: document for document in index.get(list(index.ids()))}


def test_a_crawl_keeps_what_is_new(crawl, sites, tmp_path):
    site, mirror = sites(), sites()
    session = "a1" * 13
    site.pages["/"] = page(
        words("home", 30),
        [
            *("/one", f"/one?PHPSESSID={session}", "/one?utm_source=x#top", f"/two;jsessionid={session}", "/two"),
            *("/footer", "/moved", f"{mirror.root}/", "/missing", "/form"),
        ],
    )
    site.pages["/one"] = mirror.pages["/one"] = page(words(1), ["/"])
    site.pages["/two"] = site.pages[f"/two;jsessionid={session}"] = mirror.pages["/two"] = page(words(2))
    site.pages["/footer"] = page(words(1), footer="Today is Tuesday, and it rains")
    site.pages["/moved"] = ">/two"
    site.pages["/form"] = '<form action="/post">'
    mirror.pages["/"] = page(words("home", 30), ["/one", "/two", "/own"])
    mirror.pages["/own"] = page(words(3))
    items, counted, told = crawl(site.root, fields={"title": "string", "host": "string"})
    assert told == ""
    kept = {item["text"].split()[0]: item["url"] for item in items}
    assert len(items) == len(kept) == 4
    assert kept[words("home", 30).split()[0]] == site.root + "/"
    assert counted["new"] == 4
    assert counted["exact_duplicate"] + counted["near_duplicate"] == counted["dropped"] == 4
    assert counted["requests/repeated"] >= 4
    assert len([path for path in site.served if path.startswith("/one")]) == 1
    assert sorted(site.posted) == [b"a", b"b"]
    documents = ids(tmp_path / "seen")
    assert len(documents) == 8
    assert documents[f"{site.root}/one"].fields == {"title": "t", "host": "127.0.0.1"}
    assert not (tmp_path / "seen" / UNFINISHED).exists()


def test_a_start_page_is_fetched_once(crawl, sites):
    site = sites()
    site.pages = {"/": "<a href='/'>x</a><a href='/one'>x</a>", "/one": page(words(1), ["/"])}
    _, counted, told = crawl(site.root)
    assert told == ""
    assert Counter(site.served) == {"/": 1, "/one": 1}
    assert counted["requests/repeated"] == 2


def test_pages_that_lead_to_themselves_are_fetched(crawl, sites):
    site = sites()
    site.pages["/"] = page("", ["/cookie?utm_source=x", "/clean?utm_source=x"])
    site.pages |= {"/cookie": ">cookie", "/clean": ">clean"}
    items, _, told = crawl(site.root)
    assert told == ""
    assert {f"{site.root}/cookie", f"{site.root}/clean"} <= {item["url"] for item in items}
    assert len(site.served) == 5


def test_a_second_crawl_fetches_only_what_it_does_not_know(crawl, sites):
    site = sites()
    site.pages["/"] = '<a href="/one"></a><a href="/two"></a><a href="/three"></a>'
    for number, name in enumerate(("one", "two")):
        site.pages[f"/{name}"] = page(words(number))
    crawl(site.root)
    site.pages["/one"] = page(words("changed"))
    site.pages["/three"] = page(words(1), footer="Today is Tuesday, and it rains")
    site.served.clear()
    items, counted, _ = crawl(site.root)
    assert site.served == ["/", "/three"]
    assert (items, counted["requests/known"], counted["near_duplicate"]) == ([], 2, 1)
    items, counted, _ = crawl(site.root, refetch="always")
    assert [item["url"] for item in items] == [f"{site.root}/one"]
    assert (counted["changed"], counted["known"], counted["dropped"]) == (1, 2, 2)


def test_one_small_change_does_not_bring_the_repeats_back(crawl, sites):
    site = sites()
    mirrors = [f"/mirror{number}" for number in range(30)]
    site.pages |= dict.fromkeys(mirrors, page(words(1), footer="updated at 10:00"))
    passed = []
    for moment in ("10:00", "11:00", "11:00"):
        site.pages["/"] = page(words(1), mirrors, footer=f"updated at {moment}")
        items, counted, _ = crawl(site.root, refetch="always", texts=True)
        passed.append(len(items))
    assert passed[0] == 1
    assert passed[1] <= 1
    assert passed[2] == 0
    assert counted["known"] == 31


def test_items_are_tagged_instead(crawl, sites):
    site = sites()
    site.pages["/"] = page(words(0), ["/one", "/two"])
    site.pages["/one"] = site.pages["/two"] = page(words(1))
    items, counted, _ = crawl(site.root, action="tag", tag="seen")
    assert sorted(item["seen"]["verdict"] for item in items) == ["exact duplicate", "new", "new"]
    assert "dropped" not in counted
    (repeat,) = (item["seen"] for item in items if item["seen"]["verdict"] != "new")
    assert repeat["representative"] == repeat["of"]


def test_after_a_kill_a_second_crawl_finishes(crawl, sites, tmp_path):
    site = sites(most=31)
    number = 60
    for own in range(number):  # each page leads on: the later ones are found through the earlier ones only
        links = [f"/{child}?PHPSESSID={own:026}a" for child in (2 * own + 1, 2 * own + 2) if child < number]
        path = f"/{own}" if own else "/"
        near = own % 3 == 2
        site.pages[path] = page(words(own - 1 if near else own), links, footer=f"Today is day {own}" if near else "")
    _, counted, _ = crawl(site.root, kill_when=lambda: known(tmp_path / "seen") > 10)
    site.go_on()
    assert counted == {}
    before = ids(tmp_path / "seen")
    assert 10 < len(before) < number
    items, counted, told = crawl(site.root)
    assert "never acknowledged" in told or told == ""
    assert counted["reason"] == "finished"
    after = ids(tmp_path / "seen")
    assert set(after) == {f"{site.root}/{own}" if own else f"{site.root}/" for own in range(number)}
    # none was admitted twice
    assert {own: after[own].changed_at for own in before} == {
        own: document.changed_at for own, document in before.items()
    }
    assert counted["known"] == len(before)
    assert sum(counted.get(name, 0) for name in ("new", "near_duplicate", "exact_duplicate")) == number - len(before)
    # repeats are recognised over both runs, and whatever is kept was passed on by the one that finished
    kept = {own for own, document in after.items() if document.representative == own}
    assert len(kept) == len([own for own in range(number) if own % 3 != 2])
    assert {Addresses().id_of(item["url"]) for item in items} == kept
    assert len(items) == len(kept)
    assert not (tmp_path / "seen" / UNFINISHED).exists()
    with Index.open(tmp_path / "seen") as index:
        assert index.check().problems == []


def test_a_crawl_that_was_killed_may_be_gone_on_with_for_new_pages_only(crawl, sites, tmp_path):
    site = sites(most=21)
    site.pages["/"] = "".join(f'<a href="/{own}"></a>' for own in range(60))
    site.pages |= {f"/{own}": page(words(own)) for own in range(60)}
    crawl(site.root, kill_when=lambda: known(tmp_path / "seen") > 10)
    site.go_on()
    before = ids(tmp_path / "seen")
    site.served.clear()
    items, counted, _ = crawl(site.root, refetch="never")
    assert len(items) == 60 - len(before)
    assert len(site.served) == 61 - len(before)
    assert counted["requests/known"] == len(before)


def test_a_crawl_that_was_interrupted_and_has_a_job_fetches_only_its_start_page_twice(crawl, sites, tmp_path):
    site = sites()
    leaves = [f"/{own}" for own in range(30)]
    site.pages["/"] = page(words("home", 30), [*leaves, "/form"])
    site.pages |= {path: page(words(path), [*leaves, "/", "/form"]) for path in leaves}
    site.pages["/form"] = '<form action="/post">'
    job = tmp_path / "job"
    first, counted, _ = crawl(site.root, scrapy={"JOBDIR": str(job), "CLOSESPIDER_PAGECOUNT": 10})
    assert counted["reason"] == "closespider_pagecount"
    assert (job / SEEN).exists()
    then, counted, _ = crawl(site.root, scrapy={"JOBDIR": str(job)})
    assert counted["reason"] == "finished"
    assert {path: number for path, number in Counter(site.served).items() if number > 1} == {"/": 2}
    assert sorted(site.posted) == [b"a", b"b"]
    passed = Counter(item["url"] for item in [*first, *then])
    assert passed == dict.fromkeys([f"{site.root}/", *(f"{site.root}{path}" for path in leaves)], 1)
    assert not (job / SEEN).exists()
    assert not (tmp_path / "seen" / UNFINISHED).exists()


def test_a_killed_crawl_with_a_job_loses_no_page(crawl, sites, tmp_path):
    site = sites(most=31)
    for own in range(60):
        links = [f"/{child}" for child in (2 * own + 1, 2 * own + 2) if child < 60]
        site.pages[f"/{own}" if own else "/"] = page(words(own), links)
    job = {"JOBDIR": str(tmp_path / "job")}
    crawl(site.root, kill_when=lambda: known(tmp_path / "seen") > 10, scrapy=job)
    site.go_on()
    items, counted, _ = crawl(site.root, scrapy=job)
    assert counted["reason"] == "finished"
    assert len({item["url"] for item in items}) == len(items) == 60


def test_crawlers_share_the_index_of_a_service(crawl, sites, tmp_path):
    one, other = sites(), sites()
    for site in (one, other):
        site.pages["/"] = page(words(site.root), ["/a", "/b", f"{one.root}/a"])
        site.pages |= {f"/{name}": page(words(name)) for name in "ab"}
    token, line = new_token("write")
    Index.create(tmp_path / "shared", texts=True, fields={"title": "string"}).close()
    with serving(tmp_path / "shared", tokens=Tokens.parsed([line])) as url:
        ways = {"index": url, "token": token}
        items, counted, told = crawl(one.root, scrapy={"JOBDIR": str(tmp_path / "one")}, **ways)
        assert told == ""
        assert len(items) == 3
        items, counted, _ = crawl(other.root, scrapy={"JOBDIR": str(tmp_path / "other")}, **ways)
        assert [item["url"] for item in items] == [f"{other.root}/"]
        assert counted["requests/known"] == 1  # what the other crawler has fetched
        one.pages["/a"] = page(words("a"), footer="Visitors: 17")
        items, counted, _ = crawl(one.root, refetch="always", changed=0.9, **ways)
        assert (items, counted["known"]) == ([], 3)
        assert "changed" not in counted
    with Index.open(tmp_path / "shared") as index:
        assert index.get([f"{one.root}/b"])[0].fields == {"title": "t"}
    assert {path.name for path in tmp_path.glob("*/unfinished-crawl")} == set()


def test_a_crawl_with_a_service_that_was_killed_starts_again(crawl, sites, tmp_path):
    site = sites(most=31)
    for own in range(60):
        links = [f"/{child}" for child in (2 * own + 1, 2 * own + 2) if child < 60]
        site.pages[f"/{own}" if own else "/"] = page(words(own), links)
    job = {"JOBDIR": str(tmp_path / "job")}
    Index.create(tmp_path / "shared").close()
    with serving(tmp_path / "shared") as url:
        crawl(site.root, kill_when=lambda: known(tmp_path / "shared") > 10, scrapy=job, index=url)
        queues = [path for path in (tmp_path / "job" / "requests.queue").rglob("*") if path.is_file()]
        assert queues
        for path in queues:
            path.write_bytes(b"")  # as far as Scrapy's buffers had been written
        site.go_on()
        items, counted, _ = crawl(site.root, scrapy=job, index=url, signatures=True)
    assert counted["reason"] == "finished"
    assert len({item["url"] for item in items}) == len(items) == 60
    assert counted["passed_on_again"] > 10


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"index": ""}, "must be the folder of the index, or the URL of a service"),
        ({"key_file": "nowhere"}, "the key cannot be read"),
    ],
)
def test_wrong_settings_stop_the_crawl(crawl, sites, settings, complaint):
    site = sites()
    items, _, told = crawl(site.root, **settings)
    assert complaint in told
    assert items == []
    assert site.served == []


def test_every_setting_is_explained():
    from neardup.interfaces.scrapy import Settings

    guide = (Path(__file__).resolve().parents[2] / "docs/guide/crawling.md").read_text("utf-8")
    names = [f"NEARDUP_{one.name.upper()}" for one in fields(Settings)]
    assert [name for name in names if f"`{name}`" not in guide] == []


class Crawler:
    """As much of a crawler as the parts look at."""

    def __init__(self, folder, **settings):
        from scrapy.settings import Settings

        given = {f"NEARDUP_{name.upper()}": value for name, value in settings.items()}
        self.settings = Settings({"NEARDUP_INDEX": str(folder), **given})
        self.counted = Counter()
        self.end = self.endless
        self.stats = SimpleNamespace(inc_value=lambda name: self.counted.update([name]))
        self.signals = SimpleNamespace(connect=self.connect)

    def endless(self, _):
        """Do nothing: the crawl has not begun."""

    def connect(self, close, **_):
        self.end = close


@pytest.fixture
def pipeline(tmp_path):
    crawlers = []

    def make(**settings):
        crawlers.append(Crawler(tmp_path / "seen", **settings))
        return NearDuplicatePipeline.from_crawler(crawlers[-1]), crawlers[-1]

    yield make
    for crawler in crawlers:
        crawler.end("shutdown")


@pytest.mark.parametrize(("seen", "kept"), [(bytes(16), True), (b"", False)])
def test_a_start_that_fails_leaves_an_interrupted_crawl_as_it_is(tmp_path, seen, kept):
    job = tmp_path / "job"
    (job / "requests.queue").mkdir(parents=True)
    (job / SEEN).write_bytes(seen)
    crawler = Crawler(tmp_path / "seen")
    crawler.settings.set("JOBDIR", str(job))
    NearDuplicatePipeline.from_crawler(crawler)
    assert (job / SEEN).read_bytes() == seen  # it is emptied when the crawl begins
    assert (job / "requests.queue").exists() == kept  # what a kill has left is of no use
    crawler.end("shutdown")


@dataclass
class Page:
    url: str
    text: str


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"action": "hide"}, "must be drop or tag"),
        ({"action": ["drop"]}, "must be drop or tag"),
        ({"index": "http://127.0.0.1:9"}, "needs JOBDIR, or NEARDUP_REFETCH"),
        ({"index": "http://127.0.0.1:9", "texts": True}, "cannot be used with the index of a service"),
        ({"index": "http://127.0.0.1:9", "key_file": "key"}, "cannot be used with the index of a service"),
        ({"index": "http://127.0.0.1:9", "durability": "commit"}, "cannot be used with the index of a service"),
        ({"signatures": True}, "needs the URL of a service"),
        ({"changed": 2.0}, "must be a number above 0 and at most 1"),
        ({"changed": "most"}, "NEARDUP_CHANGED='most' must be a number above 0 and at most 1"),
        ({"html": "perhaps"}, "NEARDUP_HTML='perhaps' must be True or False"),
        ({"fields": "url"}, "NEARDUP_FIELDS='url' must map names to kinds"),
        ({"refetch": "sometimes"}, "must be unfinished, never or always"),
        ({"refetch": {"always": 1}}, "must be unfinished, never or always"),
        ({"html": math.inf}, "NEARDUP_HTML=inf must be True or False"),
        ({"templates": "templates.arrow"}, "needs NEARDUP_HTML"),
        (
            {"index": "http://127.0.0.1:9", "html": True, "templates": "t", "signatures": True, "refetch": "never"},
            "cannot be used with NEARDUP_SIGNATURES",
        ),
        ({"urls": "url"}, "is not a setting; the settings are NEARDUP_INDEX"),
        ({"index": 5}, "NEARDUP_INDEX=5 must be the folder of the index"),
        ({"text": 5}, "NEARDUP_TEXT=5 must be the name of a field of items"),
        ({"tag": "", "action": "tag"}, "NEARDUP_TAG='' must be the name of a field of items"),
        ({"url": ""}, "NEARDUP_URL='' must be the name of a field of items"),
        ({"url": "text"}, "NEARDUP_TEXT='text' must not be the field that NEARDUP_URL names"),
        ({"tag": "text", "action": "tag"}, "NEARDUP_TAG='text' must not be a field that NEARDUP_URL or"),
        ({"text_view": "zz"}, "NEARDUP_TEXT_VIEW='zz' needs NEARDUP_HTML = True"),
        ({"text_view": "main"}, "NEARDUP_TEXT_VIEW='main' needs NEARDUP_HTML = True"),
        ({"text_view": "zz", "html": True}, "NEARDUP_TEXT_VIEW='zz' must be auto, main or visible"),
        ({"changed": 2}, "NEARDUP_CHANGED=2.0 must be a number above 0"),
        ({"addresses": "zz"}, "NEARDUP_ADDRESSES='zz' must be Addresses, not a string"),
        ({"durability": "x"}, "durability='x' must be commit, interval or bulk"),
        ({"durability": ""}, "durability='' must be commit"),
        ({"scheme": "foo"}, "scheme='foo' must be a scheme"),
        ({"fields": {"a": "zz"}}, "fields='zz' must have one of these kinds"),
        ({"templates": 5, "html": True}, "NEARDUP_TEMPLATES=5 must be a path: a string or os.PathLike"),
        ({"key_file": ""}, "NEARDUP_KEY_FILE='' must be a path, not an empty string"),
        ({"key_file": "a\0b"}, r"NEARDUP_KEY_FILE='a\\x00b' must be a path, which has no NUL characters"),
        ({"index": "a\0b"}, r"NEARDUP_INDEX='a\\x00b' must be a path, which has no NUL characters"),
        ({"index": "http://", "refetch": "never"}, "url='http://' must be the URL of a service"),
        ({"index": "http://127.0.0.1:9", "refetch": "never", "token": "é"}, "token='.secret.' must be one"),
    ],
)
def test_wrong_settings_are_refused_and_create_no_index(pipeline, tmp_path, settings, complaint):
    with pytest.raises(ParameterError, match=complaint):
        pipeline(**settings)
    assert not (tmp_path / "seen").exists()


def test_settings_do_not_show_the_token():
    assert "secret" not in repr(scrapy.Settings(index="http://a", token="secret"))  # noqa: S106 - no secret


def test_an_index_that_is_there_has_the_fields_and_texts_of_the_settings(pipeline, tmp_path):
    Index.create(tmp_path / "seen", fields={"title": "string"}).close()
    with pytest.raises(ParameterError, match=r"NEARDUP_FIELDS.* which has title \(string\); only a new index"):
        pipeline(fields={"title": "string", "rank": "integer"})
    with pytest.raises(ParameterError, match="NEARDUP_TEXTS=True cannot be used with this index"):
        pipeline(texts=True)
    process, crawler = pipeline(fields='{"title": "string"}', texts=None, url=None)
    process.process_item({"url": "http://a.example/", "text": words(1), "title": "t"})
    crawler.end("finished")
    assert ids(tmp_path / "seen")["http://a.example/"].fields == {"title": "t"}


def test_items_of_any_kind_are_judged(pipeline):
    from scrapy import Field, Item
    from scrapy.exceptions import DropItem

    class Declared(Item):
        url, text = Field(), Field()

    process, crawler = pipeline()
    text = words(1)
    first = Page("http://a.example/", text)
    assert process.process_item(first) is first
    for repeat in (
        {"url": "http://b.example/", "text": f"{text} more"},
        Declared(url="http://c.example/", text=text),
        Page("http://a.example/#x", text),
        Page("http://d.example/", text.encode()),
    ):
        with pytest.raises(DropItem, match=r"(near duplicate|exact duplicate|known): http://a\.example/ is kept"):
            process.process_item(repeat)
    assert crawler.counted == {
        "neardup/new": 1,
        "neardup/near_duplicate": 1,
        "neardup/exact_duplicate": 2,
        "neardup/known": 1,
        "neardup/dropped": 4,
    }


def test_items_without_a_page_are_passed_on_and_counted(pipeline):
    process, crawler = pipeline()
    for item in ({"url": "http://a.example/"}, {"text": "x"}, {"url": 7, "text": "x"}, {"url": " ", "text": "x"}):
        assert process.process_item(item) is item
    assert crawler.counted == {"neardup/not_judged": 4}


def test_of_html_the_visible_text_counts(pipeline):
    from scrapy.exceptions import DropItem

    process, _ = pipeline(html=True, url="link", text="body")
    process.process_item({"link": "http://a.example/", "body": f"<p>{words(1)}</p><script>{words(2)}</script>"})
    with pytest.raises(DropItem):
        process.process_item({"link": "http://b.example/", "body": f"<title>x</title><div>{words(1)}".encode()})


@pytest.fixture
def templates(tmp_path):
    """A file of the template of one host, and three of its pages, which share only the template."""
    from neardup.pipeline.crawl.templates import learn_templates

    menu = "".join(f"<p>{words(1000 + n, 9)}</p>" for n in range(30))

    def page(number, length):
        own = words(number, length)
        return f"http://a.example/{number}", f"<title>{number}</title>{menu}<p>{own}</p>"

    learn_templates([page(number, 300) for number in range(22)]).save(tmp_path / "templates.arrow")
    pages = [{"url": url, "text": html} for url, html in (page(number, 15) for number in (100, 101, 102))]
    return str(tmp_path / "templates.arrow"), pages


def test_lines_of_templates_do_not_count(pipeline, templates, tmp_path):
    from scrapy.exceptions import DropItem

    path, (*pages, another) = templates
    process, crawler = pipeline(html=True, templates=path)
    for page in pages:
        process.process_item(page)
    assert crawler.counted == {"neardup/new": 2}
    crawler.end("finished")
    with Index.open(tmp_path / "seen") as index:
        assert (index.fields, [one.host for one in index.templates.templates]) == ({}, ["a.example"])
    process, crawler = pipeline(html=True)  # the index has kept them
    process.process_item(another)
    assert crawler.counted["neardup/new"] == 1
    crawler.end("finished")
    with pytest.raises(StorageError, match="text view visible"):
        pipeline(html=True, text_view="visible")
    process, crawler = pipeline(html=True, index=str(tmp_path / "plain"))
    process.process_item(pages[0])
    with pytest.raises(DropItem, match="near duplicate"):
        process.process_item(pages[1])


def test_a_service_must_have_the_same_templates(pipeline, templates, tmp_path):
    from neardup.text.host_templates import HostTemplates
    from neardup.web_pages import Extraction

    path, pages = templates
    extraction = Extraction(templates=HostTemplates.load(path))
    folder = tmp_path / "served"
    Index.create(folder, templates=extraction.templates).close()
    Index.create(tmp_path / "without").close()
    with serving(tmp_path / "without") as url, pytest.raises(ParameterError, match="as the service does"):
        pipeline(index=url, html=True, templates=path, refetch="never")
    with serving(folder, extraction=extraction) as url:
        with pytest.raises(ParameterError, match="as the service does"):
            pipeline(index=url, html=True, refetch="never")
        process, crawler = pipeline(index=url, html=True, templates=path, refetch="never")
        for page in pages:
            assert process.process_item(page) is page
        assert crawler.counted["neardup/new"] == 3
    with serving(folder) as url, pytest.raises(ParameterError, match=r"templates\.arrow in the folder of the index"):
        pipeline(index=url, html=True, refetch="never")


@pytest.mark.parametrize("served", [False, True])
def test_pages_of_a_host_without_a_template_must_be_more_alike(pipeline, templates, tmp_path, served):
    from scrapy.exceptions import DropItem

    folder = tmp_path / "seen"
    menu = words(1, 60)  # two pages with it resemble each other by less than 0.8
    one, same_host, other_host = (
        {"url": f"http://{host}.example/{number}", "text": f"<p>{menu}</p><p>{words(number, 15)}</p>"}
        for number, host in ((2, "a"), (3, "a"), (4, "b"))
    )
    process, crawler = pipeline(html=True)  # creates the index
    with ExitStack() as stack:
        if served:
            crawler.end("finished")
            url = stack.enter_context(serving(folder))
            process, crawler = pipeline(index=url, html=True, refetch="never")
        process.process_item(one)
        process.process_item(same_host)
        with pytest.raises(DropItem, match="near duplicate"):
            process.process_item(other_host)
        crawler.end("finished")
    path, (page, *_) = templates
    process, crawler = pipeline(html=True, templates=path)  # learned since
    process.process_item(page)
    crawler.end("finished")
    with Index.open(folder) as index:
        assert [one.host for one in index.templates.templates] == ["a.example"]


def test_a_tag_needs_a_field(pipeline):
    from scrapy import Field, Item

    class Declared(Item):
        url, text = Field(), Field()

    process, crawler = pipeline(action="tag")
    with pytest.raises(KeyError, match="neardup"):
        process.process_item(Declared(url="http://a.example/", text=words(1)))
    assert process.process_item({"url": "http://a.example/", "text": words(1)})["neardup"]["verdict"] == "new"
    assert crawler.counted["neardup/new"] == 1


@pytest.mark.parametrize(("reason", "remains"), [("finished", False), ("shutdown", True)])
def test_only_a_crawl_that_finished_leaves_nothing_unfinished(pipeline, tmp_path, reason, remains):
    process, crawler = pipeline()
    process.process_item({"url": "http://a.example/", "text": words(1)})
    crawler.end(reason)
    assert (tmp_path / "seen" / UNFINISHED).exists() == remains


def test_what_an_unfinished_crawl_has_admitted_does_not_depend_on_the_clock(pipeline, monkeypatch):
    first, second = ({"url": f"http://{name}.example/", "text": words(1)} for name in "ab")
    process, crawler = pipeline()
    process.process_item(first)
    crawler.end("finished")
    monkeypatch.setattr("neardup.pipeline.index.index.microseconds_or_now", lambda _: 0)  # it was set back
    process, crawler = pipeline()
    process.process_item(second | {"text": words(2)})
    crawler.end("shutdown")
    process, crawler = pipeline()
    assert not process._crawl.wants(first["url"], again=False)
    assert process._crawl.wants(second["url"], again=False)
    assert process.process_item(second | {"text": words(2)})
    assert crawler.counted["neardup/passed_on_again"] == 1


@pytest.mark.parametrize("ends", [True, False])
def test_a_crawl_for_changes_passes_on_again_what_a_killed_one_has_not_written(pipeline, ends):
    from scrapy.exceptions import DropItem

    old, lost = ({"url": f"http://{name}.example/", "text": words(name)} for name in "ab")
    process, crawler = pipeline(refetch="always")
    process.process_item(old)
    crawler.end("shutdown")  # which writes it
    process, crawler = pipeline(refetch="always")
    with pytest.raises(DropItem):
        process.process_item(old)
    process.process_item(lost)
    process._crawl.index.close()  # killed
    if ends:
        process, crawler = pipeline(refetch="always")
        crawler.end("shutdown")  # before it has passed on what is missing
    process, crawler = pipeline(refetch="always")
    with pytest.raises(DropItem):
        process.process_item(old)
    assert process.process_item(lost) is lost
    assert crawler.counted["neardup/passed_on_again"] == 1
    with pytest.raises(DropItem):
        process.process_item(lost)


def test_a_crawl_for_changes_does_not_pass_on_what_another_crawler_has_kept(pipeline):
    from scrapy.exceptions import DropItem

    item = {"url": "http://a.example/", "text": words("a")}
    _, crawler = pipeline(refetch="always")
    crawler.end("shutdown")
    process, crawler = pipeline(refetch="always")
    process._crawl.pages.judge_and_admit([item["url"]], [item["text"]])
    with pytest.raises(DropItem):
        process.process_item(item)


def test_a_changed_page_that_repeats_another_is_passed_on_again_by_the_next_crawl(pipeline):
    from scrapy.exceptions import DropItem

    first, second = ({"url": f"http://{name}.example/", "text": words(1)} for name in "ab")
    process, crawler = pipeline()
    process.process_item(first)
    with pytest.raises(DropItem):
        process.process_item(second)
    crawler.end("finished")
    changed = first | {"text": words(1) + " Changed."}
    process, crawler = pipeline()
    assert process.process_item(changed) is changed  # it repeats the second page, which was dropped
    crawler.end("shutdown")
    crawler.end("shutdown")
    process, crawler = pipeline()
    changed = first | {"text": words(1) + " Changed again."}
    assert process.process_item(changed) is changed  # its item may have been lost
    with pytest.raises(DropItem):
        process.process_item(second)
    assert crawler.counted["neardup/passed_on_again"] == 1


def test_requests_read_no_stored_documents(pipeline, monkeypatch):
    process, crawler = pipeline(texts=True)
    process.process_item({"url": "http://a.example/", "text": words(1)})
    crawler.end("finished")
    monkeypatch.setattr(Index, "get", pytest.fail)
    process, crawler = pipeline()
    assert not process._crawl.wants("http://a.example/", again=False)
    assert process._crawl.wants("http://b.example/", again=False)


def test_a_page_that_could_not_be_remembered_leaves_the_crawl_unfinished(pipeline, tmp_path):
    process, crawler = pipeline()
    process._crawl.pages.index.close()
    with pytest.raises(StorageError):
        process.process_item({"url": "http://a.example/", "text": words(1)})
    crawler.end("finished")
    assert (tmp_path / "seen" / UNFINISHED).exists()


def test_a_request_that_could_not_be_checked_leaves_the_crawl_unfinished(pipeline, tmp_path):
    process, crawler = pipeline()
    process._crawl.index.close()
    with pytest.raises(StorageError):
        process._crawl.wants("http://a.example/", again=False)
    crawler.end("finished")
    assert (tmp_path / "seen" / UNFINISHED).exists()


def test_a_broken_mark_is_reported(pipeline, tmp_path):
    Index.create(tmp_path / "seen").close()
    (tmp_path / "seen" / UNFINISHED).write_text("?")
    with pytest.raises(StorageError, match="unfinished-crawl is damaged; remove it"):
        pipeline()
    Index.open(tmp_path / "seen", "w").close()


def test_signatures_are_refused_by_a_service_with_templates():
    plain = Extraction()
    of_no_host = replace(plain, templates=known_templates(plain))
    client = SimpleNamespace(about={"extraction": of_no_host.identity})
    settings = scrapy.Settings(index="http://a", signatures=True)
    with pytest.raises(ParameterError, match="NEARDUP_HTML=False must read pages as the service does"):
        scrapy._require_same(client, plain, settings)
    client.about["extraction"] = plain.identity
    scrapy._require_same(client, plain, settings)


TITLED = Checksum(fields=(Field(name="title"), Field(name="body")))


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"texts": True}, "NEARDUP_SIGNATURES=True cannot be used with this service, whose index stores texts"),
        ({"scheme": TITLED}, "NEARDUP_SIGNATURES=True cannot be used with this service, whose scheme signs fields"),
        ({"key": bytes(16)}, "has another key"),
    ],
)
def test_a_service_that_refuses_signatures_stops_the_crawl_before_it_begins(tmp_path, made, reason):
    Index.create(tmp_path / "other", **made).close()
    with serving(tmp_path / "other", key=made.get("key")) as url:
        crawler = Crawler(url, signatures=True, refetch="never")
        with pytest.raises((ParameterError, StorageError), match=reason):
            NearDuplicatePipeline.from_crawler(crawler)


def test_items_may_lack_signed_fields(pipeline, tmp_path):
    items = [{"url": f"http://a.example/{number}", "text": "a text"} for number in range(2)]
    process, crawler = pipeline(scheme=TITLED)
    assert [process.process_item(item) for item in items] == items
    assert crawler.counted["neardup/empty"] == 2
    crawler.end("finished")
    with serving(tmp_path / "seen") as url:
        crawler = Crawler(url, refetch="never")
        process = NearDuplicatePipeline.from_crawler(crawler)
        assert process.process_item({"url": "http://b.example/", "text": "a text"})["text"] == "a text"
        assert crawler.counted["neardup/empty"] == 1
        crawler.end("finished")
