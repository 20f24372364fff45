"""Deduplication in pieces: what does not fit into memory is in the files of a work folder, stage by stage."""
