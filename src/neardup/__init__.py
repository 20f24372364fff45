"""Finds, explains and eliminates near-duplicate documents.

Importing has no effect and loads nothing heavy: each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.evaluation.comparison import Comparison, Explanation, compare, explain
    from neardup.evaluation.measures import containment, resemblance
    from neardup.evaluation.passages import Passage
    from neardup.evaluation.plans import Plan, plan
    from neardup.evaluation.recommendations import Recommendation
    from neardup.evaluation.tables import TablePlan, plan_tables
    from neardup.index.costs import measured_costs
    from neardup.index.hamming import HammingTables
    from neardup.model.arrays import Features, Signatures
    from neardup.model.errors import (
        DataError,
        NeardupError,
        OutputError,
        ParameterError,
        QueryTimeout,
        RecipeMismatch,
        StorageBusy,
        StorageDamaged,
        StorageError,
        StorageFailed,
        StorageMoved,
        StorageRefused,
    )
    from neardup.model.layout import Banding, Blocks
    from neardup.model.policy import Policy
    from neardup.model.seen import Document
    from neardup.model.tables import Costs, TableDesign
    from neardup.model.verdicts import Empty, ExactDuplicate, Known, NearDuplicate, New
    from neardup.pipeline import FilesResult, Result, Summary, dedup, dedup_files
    from neardup.pipeline.collapsing import Collapsed, collapse
    from neardup.pipeline.crawl import CrawlFilter
    from neardup.pipeline.group_keys import group_keys
    from neardup.pipeline.judged import JudgedSets
    from neardup.pipeline.living import Index
    from neardup.pipeline.responses import collapse_response
    from neardup.pipeline.rules import NearDuplicates, SameValue
    from neardup.pipeline.searching import Search
    from neardup.schemes.checksum import Checksum, Field
    from neardup.schemes.combined import Combined
    from neardup.schemes.minhash import MinHash
    from neardup.schemes.presets import preset
    from neardup.schemes.sentences import Sentences
    from neardup.schemes.simhash import SimHash
    from neardup.schemes.trials import Trials
    from neardup.schemes.weights import TermWeights
    from neardup.sources.addresses import Addresses
    from neardup.sources.domains import registered_domain
    from neardup.sources.hosts import host, path_levels
    from neardup.text.analysis import Analysis
    from neardup.text.templates import CommonShingles

__version__ = "0.1.0"

_HOMES = {
    "Addresses": "sources.addresses",
    "Analysis": "text.analysis",
    "Banding": "model.layout",
    "Blocks": "model.layout",
    "Checksum": "schemes.checksum",
    "Collapsed": "pipeline.collapsing",
    "Combined": "schemes.combined",
    "CommonShingles": "text.templates",
    "Comparison": "evaluation.comparison",
    "Costs": "model.tables",
    "CrawlFilter": "pipeline.crawl",
    "DataError": "model.errors",
    "Document": "model.seen",
    "Empty": "model.verdicts",
    "ExactDuplicate": "model.verdicts",
    "Explanation": "evaluation.comparison",
    "Features": "model.arrays",
    "Field": "schemes.checksum",
    "FilesResult": "pipeline",
    "HammingTables": "index.hamming",
    "Index": "pipeline.living",
    "JudgedSets": "pipeline.judged",
    "Known": "model.verdicts",
    "MinHash": "schemes.minhash",
    "NearDuplicate": "model.verdicts",
    "NearDuplicates": "pipeline.rules",
    "NeardupError": "model.errors",
    "New": "model.verdicts",
    "OutputError": "model.errors",
    "ParameterError": "model.errors",
    "Passage": "evaluation.passages",
    "Plan": "evaluation.plans",
    "Policy": "model.policy",
    "QueryTimeout": "model.errors",
    "RecipeMismatch": "model.errors",
    "Recommendation": "evaluation.recommendations",
    "Result": "pipeline",
    "SameValue": "pipeline.rules",
    "Search": "pipeline.searching",
    "Sentences": "schemes.sentences",
    "Signatures": "model.arrays",
    "SimHash": "schemes.simhash",
    "StorageBusy": "model.errors",
    "StorageDamaged": "model.errors",
    "StorageError": "model.errors",
    "StorageFailed": "model.errors",
    "StorageMoved": "model.errors",
    "StorageRefused": "model.errors",
    "Summary": "pipeline",
    "TableDesign": "model.tables",
    "TablePlan": "evaluation.tables",
    "TermWeights": "schemes.weights",
    "Trials": "schemes.trials",
    "collapse": "pipeline.collapsing",
    "collapse_response": "pipeline.responses",
    "compare": "evaluation.comparison",
    "containment": "evaluation.measures",
    "dedup": "pipeline",
    "dedup_files": "pipeline",
    "explain": "evaluation.comparison",
    "group_keys": "pipeline.group_keys",
    "host": "sources.hosts",
    "measured_costs": "index.costs",
    "path_levels": "sources.hosts",
    "plan": "evaluation.plans",
    "plan_tables": "evaluation.tables",
    "preset": "schemes.presets",
    "registered_domain": "sources.domains",
    "resemblance": "evaluation.measures",
}

__all__ = [
    "Addresses",
    "Analysis",
    "Banding",
    "Blocks",
    "Checksum",
    "Collapsed",
    "Combined",
    "CommonShingles",
    "Comparison",
    "Costs",
    "CrawlFilter",
    "DataError",
    "Document",
    "Empty",
    "ExactDuplicate",
    "Explanation",
    "Features",
    "Field",
    "FilesResult",
    "HammingTables",
    "Index",
    "JudgedSets",
    "Known",
    "MinHash",
    "NearDuplicate",
    "NearDuplicates",
    "NeardupError",
    "New",
    "OutputError",
    "ParameterError",
    "Passage",
    "Plan",
    "Policy",
    "QueryTimeout",
    "RecipeMismatch",
    "Recommendation",
    "Result",
    "SameValue",
    "Search",
    "Sentences",
    "Signatures",
    "SimHash",
    "StorageBusy",
    "StorageDamaged",
    "StorageError",
    "StorageFailed",
    "StorageMoved",
    "StorageRefused",
    "Summary",
    "TableDesign",
    "TablePlan",
    "TermWeights",
    "Trials",
    "collapse",
    "collapse_response",
    "compare",
    "containment",
    "dedup",
    "dedup_files",
    "explain",
    "group_keys",
    "host",
    "measured_costs",
    "path_levels",
    "plan",
    "plan_tables",
    "preset",
    "registered_domain",
    "resemblance",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
