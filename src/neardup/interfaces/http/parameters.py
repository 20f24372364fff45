"""What is wrong with the parameters of an address, in words for people."""

import re
from typing import Any, Final

import msgspec
from msgspec.inspect import FloatType, IntType, LiteralType, StrType, StructType, UnionType, type_info

_AT: Final = re.compile(r"`\$\.(\w+)`")
_MISSING: Final = re.compile(r"missing required field `(\w+)`")
_UNKNOWN: Final = re.compile(r"unknown field `(.*)`")
_SHOWN: Final = 40  # characters of a name


def parameter_error(kind: type, error: msgspec.ValidationError) -> str:
    """Say which parameter of a query is wrong, and the rule.

    >>> from neardup.interfaces.http.searching import SearchQuery
    >>> parameter_error(SearchQuery, msgspec.ValidationError("Expected `int`, got `str` - at `$.page`"))
    '"page" must be a whole number from 1 to 1,000,000, such as 2.'
    """
    text, struct = str(error), type_info(kind)
    rules = {field.encode_name: field.type for field in struct.fields} if isinstance(struct, StructType) else {}
    if (found := _AT.search(text)) and found[1] in rules:
        return f'"{found[1]}" must be {_rule(rules[found[1]])}.'
    if found := _MISSING.search(text):
        return f'"{found[1]}" is missing.'
    if found := _UNKNOWN.search(text):
        return f'"{found[1][:_SHOWN]}" is unknown; known are {", ".join(rules) or "none"}.'
    return text


def _rule(kind: Any) -> str:
    """Say what a value must be."""
    if isinstance(kind, UnionType):  # with nothing, as which it is left out
        return next(_rule(one) for one in kind.types if not isinstance(one, msgspec.inspect.NoneType))
    if isinstance(kind, IntType):
        span = f" from {kind.ge:,} to {kind.le:,}" if kind.ge is not None and kind.le is not None else ""
        return f"a whole number{span}, such as 2"
    if isinstance(kind, FloatType):
        return "a number above 0 and at most 1, such as 0.8"
    if isinstance(kind, LiteralType):
        *others, last = map(str, kind.values)
        return f"{', '.join(others)} or {last}" if others else last
    if isinstance(kind, StrType):
        return _string_rule(kind)
    return "true or false"


def _string_rule(kind: StrType) -> str:
    if kind.pattern:
        return "the digits of a group's id"
    return f"{'1 to' if kind.min_length else 'at most'} {kind.max_length or 0:,} characters"
