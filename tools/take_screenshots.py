"""Take the pictures of the guide: ``python tools/take_screenshots.py [PYTHON]``.

Writes the report of the bundled sample collection and photographs it, into ``docs/images``. *PYTHON* is one with
neardup, by default that of ``.venv``. This script itself needs Playwright (``pip install playwright``, in an
environment of its own) and an installed Chromium; neither is needed for anything else. Nothing is downloaded, and the
page loads nothing.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SAMPLES = ROOT / "src" / "neardup" / "samples"
QUIET = ("--no-first-run", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
MOST = 200_000  # bytes of a picture


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".venv" / "bin" / "python")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("There is no Chromium here: install one, for instance with your system's packages.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder, "report.html")
        command = [python, "-m", "neardup", "dedup", "collection.jsonl", "--dry-run", "--report", str(page)]
        subprocess.run(command, cwd=SAMPLES, check=True)  # noqa: S603 - our own program
        browser = playwright.chromium.launch(executable_path=chromium, args=[*QUIET, "--no-sandbox"])
        photograph(browser, page, "report-light.png", width=1280, height=1240, dark=False, start="body")
        photograph(browser, page, "report-phone-dark.png", width=390, height=1100, dark=True, start="#largest-clusters")
        browser.close()


def photograph(browser: Browser, page: Path, name: str, *, width: int, height: int, dark: bool, start: str) -> None:  # noqa: PLR0913
    """Show the page in a window of this width and keep the picture from the element *start* on."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", offline=True
    )
    view = context.new_page()
    view.goto(page.as_uri())
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
