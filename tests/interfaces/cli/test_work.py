import signal
import subprocess
import sys
import time

import pytest

from neardup.engines.journal import Journal


def test_a_worker_without_a_run_reports_at_once_what_it_waits_for(neardup, tmp_path):
    shown = neardup("work", "w", "--idle", "0.01")
    assert "there is no run in w: it has not begun" in shown.err
    assert "; waiting 0.01 s for dedup --work (--idle)" in shown.err
    assert "0 tasks done; there is no run in w: it has not begun" in shown.out
    (tmp_path / "w").mkdir()
    assert "0 tasks done; there is no run in w: " in neardup("work", "w", "--idle", "0.01").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("full", "it is not a work folder: it contains 'news.jsonl'; name a new folder"),
        ("other", "it is not a work folder of neardup"),
        ("none/w", "its folder does not exist"),
        ("full --idle -1", "must be at least 0"),
        ("", "the following arguments are required"),
        ("full --threads x", "--threads"),
        ("full --idle x", "--idle"),
    ],
)
def test_wrong_usage_is_reported(neardup, tmp_path, arguments, message):
    for folder, name in (("full", "news.jsonl"), ("other", "terms.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("{}")
    assert message in neardup("work", *arguments.split(), code=2).err


def test_the_work_folder_of_a_state_is_named(neardup, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "the ferry leaves at nine"}\n')
    neardup("dedup", "in.jsonl", "--out", "out.jsonl", "--state", "s")
    way_out = f"it is a state; if a run of it is in progress, join it with: neardup work {tmp_path}/s/work\n"
    assert way_out in neardup("work", "s", code=2).err


def test_a_complete_run_that_kept_its_folder_is_named(neardup, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "the ferry leaves at nine"}\n')
    neardup("dedup", "in.jsonl", "--out", "out.jsonl", "--work", "w", "--keep-work")
    assert neardup("work", "w", "--idle", "0.1").out == (
        "0 tasks done; the run has ended; the exit code of dedup shows whether the answer is complete.\n"
    )
    assert neardup("work", "w", "--idle", "0.1", "--json").json == {"tasks": 0, "ended": "finished"}
    assert neardup("work", "none", "--idle", "0.01", "--json").json == {"tasks": 0, "ended": "absent"}


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
