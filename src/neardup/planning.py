"""Plans: parameters and layouts for a required recall."""

from neardup.evaluation.expected_candidates import ExpectedCandidates
from neardup.evaluation.plans import Curve, Plan, Recommendation, Unreached, plan
from neardup.model.layout import Banding, Blocks
from neardup.model.requirements import Requirements

__all__ = [
    "Banding",
    "Blocks",
    "Curve",
    "ExpectedCandidates",
    "Plan",
    "Recommendation",
    "Requirements",
    "Unreached",
    "plan",
]
