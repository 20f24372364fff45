"""Every error that the package raises on purpose.

    NeardupError
    ├── ParameterError   a parameter breaks its rule            (also ValueError)
    │   └── ParameterConflict  two parameters that cannot be used together
    ├── RecipeMismatch   signatures of different recipes        (also TypeError)
    ├── DataError        input that cannot be read as documents (also ValueError)
    │   ├── InputRefused     refused because of its name, before anything was read
    │   ├── NothingRead      inputs whose records were all rejected
    │   ├── FieldMissing     a field that no record has
    │   └── ValueRefused     a value that cannot be used with the others of its column
    ├── OutputError      a result that cannot be written        (also OSError)
    │   └── OutputRefused    refused because of its name, before anything was read
    │       └── OutputsOverlap   two outputs at one path, or one inside the other
    ├── ExtraMissing     a library that is not installed        (also ImportError)
    ├── StorageError     an index on disk that cannot be used   (also OSError)
    │   ├── StorageRefused   missing, or of another kind, recipe, key or format
    │   │   ├── RunChanged       a run in pieces was begun with other inputs or settings
    │   │   └── RunComplete      a run in pieces was interrupted when all its outputs were written
    │   ├── StorageDamaged   a file is damaged
    │   ├── StorageBusy      another process writes to it
    │   └── StorageFailed    the system refused to read or write
    │       └── StorageMoved     its folder or files were moved, replaced or unlocked while it was open
    ├── EngineFailed     a system that runs tasks failed        (also RuntimeError)
    └── QueryTimeout     a search that exceeded its time limit  (also TimeoutError)

Each error passes its parts to ``super().__init__``, so that it can be sent between processes. Each has a ``code``, a
stable name of the kind of error for programs: that of its class, such as ``parameter`` or ``storage busy``, unless an
input or output error has a narrower one, such as ``json array``, ``field``, ``exists`` or ``too large``. Rejected
records have codes, too: see ``neardup.sources.record_faults.Rejected``.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from errno import EDQUOT, ENAMETOOLONG, ENOSPC
from numbers import Integral, Number, Rational, Real
from operator import index
from os import fsencode, strerror
from pathlib import Path
from typing import Any, Final

from neardup.model.changes import Change

PERMISSION: Final = "permission"  # the code of an error if the user has no permission
NO_FILE: Final = "no such file"
NOT_A_FILE: Final = "not a file"  # a name that no file can have, or standard input
OTHER_FILE: Final = "other file"  # of another kind than its option takes
FOLDER_FOR_FILE: Final = "folder for a file"
TOO_LONG: Final = "name too long"
FULL: Final = "no room"  # the disk, or what the user may use of it
TEMPORARY: Final = "temporary files"  # which cannot be written
LINKED_LOCK: Final = "it is a link, and a lock must be a file; remove the link"  # or its target would be overwritten

_LONGEST: Final = 100  # characters of a value in a message
_OF_NAMES: Final = frozenset((NO_FILE, FOLDER_FOR_FILE, TOO_LONG))  # errors that another name avoids
_PREDICATES: Final = frozenset(  # a rule that begins with one of them continues the sentence, without a colon
    ("is", "are", "was", "were", "has", "have", "belongs", "keeps", "must", "needs", "cannot", "exists")
)
_CHANGES: Final = 5  # that a message names
_IN_PYTHON: Final = {  # what to do next, by the code of an error: interfaces have words of their own
    "exists": "; force=True replaces it",
    "run damaged": "; restart=True begins again",
    "search table": ": Search.rebuild(index)",  # after "build it" or "rebuild it"
}


class NeardupError(Exception):
    """Base class of all errors that the package raises on purpose."""

    code = "error"

    def words(self, named: Callable[[str], str] = str) -> str:
        """Describe the error without what to do next in Python; *named* returns how a parameter is called."""
        del named
        return str(self)


class ParameterError(NeardupError, ValueError):
    """A parameter breaks its rule: *name*, *value* and *rule*. *code* names the kind of error, as in ``DataError``."""

    code = "parameter"

    def __init__(self, name: str, value: object, rule: str, code: str = "") -> None:
        super().__init__(name, value, rule, code)
        self.name, self.value, self.rule = name, value, rule
        self.code = code or type(self).code

    def __str__(self) -> str:
        shown = repr(self.value)
        plain = len(shown) <= _LONGEST and "\n" not in shown  # as of a table
        plain = plain and type(self.value).__repr__ is not object.__repr__
        return f"{self.name}={shown} {self.rule}" if plain else f"{self.name} {self.rule}"


class ParameterConflict(ParameterError):
    """Two parameters that cannot be used together, and *why*; *other* and *other_value* are the second one."""

    code = "parameter conflict"

    def __init__(self, name: str, value: object, other: str, other_value: object, why: str = "") -> None:
        super().__init__(name, value, f"cannot be used with {other}={other_value!r}{why and f': {why}'}")
        self.args = (name, value, other, other_value, why)
        self.other, self.other_value, self.why = other, other_value, why


class RecipeMismatch(NeardupError, TypeError):
    """Two signatures were made by different recipes and cannot be compared."""

    code = "recipe mismatch"

    def __init__(self, left: str, right: str) -> None:
        super().__init__(left, right)
        self.left, self.right = left, right

    def __str__(self) -> str:
        both = f"signatures of recipe {self.left} cannot be compared with signatures of recipe {self.right}"
        return f"{both}; sign all with one scheme"


class _PlacedError(Exception):
    """An error at a place: *where* it is, and the *rule* that is broken, or the reason.

    *code* names the kind of error, so that an interface can add what to do next; the default is the code of the class.
    """

    code = ""

    def __init__(self, where: str, rule: str, code: str = "") -> None:
        super().__init__(where, rule, code)
        self.where, self.rule = where, rule
        self.code = code or type(self).code

    def __str__(self) -> str:
        return f"{self.words()}{_IN_PYTHON.get(self.code, '')}"

    def words(self, named: Callable[[str], str] = str) -> str:
        """Return where the error is, and why; see ``NeardupError.words``."""
        del named
        joined = " " if self.rule.partition(" ")[0] in _PREDICATES else ": "
        return f"{self.where}{joined}{self.rule}"


class DataError(_PlacedError, NeardupError, ValueError):
    """Input that cannot be read as documents: *where* it is, and which *rule* it breaks."""

    code = "data"

    @staticmethod
    def by(error: OSError, where: object, what: str = "it") -> "DataError":
        """Return the error for an input that the system refuses to have read; *what* it has names its contents.

        It is ``InputRefused`` if there is no such file, or a folder, or no file can have that name.

        >>> str(DataError.by(IsADirectoryError(21, "Is a directory"), "keys", "the key"))
        'keys: the key cannot be read: Is a directory'
        """
        code = _code_of(error)
        kind = InputRefused if code in _OF_NAMES else DataError
        return kind(str(where), f"{what} cannot be read: {reason(error)}", code)


class OutputError(_PlacedError, NeardupError, OSError):
    """A result that cannot be written: *where*, and why (*rule*). No partial output is left."""

    code = "output"

    @staticmethod
    def by(error: OSError, where: object, doing: str = "written") -> "OutputError":
        """Return the error for an output that the system refuses to have *doing*, such as ``written`` or ``made``.

        It is ``OutputRefused`` if there is no folder for it, or it is a folder, or no file can have that name.
        """
        code = _code_of(error)
        kind = OutputRefused if code in _OF_NAMES else OutputError
        return kind(str(where), f"it cannot be {doing}: {reason(error)}", code)


class StorageError(_PlacedError, NeardupError, OSError):
    """An index on disk that cannot be used: *where* is the file, and *rule* the reason."""

    code = "storage"


class StorageRefused(StorageError):
    """There is no index, or it has another kind, recipe, key or format than requested."""

    code = "storage refused"


class RunChanged(StorageRefused):
    """A run in pieces that was begun with other inputs or settings; *changes* are the differences."""

    code = "other terms"

    def __init__(self, where: str, changes: Sequence[Change]) -> None:
        super().__init__(where, "its run was begun with other inputs or settings", self.code)
        self.args = (where, changes)
        self.changes = changes

    def __reduce__(self) -> tuple[Any, ...]:  # an OSError of two parts has parts of its own
        return type(self), self.args

    def words(self, named: Callable[[str], str] = str) -> str:
        """Describe the error; see ``Change.words``."""
        found = [change.words(named) for change in self.changes[:_CHANGES]]
        more = len(self.changes) - len(found)
        return f"{self.where}: {self.rule}: {'; '.join(found)}{f'; and {more:,} more' if more else ''}"

    def __str__(self) -> str:
        return f"{self.words()}; restart=True begins again"


class RunComplete(StorageRefused):
    """A run in pieces that was interrupted when its outputs were written; the rest of its work folder is removed."""

    code = "complete"
    __reduce__ = RunChanged.__reduce__

    def __init__(self, where: str, rejected: int = 0) -> None:
        but = f", without {counted(rejected, 'rejected record')}" if rejected else ""
        super().__init__(where, f"its run was complete when interrupted: the outputs are written{but}", self.code)
        self.args, self.rejected = (where, rejected), rejected


class StorageDamaged(StorageError):
    """A file of an index, a state or a work folder is damaged."""

    code = "storage damaged"


class StorageBusy(StorageError):
    """Another process is writing to the index."""

    code = "storage busy"


class StorageFailed(StorageError):
    """The system refused to read or write, for example because the disk is full.

    Acknowledged changes are not lost, and the index continues to answer. Each step of the failed call (of up to 2,048
    documents) was written as a whole or not at all; the same call can be repeated. The next change tries to write
    again.
    """

    code = "storage failed"

    @classmethod
    def by(cls, error: OSError, where: object, doing: str) -> StorageError:
        """Return the error for a file that the system refuses to have *doing*, such as ``read`` or ``written``.

        Its code is ``PERMISSION`` if the user has no permission for it. It is ``StorageRefused`` for a name that no
        file can have.

        >>> str(StorageFailed.by(PermissionError(13, "Permission denied"), "seen/log", "read"))
        'seen/log cannot be read: Permission denied'
        """
        code, rule = _code_of(error), f"cannot be {doing}: {reason(error)}"
        if code == TOO_LONG:
            return StorageRefused(str(where), rule, code)
        return cls(str(where), rule, code if code == PERMISSION else "")


class StorageMoved(StorageFailed):
    """The folder or files of an open index were moved or replaced, or its lock was removed; nothing was written.

    Acknowledged changes are in the files that were opened, if these still exist. Reopening the index opens the files
    that are at the path now.
    """

    code = "storage moved"


class EngineFailed(_PlacedError, NeardupError, RuntimeError):
    """A system that runs tasks, such as Spark, or one of its machines, failed: *where*, and why (*rule*).

    A run in pieces that is started again continues with what was finished.
    """

    code = "engine failed"


class QueryTimeout(NeardupError, TimeoutError):
    """A search was stopped because it exceeded its time limit, in seconds."""

    code = "timeout"

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"the search was stopped after {self.seconds:g} seconds; use fewer or rarer words, or allow more time"


class ExtraMissing(NeardupError, ImportError):
    """A required library, which an extra installs, is missing."""

    code = "extra missing"

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(library, extra)
        self.library, self.extra = library, extra

    def __str__(self) -> str:
        return f"this needs {self.library}, which is not installed: pip install 'neardup[{self.extra}]'"


class InputRefused(DataError):
    """An input that does not exist or is of an unknown format."""

    code = "input refused"


class NothingRead(DataError):
    """Inputs whose records were all rejected; *first* is the code of the first one, and *source* its file."""

    code = "all rejected"

    def __init__(self, where: str, rule: str, first: str, source: str) -> None:
        super().__init__(where, rule)
        self.args = (where, rule, first, source)
        self.first, self.source = first, source


class FieldMissing(DataError):
    """A field that no record has; *field* is its name, *existing* the names of the fields that exist."""

    code = "field"

    def __init__(self, where: str, rule: str, code: str, field: str, existing: tuple[str, ...]) -> None:
        super().__init__(where, rule, code)
        self.args = (where, rule, code, field, existing)
        self.field, self.existing = field, existing


class ValueRefused(DataError):
    """A value of a column that cannot be used with the others; *row* is its position, *field* the column."""

    code = "value refused"

    def __init__(self, where: str, rule: str, code: str, row: int, field: str = "") -> None:
        super().__init__(where, rule, code)
        self.args = (where, rule, code, row, field)
        self.row, self.field = row, field

    def at(self, place: tuple[str, int]) -> "ValueRefused":
        """Return the same error for a record at a *place*, of a source and a line or number."""
        where, number = place
        return ValueRefused(f"{where}:{number}", f"its {self.field!r} {self.rule}", self.code, self.row, self.field)


class OutputRefused(OutputError):
    """An output that may not be written to this path: it exists, is an input, or has no folder."""

    code = "output refused"


class OutputsOverlap(OutputRefused):
    """Two outputs at one path, or one inside the other; *name* and *other* are their parameters."""

    code = "outputs overlap"

    def __init__(self, where: str, name: str, other: str) -> None:
        super().__init__(where, _apart(name, other), self.code)
        self.args = (where, name, other)
        self.name, self.other = name, other

    def words(self, named: Callable[[str], str] = str) -> str:
        """Describe the error; see ``NeardupError.words``."""
        return f"{self.where}: {_apart(named(self.name), named(self.other))}"


@contextmanager
def raising(by: Callable[..., NeardupError], *about: object) -> Iterator[None]:
    """Raise the errors of the system as those that *by*, such as ``DataError.by``, makes of them, *about* a file."""
    try:
        yield
    except NeardupError:
        raise
    except OSError as error:
        raise by(error, *about) from error


def is_full(error: OSError) -> bool:
    """Return whether the disk is full, or what the user may use of it."""
    return error.errno in {ENOSPC, EDQUOT}


def reason(error: OSError | ValueError) -> str:
    """Return the reason of an error in the words of the system, and the way out of a name that is too long."""
    if isinstance(error, ValueError):
        return str(error)  # a name with a NUL
    if error.errno == ENAMETOOLONG:
        return "its name is too long for the file system; choose a shorter one"
    return strerror(error.errno) if error.errno else str(error)  # libraries put names into their own words


def _code_of(error: OSError) -> str:
    """Return the code of an error of the system; empty for kinds without one."""
    if is_full(error):
        return FULL
    if error.errno == ENAMETOOLONG:
        return TOO_LONG
    kinds = {PermissionError: PERMISSION, FileNotFoundError: NO_FILE, IsADirectoryError: FOLDER_FOR_FILE}
    return next((code for kind, code in kinds.items() if isinstance(error, kind)), "")


def _apart(name: str, other: str) -> str:
    return f"{name} and {other} must be different paths, and neither inside the other"


def kind_of(value: object) -> str:
    """Return the name of a value's type, with its article.

    >>> kind_of(5), kind_of("five"), kind_of(None)
    ('an int', 'a string', 'None')
    """
    if value is None or isinstance(value, str | bytes):
        return "None" if value is None else "a string" if isinstance(value, str) else "bytes"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> counted(1, "row"), counted(2_000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """Return a noun, in the plural unless the number is 1."""
    return noun if number == 1 else f"{noun}s"


def cut_to(most: int, text: str) -> str:
    """Return a text for a message, of a long one the first characters, *most* at most.

    >>> cut_to(3, "ice"), cut_to(3, "icicle")
    ('ice', 'ici...')
    """
    return text if len(text) <= most else f"{text[:most]}..."


def require(holds: bool, name: str, value: object, rule: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise ``ParameterError`` unless the rule holds."""
    if not holds:
        raise ParameterError(name, value, rule)


