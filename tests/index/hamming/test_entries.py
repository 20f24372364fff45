import numpy as np
import pytest

from neardup.index.hamming.entries import Coded, Plain, layout_of
from neardup.model.tables import TableDesign

DESIGNS = [design for distance in (0, 1, 3, 5) for design in TableDesign.choices(distance)]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design.kind}-{design.distance}-{design.pieces}")
def test_both_forms_hold_and_find_the_same(design):
    rng = np.random.default_rng(5)
    values = np.unique(rng.integers(0, 2**64, 500, np.uint64))
    values = np.unique(np.concatenate([values, values[:50] ^ np.uint64(1 << 40)]))
    layout = layout_of(design)
    plain, coded = Plain.of(design, layout, values), Coded.of(design, layout, values)
    assert plain.number == coded.number == len(values)
    assert plain.values().tolist() == coded.values().tolist() == values.tolist()
    again = coded.plain(design)
    assert [part.tolist() for part in again[1:]] == [part.tolist() for part in plain.plain(design)[1:]]
    queries = np.concatenate([values[:20], values[20:40] ^ np.uint64(1 << 63)])
    found = [np.sort(form.search(queries, layout, None)).tolist() for form in (plain, coded)]
    assert found[0] == found[1]
    assert len(found[0]) >= 20
