"""The types of what the functions of ``neardup`` return, for annotations and documentation."""

from neardup.evaluation.audit import Audit
from neardup.evaluation.comparison import Comparison, Explanation
from neardup.evaluation.passages import Passage
from neardup.model.policy import Policy
from neardup.model.seen import Document, Stats
from neardup.pipeline import FilesResult, Result, Summary
from neardup.pipeline.config import Config
from neardup.pipeline.files.ingestion import Added
from neardup.pipeline.files.pairs import PairedFiles
from neardup.pipeline.partners.contamination import Contamination

__all__ = [
    "Added",
    "Audit",
    "Comparison",
    "Config",
    "Contamination",
    "Document",
    "Explanation",
    "FilesResult",
    "PairedFiles",
    "Passage",
    "Policy",
    "Result",
    "Stats",
    "Summary",
]
