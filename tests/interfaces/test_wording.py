import pytest

from neardup import Policy, Summary
from neardup.interfaces.wording import evidence_of, rule_of


def row(rule, resemblance=None, within=None, around=None):
    return {"rule": rule, "resemblance": resemblance, "contained_in_kept": within, "contains_kept": around}


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (row("same text", 1.0, 1.0, 1.0), "same text: equal byte by byte"),
        (row("same features", 1.0, 1.0, 1.0), "same features: they differ in nothing that counts"),
        (row("resemblance", 0.6, 0.75, 0.75), "resemblance 0.60; 75% of it is in the kept one, 75% of the kept one"),
        (row("estimate", 0.6), "estimated resemblance 0.60"),
        (row("estimate"), "estimate"),
        (row("shared key"), "shared key: NOT VERIFIED"),
        (row("component", 0.2, 0.3, 0.4), "component: connected through others only; resemblance 0.20; 30% of it"),
        (row("checksum", 0.9, 0.95, 0.95), "checksum: equal in every signed field; resemblance 0.90; 95% of it"),
    ],
)
def test_evidence_in_words(decision, words):
    assert evidence_of(decision).startswith(words)


@pytest.mark.parametrize(
    ("scheme", "policy", "words"),
    [
        ("minhash", Policy(), "resemblance at least 0.6 (verified)"),
        ("minhash", Policy(verify="estimate"), "estimated resemblance at least 0.6 (not verified)"),
        ("trials", Policy(verify="estimate"), "signatures that match by the rule of trials (not verified)"),
        ("combined", Policy(verify="estimate"), "signatures that match by the rule of combined (not verified)"),
        ("another", Policy(verify="estimate"), "signatures that match by the rule of another (not verified)"),
        ("simhash", Policy(), "resemblance at least 0.6 (verified), and fingerprints within the distance"),
        ("combined", Policy(), "resemblance at least 0.6 (verified), and a match by the second scheme"),
        ("simhash", Policy(verify="none"), "NOT VERIFIED: a shared key, and fingerprints within the distance"),
        ("minhash", Policy(gather="components"), "connected by resemblance at least 0.6 (verified)"),
        ("minhash", Policy(verify="none"), "NOT VERIFIED: a shared key was enough"),
        ("checksum", Policy(), "equal checksum (verified)"),
    ],
)
def test_rules_in_words(scheme, policy, words):
    counts = dict.fromkeys(
        ("documents", "kept", "exact", "near", "empty", "too_short", "duplicate_ids", "candidates"), 0
    )
    numbers = {**counts, "compared": 0, "not_compared": 0}
    assert (
        rule_of(Summary(**numbers, scheme=scheme, recipe="r", threshold=0.6, measure="resemblance", policy=policy))
        == words
    )
