"""What the service does: one table of operations, from which requests are led and the description is made."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from neardup.interfaces.http.bodies import body_decoder, id_of
from neardup.interfaces.http.problems import METHOD, Kind, Refused
from neardup.interfaces.http.serving import Serving
from neardup.interfaces.http.tokens import Scope

JSON: Final = "application/json"
ID: Final = "{id}"
SHORT: Final = 16 << 10  # bytes of a body that are work for the loop
ANY: Final = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that can be asked for.

    *path* may end in ``{id}``, which stands for the whole rest, percent-encoded. *body* or *query* is the structure of
    what is given, *answer* that of what comes back; *run* makes one of the other, or bytes of *media*. *scope* is what
    a token must allow, ``None`` where nobody needs one. Bodies of more than *short* bytes are work for a thread, and so
    is everything that *compares_texts* of an index that keeps them. What is answered *always* is so at once, however
    much there is to do.
    """

    name: str
    method: str
    path: str
    summary: str
    run: Callable[[Serving, Any], Any]
    answer: Any = None
    body: Any = None
    query: Any = None
    scope: Scope | None = "read"
    short: int = SHORT
    compares_texts: bool = False
    media: str = JSON
    always: bool = False
    refuses: Sequence[Kind] = ()
    explained: str = ""

    def is_long(self, serving: Serving, size: int) -> bool:
        """Say whether a body of so many bytes is work for a thread."""
        return size > self.short or (self.compares_texts and serving.index.keeps_texts)

    @property
    def prefix(self) -> bytes:
        """What the paths begin with."""
        return self.path.removesuffix(ID).encode()

    @property
    def has_id(self) -> bool:
        """Whether the path ends in an id."""
        return self.path.endswith(ID)

    @cached_property
    def decode(self) -> Callable[[bytes], Any]:
        """What takes a body for what is given."""
        return body_decoder(self.body)


class Routes:
    """Leads a method and a path, as it came, to an operation."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.operations = tuple(operations)
        self._exact: dict[bytes, dict[str, Operation]] = {}
        self._prefixes: dict[bytes, dict[str, Operation]] = {}
        for operation in self.operations:
            table = self._prefixes if operation.has_id else self._exact
            methods = table.setdefault(operation.prefix, {})
            methods[operation.method] = operation
            if operation.method == "GET":
                methods["HEAD"] = operation

    def find(self, method: str, path: bytes) -> tuple[Operation | None, bytes]:
        """Give the operation and the id in the path; none for what is not of the table."""
        methods = self._exact.get(path)
        own = b""
        if methods is None:
            for prefix, others in self._prefixes.items():
                if path.startswith(prefix) and len(path) > len(prefix):
                    methods, own = others, path[len(prefix) :]
                    break
            else:
                return None, b""
        operation = methods.get(method)
        if operation is None:
            allowed = ", ".join(sorted(methods))
            raise Refused(METHOD, f"It is served by {allowed}.", [(b"allow", allowed.encode())])
        return operation, own


def given_id(operation: Operation, own: bytes) -> dict[str, str]:
    """Give what a path says beside the operation."""
    return {"id": id_of(own)} if operation.has_id else {}
