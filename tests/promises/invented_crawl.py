"""The pages of two hosts, in files of each kind: 22 articles of each, and one that both have."""

from archives_made import http, packed, record
from invented_sites import Site, article, edited
from json_lines import write_lines

from neardup.text.host_templates import HostTemplates
from neardup.web_pages import learn_templates

SITES = [Site(f"host{number}.example") for number in range(2)]
PAGES = [
    *(site.page(f"p{number}", article(f"{site.host} {number}")) for site in SITES for number in range(22)),
    *(site.page("both", edited(article("both", 6), site.host)) for site in SITES),
]


def of_host(site):
    """Return the pages of one of the hosts."""
    return [(url, html) for url, html in PAGES if url.startswith(f"https://{site.host}/")]


def write_table(path, pages=PAGES, *, url="url", html="html"):
    """Write pages as JSON lines with these fields."""
    return write_lines(path, [{url: address, html: page} for address, page in pages])


def write_archive(path, pages=PAGES, *records):
    """Write an archive of pages and of other records."""
    own = [record(uri=url, number=number, block=http(page.encode())) for number, (url, page) in enumerate(pages)]
    path.write_bytes(packed([*own, *records]))
    return path


def write_crawl(folder):
    """Write the pages as a table, and, with a note, as an archive and as a folder; and the templates of the hosts."""
    write_table(folder / "pages.jsonl")
    note = record(uri=f"https://{SITES[0].host}/note", number=99, block=http(b"A note", kind="text/plain"))
    write_archive(folder / "crawl.warc.gz", PAGES, note)
    (folder / "files").mkdir()
    for number, (url, page) in enumerate(PAGES):
        link = f'<head><link rel="canonical" href="{url}">'
        (folder / "files" / f"{number:02}.html").write_text(page.replace("<head>", link))
    (folder / "files" / "note.txt").write_text("A note")
    learn_templates(PAGES).save(folder / "templates.arrow")
    return folder


def templates_in(folder):
    """Return the templates of a crawl."""
    return HostTemplates.load(folder / "templates.arrow")
