"""Ctrl-C ends every verb with one line, wherever it comes."""

import pytest

from neardup.interfaces.cli import check


@pytest.mark.parametrize(("raised", "code"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_in_the_middle_of_compiled_code(neardup, monkeypatch, raised, code):
    """There Python makes an error of its own of what the signal's handler has raised."""

    def run(_):
        inner = SystemError("a function returned a result with an exception set")
        inner.__cause__ = raised
        raise SystemError("another function did, too") from inner

    monkeypatch.setattr(check, "run", run)
    told = neardup("check", "seen", code=code).err
    assert told == ("neardup: interrupted; the index is as it was\n" if code == 130 else "")


def test_other_errors_of_the_system_are_shown(neardup, monkeypatch):
    def run(_):
        raise SystemError("of another kind")

    monkeypatch.setattr(check, "run", run)
    with pytest.raises(SystemError, match="of another kind"):
        neardup("check", "seen")
