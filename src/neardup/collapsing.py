"""Collapsing beyond one list of hits: pages of results, responses of search engines, and group keys."""

from neardup.pipeline.query.collapse import Collapsed
from neardup.pipeline.query.group_keys import group_keys
from neardup.pipeline.query.responses import collapse_response
from neardup.pipeline.query.result_cache import JudgedSets

__all__ = ["Collapsed", "JudgedSets", "collapse_response", "group_keys"]
