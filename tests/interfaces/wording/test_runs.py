from dataclasses import replace

import numpy as np
import pytest

from neardup import CommonShingles
from neardup.interfaces.wording.numbers import Row
from neardup.interfaces.wording.runs import cluster_lines, common_rows, evidence_of, extraction_line, rule_of
from neardup.pipeline.corpus.clusters import LargeCluster, SpreadTemplate
from neardup.results import Policy, Summary


def row(rule, resemblance=None, within=None, around=None):
    return {"rule": rule, "resemblance": resemblance, "contained_in_kept": within, "contains_kept": around}


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (row("same text", 1.0, 1.0, 1.0), "same text: equal byte by byte"),
        (row("same features", 1.0, 1.0, 1.0), "same features: they differ in nothing that counts"),
        (row("resemblance", 0.6, 0.75, 0.75), "resemblance 0.60; 75 % of it and 75 % of the kept document are shared"),
        (row("estimate", 0.6), "estimated resemblance 0.60"),
        (row("estimate"), "estimate"),
        (row("shared key"), "shared key: NOT VERIFIED"),
        (row("component", 0.2, 0.3, 0.4), "component: connected through others only; resemblance 0.20; 30 % of it"),
        (row("checksum", 0.9, 0.95, 0.95), "checksum: equal in every signed field; resemblance 0.90; 95 % of it"),
    ],
)
def test_evidence_in_words(decision, words):
    assert evidence_of(decision).startswith(words)


def summary(**parameters):
    names = ("documents", "kept", "exact", "near", "empty", "too_short", "duplicate_ids", "candidates", "compared")
    numbers = dict.fromkeys((*names, "not_compared"), 0)
    said = {"scheme": "minhash", "recipe": "r", "threshold": 0.6, "measure": "resemblance", "policy": Policy()}
    return Summary(**{**numbers, **said, **parameters})


@pytest.mark.parametrize(
    ("scheme", "policy", "words"),
    [
        ("minhash", Policy(), "resemblance at least 0.6 (verified)"),
        ("minhash", Policy(verify="estimate"), "estimated resemblance at least 0.6 (not verified)"),
        ("trials", Policy(verify="estimate"), "signatures that match by the rule of trials (not verified)"),
        ("combined", Policy(verify="estimate"), "signatures that match by the rule of combined (not verified)"),
        ("simhash", Policy(), "resemblance at least 0.6 (verified), and fingerprints within the distance"),
        ("combined", Policy(), "resemblance at least 0.6 (verified), and a match by the second scheme"),
        ("simhash", Policy(verify="none"), "NOT VERIFIED: a shared key, and fingerprints within the distance"),
        ("minhash", Policy(gather="components"), "connected by resemblance at least 0.6 (verified)"),
        ("minhash", Policy(verify="none"), "NOT VERIFIED: a shared key was enough"),
        ("checksum", Policy(), "equal checksum (verified)"),
    ],
)
def test_rules_in_words(scheme, policy, words):
    assert rule_of(summary(scheme=scheme, policy=policy)) == words


def test_large_clusters_in_words():
    large = LargeCluster(representative="a" * 70, documents=1200, share_of_drops=0.713, shared=96)
    small = LargeCluster(representative="b", documents=9, share_of_drops=0.1)
    template = LargeCluster(
        representative="c",
        documents=30,
        share_of_drops=0.02,
        shared=1096,
        template=True,
        beginning="You are a",
        ignore_common=0.02,
    )
    assert cluster_lines(summary()) == []
    assert cluster_lines(summary(largest_clusters=(small,))) == []
    assert cluster_lines(summary(largest_clusters=(small, template)))[0].startswith("large cluster: 30 documents")
    hint = cluster_lines(summary(scheme="sentences", largest_clusters=(template,)))[1]
    assert hint.startswith('  These documents share 1,096 sentences, and little else: "You are a...".')
    assert cluster_lines(summary(largest_clusters=(large, template, small))) == [
        f"largest cluster: 1,200 documents, 71 % of the drops; kept: document {'a' * 60}...",
        "another large cluster: 30 documents, 2 % of the drops; kept: document c",
        (
            '  These documents share 1,096 shingles, and little else: "You are a...".'
            " If this is a template, and not a text that was copied, leave it out with --ignore-common 0.02"
        ),
    ]


def test_a_template_of_many_clusters_in_words():
    spread = SpreadTemplate(documents=1205, clusters=918, shared=34, beginning="You are a", ignore_common=0.1)
    small = LargeCluster(representative="b", documents=6, share_of_drops=0.01)
    assert cluster_lines(summary(largest_clusters=(small,), spread_template=spread)) == [
        "1,205 near duplicates in 918 clusters: most of them share the same block",
        (
            '  These documents share 34 shingles, and little else: "You are a...".'
            " If this is a template, and not a text that was copied, leave it out with --ignore-common 0.1"
        ),
    ]
    _, hint = cluster_lines(summary(spread_template=replace(spread, ignore_common=None)))
    assert hint.endswith(' "You are a...". --ignore-common has not left these out; a higher --threshold may help')


def test_common_shingles_in_words():
    common = CommonShingles(shingling="x", terms=np.arange(5, dtype=np.uint64), share=0.002, documents=1206)
    where = "more than 0.2 % of 1,206 different documents"
    words = f"shingles did not count: they are in {where} (list {common.identity})"
    assert common_rows(summary(common=common)) == [Row(5, words)]
    [few] = common_rows(summary(common=replace(common, share=0.001)))
    assert "at least 3 of 1,206 different documents, as fewer never count as common" in few.words
    [row] = common_rows(summary(scheme="sentences", common=common))
    assert row.words.startswith("sentences did not count: ")


def test_the_view_and_the_templates_of_pages_are_described():
    assert extraction_line({"text_view": "auto"}, "seen") == (
        "web pages read in text view auto, without templates of hosts"
    )
    assert extraction_line({"text_view": "main", "templates": "1f"}, "my seen") == (
        "web pages read in text view main, with templates of hosts (id 1f);"
        " `neardup templates show --templates 'my seen'` lists them"
    )
