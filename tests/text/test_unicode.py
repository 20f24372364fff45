import importlib.util
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from neardup.text.unicode import unicode_tables

TOOL = Path(__file__).resolve().parents[2] / "tools/make_unicode_tables.py"


def entry(index, data, letter):
    code = ord(letter)
    return int(data[int(index[code >> 7]) << 7 | code & 127])


def test_the_layout_is_the_documented_one():
    tables = unicode_tables()

    def analysis(letter):
        return entry(*tables.analysis, letter)

    assert (analysis("A") + ord("A")) % 2**21 == ord("a")
    assert [analysis(letter) >> 21 & 3 for letter in "A. 5é你ก\u0301\ufeff+€"] == [1, 0, 0, 1, 1, 2, 2, 1, 0, 3, 3]
    assert tables.expansions[analysis("ß") & 0x1FFFFF].tolist() == [ord("s"), ord("s"), 0]
    assert [analysis(letter) >> 24 & 1 for letter in "aA5²٣+"] == [0, 0, 1, 1, 1, 0]
    assert [analysis(letter) >> 25 & 1 for letter in "a \xad\u034f\u200b\ufe0f\ufeff"] == [0, 0, 1, 1, 1, 1, 1]
    assert entry(*tables.normal, "\u0301") & 0xFF == 230
    assert entry(*tables.normal, "\ufb01") >> 8 == 0b10
    assert entry(*tables.normal, "\U00010efd") >> 8 == 0b100  # of Unicode 15

    def search(letter):
        return entry(*tables.search[:2], letter)

    assert [search(letter) >> 21 for letter in "A. 5é你ก\u0301\ufeff\u0e31ﬁ각"] == [1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 2]
    assert (search("É") + ord("É")) % 2**21 == ord("e")
    row = tables.search[2][search("ﬁ") & 0x1FFFFF].tolist()
    assert row == [2, ord("f") | 1 << 21, ord("i") | 1 << 21, 0, 0]


def test_the_tables_are_loaded_once():
    assert unicode_tables() is unicode_tables()


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the tables are made with Unicode 14.0")
def test_the_tables_are_those_that_the_tool_makes(tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("make_unicode_tables", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    made = {}
    (tmp_path / "src/neardup/text").mkdir(parents=True)
    (tmp_path / "src/neardup/text/unicode.npz").touch()
    monkeypatch.setattr(tool, "__file__", str(tmp_path / "tools/tool.py"))
    monkeypatch.setattr(tool.np, "savez_compressed", lambda _, **tables: made.update(tables))
    own = dict(np.load(TOOL.parents[1] / "src/neardup/text/unicode.npz"))
    tool.main()
    assert {*made} == {*own}
    for name, table in own.items():
        assert made[name].dtype == table.dtype
        assert np.array_equal(made[name], table), name
