"""Runs over files and folders: the top of the pipeline."""
