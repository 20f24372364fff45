import json
import signal
import subprocess
import sys
import time

import pytest

from neardup.engines.journal import Journal
from neardup.interfaces.cli import main


def test_a_worker_without_a_run_reports_at_once_what_it_waits_for(tmp_path, capsys):
    assert main(["work", str(tmp_path / "w"), "--idle", "0.01"]) == 0
    shown = capsys.readouterr()
    assert f"there is no run in {tmp_path / 'w'}: it has not begun" in shown.err
    assert "; waiting 0.01 s for dedup --work (--idle)" in shown.err
    assert f"0 tasks done; there is no run in {tmp_path / 'w'}: it has not begun" in shown.out
    (tmp_path / "w").mkdir()
    assert main(["work", str(tmp_path / "w"), "--idle", "0.01"]) == 0
    assert f"0 tasks done; there is no run in {tmp_path / 'w'}: " in capsys.readouterr().out


def test_a_folder_with_other_files_is_refused_at_once(tmp_path, capsys):
    (tmp_path / "news.jsonl").write_text("")
    assert main(["work", str(tmp_path)]) == 2
    assert "it is not a work folder: it contains 'news.jsonl'; name a new folder" in capsys.readouterr().err
    assert main(["work", str(tmp_path / "none" / "w")]) == 2


def test_the_work_folder_of_a_state_is_named(tmp_path, capsys):
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "the ferry leaves at nine"}\n')
    state = str(tmp_path / "s")
    assert main(["dedup", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl"), "--state", state]) == 0
    assert main(["work", state]) == 2
    assert (
        f"it is a state; if a run of it is in progress, join it with: neardup work {state}/work\n"
        in capsys.readouterr().err
    )


def test_seconds_are_positive(tmp_path, capsys):
    assert main(["work", str(tmp_path), "--idle", "-1"]) == 2
    assert "must be at least 0" in capsys.readouterr().err


def test_a_folder_of_something_else_is_refused(tmp_path, capsys):
    (tmp_path / "terms.json").write_text("{}")
    assert main(["work", str(tmp_path)]) == 2
    assert "it is not a work folder of neardup" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["work"], ["work", "DIR", "--threads", "x"], ["work", "DIR", "--idle", "x"]])
def test_wrong_usage_is_reported(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    capsys.readouterr()


def test_a_complete_run_that_kept_its_folder_is_named(tmp_path, capsys):
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "the ferry leaves at nine"}\n')
    work = str(tmp_path / "w")
    out = str(tmp_path / "out.jsonl")
    assert main(["dedup", str(tmp_path / "in.jsonl"), "--out", out, "--work", work, "--keep-work"]) == 0
    capsys.readouterr()
    assert main(["work", work, "--idle", "0.1"]) == 0
    assert capsys.readouterr().out == (
        "0 tasks done; the run has ended; the exit code of dedup shows whether the answer is complete.\n"
    )
    assert main(["work", work, "--idle", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"tasks": 0, "ended": "finished"}
    assert main(["work", str(tmp_path / "none"), "--idle", "0.01", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"tasks": 0, "ended": "absent"}


SLEEPING = """
import sys, time
from pathlib import Path
from neardup.engines.runner import work
from neardup.interfaces.cli import main
from neardup.pipeline.spilled import workers

def work_on(folder, *, key, threads, **options):
    return work(Path(folder), lambda stage: stage and (lambda *_: time.sleep(60)), threads=threads, **options)

workers.work_on = work_on
sys.exit(main(["work", sys.argv[1]]))
"""


def test_sigterm_ends_a_worker_at_once_and_releases_its_task(tmp_path):
    with Journal.open(tmp_path / "w", {}) as journal:
        journal._publish("sign", 1)
        with subprocess.Popen([sys.executable, "-c", SLEEPING, tmp_path / "w"]) as worker:
            while worker.poll() is None and not [*journal.path("claims").iterdir()]:
                time.sleep(0.01)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(timeout=30) == 128 + signal.SIGTERM
        assert not [*journal.path("claims").iterdir()]
