"""Tables that find 64-bit fingerprints by their Hamming distance."""

from neardup.evaluation.tables import TablePlan, plan_tables
from neardup.index.hamming.costs import measured_costs
from neardup.index.hamming.shards import ShardedTables
from neardup.index.hamming.tables import HammingTables
from neardup.model.tables import Costs, TableDesign

__all__ = [
    "Costs",
    "HammingTables",
    "ShardedTables",
    "TableDesign",
    "TablePlan",
    "measured_costs",
    "plan_tables",
]
