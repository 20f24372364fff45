"""Runs of deduplication in words: rules, clusters, evidence and totals."""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from neardup.interfaces.wording.numbers import Row, decimals, percent, reading_rows, row, without_text
from neardup.model.errors import counted, cut_to

if TYPE_CHECKING:
    from neardup.evaluation.audit import Audit
    from neardup.pipeline.corpus.clusters import LargeCluster, SpreadTemplate
    from neardup.pipeline.corpus.result import Summary
    from neardup.pipeline.files.dedup import FilesResult

_NAME = 60  # shown characters of an id
_LARGE = 10  # documents of a cluster that is described
_RULES = {
    "same text": "same text: equal byte by byte",
    "same features": "same features: they differ in nothing that counts, such as case, spaces or punctuation",
    "shared key": "shared key: NOT VERIFIED",
    "component": "component: connected through others only",
}


def rule_of(summary: "Summary") -> str:
    """Return the rule for near duplicates in a run.

    Examples: ``resemblance at least 0.6 (verified)``, ``equal checksum (not verified)``.
    """
    from neardup.schemes.registry import named

    policy, kind = summary.policy, named(summary.scheme)
    also = f", and {kind.also}" if kind.also else ""
    if policy.verify == "none":
        return f"NOT VERIFIED: a shared key{also or ' was enough'}"
    verified = "verified" if policy.verify == "exact" else "not verified"
    if kind.equality:
        return f"equal {kind.rule} ({verified})"
    chained = "connected by " if policy.gather == "components" else ""
    if policy.verify == "estimate" and not kind.estimate_decides:
        return f"{chained}signatures that match by the rule of {summary.scheme} ({verified})"
    estimated = "" if policy.verify == "exact" else "estimated "
    return f"{chained}{estimated}{summary.measure} at least {threshold_words(summary)} ({verified}){also}"


def threshold_words(summary: "Summary | Audit") -> str:
    """Return the threshold of a run, and that of pairs with a short document if there is one."""
    if summary.short is None or summary.short_threshold == summary.threshold:
        return f"{summary.threshold:g}"
    fewer = f"{summary.short:,} {_features_of(summary)}"
    return f"{summary.threshold:g}, or {summary.short_threshold:g} if one of the two has fewer than {fewer}"


def common_rows(summary: "Summary") -> list[Row]:
    """Return the number of the features that did not count in a run, with their description, if it had such a list.

    Example: ``shingles did not count: they are in more than 10 % of 1,206 different documents (list 63cf...)``.
    """
    common = summary.common
    if common is None:
        return []
    from neardup.text.common_shingles import LEAST

    of = f"of {common.documents:,} different documents"
    where = f"more than {100 * common.share:g} % {of}"
    if int(common.share * common.documents) + 1 < LEAST:
        where = f"at least {LEAST} {of}, as fewer never count as common"
    return [Row(len(common), f"{feature_of(summary)}s did not count: they are in {where} (list {common.identity})")]


def feature_of(summary: "Summary") -> str:
    """Return what the scheme of a run compares, in the singular: ``shingle`` or ``sentence``."""
    return _features_of(summary).removesuffix("s")


def _features_of(summary: "Summary | Audit") -> str:
    from neardup.schemes.registry import named
    from neardup.schemes.scheme import SHINGLES

    words = named(summary.scheme).features_in_words
    return words if isinstance(words, str) else SHINGLES  # a combined scheme has those of its parts


def cluster_lines(summary: "Summary") -> list[str]:
    """Describe the largest cluster of a run, and large clusters that are probably templates.

    There are no lines if the largest cluster is small and not a template, and no template is spread over many clusters.
    """
    lines: list[str] = []
    feature = feature_of(summary)
    for number, cluster in enumerate(summary.largest_clusters):
        if not cluster.template and (number or cluster.documents < _LARGE):
            continue
        what = "largest cluster" if number == 0 else "another large cluster" if lines else "large cluster"
        share, kept = percent(cluster.share_of_drops), cut_to(_NAME, cluster.representative)
        lines.append(f"{what}: {cluster.documents:,} documents, {share} of the drops; kept: document {kept}")
        if cluster.template:
            lines.append(f"  {template_hint(cluster, feature)}")
    if (spread := summary.spread_template) is not None:
        near = f"{spread.documents:,} near duplicates in {spread.clusters:,} clusters"
        lines += [f"{near}: most of them share the same block", f"  {template_hint(spread, feature)}"]
    return lines


