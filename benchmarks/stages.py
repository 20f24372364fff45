"""Where the time of a run goes, as its progress tells: each stage reports its beginning."""

import time
from collections.abc import Callable
from typing import Any

REST = "the rest"  # ranking, telling equals, keys and buckets, the report; of a run over files reading and writing
STAGES = ("shingle", "sign", "compare", REST)


def staged(run: Callable[..., Any], repeats: int = 5) -> dict[str, float]:
    """Run a job that takes a progress callback; return the shortest time of each of its stages, in seconds."""
    shortest: dict[str, float] = {}
    for _ in range(repeats):
        for stage, seconds in once(run).items():
            shortest[stage] = min(seconds, shortest.get(stage, seconds))
    return {stage: shortest[stage] for stage in STAGES if stage in shortest}


def once(run: Callable[..., Any]) -> dict[str, float]:
    """Add up the time from each report to the next for the stage that reported; what ends a stage begins the rest."""
    spent: dict[str, float] = {}
    state = {"stage": REST, "since": time.perf_counter()}

    def change(stage: str) -> None:
        now = time.perf_counter()
        spent[state["stage"]] = spent.get(state["stage"], 0.0) + now - state["since"]
        state.update(stage=stage, since=now)

    run(progress=lambda stage, done, total: change(stage if stage in STAGES and done < total else REST))
    change(REST)
    return spent
