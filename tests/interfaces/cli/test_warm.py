import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from neardup.interfaces.cli import main
from neardup.interfaces.cli.warm import say_if_cold
from neardup.pipeline import kernel_cache, warm_up


@pytest.fixture
def cold(monkeypatch):
    monkeypatch.setattr(kernel_cache, "is_warm", lambda: False)
    monkeypatch.setattr(warm_up, "warm", lambda: None)


@pytest.fixture
def begun(monkeypatch):
    """What is called when compiling begins."""
    calls = []
    monkeypatch.setattr(kernel_cache, "on_first_compilation", calls.append)
    return calls


@pytest.mark.parametrize("is_warm", [True, False])
def test_warming_reports_what_it_does(capsys, monkeypatch, is_warm):
    monkeypatch.setattr(kernel_cache, "is_warm", lambda: is_warm)
    monkeypatch.setattr(warm_up, "warm", lambda: None)
    assert main(["warm"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Compiling the kernels that are missing")
    assert "Ready after" in shown.out
    assert shown.err == ""


def test_a_cold_start_is_announced_on_standard_error_when_compiling_begins(capsys, cold, begun):
    say_if_cold()
    assert capsys.readouterr() == ("", "")
    (call,) = begun
    call()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "compiling the kernels" in shown.err


def test_a_wrong_argument_announces_nothing(tmp_path, capsys, cold, begun):
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    assert main(["dedup", str(tmp_path / "a.jsonl"), "--out", str(tmp_path)]) == 2
    assert "compiling" not in capsys.readouterr().err


def test_a_warm_start_and_a_closed_standard_error_are_silent(capsys, monkeypatch, begun):
    monkeypatch.setattr(kernel_cache, "is_warm", lambda: True)
    say_if_cold()
    assert begun == []
    monkeypatch.setattr(kernel_cache, "is_warm", lambda: False)
    monkeypatch.setattr(sys, "stderr", None)
    say_if_cold()
    begun[0]()
    assert capsys.readouterr() == ("", "")


def test_it_takes_no_arguments(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["warm", "more"])
    assert stopped.value.code == 2
    assert "unexpected arguments: more; see" in capsys.readouterr().err  # there are no inputs to be written together


@pytest.mark.parametrize(
    ("error", "rule"),
    [
        (EOFError("Ran out of input"), "has damaged files; delete it, and start the command again: rm -r '/a b'"),
        (
            OSError(28, "No space left on device"),
            "cannot be used: No space left on device; make room, or name another one: NUMBA_CACHE_DIR=DIR neardup ...",
        ),
    ],
)
def test_machine_code_that_cannot_be_used_is_reported(neardup, monkeypatch, error, rule):
    monkeypatch.setattr("neardup.pipeline.warm_up.warm", Mock(side_effect=error))
    monkeypatch.setattr("neardup.pipeline.kernel_cache.folder_that_failed", lambda _: Path("/a b"))
    assert neardup("warm", code=1).err == f"neardup: the folder of the machine code, /a b, {rule}\n"


def test_other_errors_are_raised(neardup, monkeypatch):
    monkeypatch.setattr("neardup.pipeline.warm_up.warm", Mock(side_effect=EOFError))
    with pytest.raises(EOFError):
        neardup("warm")
