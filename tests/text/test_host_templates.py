"""The templates of hosts as a value: its ids, its file, and files that are damaged or something else."""

import copy
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.errors import DataError, ParameterError
from neardup.model.errors import InputRefused
from neardup.sources.hosts import host
from neardup.text.host_templates import HostTemplates, Template
from neardup.text.lines import LINES

RULE = {"least": 10}
MENU = np.sort(LINES.features(["Home", "News"]).values)


def template(host="b.example", **changes):
    return Template(
        **{"host": host, "view": "main", "kept": 20, "lines": MENU, "examples": ("Home", "News"), **changes}
    )


TEMPLATES = HostTemplates([template(), template("a.example", lines=MENU[:0], examples=())], RULE)


def test_a_file_keeps_them(tmp_path):
    path = tmp_path / "templates.arrow"
    TEMPLATES.save(path)
    loaded = HostTemplates.load(path)
    assert loaded == TEMPLATES
    assert hash(loaded) == hash(TEMPLATES)
    assert loaded.to_bytes() == path.read_bytes()
    assert loaded.get("b.example").examples == ("Home", "News")
    assert not loaded.get("b.example").lines.flags.writeable
    assert [path.name for path in tmp_path.iterdir()] == ["templates.arrow"]


def test_a_value_can_be_copied():
    assert copy.deepcopy(TEMPLATES) == copy.copy(TEMPLATES) == TEMPLATES


def test_templates_by_host():
    assert [one.host for one in TEMPLATES.templates] == ["a.example", "b.example"]
    assert TEMPLATES.numbers(["b.example", None, "c.example", "a.example"]).tolist() == [1, -1, -1, 0]
    assert TEMPLATES.get(None) is TEMPLATES.get("c.example") is None
    assert TEMPLATES.terms.tolist() == MENU.tolist()
    assert TEMPLATES.begins.tolist() == [0, 0, 2]
    assert len(HostTemplates([], RULE).terms) == 0


@pytest.mark.parametrize("host", ["B.example", "b.example.", "b.example:443", "http://b.example/", "b\xfccher.example"])
def test_hosts_that_are_not_in_normal_form_are_refused(host):
    for ask in (TEMPLATES.get, lambda one: TEMPLATES.numbers([one])):
        with pytest.raises(ParameterError, match=r"must be in normal form, as neardup.urls.host returns it"):
            ask(host)


@given(st.text("aB.-%4\xfc\xdf\u3002[:1]_~!$&'()*+,;=x\ud800", max_size=12))
@example("[2001:DB8::1]")
@example("%C3%89.example")
def test_hosts_in_normal_form_are_not(authority):
    assert TEMPLATES.get(host(f"https://{authority}/")) is None


def test_changed_templates_name_those_that_they_have_replaced(tmp_path):
    other, longer = template("c.example"), template(lines=MENU[:1], examples=("Home",), version=2)
    found = TEMPLATES.updated([other])
    assert [one.host for one in found.templates] == ["a.example", "b.example", "c.example"]
    again = found.updated([longer])
    assert again.get("b.example") is longer
    assert again.get("c.example") is other
    assert (TEMPLATES.earlier, again.earlier) == ((), (TEMPLATES.identity, found.identity))
    assert TEMPLATES.updated([]) is TEMPLATES is TEMPLATES.updated(TEMPLATES.templates)
    again.save(tmp_path / "t.arrow")
    assert HostTemplates.load(tmp_path / "t.arrow").earlier == again.earlier
    assert again == HostTemplates(again.templates, RULE)


def test_everything_but_examples_enters_the_id():
    ids = {template(**change).id for change in ({}, {"host": "c"}, {"view": "visible"}, {"kept": 21}, {"version": 2})}
    assert len(ids) == 5
    assert template(examples=()).id == template().id != template(lines=MENU[:1], examples=()).id
    assert HostTemplates([template()], {"least": 11}) != HostTemplates([template()], RULE)


def test_a_flipped_bit_is_found_or_changes_nothing():
    content = TEMPLATES.to_bytes()
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        found = TEMPLATES
        with suppress(DataError):
            found = HostTemplates.from_bytes(bytes(damaged), "x")
        assert found == TEMPLATES


def other_file(table, **options):
    stream = pa.BufferOutputStream()
    with pa.ipc.new_file(stream, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return stream.getvalue().to_pybytes()


@pytest.mark.parametrize(
    "content",
    [b"", b"ARROW1", TEMPLATES.to_bytes()[:-1], TEMPLATES.to_bytes()[:400], other_file(pa.table({"a": [1]}))],
)
def test_other_files_are_refused(content):
    with pytest.raises(DataError, match="is not a file of templates"):
        HostTemplates.from_bytes(content, "x.arrow")


def test_changed_contents_are_refused():
    with pa.ipc.open_file(TEMPLATES.to_bytes()) as reader:
        table = reader.read_all()
    metadata = table.schema.metadata
    changed = table.set_column(3, table.schema.field("kept"), pa.array([20, 21]))
    with pytest.raises(DataError, match="damaged"):
        HostTemplates.from_bytes(other_file(changed.replace_schema_metadata(metadata)), "x")
    newer = {key: value.replace(b'"format": 1', b'"format": 2') for key, value in metadata.items()}
    with pytest.raises(DataError, match="newer"):
        HostTemplates.from_bytes(other_file(table.replace_schema_metadata(newer)), "x")
    deep = dict.fromkeys(metadata, b"[" * 100_000)
    with pytest.raises(DataError, match="not a file of templates"):
        HostTemplates.from_bytes(other_file(table.replace_schema_metadata(deep)), "x")
    twice = pa.concat_tables([table, table])
    with pytest.raises(DataError, match="not a file of templates"):
        HostTemplates.from_bytes(other_file(twice), "x")


def test_a_compressed_file_is_refused_before_its_lines_become_objects():
    lines = np.arange(1_000_000, dtype=np.uint64)
    content = HostTemplates([template(lines=lines, examples=())], {}).to_bytes()
    with pa.ipc.open_file(content) as reader:
        packed = other_file(reader.read_all(), compression="zstd")
    assert len(HostTemplates.from_bytes(content, "x").templates) == 1
    with pytest.raises(DataError, match="not a file of templates"):
        HostTemplates.from_bytes(packed, "x")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputRefused, match="cannot be read"):
        HostTemplates.load(tmp_path / "absent.arrow")
    with pytest.raises(ParameterError, match="must be a path"):
        HostTemplates.load(None)


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "templates.arrow"
    TEMPLATES.save(path)
    monkeypatch.setattr("neardup.text.host_templates.LARGEST", 10)
    with pytest.raises(DataError, match="larger than 10 bytes"):
        HostTemplates.load(path)


@pytest.mark.parametrize("change", [{"view": "auto"}, {"lines": MENU[::-1]}, {"lines": [1, 2]}, {"examples": ("one",)}])
def test_invalid_values_are_refused(change):
    with pytest.raises(ParameterError):
        template(**change)


def test_two_templates_of_a_host_are_refused():
    with pytest.raises(ParameterError, match="different hosts"):
        HostTemplates([template(), template(version=2)], RULE)
