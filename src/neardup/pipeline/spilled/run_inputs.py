"""The inputs of runs, as the segments of a state record them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from neardup.index.disk.arrays import expect
from neardup.model.arrays import Positions
from neardup.sources.shards import Shards
from neardup.text.host_templates import HostTemplates


class RunInputs(NamedTuple):
    """The inputs of one run; the documents of shard *i* have the positions from ``edges[i]`` to ``edges[i + 1]``.

    *keep* is the rule that ranked them (see ``Policy``); ``None`` if a version wrote the state that did not record it.
    """

    shards: Shards
    edges: Positions
    keep: str | None = None

    @property
    def templates(self) -> HostTemplates | None:
        """The templates that their pages were read with, if any."""
        return self.shards.request.extraction.templates

    def with_templates(self, templates: HostTemplates | None) -> "RunInputs":
        """Return the same inputs with other templates."""
        request = self.shards.request
        request = replace(request, extraction=replace(request.extraction, templates=templates))
        return self._replace(shards=replace(self.shards, request=request))


class RecordedRuns:
    """Turns the inputs of runs into plain values and back, one run after the other.

    They follow the runs *before* them. Of the templates of a run, only those that no run before it had are recorded, so
    that a state of many runs has each once.
    """

    def __init__(self, before: Sequence[RunInputs] = ()) -> None:
        known = (one.templates for one in reversed(before))
        self._before = next((templates for templates in known if templates is not None), None)

    def recorded(self, runs: Sequence[RunInputs]) -> Iterator[dict[str, Any]]:
        """Yield the following runs as plain values."""
        for one in runs:
            own, before = one.templates, self._before
            new = None if own is None or before is None else own.since(before)
            written = one if new is None else one.with_templates(new)
            yield {
                "shards": written.shards.to_dict(),
                "edges": one.edges.tolist(),
                "keep": one.keep,
                "adds_templates": new is not None,
            }
            self._before = before if own is None else own

    def read(self, given: Sequence[dict[str, Any]]) -> Iterator[RunInputs]:
        """Yield the following runs from what ``recorded`` yielded."""
        for one in given:
            run = RunInputs(Shards.from_dict(one["shards"]), np.array(one["edges"], np.int64), one.get("keep"))
            fit = run.edges.shape == (len(run.shards.shards) + 1,) and run.edges[0] >= 0
            expect(bool(fit and (np.diff(run.edges) >= 0).all()), "documents of other shards")
            own, before = run.templates, self._before
            if one.get("adds_templates") and own is not None and before is not None:
                run = run.with_templates(own.added_to(before))
            self._before = before if own is None else run.templates
            yield run
