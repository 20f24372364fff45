"""The limits of the service."""

from dataclasses import dataclass
from typing import Final

BATCH: Final = 1_000  # documents, hits or ids of one request
PAGE: Final = 100  # entries of one page
SMALL: Final = 64 << 10  # bytes of a body that do not count against the memory for bodies


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits in bytes, seconds and numbers; all are positive.

    *body*, *url* and *head* limit the bytes of a request. A body must arrive within *body_seconds*; *idle_seconds* is
    how long a connection is kept after an answer; *query_seconds* limits one search.

    Queries with prefixes (``word*``) run one at a time; *prefix_queries* are in progress or wait for at most
    *query_seconds*. At most *short_requests* requests that need little work and *long_requests* that need more are in
    progress, another *long_requests* are forwarded to the process that writes, and bodies of more than 64 KiB have
    *body_memory* bytes together; *requests* are received, in progress or being sent an answer. Further requests are
    rejected (429), those above *requests* at once, others after *pause_seconds*: clients that repeat at once would take
    the time of the accepted ones. Connections that are idle or have not sent the head of a request do not count.
    """

    body: int = 8 << 20
    url: int = 4 << 10
    head: int = 16 << 10
    body_seconds: float = 30.0
    idle_seconds: int = 30
    query_seconds: float = 2.0
    pause_seconds: float = 0.2
    short_requests: int = 64
    long_requests: int = 32
    prefix_queries: int = 8
    body_memory: int = 64 << 20
    requests: int = 800
