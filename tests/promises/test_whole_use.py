"""A use from beginning to end: folders of several formats, killed runs, and the next week's documents."""

import json
import random
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import zstandard

from neardup import State, dedup
from neardup.interfaces.cli import main

DIES = """
import os, signal, sys
from pathlib import Path
from neardup.interfaces.cli import main

def replace(self, target):
    done = rename(self, target)
    if len([*Path("seen/work").glob("run-*/done/*.json")]) >= int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return done

rename, Path.replace = Path.replace, replace
main(["dedup", *sys.argv[2:]])
"""


def written(folder, chance, known):
    """Write tables in three formats, with edited copies, to a folder; return the documents in the order of paths."""
    folder.mkdir()
    words = [f"w{number}" for number in range(400)]

    def text():
        if known and chance.random() < 0.5:
            copy = chance.choice(known).split()
            copy[chance.randrange(len(copy))] = chance.choice(words)
            return " ".join(copy)
        known.append(" ".join(chance.choices(words, k=chance.randint(10, 60))))
        return known[-1]

    documents = []
    for name in ("a.csv", "b.jsonl.zst", "c.parquet"):
        own = [{"id": f"{folder.name}-{name}-{number}", "text": text()} for number in range(60)]
        documents += own
        if name.endswith(".csv"):
            pc.write_csv(pa.Table.from_pylist(own), folder / name)
        elif name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(own), folder / name, row_group_size=20)
        else:
            lines = "".join(json.dumps(one) + "\n" for one in own)
            (folder / name).write_bytes(zstandard.compress(lines.encode()))
    return documents


def kept(folder):
    """Read the ids of the documents in a folder of outputs."""
    lines = zstandard.decompress((folder / "b.jsonl.zst").read_bytes(), max_output_size=1 << 20)
    return [
        *pc.read_csv(folder / "a.csv")["id"].to_pylist(),
        *(json.loads(line)["id"] for line in lines.splitlines()),
        *pq.read_table(folder / "c.parquet")["id"].to_pylist(),
    ]


def test_a_second_week_is_compared_with_the_first_although_runs_were_killed(tmp_path, monkeypatch):
    chance, known = random.Random(5), list[str]()
    weeks = [written(tmp_path / week, chance, known) for week in ("week1", "week2")]
    wanted = dedup([*weeks[0], *weeks[1]])
    ids = wanted.decisions["id"].to_pylist()
    names = ["week1", "--out", "kept1", "--report", "why1.jsonl", "--state", "seen", "--threads", "1"]
    for tasks in ("1", "3", "6"):
        done = subprocess.run(
            [sys.executable, "-c", DIES, tasks, *names], cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
    monkeypatch.chdir(tmp_path)
    for week, documents in enumerate(weeks, 1):
        names = [f"week{week}", "--out", f"kept{week}", "--report", f"why{week}.jsonl"]
        assert main(["dedup", *names, "--state", "seen", "--threads", "1"]) == 0
        own = {one["id"] for one in documents}
        assert kept(tmp_path / f"kept{week}") == [ids[place] for place in wanted.kept.tolist() if ids[place] in own]
        for line in (tmp_path / f"why{week}.jsonl").read_text().splitlines():
            row = json.loads(line)
            place = ids.index(row["id"])
            for name in ("kept", "representative", "rule", "resemblance"):
                assert row[name] == wanted.decisions[name][place].as_py()
    with State.open(tmp_path / "seen") as state:
        assert [part.documents for part in state.segments] == [len(one) for one in weeks]
        own = {"state.json", "state.lock", *(f"segment-{part.name}" for part in state.segments)}
    assert {path.name for path in (tmp_path / "seen").iterdir()} == own
    left = {"seen", *(f"{name}{week}" for week in (1, 2) for name in ("week", "kept")), "why1.jsonl", "why2.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == left
