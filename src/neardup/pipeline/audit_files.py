"""Audits of runs over files."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.ranking import ranking
from neardup.evaluation.audit import Audit
from neardup.model.arrays import Positions, Words
from neardup.model.errors import DataError, require_path, require_sequence
from neardup.model.policy import Policy
from neardup.model.protocols import Scheme
from neardup.pipeline.address_ranks import address_ranks
from neardup.pipeline.audit import SAMPLE, audit_run, audited
from neardup.pipeline.corpus import chosen_scheme
from neardup.pipeline.files import DOCUMENT, dedup_files, ranked_table
from neardup.pipeline.progress import Progress
from neardup.sources.collection import Collection
from neardup.sources.output import AnyPath
from neardup.sources.read import MAX_BYTES, read, request_of
from neardup.sources.shards import local_shards
from neardup.text.columns import text_lengths
from neardup.text.sites import NO_SITES

_LENGTH: Final = "\0length"  # of a text, in bytes
_READ: Final = {"format": None, "quoting": "auto", "glob": (), "strict": False, "max_bytes": MAX_BYTES}


def audit_files(  # noqa: PLR0913 - every one an option of the command line
    inputs: Sequence[AnyPath],
    of: AnyPath | None = None,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the field's name, as everywhere
    scheme: Scheme | None = None,
    keep: str = "first",
    sample: int = SAMPLE,
    until: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress | None = None,
    **reading: Any,
) -> Audit:
    """Estimate what a run over files missed; see ``audit``.

    *of* is the report of the run (``.parquet`` or ``.jsonl``); the other parameters must be those of the run, also
    *reading*, which are those of ``neardup.sources.read``. The inputs are read three times, in pieces, so that they may
    be larger than memory. Without *of* they are deduplicated first, in memory. Raises the errors of ``dedup_files``
    and ``audit``, and ``DataError`` for a report of other inputs.
    """
    for name, path in [*(("inputs", one) for one in require_sequence("inputs", inputs, "names")), ("of", of)]:
        if path is not None or name == "inputs":
            require_path(name, path)
    policy = Policy(keep=keep)
    request = request_of(text=text, id=id, columns=list(policy.fields), **_READ | reading)
    with local_shards(inputs, request) as shards:

        def collections() -> Iterator[Collection]:
            for shard in shards.shards:
                yield from filter(len, shards.pieces(shard))

        def pieces() -> Iterator[tuple[pa.ChunkedArray, Words]]:
            for piece in collections():
                yield piece.texts, NO_SITES if piece.sites is None else piece.sites.to_numpy()

        tables, name = [], keep
        for piece in collections():
            table, name = ranked_table(piece, piece.text, (), policy)
            tables.append(table.drop_columns([piece.text]).append_column(_LENGTH, [text_lengths(piece.texts)]))
        if not tables:
            raise DataError(", ".join(shards.inputs), "there are no documents to audit")
        documents = pa.concat_tables(tables, promote_options="permissive")
        order = _order(documents, Policy(keep=name))
        if of is None:
            given: dict[str, Any] = {**reading, "text": text, "id": id, "scheme": scheme, "keep": keep}
            decisions = dedup_files(shards.inputs, **given, threads=threads, progress=progress).result.decisions
        else:
            decisions = _report(of, documents[DOCUMENT].cast(pa.large_string()))
        chosen, _ = chosen_scheme(scheme, None, None, None)
        run = audited(decisions, pieces, documents[DOCUMENT], order, chosen)
        ways: dict[str, Any] = {
            "sample": sample,
            "until": until,
            "seed": seed,
            "threads": threads,
            "progress": progress,
        }
        return audit_run(run, chosen, **ways)


def _order(documents: pa.Table, policy: Policy) -> Positions:
    """Return the positions of documents from best to worst."""
    values = {name: documents[name] for name in policy.fields}
    return ranking(policy, documents[_LENGTH].to_numpy(), values, address_ranks(policy, documents[DOCUMENT], values))


def _report(of: AnyPath, ids: pa.ChunkedArray) -> pa.Table:
    """Return the report of a run over documents with these ids."""
    if Path(of).is_dir():
        raise DataError(
            os.fspath(of), "is a folder, but must be the report of a run; a run that has ended leaves no other"
        )
    names = ["position", "representative_position", "rule", "resemblance"]
    rows = read([of], text="id", id="position", columns=names)
    found = pa.table({"id": rows.texts, **{name: rows.column(name) for name in names}})
    found = found.filter(pc.is_valid(found["position"])).sort_by("position")  # revisits have no position
    if not np.array_equal(found["position"].to_numpy(), np.arange(len(ids))):
        rule = f"is a report on {len(found):,} documents, but the inputs have {len(ids):,}"
        raise DataError(os.fspath(of), rule)
    equal = pc.equal(found["id"].cast(pa.large_string()).combine_chunks(), ids.combine_chunks()).to_numpy(False)
    if not equal.all():
        row = int(np.argmin(equal))
        there, here = found["id"][row].as_py(), ids[row].as_py()
        rule = f"is a report on other inputs: document {row + 1:,} is {there!r} there, and {here!r} here"
        raise DataError(os.fspath(of), rule)
    return found
