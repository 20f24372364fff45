"""Question: which drops of documentation pages are wrong, and how much do real hosts lose to templates."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fastwarc.stream_io import GzipWriter
from fastwarc.warc import WarcRecord, WarcRecordType

from corpus import CACHE
from figures import SMALL, Figure, publish
from neardup import dedup_files
from neardup.web_pages import Extraction, HostTemplates, learn_templates, visible_text
from web_hosts import WRONG, HostPage, Truth, content, hosts
from web_templates import features, learned_from_most, resemblance, timed

METHOD = """
Pages of Debian documentation packages, each package a host; of packages with more than 1,500 pages those 1,500 whose
path has the smallest checksum, so that two versions of a package have the same pages. `dedup_files` drops pages at a
resemblance of 0.6 (3 words). The truth is the exact resemblance (computed without the library) of the elements that
the markup of each package calls the content, without navigation in them: of the same 3 words, and of 5 words, by
which two texts resemble each other less, 0.45 instead of 0.6 if single words differ. A page *repeats* another if its
content resembles that of an earlier page, which is not a repeat itself, by at least 0.6. *Found* are the repeats that
are dropped for a page whose content resembles theirs by at least 0.5; other dropped pages are *wrong*. The weakness
of this truth: a content of Javadoc or Boost contains lines of the template, short contents differ in few words, and
symbols are not words, though code consists of them. *Copies* are one page of a host with a stamp of its own in each
copy, among 54 others of this host: the share of the words of its content that the learned template ignores, at the
worst host. *Drift* is the share of pages of hosts with more than 500 different features under the template of 200 and
under that of 500 pages. *Costs* are processor time of one thread relative to reading the same pages without
templates, the least of three; *learning*, once, reads both views of 200 to 500 pages of each host. *Reading with
templates that are learned in the run* is the processor time of `dedup_files` with `learn_templates` relative to that
without templates, of a Parquet file with one thread, the least of three. *WET* are the visible texts of the pages, as
records of a WET file.
"""
FEW: Final = 20 if SMALL else 200
OTHERS: Final = 54
REPEATS: Final = 3
SIZES: Final = (3, 5)  # words of the truth's shingles


def main() -> None:
    by_host = hosts()
    pages = [page for own in by_host.values() for page in own]
    contents = [content(page.markup.decode(errors="replace")) for page in pages]
    truths = {size: Truth(contents, size) for size in SIZES}
    learn_templates([(page.url, page.markup) for page in pages[:50]])  # compiles
    templates, learning = timed(lambda: learn_templates([(page.url, page.markup) for page in pages], threads=1))
    texts(pages[:10], templates)
    reading, applying = (
        min(timed(lambda known=known: texts(pages, known))[1] for _ in range(REPEATS)) for known in (None, templates)
    )
    ways = {
        "visible text": Extraction(view="visible"),
        "main text": Extraction(),
        "with templates": Extraction(templates=templates),
    }
    figures = [Figure(name="pages", value=len(pages), unit="")]
    repeats = {size: int(truth.repeats().sum()) for size, truth in truths.items()}
    figures += [Figure(name=f"repeats, {size} words", value=number, unit="") for size, number in repeats.items()]
    found_by = {name: representatives(pages, extraction) for name, extraction in ways.items()}
    found_by |= {"WET": of_texts(pages, learn_templates=False), "WET, with templates": of_texts(pages)}
    for name, chosen in found_by.items():
        dropped = sum(kept != page for page, kept in enumerate(chosen))
        figures.append(Figure(name=f"{name}: dropped", value=dropped, unit=""))
        most, least = (10, 0.95) if name.endswith("with templates") else (None, None)
        for size, truth in truths.items():
            found, wrong = judged(chosen, truth)
            share = found / max(1, repeats[size])
            figures += [
                Figure(name=f"{name}: wrong, {size} words", value=wrong, unit="", at_most=most),
                Figure(name=f"{name}: repeats found, {size} words", value=share, unit="", at_least=least),
            ]
    for copies in (20, 200):
        worst = max(ignored(own, copies) for own in by_host.values())
        figures.append(Figure(name=f"copies, {copies}: words ignored", value=worst, unit="", at_most=0.01))
    for host, own in by_host.items():
        if len(own) > 2 * FEW:
            below = drift(own)
            figures += [
                Figure(name=f"drift, {host}: below .8", value=below[0], unit="", at_most=0.05),
                Figure(name=f"drift, {host}: below .6", value=below[1], unit="", at_most=0.01),
            ]
    figures += [
        Figure(name="cost of known templates", value=applying / reading - 1, unit="", at_most=0.2),
        Figure(name="cost of learning", value=learning / reading, unit="", at_most=0.2),
        Figure(name="reading with templates that are learned in the run", value=run_cost(pages), unit="", at_most=0.2),
    ]
    publish("web_pages", "Pages of documentation", METHOD, figures)


def representatives(pages: list[HostPage], extraction: Extraction) -> list[int]:
    """Return the position of the page that stays for each page."""
    return decided(partial(written, pages), html="html", extraction=extraction)


def of_texts(pages: list[HostPage], **options: bool) -> list[int]:
    """Return the same of the visible texts of the pages."""

    def archive(folder: str) -> Path:
        path = Path(folder, "pages.wet.gz")
        with path.open("wb") as file:
            for page in pages:
                record = WarcRecord()
                record.init_headers(record_type=WarcRecordType.conversion)
                record.headers["WARC-Target-URI"], record.headers["Content-Type"] = page.url, "text/plain"
                record.set_bytes_content(visible_text(page.markup).encode())
                record.write(GzipWriter(file, 1))
        return path

    return decided(archive, **options)


def decided(made: Callable[[str], Path], **options: Any) -> list[int]:
    """Return the position of the document that stays for each document of the file that is *made* in a folder."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        report = Path(folder, "report.parquet")
        dedup_files([made(folder)], report=report, **options)
        decided = pq.read_table(report).sort_by("position")
    own = decided["position"].to_pylist()
    other = decided["representative_position"].to_pylist()
    return [place if kept is None else kept for place, kept in zip(own, other, strict=True)]


