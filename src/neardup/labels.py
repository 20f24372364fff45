"""Pairs that people label, and the rules and parameters that agree with them best."""

from neardup.evaluation.agreement import Agreement, Disagreement, compare_labels
from neardup.evaluation.intervals import Estimated, Share
from neardup.evaluation.tuning import Shares, TunedRule, Tuning
from neardup.model.labels import DrawnPair, LabelledPair
from neardup.pipeline.config import settings_text
from neardup.pipeline.labels.labelling import LabelledPairs, Labelling
from neardup.pipeline.labels.pool import PairPool, draw_pairs
from neardup.pipeline.labels.tuning import tune
from neardup.sources.labels import read_labels

__all__ = [
    "Agreement",
    "Disagreement",
    "DrawnPair",
    "Estimated",
    "LabelledPair",
    "LabelledPairs",
    "Labelling",
    "PairPool",
    "Share",
    "Shares",
    "TunedRule",
    "Tuning",
    "compare_labels",
    "draw_pairs",
    "read_labels",
    "settings_text",
    "tune",
]
