"""The search page in a real browser, over an index of the bundled sample collection and of documents with odd names."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import neardup
from neardup.pipeline.files.ingestion import add_files
from neardup.pipeline.query.search import Search

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

QUIET = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
SAMPLE = Path(neardup.__file__).parent / "samples" / "collection.jsonl"
ODD = [
    "a b  c",
    "tab\tand\tmore",
    "x&y=1#z?q=%20+%zz",
    "\"double\" 'single' `back`",
    "שלום עולם",
    "\u202egnirts\u202c",
    "\U0001f469\u200d\U0001f33e\U0001f69c",
    "n\0l",
    "<b>bold</b>",
    "https://odd.example/a b?c=d&e#f",
    "%41" * 300,
]
OWL = "An owl with one white feather has moved into the tower of the old observatory, says the caretaker of the place"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("page") / "seen")
    add_files([str(SAMPLE)], folder, search=True)
    with neardup.Index.open(folder, "w") as index:
        texts = [f"{OWL}, number {place}." for place in range(len(ODD))]
        index.admit(ODD, texts, {"title": ODD, "url": [None] * len(ODD)})
        index.admit(
            ["bridge"], ["One swing bridge, whose opening was never recorded anywhere else"], {"title": ["Unheard"]}
        )
        Search.open(index).close()
    return folder


@pytest.fixture(scope="module")
def address(folder):
    """Serve it as everybody does."""
    command = [sys.executable, "-m", "neardup", "serve", folder, "--port", "0"]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://\S+:\d+", serving.stdout.readline())[0]
    finally:
        serving.terminate()
        assert serving.wait(120) == 0
        serving.stdout.close()


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def look(chromium, address):
    """Open pages; at the end the console has no messages, and there were no requests to other servers."""
    contexts, asked, said = [], [], []

    def look(path="/", **looks):
        context = chromium.new_context(base_url=address, **{"viewport": {"width": 1000, "height": 800}, **looks})
        contexts.append(context)
        view = context.new_page()
        view.set_default_timeout(10_000)
        view.on("request", lambda request: asked.append(request.url))
        view.on("console", lambda message: said.append(message.text))
        view.on("pageerror", lambda error: said.append(str(error)))
        view.goto(path)
        return view

    yield look
    for context in contexts:
        context.close()
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(address).netloc}
    assert [line for line in said if "404" not in line and "422" not in line] == []


def total(view):
    return view.locator(".total").inner_text()


def titles(view):
    return view.locator("article h2").all_inner_texts()


def test_from_the_start_to_a_comparison(look):
    view = look()
    assert view.title() == "neardup"
    view.get_by_role("searchbox").fill("harbour")
    view.get_by_role("button", name="Search").click()
    assert re.fullmatch(r"\d+ results, [1-9]\d* repeats? hidden", total(view))
    assert len(titles(view)) == 10
    assert view.locator(".snippet mark").first.inner_text().lower() == "harbour"

    duplicates = view.locator("details").first
    hidden = duplicates.locator(".why").first
    assert not hidden.is_visible()
    duplicates.locator("summary").click()
    assert re.match(r"Near duplicate, verified: resemblance [01]\.\d\d, at least 0\.6 by minhash", hidden.inner_text())

    duplicates.get_by_role("link", name="Compare").first.click()
    assert view.get_by_role("heading", level=1).inner_text() == "Two documents compared"
    decision = "These two repeat each other, by the rule of the index, on their texts"
    assert view.locator(".decision").inner_text() == decision
    assert view.locator(".text").count() == 2
    assert view.locator(".text mark").count() >= 2
    view.locator(".text a").first.click()
    assert urlsplit(view.url).fragment == "b0"
    view.get_by_role("heading", level=2).get_by_role("link").first.click()
    assert "/documents?id=" in view.url


def test_the_switch_shows_repeats_and_hides_them_again(look):
    view = look("/?q=harbour")
    few, said = len(titles(view)), total(view)
    groups, hidden = map(int, re.findall(r"\d+", said))
    view.get_by_role("link", name="shown").click()
    assert total(view) == f"{groups + hidden} results, repeats shown"
    assert view.locator("details").count() == 0
    view.get_by_role("link", name="hidden").click()
    assert (len(titles(view)), total(view)) == (few, said)


def test_rule_and_strictness_stay_for_the_next_query(look):
    view = look("/?q=bridge")
    view.get_by_role("link", name="same site").click()
    by_site = total(view)
    view.locator("summary").first.click()
    assert view.locator(".why").first.inner_text().startswith("Same site: ")
    view.get_by_role("link", name="near-duplicate").click()
    view.get_by_role("link", name="strictest").click()
    strictest = total(view)
    assert by_site != strictest
    view.get_by_role("searchbox").fill("harbour")
    view.get_by_role("searchbox").press("Enter")
    chosen = ["hidden", "near-duplicate", "strictest 0.95", "best first"]
    assert view.locator("[aria-current=true]").all_inner_texts() == chosen


def test_pages_have_every_result_once(look):
    view = look("/?q=the")
    met = titles_by_link(view)
    groups = int(re.match(r"\d+", total(view))[0])
    while view.get_by_role("link", name="Next").count():
        view.get_by_role("link", name="Next").click()
        met += titles_by_link(view)
    assert len(met) == len(set(met)) == groups
    assert "of the first 100 of" in total(view)
    view.get_by_role("link", name="Page 1", exact=True).click()
    assert titles_by_link(view) == met[:10]
    assert view.get_by_role("link", name="Previous").count() == 0


def titles_by_link(view):
    return view.locator("article h2 a").evaluate_all("all => all.map(one => one.getAttribute('href'))")


def test_many_duplicates_are_listed_on_pages_of_their_own(look):
    view = look("/?q=the&rule=site")
    many = view.locator("details", has=view.locator("ul + p")).first
    number = int(re.search(r"\d+", many.locator("summary").inner_text())[0])
    many.locator("summary").click()
    assert many.locator("li").count() == 5
    many.get_by_role("link", name="List all").click()
    assert view.get_by_role("heading", level=1).inner_text() == f"{number} more from this site"
    listed = view.locator(".members li").count()
    while view.get_by_role("link", name="Next").count():
        view.get_by_role("link", name="Next").click()
        listed += view.locator(".members li").count()
    assert listed == number
    view.get_by_role("link", name="All results").click()
    assert "rule=site" in view.url


def test_odd_names_lead_to_their_documents_and_comparisons(look):
    view = look("/?q=owl")
    assert total(view) == f"1 result, {len(ODD) - 1} repeats hidden"
    view.locator("summary").click()
    view.get_by_role("link", name="List all").click()
    pages = [view.url]
    while view.get_by_role("link", name="Next").count():
        view.get_by_role("link", name="Next").click()
        pages.append(view.url)
    documents, comparisons = set(), set()
    for page in pages:
        view.goto(page)
        links = view.locator("main a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        documents |= {one for one in links if one.startswith("/documents")}
        comparisons |= {one for one in links if one.startswith("/compare")}
    assert (len(documents), len(comparisons)) == (len(ODD), len(ODD) - 1)
    for one in documents | comparisons:
        view.goto(one)
        assert "An owl" in view.locator(".text").first.inner_text()


def test_odd_queries_are_answered_and_stay_in_the_box(look):
    view = look()
    for query in (*ODD[:-1], '"unclosed', "NEAR( OR AND", "title:x*", "-", "\U0001f69c"):
        view.goto("/")
        view.get_by_role("searchbox").fill(query)
        view.get_by_role("searchbox").press("Enter")
        view.wait_for_url("**/?q=*")
        assert view.locator(".total, .nothing").first.is_visible(), query
        assert view.get_by_role("searchbox").input_value().split() == query.replace("\0", " ").split()


def test_nothing_one_and_errors(look):
    view = look("/?q=zzzzqqq")
    assert "No document has all of these words." in view.locator("main").inner_text()
    view.goto("/?q=bridge+unheard")
    assert total(view) == "1 result, no repeats hidden"
    assert view.locator("nav.pages").count() == 0
    view.goto("/?q=bridge&page=99")
    view.get_by_role("link", name="To the last one").click()
    assert titles(view)
    for path, said in (("/?q=x&page=0", "Invalid request"), ("/documents?id=nobody", "Unknown document")):
        view.goto(path)
        assert view.get_by_role("heading", level=1).inner_text() == said
        view.get_by_role("link", name="To the start page", exact=True).click()
        assert view.get_by_role("searchbox").is_visible()


def test_the_keyboard_is_enough(look):
    view = look()
    playwright.expect(view.locator("#q")).to_be_focused(timeout=30_000)  # as the start has it, once it is drawn
    view.keyboard.type("harbour")
    view.keyboard.press("Enter")
    view.wait_for_url("**/?q=harbour")

    view.keyboard.press("Tab")
    skip = view.get_by_role("link", name="Skip to the content")
    assert skip.evaluate("one => one === document.activeElement")
    assert skip.bounding_box()["y"] >= 0
    view.keyboard.press("Enter")
    for _ in range(40):
        view.keyboard.press("Tab")
        if view.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    assert view.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    view.keyboard.press("Enter")
    assert view.locator("details[open]").count() == 1
    for _ in range(4):
        view.keyboard.press("Tab")
        if view.evaluate("document.activeElement.className") == "compare":
            break
    view.keyboard.press("Enter")
    view.wait_for_url("**/compare?*")


PATHS = ["/", "/?q=harbour", "/?q=the&rule=site&page=2", "/?q=owl", "/compare?a=sport-0001&b=sport-0017", "/nowhere"]


CONTRASTS = """() => {
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map(one => one / 255)
      .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = one => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!colour.endsWith(', 0)')) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const low = [];
  for (const one of document.querySelectorAll('body *')) {
    if (![...one.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(one.outerHTML.slice(0, 80));
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_every_text_is_in_view_and_stands_out(look, scheme):
    view = look(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    grounds = set()
    for path in PATHS:
        view.goto(path)
        view.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert view.evaluate("document.documentElement.scrollWidth") == 390, path
        assert view.evaluate(CONTRASTS) == [], path
        grounds.add(view.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == {"rgb(255, 255, 255)" if scheme == "light" else "rgb(18, 22, 27)"}


def test_without_scripts_all_of_it_works(look):
    view = look(java_script_enabled=False)
    view.get_by_role("searchbox").fill("harbour")
    view.get_by_role("button", name="Search").click()
    view.locator("summary").first.click()
    view.locator("details a.compare").first.click()
    assert view.locator(".text").count() == 2


def test_every_control_has_a_name_and_every_page_its_landmarks(look):
    view = look()
    for path in PATHS:
        view.goto(path)
        assert view.get_by_role("main").count() == view.get_by_role("banner").count() == 1
        assert view.get_by_role("contentinfo").count() == view.get_by_role("search").count() == 1
        assert view.get_by_role("heading", level=1).count() == 1
        assert view.evaluate("document.documentElement.lang") == "en"
        names = view.locator("a, button, input:not([type=hidden]), summary").evaluate_all(
            "all => all.map(one => (one.textContent || one.getAttribute('aria-label') || '').trim()"
            " || (one.labels && one.labels[0] && one.labels[0].textContent) || '')"
        )
        assert all(names), path
        ids = view.locator("[id]").evaluate_all("all => all.map(one => one.id)")
        assert len(ids) == len(set(ids)), path
