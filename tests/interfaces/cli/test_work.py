import pytest

from neardup.interfaces.cli import main


def test_a_worker_says_that_there_is_no_run(tmp_path, capsys):
    assert main(["work", str(tmp_path), "--idle", "0.01"]) == 1
    assert capsys.readouterr().out == (
        "0 tasks done; there is no run in this folder: it is complete, has not begun, or uses another folder.\n"
    )


def test_seconds_are_positive(tmp_path, capsys):
    assert main(["work", str(tmp_path), "--idle", "-1"]) == 2
    assert "must be at least 0" in capsys.readouterr().err


def test_a_folder_of_something_else_is_refused(tmp_path, capsys):
    (tmp_path / "terms.json").write_text("{}")
    assert main(["work", str(tmp_path)]) == 2
    assert "it is not a work folder of neardup" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["work"], ["work", "DIR", "--threads", "x"], ["work", "DIR", "--idle", "x"]])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    capsys.readouterr()
