"""The documentation is true: its examples run, its links lead somewhere, and nothing forbidden is in the repository.

In a fenced block, ``python`` runs (as a doctest if it has prompts), and ``console`` runs its ``$ neardup`` lines;
``text`` is shown only. The blocks of one file share a namespace and a folder, in which ``news.jsonl`` is the bundled
sample collection, and ``removed.txt`` the id of one of its documents. Standard input is empty.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest

from neardup.interfaces.cli import main
from neardup.schemes import registry

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "src/neardup/samples/collection.jsonl"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MAKE_TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))

FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[^\n`]*)\n(?P<body>.*?)^ *(?P=ticks)`*[ ]*$", re.MULTILINE | re.DOTALL
)
CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
EXITS = re.compile(r"\s+# exits (\d+)$")
SHELL_OPERATORS = {"|", "||", "&", "&&", ";", "<", ">", ">>", "2>"}

FORBIDDEN_ANYWHERE = [r"pypi\.org/simple", r"pythonhosted\.org", r"--(?:extra-)?index-url", r"https?://\S+/simple/"]
FORBIDDEN_IN_CODE = [r"\bpickle\.load", r"(?<![\w.])eval\("]


class Block(NamedTuple):
    language: str
    line: int  # of its first line of content, counted from 1
    body: str


class Command(NamedTuple):
    words: list[str]
    exit_code: int
    expected: list[str]


def blocks(markdown: str) -> Iterator[Block]:
    for fence in FENCE.finditer(markdown):
        line = markdown.count("\n", 0, fence.start("body")) + 1
        body = re.sub(f"^ {{0,{len(fence['indent'])}}}", "", fence["body"], flags=re.MULTILINE)
        yield Block(fence["language"].strip(), line, body)


def commands(body: str) -> Iterator[Command]:
    """Cut a console block at its ``$`` prompts; a backslash continues a command on the next line."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        typed, _, output = re.sub(r"\\\n\s*", " ", part, count=part.count("\\\n")).partition("\n")
        exits = EXITS.search(typed)
        yield Command(shlex.split(typed, comments=True), int(exits[1]) if exits else 0, output.splitlines())


def test_the_guide_imports_public_names_only():
    """Rooms are internal, but for the add-on that a setting of Scrapy names."""
    rooms = "|".join(room.parent.name for room in sorted(ROOT.glob("src/neardup/*/__init__.py")))
    inner = re.compile(rf"\bneardup\.(?:{rooms})\b(?!\.scrapy\b)[\w.]*")
    pages = [page for page in PAGES if page.parent.name == "guide" or page.name == "README.md"]
    found = {page.name: inner.findall(page.read_text("utf-8")) for page in pages}
    assert {name: names for name, names in found.items() if names} == {}
    assert inner.findall("from neardup.model.options import Option") == ["neardup.model.options"]


def first_missing(expected: list[str], actual: list[str]) -> str | None:
    """Find the expected line that does not follow its predecessors in the output; ``...`` matches anything."""
    rest = iter(" ".join(line.split()) for line in actual)
    for line in expected:
        words = " ".join(line.split())
        pattern = re.compile(".*".join(re.escape(piece) for piece in words.split("...")))
        if words not in {"", "..."} and not any(pattern.fullmatch(candidate) for candidate in rest):
            return line
    return None


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> None:
    padding = "\n" * (block.line - 1)  # tracebacks name the line of the page
    if ">>>" not in block.body:
        exec(compile(padding + block.body, str(page), "exec"), namespace)  # noqa: S102 - the documentation's own code
        return
    example = doctest.DocTestParser().get_doctest(block.body, {}, page.name, str(page), block.line - 1)
    example.globs = namespace
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    if runner.run(example, out=report.append, clear_globs=False).failed:
        pytest.fail("".join(report), pytrace=False)


def run_console(block: Block, where: str) -> None:
    for command in commands(block.body):
        program, *arguments = command.words
        if program == "make":
            targets = {word for word in arguments if not word.startswith("-") and "=" not in word}
            assert targets <= MAKE_TARGETS, f"{where}: no such target in {command.words}"
        elif program in {"neardup", ".venv/bin/neardup"}:
            assert not SHELL_OPERATORS & set(arguments), f"{where}: no shell runs {command.words}"
            words = [word for word in command.words if word != "</dev/null"]
            run_neardup(command._replace(words=words), where)
        else:
            assert program in {"cd", "git", "pip"}, f"{where}: {program!r} is no command of the documentation"


def run_neardup(command: Command, where: str) -> None:
    code, printed = called(command.words[1:])
    shown = f"{where}: $ {shlex.join(command.words)}\n{printed}"
    assert code == command.exit_code, f"{shown}exited {code}, not {command.exit_code}"
    missing = first_missing(command.expected, printed.splitlines())
    assert missing is None, f"{shown}has no line like (or not in this order): {missing}"


