"""The types of what the functions of ``neardup`` return, for annotations and documentation."""

from neardup.engines.runner import Worked
from neardup.evaluation.audit import Audit, Band, Missed
from neardup.evaluation.comparison import Comparison, Explanation, Measure
from neardup.evaluation.match_decisions import Estimate, MatchDecision
from neardup.evaluation.passages import Passage
from neardup.index.disk.check import Report
from neardup.index.disk.copies import Copied
from neardup.model.answers import Answer, AnswerGroup, Marked, Repeat, ShownHit, Snippet
from neardup.model.policy import Policy
from neardup.model.seen import Admission, Document, GroupPage, Removal, Stats
from neardup.pipeline import FilesResult, Result, Summary
from neardup.pipeline.config import Config
from neardup.pipeline.corpus.clusters import LargeCluster, SpreadTemplate
from neardup.pipeline.files.ingestion import Added
from neardup.pipeline.files.pairs import PairedFiles
from neardup.pipeline.index.changes import Changes
from neardup.pipeline.index.transfer import Filled
from neardup.pipeline.partners.contamination import Contamination
from neardup.pipeline.spilled.state import Forgotten, SegmentInfo
from neardup.pipeline.spilled.stored_documents import StoredResult
from neardup.schemes.scheme import Scheme
from neardup.sources.record_faults import QuotedLines, Rejected, WithoutText

__all__ = [
    "Added",
    "Admission",
    "Answer",
    "AnswerGroup",
    "Audit",
    "Band",
    "Changes",
    "Comparison",
    "Config",
    "Contamination",
    "Copied",
    "Document",
    "Estimate",
    "Explanation",
    "FilesResult",
    "Filled",
    "Forgotten",
    "GroupPage",
    "LargeCluster",
    "Marked",
    "MatchDecision",
    "Measure",
    "Missed",
    "PairedFiles",
    "Passage",
    "Policy",
    "QuotedLines",
    "Rejected",
    "Removal",
    "Repeat",
    "Report",
    "Result",
    "Scheme",
    "SegmentInfo",
    "ShownHit",
    "Snippet",
    "SpreadTemplate",
    "Stats",
    "StoredResult",
    "Summary",
    "WithoutText",
    "Worked",
]
