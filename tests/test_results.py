"""Types of results can be imported from the public modules, for annotations."""

import inspect
import sys
import typing
from collections import deque

import neardup
from neardup.results import Scheme

MODULES = (
    *(
        neardup.collapsing,
        neardup.custom_schemes,
        neardup.errors,
        neardup.hamming,
        neardup.labels,
        neardup.planning,
        neardup.results,
    ),
    *(neardup.spark, neardup.urls, neardup.verdicts, neardup.web_pages),
)
PUBLIC = [
    value
    for module in (neardup, *MODULES)
    for value in (getattr(module, name) for name in module.__all__)
    if inspect.isclass(value) or inspect.isfunction(value)
]
NAMES = {value.__name__: value for value in PUBLIC if inspect.isclass(value)}  # types that some modules do not import
OF_THE_PACKAGE = {  # members that only its own modules use
    *("Index.store", "State.earlier", "State.header", "JudgedSets.judged"),
    *("FilesResult.documents", "Extraction.known", "Extraction.both", "Extraction.pages"),
    *("Extraction.pages_with_whole_texts", "TermWeights.shingling"),
}
OF_SCHEMES = {"options", "hashing", "ranked_rule", "reading", "shingling"}  # these members of every scheme
UNWRAPPED = ("__func__", "fget", "func")  # of class methods, properties and cached properties


def evaluated(annotation, module):
    """An annotation in a module, whose text may name types that the module imports for type checkers only."""

    def stub():
        """Have the annotation."""

    stub.__annotations__ = {"return": annotation}
    return typing.get_type_hints(stub, vars(sys.modules[module]), NAMES)["return"]


def annotations_of(value):
    """What a public function returns; or the public attributes of a class, and what its public methods return."""
    if not inspect.isclass(value):
        yield value.__name__, evaluated(value.__annotations__["return"], value.__module__)
        return
    for owner in value.__mro__:
        if not owner.__module__.startswith("neardup"):
            continue
        annotations = dict(vars(owner).get("__annotations__", {}))
        for name, member in vars(owner).items():
            function = next(filter(inspect.isfunction, (getattr(member, part, None) for part in UNWRAPPED)), member)
            if inspect.isfunction(function):
                annotations[name] = function.__annotations__.get("return")
        for name, annotation in annotations.items():
            place = f"{owner.__name__}.{name}"
            internal = place in OF_THE_PACKAGE or (issubclass(value, Scheme) and name in OF_SCHEMES)
            if not internal and not name.startswith("_"):
                yield place, evaluated(annotation, owner.__module__)


def classes_in(annotation):
    """The classes of the package in an annotation."""
    if inspect.isclass(annotation) and annotation.__module__.startswith("neardup"):
        yield annotation
    for part in annotation if isinstance(annotation, list) else typing.get_args(annotation):
        yield from classes_in(part)


def test_every_type_of_a_result_is_public():
    places, found = {}, deque(PUBLIC)
    seen = set(PUBLIC)
    while found:
        for place, annotation in annotations_of(found.popleft()):
            for one in {*classes_in(annotation)} - seen:
                seen.add(one)
                found.append(one)
                places[f"{one.__module__}.{one.__name__}"] = place
    assert places == {}
