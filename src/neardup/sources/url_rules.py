"""Rules of hosts for URLs: which differences do not change the content, as a value, as JSON and for Apache Nutch."""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from html import escape
from os import PathLike, fspath
from typing import Final

import msgspec

from neardup.model.errors import OTHER_FILE, DataError, require, require_kind, require_name, require_path
from neardup.sources.compression import load
from neardup.sources.formats import require_file

FORMAT: Final = 1
MAX_BYTES: Final = 1 << 30
KINDS: Final = ("parameters", "path_parameters", "index_pages", "final_slash", "case")
INDEX_PAGES: Final = frozenset(
    f"{name}.{ending}"
    for name in ("index", "default")
    for ending in ("html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi")
)
_ENCODED: Final = re.compile("%[0-9a-f]{2}")


class RuleEvidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The evidence for a rule: agreeing groups of URLs, their different contents, and their share of all groups."""

    support: int
    contents: int
    confidence: float


class HostRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """The rules of one host, with their evidence.

    ``parameters`` of the query, ``path_parameters`` (``;name=value`` in the last segment of the path) and
    ``index_pages`` (the last segment) are removed by name; ``final_slash``: slashes at the end of the path are removed;
    ``case``: the path is written in lower case.
    """

    parameters: dict[str, RuleEvidence] = {}
    path_parameters: dict[str, RuleEvidence] = {}
    index_pages: dict[str, RuleEvidence] = {}
    final_slash: RuleEvidence | None = None
    case: RuleEvidence | None = None

    @cached_property
    def _names(self) -> tuple[Container[str], Container[str]]:
        """The path parameters and index pages, as they are in a path in the case that these rules write."""
        if self.case:
            return {*map(lowered, self.path_parameters)}, {*map(lowered, self.index_pages)}
        return self.path_parameters, self.index_pages

    def path(self, path: str, is_session: Callable[[str], bool] = lambda _: False) -> str:
        """Return a path, which begins with a slash, by these rules.

        A last segment that is a session once its parameters are removed is removed, too.
        """
        parameters, pages = self._names
        segments = lowered(path).split("/") if self.case else path.split("/")
        while True:
            last = segments[-1]
            if ";" in last and parameters:
                last = segments[-1] = without_path_parameters(last, parameters)
            if is_session(last):
                segments.pop()
                if len(segments) == 1:
                    segments.append("")
                continue
            if last in pages:
                last = segments[-1] = ""
            if last or len(segments) == 2 or self.final_slash is None:  # noqa: PLR2004 - the path is one slash
                return "/".join(segments)
            segments.pop()


class _RulesFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    format: int
    id: str
    hosts: dict[str, HostRules]


@dataclass(frozen=True, slots=True)
class UrlRules:
    """The rules of hosts for URLs, found by ``neardup rules``; see ``Addresses``.

    *hosts* maps a host in normal form, with its port unless that is the default, to its rules. ``id`` is 16 hex
    digits that identify the rules without their evidence.
    """

    hosts: Mapping[str, HostRules] = field(default_factory=dict)
    id: str = field(init=False)

    def __post_init__(self) -> None:
        require(isinstance(self.hosts, Mapping), "hosts", self.hosts, "must map hosts to their rules")
        for host, rules in self.hosts.items():
            require_name("host", host)
            require_kind(f"hosts[{host!r}]", rules, HostRules)
        names = {host: {kind: _names(rules, kind) for kind in KINDS} for host, rules in self.hosts.items()}
        content = msgspec.json.encode([FORMAT, names], order="sorted")
        object.__setattr__(self, "id", blake2b(content, digest_size=8).hexdigest())

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"UrlRules(hosts={len(self.hosts):,}, rules={len(self):,}, id={self.id!r})"

    def __len__(self) -> int:
        return sum(self.counts().values())

    def counts(self) -> dict[str, int]:
        """Return the number of rules of each kind."""
        return {kind: sum(len(_names(rules, kind)) for rules in self.hosts.values()) for kind in KINDS}

    @classmethod
    def read(cls, path: str | PathLike[str]) -> "UrlRules":
        """Read a file that ``neardup rules --out`` wrote; rules may be removed from it, which changes the id.

        Raises ``DataError`` for any other file.
        """
        name = fspath(require_path("path", path))
        require_file(name, MAX_BYTES)
        return cls.from_bytes(bytes(load(name, None, MAX_BYTES).data), name)

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> "UrlRules":
        """Read the content of a file of rules; ``DataError`` at *where* for any other content."""
        try:
            found = msgspec.json.decode(content, type=_RulesFile)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(where, f"is not a file of URL rules: {error}", OTHER_FILE) from error
        if found.format != FORMAT:
            raise DataError(where, f"has the format {found.format}; this version reads {FORMAT}")
        return cls(found.hosts)

    def to_bytes(self) -> bytes:
        """Return the content of a file that ``read`` reads: JSON, one line per host."""
        hosts = sorted(self.hosts.items())
        lines = [b"%s: %s" % (msgspec.json.encode(host), msgspec.json.encode(rules)) for host, rules in hosts]
        return b'{"format": %d, "id": "%s", "hosts": {\n%s\n}}\n' % (FORMAT, self.id.encode(), b",\n".join(lines))

    def nutch(self) -> bytes:
        """Return the rules as ``regex-normalize.xml`` of Apache Nutch, all but those on the case of letters.

        A rule that removes parameters is there several times, because a name may be repeated between others.
        """
        rules = "".join(
            f"<regex><pattern>{escape(pattern, quote=False)}</pattern><substitution>$1</substitution></regex>\n"
            for pattern in self.patterns()
        )
        return f'<?xml version="1.0"?>\n<regex-normalize>\n{rules}</regex-normalize>\n'.encode()

    def patterns(self) -> Iterator[str]:
        """Yield regular expressions of Java and Python; the first group replaces what each matches, in this order.

        Groups have no possessive quantifiers, with which Python 3.11.0 to 3.11.4 sometimes match a part of a group.
        """
        last = r"(?=[^?#/]*+(?:[?#]|$))"  # the last segment of the path
        for host, rules in sorted(self.hosts.items()):
            start = f"^(https?://{re.escape(host)}/"
            for name in sorted(rules.parameters):
                parameter = rf"{re.escape(name)}(?:=[^&#]*+)?"
                yield from 2 * [
                    rf"{start}[^?#]*+\?(?:[^#&]*+&)*?)(?:{parameter}&)+",
                    rf"{start}[^?#]*+(?:\?[^#]*?(?=&)|(?=\?)))[?&]{parameter}(?=#|$)",
                ]
            own = {name: rf";{re.escape(name)}(?:=[^;?#/]*+)?(?=[;?#/]|$)" for name in sorted(rules.path_parameters)}
            if rules.final_slash is not None:  # and what is nothing without its parameters, or as an index page
                pages = "|".join(map(re.escape, sorted(rules.index_pages)))
                page = rf"(?:(?:{pages})(?=[/;?#]|$))?" if pages else ""
                parameters = rf"(?:{'|'.join(own.values())})*" if own else ""
                yield rf"{start}[^?#]*?)(?:/{page}{parameters})+(?=[?#]|$)"
            for parameter in own.values():
                yield from 3 * [rf"{start}(?:[^?#/]*+/)*{last}(?!\.\.?;)[^?#/]*?)(?:{parameter})+"]
            for name in sorted(rules.index_pages):
                yield rf"{start}(?:[^?#/]*+/)*){re.escape(name)}(?=[?#]|$)"


def lowered(path: str) -> str:
    """Return a path in lower case; the hex digits of encoded characters stay in upper case."""
    path = path.lower()
    return _ENCODED.sub(lambda found: found[0].upper(), path) if "%" in path else path


def without_path_parameters(segment: str, names: Container[str]) -> str:
    """Return a segment of a path without the parameters of these names; ``.`` and ``..`` keep theirs."""
    first, *parameters = segment.split(";")
    if first in {".", ".."}:
        return segment
    return ";".join([first, *[each for each in parameters if each.partition("=")[0] not in names]])


def _names(rules: HostRules, kind: str) -> list[str]:
    found = getattr(rules, kind)
    return sorted(found) if isinstance(found, dict) else [kind] * (found is not None)
