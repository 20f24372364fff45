import inspect
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from neardup import errors as public
from neardup.model import errors
from neardup.model.changes import Change
from neardup.model.errors import (
    DataError,
    NeardupError,
    OutputError,
    OutputRefused,
    ParameterConflict,
    ParameterError,
    RecipeMismatch,
    RunChanged,
    StorageRefused,
    require,
    require_choice,
    require_path,
    require_share,
    require_whole,
)

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, NeardupError)]
MADE = [
    (ParameterError("size", -1, "must be at least 0"), "size=-1 must be at least 0", ValueError),
    (ParameterError("size", np.zeros((2, 2)), "must be a number"), "size must be a number", ValueError),
    (ParameterConflict("size", 2, "kind", "flat"), "size=2 cannot be used with kind='flat'", ParameterError),
    (
        RecipeMismatch("aa", "bb"),
        "signatures of recipe aa cannot be compared with signatures of recipe bb; sign all with one scheme",
        TypeError,
    ),
    (DataError("line 3", "is broken"), "line 3 is broken", ValueError),
    (OutputError("out.jsonl", "is full"), "out.jsonl is full", OSError),
]


@pytest.mark.parametrize(("error", "message", "builtin"), MADE, ids=lambda value: type(value).__name__)
def test_errors_say_what_and_why_and_are_caught_in_two_ways(error, message, builtin):
    assert str(error) == message
    assert isinstance(error, NeardupError)
    assert isinstance(error, builtin)


@pytest.mark.parametrize(
    ("error", "message", "following"),
    [
        (
            OutputRefused("a.jsonl", "it exists already", "exists"),
            "a.jsonl: it exists already",
            "; force=True replaces it",
        ),
        (RunChanged("work", [Change("order")]), "work: its run was begun with", "; restart=True begins again"),
        (StorageRefused("seen", "has no table; build it", "search table"), "seen has no", ": Search.rebuild(index)"),
    ],
)
def test_in_python_an_error_says_which_parameter_helps(error, message, following):
    assert str(error) == f"{error.words()}{following}"
    assert error.words().startswith(message)


def test_every_error_has_a_public_name():
    assert {getattr(public, name) for name in public.__all__} == {*KINDS}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {NeardupError, RunChanged}])
def test_every_error_survives_pickling(kind):
    signature = inspect.signature(kind).parameters
    parts = [3 if one.annotation in {int, float, "int", "float"} else name for name, one in signature.items()]
    error = kind(*parts)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - what was pickled a moment ago
    assert type(again) is kind
    assert again.args == error.args
    assert str(again) == str(error) != ""
    assert vars(again) == vars(error)
    assert dict(zip(signature, parts, strict=True)).items() <= vars(error).items()


def test_every_error_is_in_the_tree_of_the_docstring():
    for kind in KINDS:
        assert kind.__name__ in errors.__doc__


@pytest.mark.parametrize("value", [8, np.int64(8), np.uint8(8)])
def test_whole_numbers_of_any_library_become_pythons(value):
    whole = require_whole("size", value, 8, 8, step=8)
    assert (whole, type(whole)) == (8, int)


@pytest.mark.parametrize("value", [0, 9, 2**70, True, np.True_, 1.0, np.float64(1), "1", None, np.array([1, 2])])
def test_everything_else_is_refused(value):
    with pytest.raises(ParameterError, match="must be an integer from 1 to 8") as caught:
        require_whole("size", value, 1, 8)
    assert caught.value.value is value


def test_a_value_of_another_type_is_named():
    with pytest.raises(ParameterError, match=r"^size='8' must be an integer from 1 to 8, not a string$"):
        require_whole("size", "8", 1, 8)
    with pytest.raises(ParameterError, match=r"^size=1 must be an integer of at least 8 \(bytes\)$"):
        require_whole("size", 1, 8, unit="bytes")
    with pytest.raises(ParameterError, match=r"^share='0.5' must be a number above 0 and at most 1, not a string$"):
        require_share("share", "0.5")
    with pytest.raises(ParameterError, match=r"^share=True must be a number above 0 and below 1, not a bool$"):
        require_share("share", True, below_one=True)
    for value in (Decimal("0.5"), Fraction(1, 2)):
        kind = type(value).__name__
        with pytest.raises(ParameterError, match=f"at most 1, not a {kind}; pass an int or a float$"):
            require_share("share", value)


def test_percent_are_explained():
    with pytest.raises(ParameterError, match=r"at most 1$"):
        require_share("threshold", 1.1)
    with pytest.raises(ParameterError, match=r"at most 1; for 80 % write 0.8$"):
        require_share("share", 80.0)
    with pytest.raises(ParameterError, match=r"below 1; for 12.5 % write 0.125$"):
        require_share("share", 12.5, below_one=True)
    assert require_share("share", 1) == 1
    with pytest.raises(ParameterError, match=r"below 1$"):
        require_share("share", 1, below_one=True)


def test_rules_of_whole_numbers():
    with pytest.raises(ParameterError, match="must be a multiple of 8 of at least 16"):
        require_whole("size", 20, 16, step=8)
    with pytest.raises(ParameterError, match="must be a multiple of 8 from 8 to 16"):
        require_whole("size", 20, 8, 16, step=8)


def test_a_broken_rule_is_an_error_with_name_value_and_rule():
    require(True, "size", 1, "must be 1")
    with pytest.raises(ParameterError) as caught:
        require(False, "size", [2], "must be 1")
    assert (caught.value.name, caught.value.value, caught.value.rule) == ("size", [2], "must be 1")


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_code(kind):
    assert kind is NeardupError or "code" in vars(kind)
    assert kind.code
    assert sum(other.code == kind.code for other in KINDS) == 1


def test_a_narrower_code_replaces_that_of_the_class():
    assert DataError("a", "b").code == "data"
    assert DataError("a", "b", "json array").code == "json array"
    assert OutputError("a", "b").code == "output"


@pytest.mark.parametrize("value", [5, None, "", "a\0b", "a\ud800"])
def test_invalid_paths_are_refused(value):
    with pytest.raises(ParameterError, match=r"path=.* must be a path"):
        require_path("path", value)


def test_a_path_is_a_path(tmp_path):
    assert require_path("path", str(tmp_path)) == require_path("path", tmp_path) == tmp_path


@pytest.mark.parametrize("value", [None, 5, b"a", ["a"], np.array(["a", "b"]), pd.NA, pd.DataFrame({"a": [1]}), "c"])
def test_a_choice_is_one_of_some_strings(value):
    require_choice("which", "a", ("a", "b"), "must be a or b")
    with pytest.raises(ParameterError, match="must be a or b"):
        require_choice("which", value, ("a", "b"), "must be a or b")
