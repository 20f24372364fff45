"""A run over files as one HTML page: its numbers, its charts, and examples to judge it by.

The page needs no network and no script. Texts and names are escaped and shortened, so that its size is bounded.
"""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from neardup.evaluation.overview import Overview, overview
from neardup.evaluation.plans import curve_of
from neardup.interfaces.pages.drawing import histogram_svg, loglog_svg
from neardup.interfaces.pages.templates import render, safe
from neardup.interfaces.wording.excerpts import Excerpt, compared, excerpt
from neardup.interfaces.wording.numbers import Row
from neardup.interfaces.wording.runs import cluster_lines, totals_of
from neardup.pipeline.files.dedup import FilesResult
from neardup.schemes.scheme import Scheme

_READ: Final = 50_000  # characters of a text that are looked at
_SHOWN: Final = 1_600  # characters of a text, more or less, that are shown
_CONTEXT: Final = 80  # characters of a shared passage that are shown at each end
_NAME: Final = 160  # characters of an id, a path or a reason
_INPUTS: Final = 10
_ASIDE: Final = 50
_SHARES: Final = np.linspace(0.0, 1.0, 201)  # of the curve


def report_page(done: FilesResult, scheme: Scheme) -> bytes:
    """Render a run: UTF-8, at most 5 MB. The same run gives the same bytes."""
    summary, decisions, names = done.result.summary, done.result.decisions, done.documents.names
    resemblance = decisions["resemblance"].to_numpy().astype(np.float64)
    exact = decisions["exact"].to_numpy().astype(np.bool_)
    seen = overview(done.result.representatives, resemblance, exact)
    sample = [*seen.sample.tolist(), *([seen.exact] if seen.exact >= 0 else [])]
    not_compared = Row(summary.not_compared, "pairs at most, not compared: their buckets were oversized")
    title = "How many clusters are how large"
    return render(
        "report",
        most=_NAME,
        names=names[:_INPUTS],
        more=max(0, len(names) - _INPUTS),
        summary=summary,
        scheme=scheme,
        seen=seen,
        totals=[*totals_of(done), not_compared],
        histogram=_histogram(seen, scheme, thresholded=summary.measure == "resemblance"),
        loglog=safe(loglog_svg(seen.sizes.tolist(), seen.clusters.tolist(), title=title)) if len(seen.sizes) else None,
        lines=cluster_lines(summary),
        clusters=[(one, [_pair(done, int(place)) for place in one.shown]) for one in seen.largest],
        sample=[_pair(done, position) for position in sample],
        rejected=done.rejected[:_ASIDE],
        unlisted=len(done.rejected) - _ASIDE,
        parameters=_parameters(scheme),
        templates_of_hosts=done.templates,
    )


def _histogram(seen: Overview, scheme: Scheme, *, thresholded: bool) -> str | None:
    if not seen.counts.any():
        return None
    lawful = scheme.measure == "resemblance"
    law = (
        curve_of(f"a match by {scheme.name}", scheme.measure, _SHARES, scheme.probability(_SHARES)) if lawful else None
    )
    return safe(
        histogram_svg(
            seen.counts.tolist(),
            seen.edges.tolist(),
            title="Resemblance of near duplicates to their representatives",
            threshold=scheme.threshold if thresholded else None,
            curve=law,
        )
    )


def _parameters(scheme: Any) -> Iterable[tuple[str, str]]:
    """Yield the parameters of a scheme by name, without a secret key and without the seed that a key replaces."""
    keyed = getattr(scheme, "key", None) is not None
    for parameter in fields(scheme) if is_dataclass(scheme) else ():
        if parameter.name == "seed" and keyed:
            yield "key", "secret"
        elif parameter.repr:
            yield parameter.name, str(getattr(scheme, parameter.name))


def _pair(done: FilesResult, dropped: int) -> SimpleNamespace:
    """Return a dropped document and its representative: ids, the row of the decisions, and titles, texts and sizes."""
    row = done.result.decisions.slice(dropped, 1).to_pylist()[0]
    kept = int(done.result.representatives[dropped])
    left, left_bytes = _beginning(done, kept)
    if row["exact"]:
        sides: tuple[tuple[str, Excerpt, int], ...] = (
            ("kept and dropped", excerpt(left, [], [], _CONTEXT, characters=_SHOWN), left_bytes),
        )
    else:
        right, right_bytes = _beginning(done, dropped)
        shown, other = compared(left, right, _CONTEXT, characters=_SHOWN)
        sides = ("kept", shown, left_bytes), ("dropped", other, right_bytes)
    ids = done.documents.ids
    return SimpleNamespace(dropped=str(ids[dropped]), kept=str(ids[kept]), row=row, sides=sides)


def _beginning(done: FilesResult, position: int) -> tuple[str, int]:
    """Return the beginning of a text, and how many bytes all of it has: a text may be larger than any page."""
    raw = done.documents.raw_texts(np.array([position]))[0] or b""
    return raw[: 4 * _READ].decode("utf-8", errors="replace")[:_READ], len(raw)
