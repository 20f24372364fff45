import io

import pytest
from rich.console import Console

from neardup import dedup
from neardup.errors import ParameterError
from neardup.pipeline.progress import _rate, bars, followed


def test_a_function_is_called_and_nothing_is_silent(capsys):
    calls = []
    with followed(lambda *call: calls.append(call)) as progress:
        progress("sign", 1, 2)
    assert calls == [("sign", 1, 2)]
    for silent in (None, False):
        with followed(silent) as progress:
            progress("sign", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_bars_are_for_terminals_and_notebooks_only(capsys, monkeypatch):
    dedup(["one two three four"], progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")  # what makes rich take standard error for a terminal
    dedup(["one two three four"], progress=True)
    shown = capsys.readouterr()
    assert "Comparing" in shown.err
    assert shown.out == ""


def test_bars_show_stages_and_rates():
    output = io.StringIO()
    with bars(Console(file=output, force_terminal=True, width=100)) as update:
        for done in (0, 5_000_000, 10_000_000):
            update("read", done, 10_000_000)
        update("compact", 1, 0)
        update("another", 1, 2)
    shown = output.getvalue()
    assert all(words in shown for words in ("Reading", "Merging", "another", "100%"))


@pytest.mark.parametrize(
    ("stage", "rate"),
    [
        ("fields", "5 MB/s"),
        ("read", "5 MB/s"),
        ("sign", "5,000,000 docs/s"),
        ("compare", ""),
        ("bucket", ""),
        ("copy", ""),
    ],
)
def test_a_rate_has_the_unit_of_its_stage(stage, rate):
    assert _rate(stage, 5e6) == rate


@pytest.mark.parametrize("wrong", [1.5, "yes", [True]])
def test_what_cannot_be_called_is_refused(wrong):
    with pytest.raises(ParameterError, match="progress"):
        dedup(["a"], progress=wrong)
