"""Files of labelled pairs: JSON lines, one per answer; of several answers for one pair, the last one counts.

A line is ``{"a": ID, "b": ID, "label": "same", "resemblance": 0.73, "weight": 4.0, "text_a": "...", "text_b": "..."}``,
as ``LabelledPair`` describes it; only the first three fields are needed, and other fields are ignored. A last line
without a line end that cannot be read was being written when its process was killed: it is ignored, and removed when
answers are added.
"""

import fcntl
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self
from weakref import finalize

import msgspec

from neardup.engines.files import sync_folder
from neardup.model.errors import DataError, OutputError, OutputRefused, ParameterError, raising, require_path
from neardup.model.labels import LabelledPair, by_pair
from neardup.sources.compression import load
from neardup.sources.formats import AnyPath, require_file
from neardup.sources.lines import BOM
from neardup.sources.output import atomic, is_special
from neardup.sources.records import reason_of

LONGEST_TEXT: Final = 1 << 20  # bytes of a text that is written
MOST_BYTES: Final = 1 << 30  # of a file
_SHOWN: Final = 100  # characters of a value in a message
_BEGIN: Final = b'{"a":'  # of each line that is written
_FIELDS: Final = ("a", "b", "label", "resemblance", "weight", "text_a", "text_b")


def read_labels(path: AnyPath) -> list[LabelledPair]:
    """Return the labelled pairs of a file, in the order of their first answers, with their last ones.

    An empty file has none. Raises ``InputRefused`` for a path that is not that of a file, and ``DataError``, with the
    file and the line, for a line that is not a labelled pair.
    """
    name = str(require_path("path", path))
    require_file(name, MOST_BYTES)
    answers, _ = _parsed(name, bytes(load(name, None, MOST_BYTES).data))
    return [*by_pair("path", answers).values()]


class LabelFile(AbstractContextManager["LabelFile"]):
    """A file to which answers are appended: each is on disk when ``append`` returns.

    Use it as a context manager. A file that exists is continued, without its last line if that is incomplete. No two
    processes have the same file open. Raises ``OutputRefused`` for a path that cannot be written, or that another
    process has open, and ``DataError`` for a file with other lines than labelled pairs. It is also closed when it is no
    longer used.
    """

    def __init__(self, path: AnyPath) -> None:
        self._name = str(require_path("path", path))
        self._path = Path(self._name).absolute()  # the working directory may change
        self._file = self._opened()
        self._closing = finalize(self, os.close, self._file)
        try:
            self.answers = self._repaired()
            sync_folder(self._path.parent)
        except BaseException:
            self._closing()
            raise

    def __enter__(self) -> Self:
        self._require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing()

    def _require_open(self) -> None:
        if not self._closing.alive:
            raise OutputError(
                self._name, "the labelling has ended; begin another one with this file, which continues it"
            )

    def append(self, answer: LabelledPair) -> None:
        """Write an answer, and wait until it is on disk. Texts of more than 1 MiB are left out.

        Raises ``OutputError`` if the system refuses, if the file was moved or removed while it was open, or if it is
        closed; then the file ends with the answer before.
        """
        self._require_open()
        if not self._has_its_name(self._file):
            raise OutputError(self._name, "it was moved or removed while it was open; put it back")
        line = _line(answer)
        size = os.fstat(self._file).st_size
        with raising(OutputError.by, self._name):
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._file, rest) :]
                os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, size)
                raise
        self.answers.append(answer)

    def replace(self, answers: Sequence[LabelledPair]) -> None:
        """Replace the answers in the file by these, all at once; no more can be appended.

        Raises ``OutputError`` if the system refuses, or if another file has taken the place of this one; then the file
        is unchanged.
        """
        if self._path.exists() and not self._has_its_name(self._file):
            rule = "it was replaced while it was open; restore the original file, and start labelling again"
            raise OutputError(self._name, rule)
        with atomic(str(self._path)) as file:
            for answer in answers:
                file.write(_line(answer))

    def _opened(self) -> int:
        """Return the file, locked."""
        if is_special(self._name):
            raise OutputRefused(self._name, "it is a device or a pipe; name a file, as answers must be kept")
        while True:
            try:
                file = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            except IsADirectoryError:
                raise OutputRefused(self._name, "it is a folder, and the output is a file", "folder") from None
            except OSError as error:
                raise OutputError.by(error, self._name, "opened") from error
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                rule = "another process is adding labels to it; use another file for each person"
                raise OutputRefused(self._name, rule, "busy") from None
            except OSError:
                return file  # a file system without locks
            if self._has_its_name(file):
                return file
            os.close(file)  # another process replaced it just now

    def _has_its_name(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), self._path.stat())
        except OSError:
            return False

    def _repaired(self) -> list[LabelledPair]:
        """Return the answers in the file, and make it end with a complete line."""
        size = os.fstat(self._file).st_size
        if size > MOST_BYTES:
            raise DataError(self._name, f"it is larger than {MOST_BYTES:,} bytes", "too large")
        data = os.pread(self._file, size, 0)
        answers, good = _parsed(self._name, data)
        with raising(OutputError.by, self._name):
            if good < len(data):
                os.ftruncate(self._file, good)
            elif data and not data.endswith(b"\n"):
                os.write(self._file, b"\n")
        return answers


def _parsed(name: str, data: bytes) -> tuple[list[LabelledPair], int]:
    """Return the answers, and the number of bytes before an incomplete last line."""
    answers = []
    lines = data.removeprefix(BOM).split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            answers.append(_answer(line))
        except ParameterError as error:
            rule = f"its {_named(error)} {error.rule}"
            raise DataError(f"{name}:{number}", rule) from error
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            begun = line.startswith(_BEGIN) or _BEGIN.startswith(line) or not line.strip(b"\0")
            if begun and number == len(lines):  # by ``append``, or zeros after a power failure
                return answers, len(data) - len(line)
            why = str(error) if isinstance(error, msgspec.ValidationError) else reason_of(line, error, "label")
            rule = f"it is not a labelled pair: {why}"
            raise DataError(f"{name}:{number}", rule, "label") from error
    return answers, len(data)


def _named(error: ParameterError) -> str:
    """Return the field with its value as in JSON, unless that is long."""
    shown = msgspec.json.encode(error.value).decode()
    return f"{error.name}={shown}" if len(shown) <= _SHOWN else error.name


def _answer(line: bytes) -> LabelledPair:
    values = msgspec.json.decode(line, type=dict[str, Any])
    given = {field: values[field] for field in _FIELDS if field in values}
    for field in ("a", "b"):
        if isinstance(given.get(field), int) and not isinstance(given[field], bool):
            given[field] = str(given[field])  # files of other programs may have numbers
    for field in ("a", "b", "label"):
        if field not in given:
            raise msgspec.ValidationError(f"the field {field!r} is missing")
    return LabelledPair(**given)


def _line(answer: LabelledPair) -> bytes:
    values = asdict(answer)
    for field in ("text_a", "text_b"):
        if values[field] is not None:
            text = values[field].encode("utf-8", "surrogatepass")
            values[field] = text.decode("utf-8", "replace") if len(text) <= LONGEST_TEXT else None
    return msgspec.json.encode(values) + b"\n"
