"""Deduplication of files and DataFrames on Apache Spark; needs the extra ``spark``."""

from neardup.pipeline.spilled.spark import SparkResult, dedup, dedup_files

__all__ = ["SparkResult", "dedup", "dedup_files"]
