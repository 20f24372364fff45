import pytest

from neardup import MinHash, Trials
from neardup.errors import ParameterError
from neardup.model.protocols import FieldScheme, FilterScheme, Scheme, require_scheme, whole_term
from neardup.schemes import registry


@pytest.mark.parametrize("kind", registry.kinds(), ids=lambda kind: kind.name)
def test_every_kind_is_a_scheme(kind):
    scheme = kind()
    require_scheme(scheme)
    assert isinstance(scheme, Scheme)
    assert isinstance(scheme, FieldScheme) == bool(scheme.columns)
    assert isinstance(scheme, FilterScheme) == hasattr(scheme, "passes")


@pytest.mark.parametrize("wrong", ["minhash", MinHash, None, object(), 3])
def test_what_cannot_sign_is_refused(wrong):
    with pytest.raises(ParameterError, match="must be a scheme, such as MinHash"):
        require_scheme(wrong)


def test_a_term_is_made_once():
    assert whole_term(3) is whole_term(3)
    assert whole_term(Trials().needed).tolist() == [2]