def require_whole(  # noqa: PLR0913 - the rule of one parameter
    name: str, value: object, least: int, most: int | None = None, *, step: int = 1, unit: str = ""
) -> int:
    """Return an integer of this range, also one of NumPy, as an ``int``.

    Raises ``ParameterError`` for anything else; the message names the *unit*, such as ``"bytes"``, if there is one.
    """
    flag = type(value).__name__ == "bool"  # of Python or of NumPy, which older releases take for an integer
    try:
        whole = least - 1 if flag else index(value)  # type: ignore[arg-type]  # that is checked here
    except TypeError:
        whole = least - 1
    if whole < least or (most is not None and whole > most) or whole % step:
        kind = "an integer" if step == 1 else f"a multiple of {step}"
        bounds = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        number = f"{kind} {bounds} ({unit})" if unit else f"{kind} {bounds}"
        raise ParameterError(name, value, f"must be {number}{_unless_number(value)}")
    return whole


def is_number(value: object) -> bool:
    """Return whether a value is an integer or a float, also one of NumPy; fractions and decimals are neither."""
    if isinstance(value, bool):
        return False
    return isinstance(value, Integral) or (isinstance(value, Real) and not isinstance(value, Rational))


def require_share(name: str, value: Any, *, below_one: bool = False) -> Any:
    """Return a share: a number above 0 and at most 1, or *below_one*.

    NumPy's numbers are returned as Python's; those of 32 bits by their shortest decimal form. Raises ``ParameterError``
    for anything else.
    """
    if not (is_number(value) and 0 < value <= 1) or (below_one and value == 1):
        rule = f"must be a number above 0 and {'below' if below_one else 'at most'} 1{_unless_number(value)}"
        if is_number(value) and 2 <= value < 100:  # noqa: PLR2004 - percent
            rule += f"; for {value:g} % write {value / 100:g}"
        raise ParameterError(name, value, rule)
    return plain_value(value)


