"""House rules that neither import-linter nor ruff can see."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import neardup

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/neardup"
TESTS = ROOT / "tests"
SHAPELESS = {"utils", "helpers", "common", "misc", "base", "manager"}
ROOMS = sorted(room.parent.relative_to(SOURCE) for room in SOURCE.rglob("__init__.py"))
HOUSE_TESTS = {
    "test_arguments.py",
    "test_docs.py",
    "test_docstrings.py",
    "test_contracts.py",
    "test_english.py",
    "test_processes.py",
}


def loaded_by(*arguments: str) -> set[str]:
    """Top-level names of all that a fresh interpreter imports."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    timed = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in timed}


def test_importing_loads_nothing_heavy():
    loaded = loaded_by("-c", "import neardup")
    assert "neardup" in loaded
    assert loaded.isdisjoint({"numba", "llvmlite", "pyarrow", "numpy", "rich", "jinja2"})


def test_help_loads_nothing_heavy():
    loaded = loaded_by("-m", "neardup", "--help")
    assert "neardup" in loaded
    assert loaded.isdisjoint({"numba", "llvmlite", "pyarrow", "jinja2"})


def test_a_command_ends_without_a_search_for_garbage():
    script = (
        "import atexit, gc; from neardup.interfaces.cli import main; "
        "atexit.register(lambda: print(gc.get_freeze_count() > 0)); main(['plan'])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, encoding="utf-8")
    assert done.stdout.splitlines()[-1] == "True"


def test_public_names_exist():
    assert len(set(neardup.__all__)) == len(neardup.__all__)
    for name in neardup.__all__:
        assert getattr(neardup, name) is not None, name
    assert set(neardup.__all__) <= set(dir(neardup))


@pytest.mark.parametrize(
    "module",
    [
        *("collapsing", "custom_schemes", "errors", "hamming", "labels", "planning"),
        *("results", "spark", "urls", "verdicts", "web_pages"),
    ],
)
def test_public_names_of_modules_exist(module):
    found = getattr(neardup, module)
    assert found.__all__ == sorted(found.__all__, key=lambda name: (not name.isupper(), name))  # as ruff sorts
    for name in found.__all__:
        assert getattr(found, name) is not None, name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = neardup.no_such_name


def test_one_module_imports_spark():
    found = {path.name for path in SOURCE.rglob("*.py") if re.search(r"(import|from) pyspark", path.read_text("utf-8"))}
    assert found == {"spark.py"}
    assert "pyspark" not in (SOURCE / "pipeline/files/spark.py").read_text("utf-8")


def test_a_class_name_is_used_once():
    named = re.compile(r"^class (\w+)", re.MULTILINE)
    found = [name for path in SOURCE.rglob("*.py") for name in named.findall(path.read_text("utf-8"))]
    assert len(found) > 400
    assert [name for name, number in Counter(found).items() if number > 1] == []


def test_no_module_has_a_shapeless_name():
    names = {part for path in SOURCE.rglob("*.py") for part in path.relative_to(SOURCE).with_suffix("").parts}
    assert names.isdisjoint(SHAPELESS)


@pytest.mark.parametrize("room", ROOMS, ids=Path.as_posix)
def test_tests_mirror_modules(room):
    strays = []
    for test in sorted((TESTS / room).glob("test_*.py")):
        module = SOURCE / room / test.stem.removeprefix("test_")
        if test.name not in HOUSE_TESTS and not module.with_suffix(".py").is_file() and not module.is_dir():
            strays.append(test.relative_to(ROOT).as_posix())
    assert strays == []


def test_every_module_has_a_test_of_its_name():
    untested = []
    for module in sorted(SOURCE.rglob("*.py")):
        own = module.relative_to(SOURCE)
        declares = any(isinstance(part, ast.FunctionDef) for part in ast.walk(ast.parse(module.read_text("utf-8"))))
        if declares and not module.name.startswith("__") and not (TESTS / own.parent / f"test_{own.name}").is_file():
            untested.append(own.as_posix())
    assert untested == []
