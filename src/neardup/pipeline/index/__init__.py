"""An index: documents admitted, judged and changed."""
