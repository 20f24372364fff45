"""Columns and tables that only export their values as Arrow."""


class OnlyStream:
    """What pandas, polars and others have in common."""

    def __init__(self, values):
        self._values = values

    def __arrow_c_stream__(self, requested_schema=None):
        return self._values.__arrow_c_stream__(requested_schema)
