"""Audits of runs over files."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.ranking import ranking
from neardup.engines.journal import is_work
from neardup.evaluation.audit import Audit
from neardup.model.arrays import Positions, Words
from neardup.model.errors import (
    DataError,
    InputRefused,
    StorageRefused,
    ValueRefused,
    counted,
    require,
    require_path,
    require_paths,
)
from neardup.model.policy import Policy
from neardup.pipeline.corpus.address_ranks import address_ranks, written_fields
from neardup.pipeline.corpus.report import reading_terms, terms_of_report
from neardup.pipeline.corpus.run import chosen_scheme
from neardup.pipeline.crawl.file_templates import templates_of
from neardup.pipeline.files.dedup import dedup_files
from neardup.pipeline.partners.audit import SAMPLE, Audited, audit_run, require_texts
from neardup.pipeline.progress import Progress, followed
from neardup.pipeline.spilled.recorded_decisions import work_decisions
from neardup.pipeline.spilled.state import is_state
from neardup.schemes import terms as schemes
from neardup.schemes.recorded_scheme import UNRECORDED, as_recorded, differing
from neardup.schemes.scheme import Scheme
from neardup.sources.collection import Collection, InputPiece
from neardup.sources.fields import joined
from neardup.sources.formats import FOLDER, AnyPath, display_all, first_names
from neardup.sources.inputs import inputs_of
from neardup.sources.read import read
from neardup.sources.record_faults import LackingFields, RecordFaults
from neardup.sources.request import Request
from neardup.sources.shards import Shards, local_shards
from neardup.text.columns import text_lengths
from neardup.text.sites import NO_SITES

_SAME_INPUTS: Final = "name all inputs of its run, in the same order"
_NOTHING: Final = pa.chunked_array([], pa.large_string())


def audit_files(  # noqa: PLR0913 - every one an option of the command line
    inputs: Sequence[AnyPath],
    of: AnyPath | None = None,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the field's name, as everywhere
    scheme: Scheme | None = None,
    key: bytes | None = None,
    keep: str | None = None,
    sample: int = SAMPLE,
    until: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress | None = None,
    learn_templates: Literal[False] | None = None,
    **reading: Any,
) -> Audit:
    """Estimate what a run over files missed; see ``audit``.

    *of* is the report of the run (``.parquet`` or ``.jsonl``), or the folder of its files. A report as Parquet has
    recorded the scheme, which needs *key* if it has one, and *keep*; the other parameters must be those of the run,
    also *reading*, which are those of ``neardup.sources.read``, and *learn_templates*: with ``None``, the templates of
    hosts are learned as ``dedup_files`` does. The inputs are read three times, in pieces, so that they may be larger
    than memory. Without *of* they are deduplicated first, in memory.

    *of* may also be the work folder of a run in pieces that has decided, such as one that was interrupted when it wrote
    its outputs, or that was kept. Then *inputs* must be those of the run, in any order. The scheme, how the inputs are
    read and which copy was kept are recorded there; it needs *key* if its scheme has one, and *scheme* if that has a
    table of weights. Parameters for reading have no effect then.

    Raises the errors of ``dedup_files`` and ``audit``, ``DataError`` for a report of other inputs or for inputs that
    were changed, and ``StorageRefused`` for a work folder of another scheme or without decisions.
    """
    require_paths("inputs", inputs)
    of_run = of is not None and is_work(require_path("of", of))
    allowed = learn_templates is None or learn_templates is False
    require(allowed, "learn_templates", learn_templates, "must be None or False; a file of templates is not extended")
    ways: dict[str, Any] = {"sample": sample, "until": until, "seed": seed, "threads": threads, "progress": progress}
    reading |= {"text": text, "id": id}
    known = _Known(scheme, key, keep)
    if of is not None and of_run:
        opened = _of_work(Path(of), inputs, Request(**reading), known)
    else:
        opened = _of_files(inputs, of, reading, known, learn_templates, ways)
    with opened as (run, faults):
        lost = {one: found.records for one in ("without_text", "quoted_lines") if (found := getattr(faults, one))}
        return replace(audit_run(run, **ways), rejected=len(faults.rejected), **lost)


class _Known(NamedTuple):
    """What callers know of a run: its scheme or the secret key of the scheme, and which copy was kept."""

    scheme: Scheme | None
    key: bytes | None
    keep: str | None


@contextmanager
def _of_work(
    folder: Path, inputs: Sequence[AnyPath], request: Request, known: _Known
) -> Iterator[tuple[Audited, RecordFaults]]:
    with work_decisions(folder, *known) as done:
        require_texts(done.scheme)
        done.require(inputs_of(inputs, request).paths)
        documents = done.result.documents
        faults = RecordFaults(rejected=documents.rejected, without_text=documents.without_text)
        pieces = partial(_texts, done.collections)
        yield Audited(done.result.decisions, pieces, documents.ids, done.order, done.scheme), faults


@contextmanager
def _of_files(  # noqa: PLR0913, PLR0917 - a run that may have to be made
    inputs: Sequence[AnyPath],
    of: AnyPath | None,
    reading: dict[str, Any],
    known: _Known,
    learn: Literal[False] | None,
    ways: dict[str, Any],
) -> Iterator[tuple[Audited, RecordFaults]]:
    """Yield the run of a report; without one, a run that is made first."""
    files = [] if of is None else _files_of(of)
    recorded = terms_of_report(files[0]) if files else None
    rule = "requires of, a report that has recorded the scheme; otherwise, pass the scheme with its key"
    require(known.key is None or recorded is not None, "key", "(secret)", rule)
    scheme, keep = known.scheme, known.keep
    if of is not None and recorded is not None:
        scheme, keep = _as_recorded(os.fspath(of), recorded, known)
    chosen, _ = chosen_scheme(scheme)
    require_texts(chosen)
    policy = Policy() if keep is None else Policy(keep=keep)
    request = Request(columns=policy.fields, **reading)
    own = inputs_of(inputs, request)
    with followed(ways["progress"]) as follow:
        reading["extraction"] = templates_of(learn, own, request).extended(own, request, follow, ways["threads"])
    request = replace(request, extraction=reading["extraction"])
    with local_shards(own, request) as shards:
        done = None
        if of is None:
            same = {"scheme": scheme, "keep": policy.keep, **{name: ways[name] for name in ("threads", "progress")}}
            done = dedup_files(shards.inputs, **reading, **same, learn_templates=False)  # they are learned
        ids, order, faults = _ranked(shards.every_piece, policy.keep)
        faults.require_documents(shards.names)
        if not len(ids):
            raise DataError(display_all(shards.inputs), "there are no documents to audit")
        name = "the run" if of is None else os.fspath(of)
        decisions = _report(name, files, ids, shards) if done is None else done.result.decisions
        if recorded is not None:
            _require_read_alike(name, recorded["reading"], shards)
        yield Audited(decisions, partial(_texts, shards.every_piece), ids, order, chosen, name), faults


def records_scheme(of: AnyPath) -> bool:
    """Return whether a report or a work folder has recorded the scheme of its run."""
    return is_work(Path(of)) or terms_of_report(_files_of(of)[0]) is not None


def _files_of(of: AnyPath) -> list[AnyPath]:
    """Return the files of a report, which may be in a folder; ``InputRefused`` for a folder without tables."""
    if not Path(of).is_dir():
        return [of]
    found = inputs_of([of], Request(glob=("*.parquet", "*.jsonl*")))
    files: list[AnyPath] = [path for path, one in zip(found.paths, found.kinds, strict=True) if one.format != FOLDER]
    if not files:
        what = "is a state" if is_state(Path(of)) else "is not a kept work folder or the folder of a report"
        raise InputRefused(os.fspath(of), f"{what}; name the report of the run", "not of a run")
    return files


def _as_recorded(name: str, recorded: dict[str, Any], known: _Known) -> tuple[Scheme, str]:
    """Return the scheme and the keep policy that a report has recorded; passed values must be equal to them."""
    keep = recorded["keep"]
    require(known.keep in {None, keep}, "keep", known.keep, f"is not that of the run, which has recorded {keep!r}")
    try:
        found: Any = known.scheme or schemes.read(recorded["scheme"], known.key, where=name)
    except StorageRefused as error:
        raise InputRefused(name, error.rule, error.code) from error
    except (KeyError, TypeError) as error:
        rule = "its run has recorded parameters that this version of neardup does not have; use the version of the run"
        raise DataError(name, rule, "other terms") from error
    changes = [one for one in differing(recorded["scheme"], schemes.written(found)) if one.name not in UNRECORDED]
    if known.scheme is not None and changes:
        raise InputRefused(name, as_recorded(changes), "other terms")
    if found.recipe != recorded["recipe"]:
        lacking = "a secret key, a list of common shingles or a table of weights"
        rule = f"its run had {lacking}, which a report does not record; repeat all options of the run"
        raise InputRefused(name, rule, "terms not recorded")
    return found, keep


def _require_read_alike(name: str, known: dict[str, Any], shards: Shards) -> None:
    """Raise ``DataError`` if a run read its inputs in another way than these are read."""
    changes = list(differing(known, reading_terms(shards.request, shards.extraction)))
    if any(one.name == "html" for one in changes):  # then how pages are read always differs
        changes = [one for one in changes if one.name in {"text", "html"}]
    named = (one._replace(kind="templates") if one.name == "templates" else one for one in changes)
    if words := "; ".join(one.words() for one in named):
        rule = f"its run read the inputs in another way: {words}; repeat its options for reading"
        raise DataError(name, rule, "other terms")


def _texts(collections: Callable[[], Iterable[Collection]]) -> Iterator[tuple[pa.ChunkedArray, Words]]:
    for piece in filter(len, collections()):
        yield piece.texts, NO_SITES if piece.sites is None else piece.sites.to_numpy()


def _ranked(
    collections: Callable[[], Iterable[InputPiece]], keep: str
) -> tuple[pa.ChunkedArray, Positions, RecordFaults]:
    """Return the ids of documents, their positions from best to worst, and the faults of all records."""
    policy, faults = Policy(keep=keep), RecordFaults()
    ids, addresses = [_NOTHING], [_NOTHING]
    lengths, formats = [np.empty(0, np.int64)], list[str]()
    declared: dict[str, list[pa.Array]] = {name: [] for name in policy.written_fields}
    ranks: dict[str, list[pa.ChunkedArray]] = {name: [] for name in policy.value_fields}
    lacking, sources = LackingFields(policy.required_fields), dict[str, None]()
    for piece in collections():
        faults.add(piece)
        if not len(piece):
            continue
        lacking.add(piece)
        sources[piece.source] = None
        ids.append(piece.ids.cast(pa.large_string()))
        if policy.ranks_addresses:
            addresses.append(piece.addresses.cast(pa.large_string()))
        lengths.append(text_lengths(piece.texts))
        formats.append(piece.format)
        for name, column in written_fields(piece, policy).items():
            declared[name].append(column)
        for name, columns in ranks.items():
            columns.append(piece.raw_column(name))

    def place(piece: int, row: int) -> tuple[str, int]:
        return next(islice(filter(len, collections()), piece, None)).place(row)

    lacking.require(first_names([*sources]))
    names = _chunks(ids)
    if not formats:
        return names, np.empty(0, np.int64), faults
    written = [form == "jsonl" for form in formats]
    values = {name: joined(name, columns, written, place) for name, columns in ranks.items()}
    given = {name: pa.chunked_array(columns) for name, columns in declared.items()}
    try:
        order = ranking(policy, np.concatenate(lengths), values, address_ranks(policy, _chunks(addresses), given))
    except ValueRefused as error:
        edges = np.cumsum([*map(len, lengths)])
        own_piece = int(np.searchsorted(edges, error.row, side="right")) - 1
        raise error.at(place(own_piece, error.row - int(edges[own_piece]))) from error
    return names, order, faults


def _chunks(columns: Iterable[pa.ChunkedArray]) -> pa.ChunkedArray:
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.large_string())


def _report(of: str, files: Sequence[AnyPath], ids: pa.ChunkedArray, shards: Shards) -> pa.Table:
    """Return the report of a run over documents with these ids, or with the full names that a run with a state uses."""
    names = ["position", "representative_position", "rule", "resemblance", "contained_in_kept", "contains_kept"]
    rows = read(files, text="id", id="position", columns=names)
    found = pa.table({"id": rows.texts, **{name: rows.column(name, literal=name == "rule") for name in names}})
    found = found.filter(pc.is_valid(found["position"])).sort_by("position")  # revisits have no position
    if not np.array_equal(found["position"].to_numpy(), np.arange(len(ids))):
        rule = f"is a report on {counted(len(found), 'document')}, but the inputs have {len(ids):,}; {_SAME_INPUTS}"
        raise DataError(of, rule)
    own = found["id"].cast(pa.large_string())
    equal = pc.fill_null(pc.equal(own.combine_chunks(), ids.combine_chunks()), False).to_numpy(False)
    if not equal.all() and not own.equals(_full_names(shards)):
        row = int(np.argmin(equal))
        there, here = found["id"][row].as_py(), ids[row].as_py()
        rule = f"is a report on other inputs: document {row + 1:,} is {there!r} there, and {here!r} here"
        raise DataError(of, f"{rule}; {_SAME_INPUTS}")
    return found


def _full_names(shards: Shards) -> pa.ChunkedArray:
    """Return the ids of documents, with the full path of their file if they have none."""
    shards = replace(shards, request=replace(shards.request, full_names=True))
    return _chunks(piece.ids.cast(pa.large_string()) for piece in shards.every_piece())