def pairs_not_compared(number: int) -> str:
    """Describe the pairs in oversized buckets that were not compared.

    >>> pairs_not_compared(1).partition(";")[0]
    'up to 1 pair of oversized buckets was not compared there'
    """
    words = f"{counted(number, 'pair')} of oversized buckets {'was' if number == 1 else 'were'} not compared there"
    return f"up to {words}; other buckets may have compared some; `neardup audit` estimates what was missed"


def template_hint(cluster: "LargeCluster | SpreadTemplate", feature: str) -> str:
    """Describe the block that the documents of one or many clusters share, and what to do."""
    beginning = f': "{cluster.beginning}..."' if cluster.beginning else ""
    shared = f"These documents share {counted(cluster.shared, feature)}, and little else{beginning}."
    if cluster.ignore_common is None:
        return f"{shared} --ignore-common has not left these out; a higher --threshold may help"
    way_out = f"leave it out with --ignore-common {cluster.ignore_common:g}"
    return f"{shared} If this is a template, and not a text that was copied, {way_out}"


def evidence_of(row: dict[str, Any]) -> str:
    """Return why a document was dropped: *row* is its row of the decisions.

    >>> evidence_of({"rule": "resemblance", "resemblance": 0.75, "contained_in_kept": 0.999, "contains_kept": 0.75})
    'resemblance 0.75; over 99 % of it and 75 % of the kept document are shared'
    """
    from neardup.schemes.registry import kinds

    rule, known = row["rule"], row["resemblance"]
    if rule in {"same text", "same features"}:
        return _RULES[rule]
    equal = next((kind.equality for kind in kinds() if kind.equality and kind.rule == rule), "")
    parts = [_RULES[rule]] if rule in _RULES else [f"{rule}: {equal}"] if equal else []
    if known is not None:
        name = "estimated resemblance" if rule == "estimate" else "resemblance"
        parts.append(f"{name} {decimals(known)}")
    elif not parts:
        parts.append(str(rule))
    if row["contained_in_kept"] is not None and row["contains_kept"] is not None:
        within, around = percent(row["contained_in_kept"]), percent(row["contains_kept"])
        parts.append(f"{within} of it and {around} of the kept document are shared")
    return "; ".join(parts)


def totals_of(done: "FilesResult") -> list[Row]:
    """Return the further numbers of a run with their descriptions, without those that are 0.

    A scheme of fields may drop documents without a text, and keeps those without one of its fields.
    """
    from neardup.schemes.registry import named

    summary, read = done.result.summary, done.documents
    without = read.without_text
    if named(summary.scheme).same_content is not None:  # it signs fields
        lacking = summary.empty + summary.too_short
        unsigned = [Row(lacking, "without a field that the scheme requires, kept"), *without_text(without)]
    else:
        unsigned = [
            Row(summary.empty - (without.records if without else 0), "empty, kept"),
            *without_text(without, ", kept"),
            Row(summary.too_short, "no words to compare, kept unless equal byte by byte"),
        ]
    known = "the kept page is only known from a state, an index, or records compressed together"
    rows = [
        Row(summary.canonical_kept, "kept that a dropped document names as canonical"),
        Row(summary.canonical_contradicted, "name another document as canonical that they do not match"),
        row(summary.revisits_missing, "exact duplicate", f" without a revisit record: {known}"),
        *unsigned,
        row(summary.duplicate_ids, "document", " with an id that occurs earlier in the inputs"),
        *common_rows(summary),
        *reading_rows(read, done.rejected, ", in no output"),
    ]
    return [one for one in rows if one.number]


def extraction_line(known: Mapping[str, str | None], folder: str) -> str:
    """Describe how web pages became texts of a state or an index in a folder."""
    view = f"web pages read in text view {known['text_view']}"
    if "templates" not in known:
        return f"{view}, without templates of hosts"
    shown = f"`neardup templates show --templates {shlex.quote(folder)}` lists them"
    return f"{view}, with templates of hosts (id {known['templates']}); {shown}"