def plain_value(value: Any) -> Any:
    """Return a NumPy number or string as one of Python; return other values unchanged.

    A float is returned by its shortest decimal form, such as 0.9.

    >>> import numpy as np
    >>> plain_value(np.float32(0.9)), plain_value(np.str_("a")), plain_value(1)
    (0.9, 'a', 1)
    """
    if getattr(value, "shape", None) != ():
        return value
    plain = value.item()
    return float(str(value)) if isinstance(plain, float) else plain


def _unless_number(value: object) -> str:
    if is_number(value):
        return ""
    is_other = isinstance(value, Number) and not isinstance(value, bool)  # a decimal, a fraction, a complex number
    return f", not {kind_of(value)}{'; pass an int or a float' if is_other else ''}"


def require_path(name: str, value: object) -> Path:
    """Return a path from a string or ``os.PathLike``; ``ParameterError`` for anything else, such as an empty string."""
    try:
        path = Path(value)  # type: ignore[arg-type]  # that is checked here
    except TypeError as error:
        raise ParameterError(name, value, "must be a path: a string or os.PathLike") from error
    require(value != "", name, value, "must be a path, not an empty string")
    require("\0" not in str(path), name, value, "must be a path, which has no NUL characters")
    try:
        fsencode(path)
    except UnicodeEncodeError as error:
        rule = f"must be a path, but {error.encoding} cannot encode the character {error.object[error.start]!a}"
        raise ParameterError(name, value, rule) from None
    return path


