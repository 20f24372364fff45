from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from neardup import Index
from neardup.index.disk.arrays import StoredArrays
from neardup.index.disk.files import Disk
from neardup.index.disk.manifest import Manifest
from neardup.index.disk.rescue import Salvage, _intact
from neardup.index.disk.segment import SEGMENT


@pytest.fixture
def seen(tmp_path):

    folder = tmp_path / "seen"
    with Index.create(folder, texts=True) as index:
        index.admit(
            [f"d{number}" for number in range(300)], [f"text {number} of {number * 7}" for number in range(300)]
        )
        index.flush()
        index.admit(["e"], ["a heron stands in the reeds"])
        columns = index.store.columns
    return folder, columns


def rows(folder, **terms):
    manifest = Manifest.read(Disk(), folder)
    salvage = Salvage(folder, Disk(), replace(manifest, terms=structs.replace(manifest.terms, **terms)))
    batches = [*salvage.batches()]
    return np.concatenate([own["ordinal"] for own in batches]).tolist() if batches else [], salvage.losses


def test_damaged_values_cost_their_documents_only(seen):
    folder, _ = seen
    assert rows(folder) == ([*range(301)], [])
    (segment,) = folder.glob("segment-*")
    whole = segment.read_bytes()

    arrays = StoredArrays(Disk(), segment, SEGMENT)
    for name in arrays.names:
        if not arrays[name].nbytes:
            continue
        raw = bytearray(whole)
        raw[arrays.begin(name) + arrays[name].nbytes // 2] ^= 1
        segment.write_bytes(raw)
        found, losses = rows(folder)
        assert found[-1] == 300
        if losses:
            assert [loss.documents for loss in losses] == [301 - len(found)]
        else:
            assert found == [*range(301)]
    segment.write_bytes(whole[:-1])
    found, losses = rows(folder)
    assert found == [300]
    assert [loss.documents for loss in losses] == [None]


def test_a_document_is_intact_if_no_damaged_byte_is_one_of_its_values(seen, monkeypatch):
    folder, columns = seen
    (segment,) = folder.glob("segment-*")
    arrays, number = StoredArrays(Disk(), segment, SEGMENT), 300

    def values(row):
        """Yield where the values of a document begin and end in the file."""
        for name in columns.fixed:
            begin, each = arrays.begin(name), arrays[name].nbytes // number
            yield begin + row * each, begin + (row + 1) * each
        for name in columns.strings:
            offsets, data = arrays.begin(f"{name}.offsets"), arrays.begin(f"{name}.data")
            yield offsets + 8 * row, offsets + 8 * (row + 2)
            yield tuple(data + arrays[f"{name}.offsets"][row : row + 2])

    places = [[*values(row)] for row in range(number)]
    for edge in {int(edge) for row in (0, 1, 150, 299) for pair in places[row] for edge in pair}:
        for damaged in ((edge - 1, edge), (edge, edge + 1)):
            monkeypatch.setattr(StoredArrays, "damaged", lambda _, damaged=damaged: [damaged])
            hit = [any(begin < damaged[1] and damaged[0] < end for begin, end in own) for own in places]
            assert _intact(arrays, columns, number).tolist() == [not one for one in hit]


def test_the_columns_are_those_of_the_index(seen):
    folder, columns = seen
    salvage = Salvage(folder, Disk(), Manifest.read(Disk(), folder))
    for own in salvage.batches():
        assert set(own) == {*columns.fixed, *columns.strings}
    _, losses = rows(folder, fields=(("rank", "integer"),))
    assert losses
    _, losses = rows(folder, row=("<u8", columns.row_width))
    assert any("rows is another column" in loss.what for loss in losses)
