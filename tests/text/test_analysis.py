import pytest

from neardup.model.errors import ParameterError
from neardup.text.analysis import Analysis


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("unit", "paragraph"),
        ("unit", None),
        ("unit", []),
        ("normalization", "NFD"),
        ("normalization", ""),
        ("min_length", 0),
        ("min_length", -1),
        ("min_length", 1.5),
        ("min_length", "2"),
        ("min_length", None),
        ("stop_words", "the"),
        ("stop_words", ("the", 5)),
        ("stop_words", 5),
        ("stop_words", None),
        ("stop_words", b"the"),
        ("stop_words", iter(["the"])),
        ("stem", "klingon"),
        ("stem", ""),
        ("stem", 5),
    ],
)
def test_every_parameter_has_a_rule(name, value):
    with pytest.raises(ParameterError) as caught:
        Analysis(**{name: value})
    assert (caught.value.name, caught.value.value) == (name, value)
    assert name in str(caught.value)


def test_stop_words_are_a_list():
    with pytest.raises(ParameterError, match=r"must be a list of words, not a string$"):
        Analysis(stop_words="the")


@pytest.mark.parametrize(("name", "value"), [("min_length", 2), ("stop_words", ("the",)), ("stem", "english")])
def test_letters_know_no_words(name, value):
    with pytest.raises(ParameterError, match="letter") as caught:
        Analysis(unit="letter", **{name: value})
    assert caught.value.name == name


def test_unknown_names_are_errors():
    with pytest.raises(TypeError):
        Analysis(lowercase=True)
    with pytest.raises(TypeError):
        Analysis("word")


def test_stop_words_are_a_set():
    one = Analysis(stop_words=("b", "a", "b"))
    assert one == Analysis(stop_words=["a", "b"])
    assert one.stop_words == ("a", "b")
    assert hash(one) == hash(Analysis(stop_words=["a", "b"]))
    assert one.identity == Analysis(stop_words={"b", "a"}).identity


@pytest.mark.parametrize(
    "change",
    [
        {"unit": "letter"},
        {"unit": "line"},
        {"unit": "sentence"},
        {"fold_case": False},
        {"normalization": "NFKC"},
        {"normalization": None},
        {"min_length": 2},
        {"stop_words": ("the",)},
        {"stem": "english"},
    ],
    ids=str,
)
def test_whatever_decides_bits_is_in_the_identity(change):
    assert Analysis(**change).identity != Analysis().identity


def test_an_analysis_is_frozen():
    with pytest.raises(AttributeError):
        Analysis().unit = "letter"
