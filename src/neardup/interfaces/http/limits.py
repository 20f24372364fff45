"""How much the service takes of anybody, at most."""

from dataclasses import dataclass, fields
from typing import Final

from neardup.model.errors import require

BATCH: Final = 1_000  # documents, hits or ids of one request
PAGE: Final = 100  # entries of one page
DEPTH: Final = 32  # of arrays and objects in JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bytes, seconds and numbers; all are positive.

    *body*, *url* and *head* are bytes of a request; *head_seconds* and *body_seconds* are the time in which each must
    have come; *idle_seconds* how long a connection may stay without a request, and a client without reading its answer.
    *query_seconds* is the time of one search.

    At a time, *waiting* requests that take little are at work, and *long_waiting* that take longer; *held* bytes of
    large bodies are in memory; *connections* are open.
    """

    body: int = 8 << 20
    url: int = 4 << 10
    head: int = 16 << 10
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_seconds: float = 30.0
    query_seconds: float = 2.0
    waiting: int = 64
    long_waiting: int = 32
    held: int = 64 << 20
    connections: int = 800

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            require(value > 0, field.name, value, "must be positive")
