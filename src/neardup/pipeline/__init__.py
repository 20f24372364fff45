"""The pipeline, where the stages meet."""

from neardup.pipeline.corpus.result import Result, Summary
from neardup.pipeline.corpus.run import dedup
from neardup.pipeline.files.dedup import FilesResult, dedup_files

__all__ = ["FilesResult", "Result", "Summary", "dedup", "dedup_files"]
