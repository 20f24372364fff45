"""Compiling every kernel by using it once."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np

from neardup.evaluation.comparison import compare
from neardup.index.disk.columns import encoded
from neardup.index.hamming.tables import HammingTables
from neardup.model.policy import Policy
from neardup.model.protocols import Scheme
from neardup.model.query import terms_of
from neardup.pipeline.corpus.run import dedup
from neardup.pipeline.index.index import Index
from neardup.pipeline.partners.audit import audit
from neardup.pipeline.partners.pairs import pairs
from neardup.pipeline.query.collapse import collapse
from neardup.pipeline.query.near_hits import HitVerify
from neardup.pipeline.query.rules import NearDuplicates, SameValue
from neardup.schemes import registry
from neardup.text.html import visible_text
from neardup.text.marking import Marker
from neardup.text.markup import shape
from neardup.text.search_words import search_words

_TEXTS = [
    "The harbour was quiet. No one was there, J. Smith wrote! E\u0301t\u00e9 was over",
    "The harbour was quiet. No one was there, J. Smith wrote! Summer was over",
    "short",
    "",
]


def warm() -> None:
    """Run ``dedup`` on a few lines of text in all its variants, collapse, compare and read some, and use indexes.

    Kernels that are already compiled are only loaded.
    """
    kinds = registry.kinds()
    schemes = [kind.variants()[0] for kind in kinds]
    first = schemes[0]
    for scheme in (variant for kind in kinds for variant in kind.variants()):
        dedup(_TEXTS, scheme=scheme, threads=1)
    dedup([f"{_TEXTS[0]}, writes {word}" for word in "abc"], scheme=first, ignore_common=0.5, threads=1)
    for policy in (Policy(gather="components"), Policy(gather="components", verify="estimate"), Policy(verify="none")):
        dedup(_TEXTS, scheme=first, verify=policy.verify, gather=policy.gather, threads=1)
    dedup(_TEXTS, scheme=first, representative="closest", threads=1)
    for scheme in schemes:
        dedup(_TEXTS, scheme=scheme, verify="estimate", threads=1)
        _ranked(scheme)
    audit(dedup(_TEXTS, scheme=first, threads=1), scheme=first, threads=1)
    pairs(_TEXTS, scheme=first, clusters=True, threads=2)  # which count features apart
    pairs(_TEXTS, scheme=first, measure="cosine", threads=1)
    compare(_TEXTS[0], _TEXTS[1])
    Marker(terms_of(_TEXTS[0])).mark(encoded(_TEXTS), 2)
    search_words(encoded(_TEXTS))
    visible_text(_TEXTS[0])
    shape(_TEXTS[0].encode())
    for scheme in schemes:
        if scheme.pooled or scheme.table_distance is not None or scheme is first:  # each way to find candidates
            _live(scheme)
    for compressed in (False, True):
        _tables(compressed=compressed)


def _ranked(scheme: Scheme) -> None:
    hits = [{"id": number, "text": text, "body": text} for number, text in enumerate(_TEXTS)]
    for verify in get_args(HitVerify):
        _ = collapse(hits, [NearDuplicates(scheme=scheme), SameValue("id")], verify=verify).page


def _tables(*, compressed: bool) -> None:
    fingerprints = np.arange(3, dtype=np.uint64)
    built = HammingTables.build(fingerprints, compressed=compressed)
    with TemporaryDirectory() as folder:
        built.save(Path(folder, "tables"))
        for tables in (built, HammingTables.open(Path(folder, "tables"))):
            tables.lookup(fingerprints)
            tables.count(fingerprints)
            tables.self_join()
            tables.join(fingerprints)


def _live(scheme: Scheme) -> None:
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
