"""Plans: parameters and layouts for a required recall."""

from neardup.evaluation.plans import Plan, Recommendation, plan
from neardup.model.layout import Banding, Blocks
from neardup.model.requirements import Requirements

__all__ = [
    "Banding",
    "Blocks",
    "Plan",
    "Recommendation",
    "Requirements",
    "plan",
]
