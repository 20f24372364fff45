"""Deduplication of files and DataFrames, and joins of fingerprints, on Apache Spark; needs the extra ``spark``."""

from neardup.pipeline.files.spark import SparkResult, dedup, dedup_files
from neardup.pipeline.table_joins import join_tables, self_join_tables

__all__ = ["SparkResult", "dedup", "dedup_files", "join_tables", "self_join_tables"]
