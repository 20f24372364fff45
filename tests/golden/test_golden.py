"""The bits of ``golden.json``. Whoever changes them makes all stored signatures worthless: see ``make_golden.py``."""

import importlib.util
import json
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "golden.json").read_text(encoding="utf-8"))


def maker():
    spec = importlib.util.spec_from_file_location("make_golden", HERE / "make_golden.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = maker()


@pytest.fixture(scope="module")
def measured():
    return MAKER.measured()


def test_every_scheme_has_golden_bits():
    assert [*GOLDEN] == [*MAKER.SCHEMES, *MAKER.FINGERPRINTS, *MAKER.CHECKSUMS]


@pytest.mark.parametrize("scheme", GOLDEN)
def test_every_scheme_has_its_golden_recipe(measured, scheme):
    assert measured[scheme]["recipe"] == GOLDEN[scheme]["recipe"]


@pytest.mark.parametrize("text", MAKER.TEXTS)
@pytest.mark.parametrize("scheme", GOLDEN)
def test_every_text_has_its_golden_bits(measured, scheme, text):
    assert measured[scheme]["documents"][text] == GOLDEN[scheme]["documents"][text]


def test_the_bits_say_what_they_should():
    default, plain = GOLDEN["default"]["documents"], GOLDEN["as it is"]["documents"]
    assert default["NFC"] == default["NFD"]
    assert plain["NFC"] != plain["NFD"]
    assert len(default["short"]["features"]) == 16
    assert default["empty"] == {"features": ""}
    assert GOLDEN["checksum"]["documents"]["empty"] is None
    assert len(default["CJK"]["features"]) == 16 * (7 + 8 - 2)  # a character each, by threes
    assert len({GOLDEN[scheme]["recipe"] for scheme in GOLDEN}) == len(GOLDEN)


def test_no_key_is_in_the_file():
    assert MAKER.KEY.hex() not in json.dumps(GOLDEN)