def called(arguments: list[str]) -> tuple[int, str]:
    """Run a command in this process: its exit code, and what it prints to standard output and error."""
    raw = io.BytesIO()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with pytest.MonkeyPatch.context() as patch, Path(os.devnull).open() as nothing:
        for name, value in (("NO_COLOR", "1"), ("COLUMNS", "120")):
            patch.setenv(name, value)
        screen = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
        for name, stream in (("stdin", nothing), ("stdout", screen), ("stderr", screen)):
            patch.setattr(sys, name, stream)
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return code or 0, raw.getvalue().decode()


def without_code(markdown: str) -> str:
    return CODE_SPAN.sub("", FENCE.sub("", markdown))


def anchors(markdown: str) -> set[str]:
    """Name the headings as GitHub does: lower case, punctuation dropped, spaces to hyphens."""
    headings = re.findall(r"^#+ +(.+?) *#*$", FENCE.sub("", markdown), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def tracked_files() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("git does not answer for this checkout")
    names = os.fsdecode(listed.stdout).split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


@pytest.fixture(params=PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def page(request) -> Path:
    return request.param


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_examples_run(page, tmp_path, monkeypatch, request):
    if page.name == "spark.md":
        request.getfixturevalue("spark")  # skips without PySpark or Java
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))  # an example registers a scheme
    if SAMPLE.exists():
        shutil.copy(SAMPLE, "news.jsonl")
    Path("removed.txt").write_text("news-0008\n", "utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page.read_text("utf-8")):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        match block.language:
            case "python":
                with contextlib.redirect_stdout(io.StringIO()):
                    run_python(block, page, namespace)
            case "console":
                run_console(block, where)
            case other:
                assert other == "text", f"{where}: a block is python, console or text, not {other!r}"


def test_relative_links_resolve(page):
    for inline, reference in LINK.findall(without_code(page.read_text("utf-8"))):
        link = inline or reference
        if re.match(r"[a-z][a-z0-9+.-]*:", link, re.IGNORECASE):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), f"{link} leaves the repository"
        assert target.exists(), f"{link} leads nowhere"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text("utf-8")), f"{link}: no such heading"


PAGES_OF_VERBS = {
    "audit": "audit",
    "config": "configuration",
    "contamination": "contamination",
    "label": "labels",
    "mirrors": "addresses",
    "pairs": "pairs",
    "rules": "addresses",
    "templates": "templates",
    "tune": "tuning",
}
LINKS_TO_SHARED_OPTIONS = re.compile(r"\((?:command-line\.md)?#(?:inputs|dedup|what-counts-as-the-same)\)")


def options(verb: str) -> set[str]:
    return set(re.findall(r"^  (--[a-z-]+)", called([verb, "--help"])[1], re.MULTILINE))


def explained(prose: str) -> set[str]:
    return set(re.findall(r"`(?:\w+ )*(--[a-z-]+)[` ]", prose))


def grouped(found: list[tuple[str, str]]) -> dict[str, set[str]]:
    """Return the verbs after each heading."""
    groups: dict[str, set[str]] = {}
    own: set[str] = set()
    for heading, verb in found:
        own = groups.setdefault(heading.lower(), set()) if heading else own
        own.update([verb] if verb else [])
    return groups


def test_every_option_of_the_command_line_is_explained():
    """Each verb has a section or a page, which may link to the section of ``dedup`` for the options that both have."""
    page = (ROOT / "docs/guide/command-line.md").read_text("utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    shared = explained(sections["dedup"]) & options("dedup")
    overview = re.findall(
        r"^(?:([a-z ,]+):|  ([a-z]+) .*)$", called(["--help"])[1].partition("\noptions:")[0], re.MULTILINE
    )
    table = re.findall(r"\*\*(.+?)\*\*|\[`([a-z]+)`\]", page.partition("\n## ")[0])
    assert grouped(overview) == grouped(table), "the table of verbs"
    verbs = [verb for _, verb in overview if verb]
    missing = []
    for verb in verbs:
        (prose,) = [section for heading, section in sections.items() if verb in re.split(r"\W+", heading)] or [
            (ROOT / f"docs/guide/{PAGES_OF_VERBS[verb]}.md").read_text("utf-8")
        ]
        known = explained(prose) | (shared if LINKS_TO_SHARED_OPTIONS.search(prose) else set())
        missing += [f"{verb} {option}" for option in sorted(options(verb) - known)]
    assert missing == []


def test_the_readme_lists_every_page_of_the_guide():
    readme = (ROOT / "README.md").read_text("utf-8").partition("## Documentation")[2]
    assert {path.name for path in (ROOT / "docs/guide").iterdir()} == set(
        re.findall(r"docs/guide/([\w-]+\.md)\)", readme)
    )


def test_the_architecture_names_what_exists():
    page = (ROOT / "docs/ARCHITECTURE.md").read_text("utf-8")
    package = ROOT / "src/neardup"
    folders = {path.name for path in package.iterdir() if (path / "__init__.py").exists()} - {"samples"}
    assert folders == set(re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE))
    modules = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    named = set(re.findall(r"`([\w/]+\.py)`", page))
    assert [name for name in named if not any(f"/{module}".endswith(f"/{name}") for module in modules)] == []


