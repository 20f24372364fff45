import sys

import pytest

from neardup.interfaces.cli import main
from neardup.interfaces.cli.warm import say_if_cold
from neardup.pipeline import compiled, warm_up


@pytest.fixture
def cold(monkeypatch):
    monkeypatch.setattr(compiled, "is_warm", lambda: False)
    monkeypatch.setattr(warm_up, "warm", lambda: None)


def test_warming_what_is_warm_says_so(capsys, monkeypatch):
    monkeypatch.setattr(compiled, "is_warm", lambda: True)
    monkeypatch.setattr(warm_up, "warm", lambda: None)
    assert main(["warm"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Checking the kernels")
    assert "Ready after" in shown.out
    assert shown.err == ""


def test_warming_says_what_it_does(capsys, cold):
    assert main(["warm"]) == 0
    assert capsys.readouterr().out.startswith("Compiling the kernels for this machine")


def test_a_cold_start_is_announced_on_standard_error(capsys, cold):
    say_if_cold()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "compiling the kernels" in shown.err


def test_a_warm_start_and_a_closed_standard_error_are_silent(capsys, monkeypatch):
    monkeypatch.setattr(compiled, "is_warm", lambda: True)
    say_if_cold()
    monkeypatch.setattr(compiled, "is_warm", lambda: False)
    monkeypatch.setattr(sys, "stderr", None)
    say_if_cold()
    assert capsys.readouterr() == ("", "")


def test_it_takes_no_arguments(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["warm", "more"])
    assert stopped.value.code == 2
    assert "unexpected arguments: more" in capsys.readouterr().err
