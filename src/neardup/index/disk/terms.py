"""What an index records about itself in its manifest: how its documents are signed, stored and found."""

from typing import Any

from msgspec import Struct

from neardup.index.disk.columns import Columns
from neardup.model.policy import Representative


class Terms(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The terms of an index. The last two are missing in the manifest while they have their defaults."""

    scheme: dict[str, Any]  # serialised, without its key, tables of weights and list of common shingles
    name: str  # of the scheme
    recipe: str  # of the scheme
    key: str  # what distinguishes the key of the scheme, without revealing it
    common: str | None  # the identity of the list of common shingles, which is in a file of its own
    layout: dict[str, Any] | None  # the parameters of the layout of keys, if the scheme has layouts
    chosen: bool  # whether the layout was chosen, instead of the scheme's own
    row: tuple[str, int]  # the type and the number of values in a row of signatures
    fields: tuple[tuple[str, str], ...]  # names and kinds
    texts: bool  # whether they are stored
    representative: Representative
    extraction: dict[str, str | None] | None  # ``Extraction.identity``, if there were pages
    url_rules: str | None = None  # the identity of the rules that the ids of pages follow, in a file of its own
    digests: str | None = None  # the salt of the digests of contents and equals, if it is not the mark of the index

    @property
    def columns(self) -> Columns:
        """The columns of the index."""
        return Columns(*self.row, self.fields, self.texts)

    @property
    def templates(self) -> str | None:
        """The identity of the templates that pages were read with; ``None`` without any."""
        return None if self.extraction is None else self.extraction.get("templates")
