"""A run over files as one HTML page: its numbers, its charts, and examples to judge it by.

The page needs no network and no script. What documents and files say is escaped, and shortened, so that its
size is bounded whatever the run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from neardup.evaluation.overview import Cluster, Overview, overview
from neardup.evaluation.passages import shared_passages
from neardup.evaluation.plans import Curve
from neardup.interfaces.escaping import printable
from neardup.interfaces.pages.distributions import histogram_svg, loglog_svg
from neardup.interfaces.pages.excerpts import Fragment, excerpt
from neardup.interfaces.pages.frame import framed
from neardup.interfaces.pages.texts import safe
from neardup.interfaces.wording import cluster_lines, decimals, evidence_of, rule_of, without_text

if TYPE_CHECKING:
    from neardup.model.protocols import Scheme
    from neardup.pipeline.files import FilesResult
    from neardup.pipeline.result import Summary

_READ: Final = 50_000  # characters of a text that are looked at
_NAME: Final = 160  # characters of an id, a path or a reason
_INPUTS: Final = 10
_ASIDE: Final = 50
_STEPS: Final = 200  # of the curve
_CURVE: Final = "The curve is the law of the scheme: how likely two signatures match at that resemblance. "


def report_page(done: "FilesResult", scheme: "Scheme") -> bytes:
    """Render a run: UTF-8, under 5 MB whatever the run. The same run gives the same bytes."""
    decisions = done.result.decisions
    resemblance = decisions["resemblance"].to_numpy().astype(np.float64)
    exact = decisions["exact"].to_numpy().astype(np.bool_)
    seen = overview(done.result.representatives, resemblance, exact)
    pairs = _Pairs(done)
    sections = [
        _totals(done),
        f'<div class="charts">\n{_resemblance(seen, done, scheme)}{_clusters(seen)}</div>\n',
        _largest(seen.largest, pairs, done.result.summary),
        _sample(seen, pairs),
        _rejected(done),
        _how(done, scheme),
    ]
    return framed(
        "Near duplicates: a report",
        _lead(done),
        "".join(sections),
        style=_STYLE,
        note=". Words marked in a text are not in the other one.",
    )


def _name(name: str) -> str:
    """Escape a name, on one line and not too long."""
    return escape(printable(name if len(name) <= _NAME else f"{name[:_NAME]}…"))


def _count(number: int, one: str, several: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def _section(title: str, *parts: str) -> str:
    name = title.lower().replace(" ", "-")
    return f'<section id="{name}">\n<h2>{title}</h2>\n{"".join(parts)}</section>\n'


def _lead(done: "FilesResult") -> str:
    names = [f"<code>{_name(name)}</code>" for name in done.documents.names[:_INPUTS]]
    more = len(done.documents.names) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _totals(done: "FilesResult") -> str:
    summary, without = done.result.summary, done.documents.without_text
    tiles = [
        (summary.documents, "documents", ""),
        (summary.kept, "kept", "kept"),
        (summary.exact, "exact duplicates dropped", "dropped"),
        (summary.near, "near duplicates dropped", "dropped"),
    ]
    rest = [
        (summary.empty - (without.records if without else 0), "empty, kept"),
        *([(without.records, _name(without_text(without)))] if without else []),
        (summary.too_short, "no words to compare, kept unless equal byte by byte"),
        (len(done.rejected), "records rejected, in no output"),
        (summary.not_compared, "pairs at most, not compared: their buckets were oversized"),
        (summary.duplicate_ids, "documents with the id of an earlier document"),
        (done.documents.ignored, "other files ignored"),
    ]
    shown = "".join(f'<div class="{style}"><dt>{words}</dt><dd>{count:,}</dd></div>\n' for count, words, style in tiles)
    rows = "".join(f'<tr><td class="number">{count:,}</td><td>{words}</td></tr>\n' for count, words in rest)
    return _section("Totals", f'<dl class="tiles">\n{shown}</dl>\n', f"<table>\n{rows}</table>\n")


def _resemblance(seen: Overview, done: "FilesResult", scheme: "Scheme") -> str:
    summary = done.result.summary
    measured = int(seen.counts.sum())
    reason = f"only signatures were compared, and they estimate the {scheme.measure}"
    if summary.policy.verify == "none":
        reason = "nothing verified it"
    unmeasured = f"{_count(seen.unmeasured, 'near duplicate')} without a measured resemblance, as {reason}."
    if not measured:
        nothing = unmeasured if seen.unmeasured else "There are no near duplicates."
        return _section("Resemblance", f"<p>{nothing}</p>\n")
    lawful = scheme.measure == "resemblance"
    chart = histogram_svg(
        seen.counts.tolist(),
        seen.edges.tolist(),
        title="Resemblance of near duplicates to their representatives",
        threshold=scheme.threshold if summary.measure == "resemblance" else None,
        curve=_law(scheme) if lawful else None,
        up="near duplicates",
    )
    caption = (
        f"The resemblance of {_count(measured, 'near duplicate')} to the documents they are dropped for. "
        f"Near duplicates by this rule: {escape(rule_of(summary))}. "
        f"{_CURVE if lawful else f'The law of {scheme.name} is about the {scheme.measure}, and not drawn here. '}"
        f"{unmeasured if seen.unmeasured else ''}"
    )
    return _section("Resemblance", f"<figure>\n{chart}\n<figcaption>{caption}</figcaption>\n</figure>\n")


def _law(scheme: "Scheme") -> Curve:
    shares = np.linspace(0.0, 1.0, _STEPS + 1)
    chances = np.asarray(scheme.probability(shares), np.float64)
    return Curve(
        name=f"a match by {scheme.name}",
        measure="resemblance",
        values=tuple(shares.tolist()),
        probabilities=tuple(chances.tolist()),
    )


def _clusters(seen: Overview) -> str:
    if not len(seen.sizes):
        return _section("Cluster sizes", "<p>No document represents another.</p>\n")
    number = int(seen.clusters.sum())
    caption = (
        f"{_count(number, 'kept document represents', 'kept documents represent')} others; "
        f"without duplicates: {seen.alone:,}. "
        f"Each point is the number of clusters with that many documents, including the representative. "
        f"The largest has {int(seen.sizes[-1]):,}."
    )
    chart = loglog_svg(seen.sizes.tolist(), seen.clusters.tolist(), title="How many clusters are how large")
    return _section("Cluster sizes", f"<figure>\n{chart}\n<figcaption>{caption}</figcaption>\n</figure>\n")


def _largest(clusters: Sequence[Cluster], pairs: "_Pairs", summary: "Summary") -> str:
    if not clusters:
        return ""
    parts = [f"<p>{escape(printable(line))}</p>\n" for line in cluster_lines(summary)]
    parts += ["<p>Of each, up to three members from the least alike to the most.</p>\n"]
    for number, cluster in enumerate(clusters):
        inner = "".join(pairs.shown(int(position), opened=True) for position in cluster.shown)
        parts.append(
            f'<details class="cluster"{" open" if not number else ""}>\n<summary><span class="figure">{cluster.size:,}'
            f'</span> documents; kept: <b class="id">{pairs.name(cluster.kept)}</b></summary>\n'
            f"{inner}</details>\n"
        )
    return _section("Largest clusters", *parts)


def _sample(seen: Overview, pairs: "_Pairs") -> str:
    positions = [*seen.sample.tolist(), *([seen.exact] if seen.exact >= 0 else [])]
    if not positions:
        return ""
    lead = "<p>Near duplicates of different clusters, from the least alike to the most, and an exact one.</p>\n"
    if seen.exact < 0:
        lead = "<p>Near duplicates of different clusters, from the least alike to the most.</p>\n"
    shown = (pairs.shown(position, opened=not number) for number, position in enumerate(positions))
    return _section("Across the range of resemblance", lead, *shown)


def _rejected(done: "FilesResult") -> str:
    if not done.rejected:
        return ""
    rows = "".join(
        f'<tr><td>{_name(one.source)}</td><td class="number">{one.position:,}</td><td>{_name(one.reason)}</td></tr>\n'
        for one in done.rejected[:_ASIDE]
    )
    more = len(done.rejected) - _ASIDE
    rest = f"<p>And {more:,} more.</p>\n" if more > 0 else ""
    head = "<thead><tr><th>File</th><th>Record</th><th>Reason</th></tr></thead>"
    return _section("Rejected", f"<table>\n{head}\n<tbody>\n{rows}</tbody>\n</table>\n", rest)


def _how(done: "FilesResult", scheme: "Scheme") -> str:
    summary = done.result.summary
    policy = summary.policy
    rows: list[tuple[str, str]] = [
        ("scheme", summary.scheme),
        *_parameters(scheme),
        ("recipe", summary.recipe),
        ("near duplicate", rule_of(summary)),
        ("keep", policy.keep),
        ("verify", policy.verify),
        ("gather", policy.gather),
        ("candidate pairs", f"{summary.candidates:,}"),
        ("compared pairs", f"{summary.compared:,}"),
    ]
    items = "".join(f'<tr><th scope="row">{_name(name)}</th><td>{_name(value)}</td></tr>\n' for name, value in rows)
    return _section("How it was decided", f'<table class="parameters">\n{items}</table>\n')


def _parameters(scheme: Any) -> Iterable[tuple[str, str]]:
    """Give the parameters of a scheme by name. A secret key is not shown, and the seed not where a key is used."""
    keyed = getattr(scheme, "key", None) is not None
    for parameter in fields(scheme) if is_dataclass(scheme) else ():
        if parameter.name == "seed" and keyed:
            yield "key", "secret"
        elif parameter.repr:
            yield parameter.name, str(getattr(scheme, parameter.name))


class _Pairs:
    """Dropped documents beside the kept ones, rendered."""

    def __init__(self, done: "FilesResult") -> None:
        self._decisions, self._representatives = done.result.decisions, done.result.representatives
        self._documents = done.documents

    def name(self, position: int) -> str:
        return _name(str(self._documents.ids[position].as_py()))

    def shown(self, position: int, *, opened: bool) -> str:
        """Render a dropped document with the kept one and the evidence; *opened* shows it without a click."""
        row = self._decisions.slice(position, 1).to_pylist()[0]
        kept = int(self._representatives[position])
        alike = "exact" if row["exact"] else "?" if row["resemblance"] is None else decimals(row["resemblance"])
        return (
            f'<details class="pair"{" open" if opened else ""}>\n<summary><span class="figure">{alike}</span> '
            f'<b class="id">{self.name(position)}</b> dropped for <b class="id">{self.name(kept)}</b></summary>\n'
            f'<p class="evidence">{escape(evidence_of(row))}</p>\n{self._texts(kept, position, row)}</details>\n'
        )

    def _texts(self, kept: int, dropped: int, row: dict[str, Any]) -> str:
        left, left_bytes = self._beginning(kept)
        if row["exact"]:
            return f'<div class="texts">\n{_side("kept and dropped", excerpt(left, []), left_bytes)}</div>\n'
        right, right_bytes = self._beginning(dropped)
        found = shared_passages(left, right)
        return (
            f'<div class="texts">\n{_side("kept", excerpt(left, found.only_in_a), left_bytes)}'
            f"{_side('dropped', excerpt(right, found.only_in_b), right_bytes)}</div>\n"
        )

    def _beginning(self, position: int) -> tuple[str, int]:
        """Give the beginning of a text, and how many bytes all of it has: a text may be larger than any page."""
        value = self._documents.texts[position]
        if not value.is_valid:
            return "", 0
        raw = memoryview(value.as_buffer())
        return bytes(raw[: 4 * _READ]).decode("utf-8", errors="replace")[:_READ], raw.nbytes


def _side(title: str, fragments: Sequence[Fragment], size: int) -> str:
    shown = []
    for fragment in fragments:
        if fragment.omitted:
            shown.append(f' <i class="omitted">… {_count(fragment.omitted, "character")} …</i> ')
        if fragment.text:
            shown.append(f"<mark>{safe(fragment.text)}</mark>" if fragment.differs else safe(fragment.text))
    body = "".join(shown) or '<i class="omitted">no text</i>'
    return f'<div><h3>{title} <small>{_count(size, "byte")}</small></h3>\n<div class="text">{body}</div></div>\n'


_STYLE: Final = """small { font-weight: normal; }
figcaption, .evidence { color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .7rem; margin: 0 0 1rem; }
.tiles div { display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.tiles div { border: 1px solid var(--line); border-radius: .5rem; background: var(--panel); padding: .6rem .8rem; }
.tiles dd { margin: 0; font-size: 1.7rem; font-weight: 600; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tiles dt { color: var(--soft); font-size: .85rem; }
.kept dd { color: var(--kept); }
.dropped dd { color: var(--dropped); }
td.number { width: 1%; }
.parameters th { width: 11rem; font-weight: normal; color: var(--soft); }
figure { margin: 0; }
figure svg.neardup-chart { display: block; background: none; overflow: visible; }
svg.neardup-chart .title { display: none; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 0 2rem; }
.charts section { min-width: 0; }
svg.neardup-chart { font-size: 15px; }
@media (max-width: 44rem) { svg.neardup-chart { font-size: 18px; } }
figcaption { max-width: 44rem; font-size: .9rem; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; background: var(--panel); }
details details { background: var(--ground); margin: .5rem; }
summary { cursor: pointer; padding: .5rem .8rem; }
.figure { display: inline-block; min-width: 2.6rem; font-weight: 600; font-variant-numeric: tabular-nums;
  color: var(--accent); }
.id { font-family: ui-monospace, monospace; font-size: .9em; font-weight: 600; }
.evidence { padding: 0 .8rem; font-size: .9rem; }
.texts { padding: .3rem .8rem .8rem; }
.texts > div { min-width: 0; }
.text { font: .92rem/1.5 Georgia, serif; }
"""
