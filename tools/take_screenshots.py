"""Take the pictures of the guide: ``python tools/take_screenshots.py [PYTHON]``.

Writes the report of the bundled sample collection, serves an index of it, and photographs both, into ``docs/images``.
*PYTHON* is one with neardup, by default that of ``.venv``. This script itself needs Playwright (``pip install
playwright``, in an environment of its own) and an installed Chromium; neither is needed for anything else. Nothing is
downloaded, and the pages load nothing from elsewhere.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SAMPLES = ROOT / "src" / "neardup" / "samples"
QUIET = ("--no-first-run", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
MOST = 200_000  # bytes of a picture
OPEN = "details:has(li + li) summary"  # the first duplicates of which there are several


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".venv" / "bin" / "python")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("There is no Chromium here: install one, for instance with your system's packages.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder, "report.html")
        command = [python, "-m", "neardup", "dedup", "collection.jsonl", "--dry-run", "--report", str(report)]
        subprocess.run(command, cwd=SAMPLES, check=True)  # noqa: S603 - our own program
        browser = playwright.chromium.launch(executable_path=chromium, args=[*QUIET, "--no-sandbox"])
        of_report = report.as_uri()
        photograph(browser, of_report, "report-light.png", width=1280, height=1240)
        photograph(
            browser, of_report, "report-phone-dark.png", width=390, height=1100, dark=True, start="#largest-clusters"
        )
        with served(python, str(Path(folder, "index"))) as page:
            river, pair = f"{page}?q=river", f"{page}compare?a=news-0008&b=news-0051"
            photograph(browser, river, "page-results.png", width=1000, height=1000)
            photograph(browser, river, "page-duplicates.png", width=1000, height=1000, opened=OPEN)
            photograph(browser, river, "page-phone-dark.png", width=390, height=1100, dark=True, opened=OPEN)
            photograph(browser, pair, "page-comparison.png", width=1200, height=900)
        browser.close()


@contextmanager
def served(python: str, folder: str) -> Iterator[str]:
    """Serve an index of the sample collection, and give the address of its page."""
    index = [python, "-m", "neardup", "index", "collection.jsonl", "--to", folder, "--search"]
    subprocess.run(index, cwd=SAMPLES, check=True)  # noqa: S603 - our own program
    serve = [python, "-m", "neardup", "serve", folder, "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as serving:  # noqa: S603 - our own program
        yield re.search(r"http://\S+?/", serving.stdout.readline())[0]
        serving.terminate()


def photograph(  # noqa: PLR0913
    browser: Browser,
    address: str,
    name: str,
    *,
    width: int,
    height: int,
    dark: bool = False,
    start: str = "body",
    opened: str | None = None,
) -> None:
    """Show the page in a window of this width and keep the picture from the element *start* on."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        offline=address.startswith("file:"),
    )
    view = context.new_page()
    view.goto(address)
    if opened is not None:
        view.locator(opened).first.click()
        view.mouse.move(0, 0)
    wide = view.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        sys.exit(f"{name}: the page is {wide} pixels wide in a window of {width}")
    top = view.locator(start).first.bounding_box()["y"]
    target = IMAGES / name
    view.screenshot(path=target, full_page=True, clip={"x": 0, "y": top, "width": width, "height": height})
    size = target.stat().st_size
    print(f"{target.relative_to(ROOT)}: {size:,} bytes")
    if size > MOST:
        sys.exit(f"{name}: more than {MOST:,} bytes")
    context.close()


if __name__ == "__main__":
    main()