def cells(page):
    """Return the rows of the tables of a page, without their bars."""
    lines = (ROOT / f"docs/{page}.md").read_text("utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def test_tables_of_the_guide_repeat_the_figures_of_benchmarks():
    """Other figures of the guide are rounded in their own ways: compare them when a page is measured again."""
    measured = {row[0]: row[1] for row in cells("benchmarks/presets")}
    kinds = [row for row in cells("guide/choosing") if f"{row[0]}, default: lost of {row[1]}" in measured]
    assert len(kinds) == len({figure.partition(",")[0] for figure in measured if ": lost of " in figure})
    presets = ["default", "`ignore_common=0.1`", "`rewrites`", "`copies`", "`strict`", "`code`", "`short`"]
    for kind, documents, copies, *shown in kinds:
        of = f"lost of {documents}", f"copies left of {copies}"
        assert shown == [" / ".join(measured[f"{kind}, {preset}: {what}"] for what in of) for preset in presets]
    names = {"`minhash` (3 words, 0.6)": "MinHash", "`minhash` (5 words, 0.8)": "MinHash, 5 words, 0.8"}
    names |= {f"`{name.lower()}`": name for name in ("SimHash", "Trials", "Combined", "Sentences")}
    names |= {f"`checksum` ({part})": f"Checksum, {part}" for part in ("whole text", "first 1,024 bytes")}
    found = {row[0]: row[1:] for row in cells("benchmarks/schemes")}
    edits = {row[0]: row[1:] for row in cells("benchmarks/kinds")}
    shown = {row[0]: row[1:] for row in cells("guide/schemes") if len(row) == 9}
    for written, name in names.items():
        seconds, _, right, *_, copies, _ = found[f"{name}, exact"]
        framed, moved, *_, replaced = edits[name]
        figures = [float(one) for one in (seconds, right, copies, framed, moved, replaced)]
        given = [float(one.rstrip(" %s")) for one in (shown[written][0], *shown[written][3:])]
        assert given[0] == pytest.approx(figures[0], abs=0.0501)
        assert given[1:] == pytest.approx(figures[1:], abs=0.501)


def test_no_large_file_is_under_version_control():
    """Such as the output of an experiment: large data is made by scripts."""
    assert [path.name for path in tracked_files() if path.stat().st_size > 1_000_000] == []


def test_nothing_forbidden_is_under_version_control():
    found = []
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        in_code = path.suffix == ".py" and not name.startswith("tests/")  # tests may send an error through pickle
        patterns = FORBIDDEN_ANYWHERE + (FORBIDDEN_IN_CODE if in_code else [])
        text = path.read_text("utf-8", errors="replace")
        found += [f"{name}: {hit[0]}" for pattern in patterns for hit in re.finditer(pattern, text)]
    assert found == []


def test_blocks_keep_their_order_and_line():
    text = "a\n```python\nx = 1\n```\nb\n\n  ```console\n  $ neardup demo\n  ```\n````text\n```\n````\n"
    assert list(blocks(text)) == [
        Block("python", 3, "x = 1\n"),
        Block("console", 8, "$ neardup demo\n"),
        Block("text", 11, "```\n"),
    ]


def test_console_blocks_are_cut_at_their_prompts():
    text = "$ neardup dedup a.jsonl \\\n    --out 'b c.jsonl'\nkept 3\n$ neardup dedup nothing.jsonl  # exits 1\n"
    assert list(commands(text)) == [
        Command(["neardup", "dedup", "a.jsonl", "--out", "b c.jsonl"], 0, ["kept 3"]),
        Command(["neardup", "dedup", "nothing.jsonl"], 1, []),
    ]


@pytest.mark.parametrize(
    ("expected", "missing"),
    [
        ([], None),
        (["one", "three"], None),
        (["o...", "...", "", "thr...e"], None),
        (["three", "one"], "one"),
        (["on"], "on"),
        (["one", "one"], "one"),
    ],
)
def test_expected_lines_are_looked_for_in_order(expected, missing):
    assert first_missing(expected, ["one", "  two ", "three"]) == missing