def written(pages: list[HostPage], folder: str) -> Path:
    path = Path(folder, "pages.parquet")
    columns = {"id": [page.url for page in pages], "html": [page.markup for page in pages]}
    pq.write_table(pa.table({**columns, "url": columns["id"]}), path, row_group_size=500)
    return path


def run_cost(pages: list[HostPage]) -> float:
    """Return by how much more processor time a run needs that learns templates than a run without templates."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        path, given = written(pages, folder), {"html": "html", "threads": 1}
        plain, learned = [], []
        for number in range(REPEATS):
            plain.append(timed(lambda: dedup_files([path], **given))[1])
            file = Path(folder, f"{number}.arrow")
            learned.append(timed(lambda file=file: dedup_files([path], learn_templates=file, **given))[1])
    return min(learned) / min(plain) - 1


def judged(chosen: list[int], truth: Truth) -> tuple[int, int]:
    """Return how many of the repeats are dropped, and how many drops are wrong."""
    drops = [(page, kept) for page, kept in enumerate(chosen) if kept != page]
    right = [page for page, kept in drops if truth.resemblance(page, kept) >= WRONG]
    return int(truth.repeats()[right].sum()), len(drops) - len(right)


def texts(pages: list[HostPage], templates: HostTemplates | None) -> list[str]:
    extraction = Extraction(templates=templates)
    return extraction.pages([page.markup for page in pages], hosts=[page.host for page in pages]).texts


def ignored(own: list[HostPage], copies: int) -> float:
    """Return the share of the words of a page's content that the template ignores if the page is there many times."""
    page, others = own[len(own) // 2], own[: len(own) // 2][:OTHERS]
    made = [stamped(page, number) for number in range(copies)]
    learned = [learn_templates([(one.url, one.markup) for one in chosen]) for chosen in ([*made, *others], others)]
    before, after = (sum(map(len, map(str.split, texts(made[:1], one)))) for one in reversed(learned))
    return max(0.0, 1 - after / before)


def stamped(page: HostPage, number: int) -> HostPage:
    stamp = f"<p>Seen {7919 * number % 10_007} times, last on day {number}.</p></body>".encode()
    return HostPage(page.host, f"{page.url}?copy={number}", page.markup.replace(b"</body>", stamp))


def drift(own: list[HostPage]) -> np.ndarray:
    """Return the shares of pages whose features resemble less than .8 and .6 under two templates."""
    asked = [(page.url, page.markup) for page in own]
    few = features(texts(own, learn_templates(asked[:: len(asked) // FEW][:FEW])))
    many = features(texts(own, learned_from_most(asked)))
    found = np.array([resemblance(one, other) for one, other in zip(few, many, strict=True)])
    return np.array([(found < 0.8).mean(), (found < 0.6).mean()])


if __name__ == "__main__":
    main()
