import numpy as np
import pytest

from neardup.index.disk.columns import Columns, decoded, encoded
from neardup.index.disk.field_changes import FieldChange, as_arrays, changed_ordinals, of_arrays

COLUMNS = Columns("<u8", 2, (("host", "string"), ("rank", "integer"), ("ordinals", "flag")), texts=False)
CHANGES = {
    "host": FieldChange(np.array([3, 9]), encoded(["a.example", ""])),
    "rank": FieldChange(np.array([9]), np.array([-5])),
}


def test_changes_are_those_of_their_record():
    found = of_arrays(COLUMNS, {**as_arrays(CHANGES), "ordinal": np.array([3, 9])})
    assert found.keys() == CHANGES.keys()
    for name, change in found.items():
        assert change.ordinals.tolist() == CHANGES[name].ordinals.tolist()
    assert decoded(found["host"].values) == ["a.example", ""]
    assert found["rank"].values.tolist() == [-5]
    assert changed_ordinals(found).tolist() == [3, 9]
    assert of_arrays(COLUMNS, {"ordinal": np.array([3, 9])}) == {}
    assert changed_ordinals({}).tolist() == []


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("ordinals.rank", np.array([9], np.int32)),
        ("ordinals.rank", np.array([[9]])),
        ("field.rank", np.array([-5.0])),
        ("field.rank", np.array([-5, 5])),
        ("field.host.offsets", np.array([0, 9])),
        ("field.host.offsets", np.array([0, 9, 8])),
        ("field.host.data", np.array([1, 2, 3])),
    ],
)
def test_what_a_forger_writes_is_refused(name, array):
    with pytest.raises(ValueError, match=r"invalid|another|cut"):
        of_arrays(COLUMNS, {**as_arrays(CHANGES), name: array})
