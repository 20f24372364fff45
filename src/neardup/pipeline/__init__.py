"""The pipeline, where the stages meet."""

from neardup.pipeline.corpus import dedup
from neardup.pipeline.files import FilesResult, dedup_files
from neardup.pipeline.result import Result, Summary

__all__ = ["FilesResult", "Result", "Summary", "dedup", "dedup_files"]
