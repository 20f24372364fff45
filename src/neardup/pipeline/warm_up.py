"""Compiling every kernel by using it once."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, get_args

import numpy as np
import pyarrow as pa

from neardup.engines.local import thread_count
from neardup.engines.processes import Processes, TableFunction
from neardup.evaluation.comparison import compare
from neardup.index.disk.columns import encoded
from neardup.index.hamming.tables import HammingTables
from neardup.model.errors import ExtraMissing
from neardup.model.memory import LEAST_OF_RUN
from neardup.model.query import terms_of
from neardup.pipeline.corpus.run import dedup
from neardup.pipeline.crawl.templates import learn_templates
from neardup.pipeline.files.dedup import dedup_files
from neardup.pipeline.index.index import Index
from neardup.pipeline.partners.audit import audit
from neardup.pipeline.partners.contamination import contamination
from neardup.pipeline.partners.pairs import pairs
from neardup.pipeline.query.collapse import collapse
from neardup.pipeline.query.near_hits import HitVerify
from neardup.pipeline.query.rules import NearDuplicates, SameValue
from neardup.schemes import registry
from neardup.schemes.fracminhash import FracMinHash
from neardup.schemes.minhash import MinHash
from neardup.schemes.simhash import SimHash
from neardup.schemes.weights import TermWeights
from neardup.text.extraction import Extraction
from neardup.text.html import visible_content
from neardup.text.marking import Marker
from neardup.text.markup import FEW_NAMES, shape
from neardup.text.search_words import search_words

Step = Callable[[], object]

_TEXTS: Final = [
    "The harbour was quiet. No one was there, J. Smith wrote! E\u0301t\u00e9 was over",
    "The harbour was quiet. No one was there, J. Smith wrote! Summer was over",
    "short",
    "",
]
_CROWD: Final = 200  # documents that share keys, or fingerprints that are near: more than a bucket has room for
_WORDS: Final = 1500  # of each of a crowd whose features are more than are compared at once
_PAGES: Final = 12  # of a host, enough for a template


def warm(processes: int | None = None) -> None:
    """Run ``dedup`` on a few lines of text in all its variants, and use once everything else that has kernels.

    Kernels that are already compiled are only loaded. Up to this many *processes* compile (``None``: one for every
    core), if there is much to do.
    """
    steps = [pa.table({"step": [number]}) for number in range(len(_steps()))]
    with Processes(thread_count(processes)) as workers:
        workers.turn_to(TableFunction(f"{__name__}:taker", {}, taker({})))
        for _ in workers.map(steps):
            pass


def taker(_: Mapping[str, Any]) -> Callable[[pa.Table], pa.Table]:
    """Return the function of this process and others, which takes the steps of a table."""

    def take(table: pa.Table) -> pa.Table:
        for number in table["step"].to_pylist():
            _steps()[number]()
        return table

    return take


def _steps() -> Sequence[Step]:
    """Return what is to be done in any order; those that follow each other share few kernels.

    The first ones are short: this process takes them while the others start.
    """
    return (
        lambda: search_words(encoded(_TEXTS)),
        lambda: Marker(terms_of(_TEXTS[0])).mark(encoded(_TEXTS), 2),
        lambda: dedup(_TEXTS, scheme=registry.default(), threads=1),
        _tables,
        _schemes,
        _markup,
        _partners,
        _policies,
        _pieces,
        _indexes,
        _pages,
    )


def _tables() -> None:
    fingerprints = np.arange(_CROWD, dtype=np.uint64)
    for compressed in (False, True):
        built = HammingTables.build(fingerprints, compressed=compressed)
        with TemporaryDirectory() as folder:
            built.save(Path(folder, "tables"))
            for tables in (built, HammingTables.open(Path(folder, "tables"))):
                tables.lookup(fingerprints)
                tables.lookup(fingerprints, first=1)
                tables.count(fingerprints)
                tables.self_join()
                tables.join(fingerprints)


def _schemes() -> None:
    for kind in registry.kinds():
        for scheme in kind.variants():
            dedup(_TEXTS, scheme=scheme, threads=1)
        scheme = kind.variants()[0]
        dedup(_TEXTS, scheme=scheme, verify="estimate", threads=1)
        hits = [{"id": number, "text": text, "body": text} for number, text in enumerate(_TEXTS)]
        for verify in get_args(HitVerify):
            _ = collapse(hits, [NearDuplicates(scheme=scheme), SameValue("id")], verify=verify).page
    compare(_TEXTS[0], _TEXTS[1])


def _policies() -> None:
    scheme = registry.default()
    dedup([f"{_TEXTS[0]}, writes {word}" for word in "abc"], scheme=scheme, ignore_common=0.5, threads=1)
    dedup(_TEXTS, scheme=scheme, gather="components", threads=1)
    dedup(_TEXTS, scheme=scheme, gather="components", verify="estimate", threads=1)
    dedup(_TEXTS, scheme=scheme, verify="none", threads=1)
    dedup(_TEXTS, scheme=scheme, representative="closest", threads=1)
    dedup(_TEXTS, scheme=MinHash(short=5, short_threshold=0.9), gather="components", threads=1)


def _partners() -> None:
    scheme = registry.default()
    audit(dedup(_TEXTS, scheme=scheme, threads=1), scheme=scheme, threads=1)
    pairs(_TEXTS, scheme=scheme, clusters=True, threads=2)  # which count features apart
    pairs(_TEXTS, scheme=scheme, measure="cosine", threads=1)
    contamination(_TEXTS, _TEXTS, threads=1)
    weights = TermWeights.fitted(_TEXTS)
    weights.weights(weights.shingling.features(_TEXTS))


def _markup() -> None:
    for page in (_TEXTS[0].encode(), b"<p>" * (FEW_NAMES + 1)):  # with names
        shape(page)


def _indexes() -> None:
    for scheme in (registry.default(), FracMinHash(), SimHash()):  # keys that count in their column, and in any
        with TemporaryDirectory() as folder, Index.create(Path(folder, "index"), scheme, texts=True) as index:
            for number in range(2):
                index.admit([f"{number}-{row}" for row in range(len(_TEXTS))], _TEXTS)
                index.judge(_TEXTS)
                index.flush()
            index.judge(_TEXTS)
            index.remove(["0-0"])
            index.see(["0-1"])
            index.group("0-1")
            index.compact()
            index.check()
    _crowd()


def _pages() -> None:
    for links in (False, True):
        visible_content(f"<title>{_TEXTS[0]}</title>{_TEXTS[0]}", links=links)
    pages = [f"<p>{_TEXTS[0]}<p>{' '.join(f'{page}-{word}' for word in range(50))}" for page in range(_PAGES)]
    with suppress(ExtraMissing):
        templates = learn_templates([(f"http://h.example/{page}", text) for page, text in enumerate(pages)], threads=1)
        Extraction(templates=templates).pages(pages, hosts=["h.example"] * _PAGES)


def _pieces() -> None:
    with TemporaryDirectory() as folder:
        texts, state = Path(folder, "texts.jsonl"), Path(folder, "state")
        texts.write_text("".join(f'{{"text": "{text}"}}\n' for text in _TEXTS[:2]), "utf-8")
        dedup_files([texts], state=state, threads=1)
        dedup_files([texts], against=state, threads=1)
        common = " ".join(f"common{word}" for word in range(_WORDS))
        texts.write_text("".join(f'{{"text": "{common} {number}"}}\n' for number in range(_CROWD)), "utf-8")
        dedup_files([texts], work=Path(folder, "work"), memory=LEAST_OF_RUN, threads=4)  # a block in parts


def _crowd() -> None:
    """Admit more documents that share some keys than buckets have room for: they are found by more keys."""
    common = [f"common{word}" for word in range(40)]
    texts = [" ".join([*common, *(f"{row}-{word}" for word in range(10))]) for row in range(_CROWD)]
    with TemporaryDirectory() as folder, Index.create(Path(folder, "index"), MinHash()) as index:
        index.admit([*map(str, range(1, _CROWD))], texts[1:])
        index.flush()
        index.judge(texts[:1])
    hits = [{"id": number, "text": text} for number, text in enumerate(2 * texts)]  # of more than one part
    collapse(hits)
    collapse(hits, [SameValue("id")])
