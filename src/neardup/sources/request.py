"""The request of a run: which fields of the inputs it needs, and how to read them."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, Self, get_args

from neardup.engines.processes import Processes
from neardup.model.errors import (
    DataError,
    require,
    require_choice,
    require_kind,
    require_name,
    require_sequence,
    require_whole,
)
from neardup.sources.formats import FOLDER, NAMED, PAGE_FORMATS, WARC, display, full_name
from neardup.sources.record_faults import Rejected
from neardup.text.extraction import Extraction

Quoting = Literal["auto", "minimal", "none"]

DEFAULT_TEXT: Final = "text"
DEFAULT_URL: Final = "url"
DEFAULT_ID: Final = "id"  # the one id field that may be missing from every record
MAX_BYTES: Final = 8 << 30
AUTO: Final = Extraction()  # how HTML becomes text by default
_PLURALS: Final = {WARC: "archives", FOLDER: "folders"}  # of formats in messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The requested fields of the inputs, and how to read them. ``ParameterError`` for wrong values.

    The field *text* contains the text, *id* the id, if there is one. Naming other *columns* that will be requested
    saves a second pass. *format* (``jsonl``, ``csv``, ``tsv`` or ``parquet``) is that of files with other names, and of
    standard input, which is JSON lines by default. *glob* chooses the files of a folder by patterns such as ``*.py``.
    *extraction* decides how HTML becomes text; *html* is the field that holds it, instead of *text*, and *url* that of
    the address. *quoting* of CSV and TSV is explained in ``neardup.sources.delimited``. With *strict*, a record that
    cannot be read raises ``DataError``. *max_bytes* limits the expanded size of a compressed file, a Parquet file or
    standard input in memory. With *full_names*, the names of documents without an id have the full path of their file.
    With *whole_texts*, pages of archives and folders are written with the lines of templates. Unless the run
    *needs_text*, no record need have the text field. *processes* extract pages; ``None``: this one.
    """

    text: str = DEFAULT_TEXT
    id: str = DEFAULT_ID
    columns: Sequence[str] = ()
    format: str | None = None
    quoting: Quoting = "auto"
    glob: Sequence[str] = ()
    extraction: Extraction = AUTO
    html: str | None = None
    url: str | None = None
    strict: bool = False
    max_bytes: int = MAX_BYTES
    full_names: bool = False
    whole_texts: bool = False
    needs_text: bool = True
    processes: Processes | None = None

    def __post_init__(self) -> None:
        require_name("text", self.text)
        for name in ("html", "url"):
            if (field := getattr(self, name)) is not None:
                require_name(name, field)
        fits = self.html is None or self.text in {DEFAULT_TEXT, self.html}
        require(fits, "html", self.html, f"cannot be used with the text field {self.text!r}; name only one of them")
        require_name("id", self.id)
        require_kind("extraction", self.extraction, Extraction)
        if self.format is not None:
            require_choice("format", self.format, NAMED, f"must be {', '.join(NAMED[:-1])} or {NAMED[-1]}")
        require_choice("quoting", self.quoting, get_args(Quoting), "must be auto, minimal or none")
        for pattern in require_sequence("glob", self.glob, "patterns"):
            require_name("glob", pattern)
        most = require_whole("max_bytes", self.max_bytes, 1, unit="bytes")
        text = self.text if self.html is None else self.html
        kept = {"text": text, "columns": tuple(self.columns), "glob": tuple(self.glob), "max_bytes": most}
        kept["needs_text"] = self.needs_text or self.html is not None
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @property
    def url_field(self) -> str:
        """The field of the address: the named one, otherwise ``url``."""
        return self.url or DEFAULT_URL

    @property
    def has_urls(self) -> bool:
        """Whether the records have HTML, and the field of its address is named."""
        return self.html is not None and self.url is not None

    @property
    def reads_addresses(self) -> bool:
        """Whether addresses are used: a record whose address is a list, an object or a boolean is rejected."""
        return self.url is not None or self._has_templates

    @property
    def required_fields(self) -> list[str]:
        """The fields that some record must have: of the text, the id, and, with templates, the address."""
        named = [self.id] if self.id != DEFAULT_ID else []
        address = [self.url_field] if self._has_templates else []
        text = [self.text] if self.needs_text else []
        return [*dict.fromkeys([*text, *named, *address])]

    @property
    def _has_templates(self) -> bool:
        """Whether pages in a field have templates by their addresses."""
        return self.html is not None and self.extraction.templates is not None

    def with_address(self) -> Self:
        """Return a request for the address, too, if pages in a field may need it."""
        if self.html is None or not self.reads_addresses:
            return self
        return replace(self, columns=tuple(dict.fromkeys([*self.columns, self.url_field])))

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values, without processes."""
        plain = replace(self, extraction=AUTO, processes=None)
        return {**asdict(plain), "extraction": self.extraction.to_dict()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return the request that ``to_dict`` described."""
        return cls(**{**given, "extraction": Extraction.from_dict(given["extraction"])})

    def reads_pages(self, formats: Iterable[str]) -> bool:
        """Return whether inputs of these formats have web pages: archives, folders of documents, or a field of HTML."""
        return self.html is not None or not PAGE_FORMATS.isdisjoint(formats)

    def name_of(self, path: str) -> str:
        """Return the name of a file in the names of its documents without an id."""
        return full_name(display(path)) if self.full_names else display(path)

    def check(self, rejected: Sequence[Rejected]) -> None:
        """Raise ``DataError`` for the first rejected record, if the request is strict."""
        if self.strict and rejected:
            raise DataError(f"{rejected[0].source}:{rejected[0].position}", rejected[0].reason, rejected[0].code)

    def require_used(self, forms: AbstractSet[str], *, folders: bool) -> None:
        """Raise ``ParameterError`` for options without effect on inputs of these formats, some of them *folders*."""
        inputs = f"the inputs are {' and '.join(sorted(_PLURALS.get(form, form) for form in forms))}"
        glob = " ".join(self.glob)
        require(folders or not glob, "glob", glob, f"can only be used with folders; {inputs}")
        rule = f"can only be used with files and standard input; {inputs}"
        require(forms != {FOLDER} or self.format is None, "format", self.format, rule)
        quoting = self.quoting == "auto" or not forms.isdisjoint({"csv", "tsv"})
        require(quoting, "quoting", self.quoting, f"can only be used with CSV and TSV; {inputs}")
        of_pages = not forms.isdisjoint(PAGE_FORMATS)
        rule = f"can only be used with tables: pages of folders and archives are read as HTML without it; {inputs}"
        require(self.html is None or not of_pages, "html", self.html, rule)
        rule = f"can only be used with tables: the text of a page or file is not in a field; {inputs}"
        require(self.text == DEFAULT_TEXT or not forms <= PAGE_FORMATS, "text", self.text, rule)
        if self.html is None and not of_pages:
            rule = "can only be used with web pages: archives, folders, or a field of HTML"
            require(self.extraction.templates is None, "templates", None, rule)
            require(self.extraction.view == "auto", "text_view", self.extraction.view, rule)
