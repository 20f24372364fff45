"""What an index records about itself in its manifest: how its documents are signed, stored and found."""

from typing import Any

from msgspec import Struct

from neardup.index.disk.columns import Columns
from neardup.model.policy import Representative


class Terms(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The terms of an index.

    ``scheme``    the serialised scheme, without its key, tables of weights and list of common shingles
    ``name``, ``recipe``  those of the scheme
    ``key``       what distinguishes its key from others, without revealing it
    ``common``    the identity of its list of common shingles; the file ``ATTACHED`` has the list
    ``layout``    the parameters of the layout of its keys; ``None`` if the scheme has no layout
    ``chosen``    whether the layout was chosen, instead of the scheme's own
    ``row``       the type and the number of values in a row of signatures
    ``fields``    the names and kinds of the fields
    ``texts``     whether texts are stored
    ``representative``  which kept document represents another
    ``extraction``  how web pages became texts, as ``Extraction.identity`` returns it; ``None`` without pages
    ``url_rules``  the identity of the rules of hosts that ids of pages follow
    ``digests``   the salt of the digests of contents and equals, if it is not the mark of the index
    """

    scheme: dict[str, Any]
    name: str
    recipe: str
    key: str
    common: str | None
    layout: dict[str, Any] | None
    chosen: bool
    row: tuple[str, int]
    fields: tuple[tuple[str, str], ...]
    texts: bool
    representative: Representative
    extraction: dict[str, str | None] | None
    url_rules: str | None = None
    digests: str | None = None

    @property
    def columns(self) -> Columns:
        """The columns of the index."""
        return Columns(*self.row, self.fields, self.texts)

    @property
    def templates(self) -> str | None:
        """The identity of the templates that pages were read with; ``None`` without any."""
        return None if self.extraction is None else self.extraction.get("templates")
