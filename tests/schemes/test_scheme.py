import pickle
from dataclasses import replace

import pytest

from neardup import Analysis, Checksum, Combined, MinHash, Sentences, SimHash, Trials
from neardup.errors import ParameterError
from neardup.schemes import registry
from neardup.schemes.scheme import Scheme, require_scheme

KEY = b"secret key 16 by"


@pytest.mark.parametrize("kind", registry.kinds(), ids=lambda kind: kind.name)
def test_every_kind_is_a_scheme(kind):
    scheme = kind()
    require_scheme(scheme)
    assert isinstance(scheme, Scheme)
    assert (scheme.same_content is not None) == bool(scheme.columns)


@pytest.mark.parametrize("wrong", ["minhash", MinHash, None, object(), 3])
def test_what_cannot_sign_is_refused(wrong):
    with pytest.raises(ParameterError, match="must be a scheme, such as MinHash"):
        require_scheme(wrong)


@pytest.mark.parametrize("kind", registry.kinds(), ids=lambda kind: kind.name)
def test_without_options_it_has_its_defaults(kind):
    assert kind.from_options({}, seed=1) == kind()


@pytest.mark.parametrize("kind", registry.kinds(), ids=lambda kind: kind.name)
def test_the_recipe_is_computed_once(kind):
    scheme = kind()
    assert scheme.recipe is scheme.recipe


@pytest.mark.parametrize("kind", registry.kinds(), ids=lambda kind: kind.name)
def test_it_survives_pickling(kind):
    for scheme in (*kind.variants(), kind.for_texts().with_key(KEY)):
        again = pickle.loads(pickle.dumps(scheme))  # noqa: S301 - what was pickled a moment ago
        assert again == scheme
        assert hash(again) == hash(scheme)
        assert again.recipe == scheme.recipe
        assert again.sign(["a b c d"]).rows.tolist() == scheme.sign(["a b c d"]).rows.tolist()


@pytest.mark.parametrize("kind", registry.kinds(), ids=lambda kind: kind.name)
def test_a_key_is_not_shown(kind):
    scheme = kind.for_texts().with_key(KEY)
    for shown in (repr(scheme), str(scheme), scheme.recipe, scheme.key_identity, repr(scheme.sign(["a b c d"]))):
        assert KEY.decode() not in shown
        assert KEY.hex() not in shown
    if hasattr(scheme, "key"):
        with pytest.raises(ParameterError) as caught:
            replace(scheme, key=KEY + b"too long")
        assert KEY.decode() not in str(caught.value)


def test_options_of_the_analysis_make_one():
    made = MinHash.from_options({"stem": "english", "shingle": 2}, key=bytes(16))
    assert made == MinHash(analysis=Analysis(stem="english"), shingle=2, key=bytes(16))
    assert Sentences.from_options({"stem": None}, seed=3) == Sentences(stem=None, seed=3)


def test_estimates_of_matches():
    assert MinHash(threshold=0.7).match_estimate == MinHash(threshold=0.7).least_estimate == 0.7
    assert Trials().match_estimate == pytest.approx((2 / 6) ** (1 / 14))
    assert SimHash(bits=128, distance=64).match_estimate == pytest.approx(0.0)
    assert Checksum().match_estimate is None
    assert Checksum().least_estimate == 1.0
    assert Combined().match_estimate is None
    assert Combined().least_estimate == Trials(words=8).match_estimate


def test_rules_in_words():
    assert MinHash().exact_rule == "resemblance of sets of 3-word shingles at least 0.6"
    assert MinHash(bag=True).signature_rule == "estimated resemblance of bags of 3-word shingles at least 0.6"
    assert SimHash().exact_rule.endswith("at least 0.8; and Hamming distance at most 3 of 64 bits")
    assert Checksum().signature_rule == "equal checksums of title and the first 1,024 bytes of body"
    assert Combined().exact_rule == f"{Trials(words=8).exact_rule}; and Hamming distance at most 29 of 384 bits"
    assert "relative to the smaller set" in Sentences(relative_to="smaller").exact_rule


def test_a_key_needs_a_scheme_that_has_one():
    class Keyless(type(MinHash()).__mro__[2]):
        name = "keyless"

    assert Keyless().with_key(None) is not None
    with pytest.raises(ParameterError, match="cannot be used with this scheme"):
        Keyless().with_key(bytes(16))
