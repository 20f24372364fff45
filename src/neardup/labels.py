"""Pairs that people label, and the rules and parameters that agree with them best."""

from neardup.evaluation.agreement import Agreement, compare_labels
from neardup.evaluation.tuning import Tuning
from neardup.model.labels import LabelledPair
from neardup.pipeline.config import settings_text
from neardup.pipeline.labels.labelling import LabelledPairs, Labelling
from neardup.pipeline.labels.pool import draw_pairs
from neardup.pipeline.labels.tuning import tune
from neardup.sources.labels import read_labels

__all__ = [
    "Agreement",
    "LabelledPair",
    "LabelledPairs",
    "Labelling",
    "Tuning",
    "compare_labels",
    "draw_pairs",
    "read_labels",
    "settings_text",
    "tune",
]
