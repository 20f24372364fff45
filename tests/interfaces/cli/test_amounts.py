from argparse import ArgumentTypeError

import pytest

from neardup.interfaces.cli import amounts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7),
        ("20000000", 20_000_000),
        ("20,000,000", 20_000_000),
        ("20_000_000", 20_000_000),
        ("20M", 20_000_000),
        ("20m", 20_000_000),
        (" 20 M ", 20_000_000),
        ("1.5k", 1500),
        ("0.1B", 100_000_000),
        ("1G", 10**9),
        ("2T", 2 * 10**12),
        ("2^34", 2**34),
        ("2**30", 2**30),
        ("10^9", 10**9),
        ("8e9", 8 * 10**9),
        ("1.5e6", 1_500_000),
        ("40E6", 40 * 10**6),
        ("-5", -5),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_counts(text, value):
    assert amounts.count(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500", 500),
        ("500B", 500),
        ("500 MB", 500 * 10**6),
        ("14G", 14 * 10**9),
        ("14gb", 14 * 10**9),
        ("1.5GiB", 3 * 2**29),
        ("1TiB", 2**40),
        ("2^33", 2**33),
    ],
)
def test_sizes(text, value):
    assert amounts.size(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "M",
        "x",
        "1e",
        "1.5e0",
        "1e999",
        "nan",
        "1.5",
        "1.0001K",
        "1,00",
        "20MB",
        "2^",
        "2^-1",
        "9^999",
        "1" * 100,
        "٣",
        "1..5",
    ],
)
def test_what_is_no_count(text):
    with pytest.raises(ArgumentTypeError):
        amounts.count(text)


@pytest.mark.parametrize("text", ["", "1.5", "1X", "1KiBi", "1 2", "GB"])
def test_what_is_no_size(text):
    with pytest.raises(ArgumentTypeError):
        amounts.size(text)
