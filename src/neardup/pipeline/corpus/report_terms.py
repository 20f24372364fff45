"""How a run read and decided, in the metadata of its report as Parquet, which audits read."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from neardup.model.policy import Policy
from neardup.model.protocols import Scheme
from neardup.schemes import terms as schemes
from neardup.schemes.registry import kinds
from neardup.sources.collection import Request
from neardup.sources.output import AnyPath
from neardup.text.common_shingles import CommonShingles

_KEY: Final = b"neardup.run"


def reading_terms(request: Request, pages: Mapping[str, str | None] | None) -> dict[str, Any]:
    """Return what decides the texts of a run: its fields, and the identity of the extraction of *pages*, if any."""
    return {"text": request.text, "html": request.html, **(pages or {})}


def with_terms(
    tables: Iterable[pa.Table],
    scheme: Scheme,
    common: CommonShingles | None,
    policy: Policy,
    reading: Mapping[str, Any],
) -> Iterator[pa.Table]:
    """Yield the tables of a report with the terms of the run, without its secret key; unknown schemes have none.

    *common* is the list of shingles that the run has made.
    """
    chosen: Any = scheme if common is None else scheme.with_common(common)
    known = {"keep": policy.keep, "reading": reading}
    if isinstance(chosen, kinds()):
        known |= {"scheme": schemes.written(chosen), "recipe": chosen.recipe}
    for table in tables:
        yield table.replace_schema_metadata({_KEY: json.dumps(known)})


def terms_of_report(path: AnyPath) -> dict[str, Any] | None:
    """Return the terms of the run that wrote a report; ``None`` if they are not in it: only Parquet has them."""
    if os.fspath(path).lower().endswith(".parquet"):
        import pyarrow.parquet as pq  # slow to load

        try:
            found = json.loads((pq.read_schema(path).metadata or {})[_KEY])
        except (OSError, pa.ArrowException, KeyError, ValueError, RecursionError):
            return None  # the reader of the table describes what is wrong
        if isinstance(found, dict) and {"scheme", "recipe", "keep", "reading"} <= found.keys():
            return found if isinstance(found["scheme"], dict) and isinstance(found["reading"], dict) else None
    return None