def require_name(name: str, value: object) -> None:
    """Raise ``ParameterError`` unless a parameter is a string."""
    require(isinstance(value, str), name, value, "must be a string")


def require_choice(name: str, value: object, choices: Container[str], rule: str) -> None:
    """Raise ``ParameterError`` unless a parameter is one of some strings."""
    require(isinstance(value, str) and value in choices, name, value, rule)


def require_other_fields(text: str, **others: str | None) -> None:
    """Raise ``ParameterError`` if another field is that of the text; it names the parameter that is not the default.

    So it does for a field that is neither a string nor ``None``.
    """
    require_name("text", text)
    for name, field in others.items():
        require(field is None or isinstance(field, str), name, field, "must be a string")
        if field == text:
            given, other = (name, "text") if text == "text" else ("text", name)
            raise ParameterError(given, field, f"must be another field than the {other}")


def require_flag(name: str, value: object) -> None:
    """Raise ``ParameterError`` unless a parameter is ``True`` or ``False``."""
    require(isinstance(value, bool), name, value, "must be True or False")


def require_function(name: str, value: object) -> None:
    """Raise ``ParameterError`` unless a parameter is callable or ``None``."""
    require(value is None or callable(value), name, value, "must be a function or None")


def require_kind(name: str, value: object, kind: type) -> None:
    """Raise ``ParameterError`` unless a parameter is an instance of a class of neardup."""
    if not isinstance(value, kind):
        wanted = kind.__name__
        article = "" if wanted.endswith("s") else "an " if wanted[0] in "AEIO" else "a "  # such as Addresses
        raise ParameterError(name, value, f"must be {article}{wanted}, not {kind_of(value)}")


def require_sequence(name: str, value: Any, of: str) -> Sequence[Any]:
    """Return a list or tuple as a tuple; ``ParameterError`` for anything else, including a string."""
    require(isinstance(value, Sequence) and not isinstance(value, str | bytes), name, value, f"must be a list of {of}")
    return tuple(value)


def require_paths(name: str, value: Any) -> Sequence[Any]:
    """Return a list or tuple of paths as a tuple; ``ParameterError`` for anything else, including a single path."""
    paths = require_sequence(name, value, "names")
    for path in paths:
        require_path(name, path)
    return paths
