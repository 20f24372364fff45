import pytest

from neardup.errors import ParameterError
from neardup.model.presets import PRESETS
from neardup.schemes.presets import preset


def test_each_makes_a_scheme_of_its_settings():
    for name, settings in PRESETS.items():
        scheme = preset(name)
        for parameter, value in settings.settings.items():
            assert getattr(scheme, parameter, None) == value or getattr(scheme.analysis, parameter, None) == value


@pytest.mark.parametrize("name", ["Copies", "", None, 5])
def test_an_unknown_name_is_refused_with_those_there_are(name):
    with pytest.raises(ParameterError, match="must be one of rewrites, copies, strict, code, short"):
        preset(name)


def test_one_ignores_common_shingles():
    assert PRESETS["code"].ignore_common == 0.002
    assert PRESETS["copies"].ignore_common is None
