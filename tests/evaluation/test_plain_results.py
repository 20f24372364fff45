import json

from neardup.evaluation.intervals import share


def test_a_result_is_returned_as_values_of_json():
    found = share(1, 4, 100).as_dict()
    assert found["value"] == 0.25
    assert json.loads(json.dumps(found)) == found
