"""The documents of an index as JSON lines, for runs that compare with them."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np

from neardup.index.disk.files import Disk
from neardup.index.disk.manifest import Manifest
from neardup.index.disk.store import Store
from neardup.model.errors import DataError, ParameterError, StorageRefused, require
from neardup.pipeline.index.fields import field_values, has_sites, sites_at, texts_at
from neardup.pipeline.index.page_terms import templates_in
from neardup.pipeline.index.terms import opened
from neardup.schemes.checksum import BODY
from neardup.sources.collection import SITE
from neardup.sources.request import Request
from neardup.text.extraction import Extraction, other_extraction

_TOGETHER: Final = 1 << 11  # documents that are written together


class IndexTexts:
    """The documents of an index with texts. *identity* changes with its content.

    Raises ``ParameterError`` for an index without texts, and the errors of ``Index.open``, except those about its key,
    which is not needed.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with closing(opened(Path(self.path))) as store:
            if not store.columns.texts:
                rule = "is an index without texts; compare with a state, with files, or with an index that has texts"
                raise ParameterError("against", path, rule, "index without texts")
            self.identity, self._fields = _identity(store), {name for name, _ in store.columns.fields}
            self._extraction = store.manifest.terms.extraction

    @property
    def extraction(self) -> Extraction | None:
        """How its pages became texts, with the templates that it keeps; ``None`` if there were no pages.

        Raises ``StorageDamaged`` for templates that cannot be read.
        """
        if self._extraction is None:
            return None
        folder, disk = Path(self.path), Disk()
        return Extraction.of(self._extraction, lambda: templates_in(folder, Manifest.read(disk, folder), disk))

    def require(
        self, request: Request, signed: Iterable[str], pages: Extraction | None, indexes: Iterable["IndexTexts"] = ()
    ) -> None:
        """Raise ``ParameterError`` unless it has the *signed* fields, and can be read with the inputs of a request.

        *pages* is how the texts of web pages among these are extracted; ``StorageRefused`` if its own cannot be
        compared with them, and ``ParameterError`` if they cannot be compared with those of some of the other *indexes*.
        """
        rule = "cannot be used when comparing with an index; the endings of the inputs must be those of their formats"
        require(request.format is None, "format", request.format, rule)
        for name in signed:
            rule = f"is an index without the field {name!r}, which the scheme signs"
            require(name in self._fields | {BODY, request.text}, "against", self.path, rule)
        known = self._extraction
        if pages is not None and known is not None and not pages.follows(known):
            for other in indexes:
                rule = f"has pages that were read with other templates, or in another view, than those of {self.path}"
                rule += "; compare with one of the two, and then with the other"
                one, two = self.extraction, other.extraction
                fits = one is None or two is None or one.follows(two.identity) or two.follows(one.identity)
                require(fits, "against", other.path, rule)
            raise StorageRefused(self.path, *other_extraction(known, pages.identity))

    def write(self, file: BinaryIO, request: Request) -> None:
        """Write all documents, in the order of admission, as records with the fields of a request.

        Raises ``DataError`` if the index has changed since it was opened.
        """
        encode = msgspec.json.Encoder().encode
        with closing(opened(Path(self.path))) as store:
            if _identity(store) != self.identity:
                raise DataError(self.path, "it was changed after the run had begun", "changed")
            kinds = dict(store.columns.fields)
            wanted = [name for name in request.columns if name in kinds and name not in {request.text, request.id}]
            for some in store.all_places(_TOGETHER):
                columns: dict[str, list[Any]] = {name: field_values(store, name, kinds[name], some) for name in wanted}
                if has_sites(store):
                    columns[SITE] = sites_at(store, some).view(np.int64).tolist()
                columns[request.id] = store.decoded("id", some)
                columns[request.text] = texts_at(store, some)
                rows = zip(*columns.values(), strict=True)
                file.writelines(encode(dict(zip(columns, row, strict=True))) + b"\n" for row in rows)


def _identity(store: Store) -> list[list[Any]]:
    return [[*store.state]]
