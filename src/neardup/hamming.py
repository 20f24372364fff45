"""Tables that find 64-bit fingerprints by their Hamming distance."""

from neardup.evaluation.tables import DesignPlan, TablePlan, plan_tables
from neardup.index.hamming.costs import measured_costs
from neardup.index.hamming.shards import ShardedTables
from neardup.index.hamming.tables import HammingTables
from neardup.model.tables import Costs, FingerprintTable, TableDesign

__all__ = [
    "Costs",
    "DesignPlan",
    "FingerprintTable",
    "HammingTables",
    "ShardedTables",
    "TableDesign",
    "TablePlan",
    "measured_costs",
    "plan_tables",
]
