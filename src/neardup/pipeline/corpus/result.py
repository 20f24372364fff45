"""The result of a run over a corpus: decisions with their evidence, and a summary in numbers."""

from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa

from neardup.decisions.evidence import COLUMNS, exact_measure
from neardup.model.arrays import Flags, Positions
from neardup.model.errors import DataError
from neardup.model.policy import Policy
from neardup.pipeline.corpus.clusters import LargeCluster, SpreadTemplate
from neardup.schemes.scheme import Scheme
from neardup.schemes.terms import common_of
from neardup.text.columns import gathered
from neardup.text.common_shingles import CommonShingles
from neardup.text.containers import Rows, rows_where

MARKS: Final = ("neardup_cluster", "neardup_kept", "neardup_representative")  # the fields of marked documents
_MOST_BYTES: Final = (1 << 31) - 1  # the most in one array of short strings


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in numbers.

    ``documents`` = ``kept`` + ``exact`` + ``near``: dropped documents are ``exact`` if they are equal byte by byte to
    the kept document, otherwise ``near``. ``empty`` documents contain only white space, ``too_short`` ones have no
    signature for another reason: no words, or a required field is missing. ``duplicate_ids`` counts documents with an
    id that occurs earlier in the inputs. ``known`` documents were dropped for one of an earlier run, or of other files.

    ``candidates`` pairs were proposed and ``compared`` of them verified: other numbers in a run in pieces, which depend
    on its memory. At most ``not_compared`` pairs share a key and were not compared, because very many documents share
    it. ``threshold`` is a value of the *measure* of exact verification: ``resemblance``, or ``overlap``, a share of the
    smaller set; pairs in which one has fewer than *short* features need the ``short_threshold``. ``common`` is the list
    of shingles that did not count, or ``None``. If ``canonical`` ranks, ``canonical_kept`` documents were kept that a
    dropped one of their cluster names, and ``canonical_contradicted`` documents name the address of documents of the
    run that they do not match. ``largest_clusters`` are the clusters of the most documents, with what these share;
    ``spread_template`` is a template that many clusters share, if none of these has one. ``scheme`` is the name of the
    scheme and ``recipe`` the id of its recipe; ``policy`` has the parameters that decided which candidates match and
    which documents are kept. If revisit records are written, ``revisits_missing`` exact duplicates have none, as the
    record of their representative is not in an archive that could be read.
    """

    documents: int
    kept: int
    exact: int
    near: int
    empty: int
    too_short: int
    duplicate_ids: int
    candidates: int
    compared: int
    not_compared: int
    scheme: str
    recipe: str
    threshold: float
    measure: str
    policy: Policy
    short: int | None = None
    short_threshold: float | None = None
    known: int = 0
    canonical_kept: int = 0
    canonical_contradicted: int = 0
    revisits_missing: int = 0
    common: CommonShingles | None = None
    largest_clusters: tuple[LargeCluster, ...] = ()
    spread_template: SpreadTemplate | None = None

    @classmethod
    def of(cls, scheme: Scheme, policy: Policy, **counts: Any) -> Self:
        """Return the summary of a run by this scheme and policy."""
        return cls(
            scheme=scheme.name,
            recipe=scheme.recipe,
            threshold=scheme.threshold,
            measure=exact_measure(scheme.rule),
            short=scheme.short,
            short_threshold=scheme.short_threshold,
            policy=policy,
            common=common_of(scheme),
            **counts,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values, as ``--json`` prints them."""
        plain = asdict(replace(self, common=None))
        if self.common is not None:
            plain["common"] = {
                "id": self.common.identity,
                "shingles": len(self.common),
                "share": self.common.share,
                "documents": self.common.documents,
            }
        return plain


