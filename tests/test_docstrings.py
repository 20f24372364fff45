"""The examples in docstrings are true. pytest's own option for them loads every module in every process of a run."""

import doctest
import importlib
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parent.parent / "src"
WITH_EXAMPLES = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(SOURCES.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(module):
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted
    assert not found.failed
