"""The verdicts on a document or a page: known, new, exact duplicate, near duplicate, or empty."""

from neardup.model.verdicts import Empty, ExactDuplicate, Known, NearDuplicate, New

__all__ = ["Empty", "ExactDuplicate", "Known", "NearDuplicate", "New"]
