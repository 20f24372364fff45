"""The functions of the stages of a run in pieces, by their names in ``run``, in order."""

STAGES = (
    "sign",
    "rank",
    "gather_signatures",
    "gather_keys",
    "bucket",
    "pair",
    "arrange",
    "gather",
    "match",
    "settle",
    "decide",
)
