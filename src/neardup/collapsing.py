"""Collapsing beyond one list of hits: pages of results, responses of search engines, and group keys."""

from neardup.decisions.collapse import Collapse
from neardup.model.hits import HiddenHit, Hit, HitGroup
from neardup.pipeline.query.collapse import Collapsed, Explained
from neardup.pipeline.query.group_keys import group_keys
from neardup.pipeline.query.responses import collapse_response
from neardup.pipeline.query.result_cache import JudgedSets

__all__ = [
    "Collapse",
    "Collapsed",
    "Explained",
    "HiddenHit",
    "Hit",
    "HitGroup",
    "JudgedSets",
    "collapse_response",
    "group_keys",
]
