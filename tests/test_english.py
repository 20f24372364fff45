"""The documentation, the messages and the help are in plain English: a table of constructions that are not used.

Checked are the documentation (without code), the texts of the HTML templates, the string constants of the package that
are not docstrings, and all docstrings and comments.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "docs/ARCHITECTURE.md",
    ROOT / "docs/glossary.md",
    *(
        page
        for folder in ("benchmarks", "decisions", "guide")
        for page in sorted((ROOT / "docs" / folder).glob("*.md"))
    ),
]
PACKAGE = ROOT / "src/neardup"
TEMPLATES = sorted(PACKAGE.rglob("templates/*.html"))
ROOMS = sorted({module.relative_to(PACKAGE).parts[0] for module in PACKAGE.rglob("*.py")})

RATED = "document|row|line|token|key|scheme|probe|promise|record|second|minute|page|feature|hash|band|pair|verb|step"
RULES = {  # a pattern, and what to write instead of what it finds
    r"(?<!\bthere )\b(is|are|was|were|be) (?-i:none)\b": "is invalid, is not found, or the verb negated",
    r"(?<!\bthere )\b(is|are|was|were) no (?!longer|more|less|better|worse|different|later|earlier)": "is not a ...",
    r"\bwhat (is|are|was|were) (no|not)\b": "a noun, such as: invalid records",
    r"(?:^|[.;:,|] |\b(?:and|by|for|of|to|with) )who (?!is \w+\?)": "a noun before it, such as: clients with a token",
    r"\bwhoever\b|\bnobody\b|\beverybody\b": "the noun: users, callers, no client, every document",
    r"(?:^|[.;] )what (is|was|were|came|comes|goes|stands|follows) [^.;?]* (is|are|was|raises|goes|takes)\b": "a noun",
    r"\bwhatever\b": "regardless of, any",
    r"\banew\b|\bafresh\b|\bonce more\b": "again",
    r"\bby then\b": "the moment or state that is meant",
    r"\bby and by\b": "over time",
    r"\bas (it|they) (comes?|came|lies?|stands?)\b": "with its defaults, unchanged, in input order",
    r"\b(stands?|stood) (for|in|at|there|behind|before|beside|around)\b": "is in, represents",
    r"\bstands\b": "is",
    r"\bset aside\b": "rejected",
    r"\bcrowded\b": "oversized",
    r"\bkeepers?\b|\bkept ones?\b": "representative, kept document",
    r"\bmates?\b": "matched hit",
    r"\bstrangers?\b": "unrelated document",
    r"\bbeside\b": "next to, compared with",
    r"\bso many\b": "the number: at most this many, N workers",
    r"\bsuch (a |an )?ones?\b": "the noun again",
    r"\b(tells?|told|telling|foretells?)\b": "report, return, distinguish, predict",
    r"\b(say|says|said|saying)\b": "report, state, show, return, define",
    r"\bgo(es)? (with|for|by|when|on)\b": "fit, be removed, depend on, continue",
    r"\bgone\b": "removed, missing",
    r"\bof which\b": "whose, or subject - verb - object",
    r"\bin vain\b": "cannot",
    r"\bwish(es|ed)?\b": "requirements",
    rf"\b(bytes?|rows?|lines?|modules?|candidates|keys|ten|\d|[MG]B|times) an? ({RATED})\b": "per",
    rf"\b(a|one) (row|line|module|key|byte|page|file) an? ({RATED})\b": "one row per document",
    r"\bin which stands?\b": "that contains",
    r"\bleads? to\b|\bled by\b": "link to, cause, sorted by",
    r"\bpooled\b": "position-independent",
    r"\bamendments?\b": "updates",
    r"\b(mends?|mended)\b": "fix, repair",
    r"\bunless (it|you) (is|are)? ?(say|says|said|told) otherwise\b": "by default",
}
DOCSTRING_RULES = {  # of docstrings and comments alone
    r"^(gives?|tells?|takes?) (?!part\b)": "Return ..., Read ..., or another verb for what it does",
    r"\bhow likely\b": "the probability that",
    r"\bmeanwhile\b": "at the same time",
    r"\banybody\b|\bsomebody\b": "anyone, a client, a caller",
    r"\bas good as\b": "practically, almost",
    r"\bhow .{1,30} (?:it is|they are) (?:laid out|meant)\b": "a noun",
    r"\bin its stead\b|\bof it(?:s)? own accord\b": "instead",
    r"\bof late\b|\bahead of\b.{0,20}\btime\b": "recently, before",
    r"\bthe like\b|\band such\b": "the nouns",
    r"\bevery one a\b": "each is a",
    r"\bas far as (?:they are|there are)\b": "those that exist",
    r"\bmust it\b|\bmay it\b": "subject - verb - object",
}
FOUND = {re.compile(pattern, re.IGNORECASE): instead for pattern, instead in RULES.items()}
FOUND_IN_DOCSTRINGS = FOUND | {re.compile(rule, re.IGNORECASE): instead for rule, instead in DOCSTRING_RULES.items()}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
MARKUP = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|</?\w[^>]*>", re.DOTALL)
QUOTED = re.compile(r'"([^"<>{}]* [^"<>{}]*)"')
CODE = re.compile(r"^(?P<indent> *)```.*?^(?P=indent)```[^\n]*$|`[^`]*`", re.MULTILINE | re.DOTALL)
PARAGRAPH = re.compile(r"(?:(?!\n\s*\n|\n\s*[-|#]).)+", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z*\[])")


class Text(NamedTuple):
    file: str
    line: int
    sentence: str


def trouble(texts: Iterator[Text], rules: dict[re.Pattern[str], str] = FOUND) -> list[str]:
    """Return a line for each construction that is not used: where it is, what to write instead, and the sentence."""
    return [
        f"{text.file}:{text.line}: {match[0].strip()!r}: write: {instead} | {text.sentence}"
        for text in texts
        for pattern, instead in rules.items()
        if (match := pattern.search(text.sentence))
    ]


def sentences(prose: str, file: str, line: int = 1) -> Iterator[Text]:
    """Yield the sentences of a text, each on one line."""
    start = 0
    for piece in [*SENTENCE.finditer(prose), None]:
        end = piece.start() if piece else len(prose)
        sentence = " ".join(prose[start:end].split())
        if sentence:
            yield Text(file, line + prose.count("\n", 0, start), sentence)
        start = piece.end() if piece else end


def of_page(page: Path) -> Iterator[Text]:
    """Yield the sentences of a page of documentation, without its code."""
    text = CODE.sub(lambda code: "\n" * code[0].count("\n") or "CODE", page.read_text("utf-8"))
    for paragraph in PARAGRAPH.finditer(text):
        line = text.count("\n", 0, paragraph.start()) + 1
        yield from sentences(paragraph[0], page.relative_to(ROOT).as_posix(), line)


def of_template(template: str, file: str) -> Iterator[Text]:
    """Yield the sentences of an HTML template: its text, and the quoted texts in its tags and expressions."""
    prose = MARKUP.sub(lambda code: "\n" * code[0].count("\n") or (" " if code[0][0] == "<" else " CODE "), template)
    for paragraph in PARAGRAPH.finditer(prose):
        yield from sentences(paragraph[0], file, prose.count("\n", 0, paragraph.start()) + 1)
    for quoted in QUOTED.finditer(template):
        yield from sentences(quoted[1], file, template.count("\n", 0, quoted.start()) + 1)


def of_module(source: str, file: str) -> Iterator[Text]:
    """Yield the sentences among the string constants of a module that are not docstrings."""
    nodes = [*ast.walk(ast.parse(source))]
    owners = [node for node in nodes if isinstance(node, DOCUMENTED) and ast.get_docstring(node)]
    skipped = {id(owner.body[0].value) for owner in owners if isinstance(owner.body[0], ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield from sentences(node.value if " " in node.value.strip() else "", file, node.lineno)


def of_docstrings(source: str, file: str) -> Iterator[Text]:
    """Yield the sentences of the docstrings of a module, without code, and of its comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and (docstring := ast.get_docstring(node)):
            yield from of_docstring(docstring, file, getattr(node, "lineno", 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type:")):
            yield from sentences(token.string.lstrip("# "), file, token.start[0])


def of_docstring(docstring: str, file: str, line: int) -> Iterator[Text]:
    prose = re.sub(r"^(?:>>>|\.\.\.).*?$|``.*?``|\*\w+\*", "CODE", docstring, flags=re.MULTILINE | re.DOTALL)
    for paragraph in PARAGRAPH.finditer(prose):
        yield from sentences(paragraph[0], file, line)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_documentation(page):
    found = trouble(of_page(page))
    assert not found, "\n".join(found)


def test_the_messages():
    found = [
        line
        for module in modules()
        for line in trouble(of_module(module.read_text("utf-8"), module.relative_to(ROOT).as_posix()))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("template", TEMPLATES, ids=[template.name for template in TEMPLATES])
def test_the_texts_of(template):
    found = trouble(of_template(template.read_text("utf-8"), template.name))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("room", ROOMS)
def test_the_docstrings_and_comments_of(room):
    found = [
        line
        for module in modules()
        if (name := module.relative_to(PACKAGE)).parts[0] == room
        for line in trouble(of_docstrings(module.read_text("utf-8"), name.as_posix()), FOUND_IN_DOCSTRINGS)
    ]
    assert not found, "\n".join(found)


def test_a_planted_sentence_is_found():
    source = '"""A verb."""\nraise ValueError("this record is none")\n'
    [found] = trouble(of_module(source, "x.py"))
    assert found.startswith("x.py:2: 'is none': write: is invalid")
    source = '"""Tell what is there."""\n\nvalue = 1  # whatever it is\n'
    assert not trouble(of_module(source, "x.py"))
    assert len(trouble(of_docstrings(source, "x.py"))) == 2
    assert trouble(of_docstring("Give the value.", "x.py", 1), FOUND_IN_DOCSTRINGS)
    assert not trouble(of_docstring("Return ``nobody``.\n\n>>> whatever\n1", "x.py", 1), FOUND_IN_DOCSTRINGS)
    assert not trouble(sentences("There is no index. It is no longer read.", "x.md"))


@pytest.mark.parametrize(
    "sentence",
    [
        "The file is no index.",
        "What is no record is skipped.",
        "It stands for the others.",
        "Records that were set aside.",
        "There is one row a document.",
        "At 600 MB a second.",
        "The best of these, of which there are many.",
        "Whoever has a token.",
        "It is answered by who has it.",
    ],
)
def test_each_kind_is_found(sentence):
    assert trouble(sentences(sentence, "x.md"))


def test_the_texts_of_a_template_are_found():
    template = (
        '{% if nobody %}\n<p title="Nobody is here">Whatever {{ one or "Read it anew" }}</p>{# They stand there. #}'
    )
    found = {line.split("'")[1] for line in trouble(of_template(template, "x.html"))}
    assert found == {"Nobody", "Whatever", "anew", "stand there"}


def test_a_page_is_read_without_its_code(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\nA `kept one` is fine.\n\n```text\nNobody says so.\n```\n\n- an item\n- nobody\n  knows\n"
    )
    [found] = trouble(of_page(page))
    assert found.startswith("page.md:10: 'nobody'")
