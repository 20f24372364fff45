"""The templates of hosts: lines of their pages that do not count, as a value that a file keeps."""

import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Positions, Words, require_ascending
from neardup.model.errors import (
    OTHER_FILE,
    DataError,
    InputRefused,
    StorageDamaged,
    counted,
    require,
    require_choice,
    require_kind,
    require_name,
    require_path,
    require_sequence,
)
from neardup.model.folders import TEMPLATES
from neardup.text import files
from neardup.text.arrow_files import open_arrow

PageView = Literal["main", "visible"]

LARGEST: Final = 1 << 31  # bytes of a file

_FORMAT: Final = 1
_ABOUT: Final = b"neardup.templates"
_LOST: Final = "lost templates"  # the code of the error for a folder without its templates
# What the normal form of every host is: lower case, apart from encoded bytes.
_NORMAL: Final = re.compile(r"(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9A-F]{2})*(?<!\.)|\[[0-9a-f:.]+\]")
_NORMAL_RULE: Final = "must be in normal form, as neardup.urls.host returns it: lower case, ASCII, no port or final dot"
_NOT_TEMPLATES: Final = "is not a file of templates"
_SCHEMA: Final = pa.schema(
    [
        pa.field("host", pa.string(), nullable=False),
        pa.field("version", pa.int64(), nullable=False),
        pa.field("view", pa.string(), nullable=False),
        pa.field("kept", pa.int64(), nullable=False),
        pa.field("lines", pa.list_(pa.field("item", pa.uint64(), nullable=False)), nullable=False),
        pa.field("examples", pa.list_(pa.field("item", pa.string(), nullable=False)), nullable=False),
        pa.field("id", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Template:
    """The template of one host.

    ``view``
        the view in which its pages are compared, ``main`` or ``visible``.
    ``kept``
        the number of different pages that it was found in.
    ``lines``
        the hashes of its lines: uint64, ascending, distinct.
    ``examples``
        one example of each line, shortened; not part of the ``id``.
    ``version``
        a number that grows when the template of a host is learned again.
    """

    host: str
    view: PageView
    kept: int
    lines: Words = field(repr=False)
    examples: tuple[str, ...] = field(default=(), repr=False)
    version: int = 1

    def __post_init__(self) -> None:
        require_choice("view", self.view, get_args(PageView), "must be main or visible")
        object.__setattr__(self, "lines", require_ascending("lines", self.lines))
        number = len(self.examples)
        require(number in {0, len(self.lines)}, "examples", number, "must be one for each line")

    @cached_property
    def id(self) -> str:
        """BLAKE2b, 8 bytes, of everything but the examples."""
        about = json.dumps([self.host, self.version, self.view, self.kept])
        content = blake2b(about.encode(), digest_size=8)
        content.update(self.lines.astype("<u8").tobytes())
        return content.hexdigest()


class HostTemplates:
    """The templates of hosts, and how they were learned; immutable.

    *rule* contains everything that decides which lines a template has, apart from the pages; *identity* is its id and
    that of all templates. *earlier* are the identities of the templates that these have replaced, oldest first. A host
    without a template has too few different pages.
    """

    def __init__(self, templates: Iterable[Template], rule: dict[str, Any], earlier: Iterable[str] = ()) -> None:
        self.templates = tuple(sorted(_checked(templates), key=lambda one: one.host))
        self.rule, self.earlier = rule, tuple(earlier)
        different = all(one.host != other.host for one, other in pairwise(self.templates))
        require(different, "templates", len(self.templates), "must be of different hosts")

    def __len__(self) -> int:
        return len(self.templates)

    def __repr__(self) -> str:
        return f"HostTemplates({len(self):,} hosts, {self.identity})"

    def __str__(self) -> str:
        return f"of {counted(len(self), 'host')} (id {self.identity})"

    def __eq__(self, other: object) -> bool:
        return self.identity == other.identity if isinstance(other, HostTemplates) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.identity)

    def updated(self, learned: Iterable[Template]) -> "HostTemplates":
        """Return the templates of these hosts and those of all others; the same ones if nothing is different."""
        together = {one.host: one for one in (*self.templates, *_checked(learned))}.values()
        found = HostTemplates(together, self.rule, (*self.earlier, self.identity))
        return self if found == self else found

    def get(self, host: str | None) -> Template | None:
        """Return the template of a host; ``None`` if it has none.

        Raises ``ParameterError`` for a host that is not in normal form.
        """
        number = self._number(host)
        return None if number < 0 else self.templates[number]

    def _number(self, host: str | None) -> int:
        if host is None:
            return -1
        require_name("host", host)
        number = self._numbers.get(host, -1)
        require(number >= 0 or _NORMAL.fullmatch(host) is not None, "host", host, _NORMAL_RULE)
        return number

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {one.host: number for number, one in enumerate(self.templates)}

    def since(self, before: "HostTemplates") -> "HostTemplates | None":
        """Return those templates that *before* does not have; ``None`` if *before* has hosts without a template here.

        ``added_to(before)`` returns all of them again.
        """
        require_kind("before", before, HostTemplates)
        known = {one.host: one.id for one in before.templates}
        new = [one for one in self.templates if known.pop(one.host, None) != one.id]
        return None if known or before.rule != self.rule else HostTemplates(new, self.rule, self.earlier)

    def added_to(self, before: "HostTemplates") -> "HostTemplates":
        """Return these templates, and those of *before* of all other hosts."""
        require_kind("before", before, HostTemplates)
        together = {one.host: one for one in (*before.templates, *self.templates)}.values()
        return HostTemplates(together, self.rule, self.earlier)

    def numbers(self, hosts: Sequence[str | None]) -> Positions:
        """Return the number of each host's template; -1 if it has none. Raises the errors of ``get``."""
        return np.array([*map(self._number, require_sequence("hosts", hosts, "strings"))], np.int64)

    @cached_property
    def terms(self) -> Words:
        """The lines of all templates, one template after the other."""
        return np.concatenate([np.empty(0, np.uint64), *(one.lines for one in self.templates)])

    @cached_property
    def begins(self) -> Positions:
        """Where each template's lines begin, and the end."""
        return np.cumsum([0, *(len(one.lines) for one in self.templates)]).astype(np.int64)

    @cached_property
    def identity(self) -> str:
        """A digest of the rule and the ids of all templates."""
        about = json.dumps([self.rule, [one.id for one in self.templates]], sort_keys=True)
        return blake2b(about.encode(), digest_size=8).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the templates as an Arrow file, one row for each host."""
        rows = [{name: getattr(one, name) for name in _SCHEMA.names} for one in self.templates]
        about = {"format": _FORMAT, "rule": self.rule, "identity": self.identity, "earlier": self.earlier}
        table = pa.Table.from_pylist(rows, _SCHEMA.with_metadata({_ABOUT: json.dumps(about).encode()}))
        stream = io.BytesIO()
        with pa.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> Self:
        """Read templates from the content of a file; ``DataError`` at *where* if it is damaged or of another kind."""
        try:
            about, table = _opened(content)
            if about["format"] == _FORMAT:
                rows = table.drop_columns("id").to_pylist()
                made = cls((_template(**row) for row in rows), about["rule"], map(str, about["earlier"]))
                holds = made.identity == about["identity"]
                holds = holds and [one.id for one in made.templates] == table["id"].to_pylist()
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataError(where, _NOT_TEMPLATES, OTHER_FILE) from error
        if about["format"] != _FORMAT:
            raise DataError(where, "was written by a newer neardup")
        if not holds:
            raise DataError(where, "is damaged: its templates do not have its id")
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the templates to a file, replacing an existing one; ``OutputError`` if that fails."""
        files.save(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read templates from a file, or those that an index or a state in a folder has.

        Raises ``InputRefused`` for a folder without templates, and for a file that cannot be read; ``DataError`` for a
        file of another kind.
        """
        require_path("path", path)
        if os.path.isdir(path):  # noqa: PTH112 - of any type
            folder, path = path, os.path.join(path, TEMPLATES)  # noqa: PTH118
            if not os.path.exists(path):  # noqa: PTH110
                rule = "is a folder without templates; name a file of templates, or an index or a state that has some"
                raise InputRefused(os.fspath(folder), rule)
        return cls.from_bytes(files.load(path, "the templates", LARGEST), os.fspath(path))


def kept_templates(folder: Path, identity: str, read: Callable[[Path], bytes] = Path.read_bytes) -> HostTemplates:
    """Return the templates that an index or a state in a folder keeps: those of an *identity*, or some made of them.

    Raises ``StorageDamaged`` if their file is missing, damaged, or has others.
    """
    path = folder / TEMPLATES
    try:
        found = HostTemplates.from_bytes(read(path), str(path))
    except FileNotFoundError:
        raise _lost(path, identity, "are missing") from None
    except DataError as error:
        raise _lost(path, identity, "are damaged") from error
    if identity not in {found.identity, *found.earlier}:  # the file is replaced before its templates are recorded
        raise _lost(path, identity, "are others than those that pages here were read with")
    return found


def _lost(path: Path, identity: str, what: str) -> StorageDamaged:
    return StorageDamaged(str(path), f"the templates {what}; restore the file with the id {identity} here", _LOST)


def _opened(content: bytes) -> tuple[Any, pa.Table]:
    """Return what the metadata of a file contain, and its table if the format is known."""
    with open_arrow(pa.BufferReader(content)) as reader:
        about = json.loads((reader.schema.metadata or {})[_ABOUT])
        if about["format"] != _FORMAT:
            return about, None
        if not reader.schema.equals(_SCHEMA):
            raise ValueError(reader.schema)
        table = reader.read_all()
    if table.get_total_buffer_size() > len(content):  # its buffers overlap, which those of no file of templates do
        raise ValueError(len(table))
    table.validate(full=True)
    return about, table


def _checked(templates: Iterable[Template]) -> Iterator[Template]:
    """Yield templates; ``ParameterError`` for anything else."""
    require(isinstance(templates, Iterable), "templates", templates, "must be a sequence of templates")
    for one in templates:
        require_kind("templates", one, Template)
        yield one


def _template(*, lines: list[int], examples: list[str], **others: Any) -> Template:
    return Template(lines=np.array(lines, np.uint64), examples=tuple(examples), **others)