class RunResult:
    """The members of all results, including those of runs in pieces, whose decisions are in files; see ``Result``."""

    __slots__ = ()
    decisions: pa.Table
    representatives: Positions
    summary: Summary
    source: Any
    scheme: Scheme | None

    @property
    def mask(self) -> Flags:
        """One bool per document: whether it is kept."""
        return np.asarray(self.representatives < 0)

    @property
    def kept(self) -> Positions:
        """The positions of the kept documents, ascending."""
        return np.flatnonzero(self.mask)

    @property
    def clusters(self) -> Positions:
        """One int64 per document: the position of its representative, its own position if it is kept.

        Representatives that are documents of earlier runs or other files have numbers after the last position.
        """
        return np.where(self.mask, np.arange(len(self.representatives)), self.representatives)

    def table(self) -> Any:
        """Return the kept rows, in the kind of container that ``dedup`` was called with, in its order.

        They are selected from that container, by position: its rows must be those of the call, in the same order.

        Raises ``DataError`` if the rows are no longer available: for files, and for streams and iterators, which are
        read once.
        """
        if self.source is None:
            rule = "are not in memory: pass a list, not a stream or an iterator; for files, write the rows to an output"
            raise DataError("rows", rule)
        return rows_where(self.source, self.mask)

    def take(self, table: Rows) -> Rows:
        """Return the rows of another container that belong to the kept documents.

        *table* has one row per document, in the same order, such as the same documents with more columns. Raises
        ``DataError`` for another number of rows and for a container whose rows cannot be selected.
        """
        return rows_where(table, self.mask)

    def pairs(self) -> pa.Table:
        """Return one row per dropped document, in input order: the pair and its evidence.

        ``dropped`` and ``representative`` are positions (int64; null for a document of an earlier run), ``dropped_id``
        and ``representative_id`` the ids; the other columns are those of ``decisions``.
        """
        found = self.decisions.filter(pa.array(~self.mask))
        evidence = found.column_names[found.column_names.index("rule") :]
        return pa.table(
            {
                "dropped": found.column("position"),
                "representative": found.column("representative_position"),
                "dropped_id": found.column("id"),
                "representative_id": found.column("representative"),
                **{name: found.column(name) for name in evidence},
            }
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({totals(self.summary)})"

    def _repr_html_(self) -> str:
        """Return the numbers as a small table, for notebooks."""
        cell = '<td style="text-align: right">'
        rows = "".join(
            f"<tr>{cell}{count:,}</td><th>{escape(words)}</th></tr>" for words, count in _counts(self.summary)
        )
        summary = self.summary
        rule = f"{summary.scheme}, {summary.measure} of at least {summary.threshold:g}"
        return f"<table><caption>{escape(rule)}</caption>{rows}</table>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(RunResult):
    """The result of ``dedup``.

    ``kept``: int64, the positions of the kept documents, ascending. ``decisions``: an Arrow table, one row per
    document, in input order, with the columns

    - ``id`` (string), ``position`` (int64, from 0) and ``kept`` (bool);
    - ``representative``: the id of the kept document it is dropped for, null if it is kept itself, and
      ``representative_position``: its position, as ids need not be unique;
    - ``rule``: ``same text``, ``same features``, ``resemblance``, ``containment``, ``overlap`` or ``cosine`` (exact),
      ``checksum``, ``component`` (connected to the representative through other documents only), ``estimate`` or
      ``shared key`` (not verified);
    - ``resemblance``, ``contained_in_kept``, ``contains_kept``: measured on both documents' feature
      sets for verified rules; for ``estimate`` only the estimated resemblance, and null if the scheme estimates
      another measure; for ``shared key`` null;
    - ``exact``: whether both texts are equal byte by byte;
    - with the templates of hosts, or if short documents need more, also ``threshold``: what the measure of the pair had
      to reach, null if nothing was measured or both have equal features;
    - for web archives also the ``url``, the ``date``, and the place of each record: ``record_id``, ``warc_filename``,
      ``warc_record_offset``, ``warc_record_length``.

    ``representatives``: int64, for each document the position of the document it is dropped for, or -1. ``source``: the
    container of documents that ``dedup`` was called with; ``None`` for files, streams and iterators. ``scheme``: that
    of the run, with its list of common shingles; ``None`` if it has a secret key, which must not be stored with a
    result.
    """

    decisions: pa.Table
    representatives: Positions
    summary: Summary
    source: Any = None
    scheme: Scheme | None = None


def totals(summary: Summary) -> str:
    """Return the numbers of a result as its ``repr`` shows them."""
    return ", ".join(f"{name}={count:,}" for name, count in _counts(summary))


def _counts(summary: Summary) -> list[tuple[str, int]]:
    return [(name, getattr(summary, name)) for name in ("documents", "kept", "exact", "near")]


def decisions_table(
    ids: pa.ChunkedArray, representative: Positions, dropped: Positions, evidence: dict[str, Any], exact: Flags
) -> pa.Table:
    """Return the table of decisions, one row per document; *evidence* and *exact* are of the *dropped* positions."""
    named = ids.cast(pa.large_string()) if ids.type == pa.string() and ids.nbytes > _MOST_BYTES else ids
    names = named.take(pa.array(representative[dropped]))
    return decided_rows(ids, 0, len(ids), representative, names, dropped, evidence, exact)


def marks_of(clusters: Positions, kept: Flags, ids: pa.ChunkedArray) -> pa.Table:
    """Return the fields that mark the cluster of each document: the position and the id of its kept document."""
    names = gathered(ids, clusters).cast(pa.large_string())
    return pa.table([clusters, kept, names], [*MARKS])


def with_places(decisions: pa.Table, places: pa.Table | None) -> pa.Table:
    """Return decisions with columns with the place of each document, if there are any."""
    if places is not None:
        for name in places.column_names:
            decisions = decisions.append_column(name, places.column(name))
    return decisions


def decided_rows(  # noqa: PLR0913, PLR0917 - every column
    ids: pa.ChunkedArray,
    first: int,
    total: int,
    representative: Positions,
    names: Any,
    dropped: Positions,
    evidence: dict[str, Any],
    exact: Flags,
) -> pa.Table:
    """Return the rows of the table of decisions from the position *first* on, one for each of *ids*.

    *names* (the ids of the representatives), *evidence* and *exact* are of the *dropped* rows, which are numbered from
    0, as *representative* is. Representatives from *total* on, the number of all documents, are of other runs, and have
    no position in the table.
    """
    number = len(representative)
    kept = representative < 0
    rows = np.full(number, -1, np.int64)
    rows[dropped] = np.arange(len(dropped))
    where = pa.array(rows, mask=kept)
    same = np.zeros(number, np.bool_)
    same[dropped] = exact

    def column(name: str) -> pa.Array:
        return pa.array(evidence[name], pa.float64(), from_pandas=True).take(where)

    return pa.table(
        {
            "id": ids,
            "position": pa.array(np.arange(first, first + number)),
            "kept": pa.array(kept),
            "representative": names.take(where),
            "representative_position": pa.array(representative, pa.int64(), mask=kept | (representative >= total)),
            "rule": pa.array(evidence["rule"], pa.string()).take(where),
            **{name: column(name) for name in COLUMNS},
            "exact": pa.array(same),
            **{name: column(name) for name in ("threshold",) if name in evidence},
        }
    )
