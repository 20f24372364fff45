"""What the records of the stages hold: a record with other contents is not one of the run."""

from typing import Annotated, Any, Final, get_type_hints

import msgspec

from neardup.sources.record_faults import Count, RecordFaults
from neardup.sources.request import Request
from neardup.sources.shards import Shard

Files = dict[str, Count]
_AS_WRITTEN: Final = {"max_bytes": Annotated[int, msgspec.Meta(ge=1)], "extraction": dict[str, Any], "processes": None}
_Reading: Final = msgspec.defstruct("Reading", [*(get_type_hints(Request) | _AS_WRITTEN).items()])


class _Shards(msgspec.Struct):
    inputs: list[Annotated[str, msgspec.Meta(pattern=r"\A[^\0]*\Z")]]
    request: _Reading  # type: ignore[valid-type]  # it is made of the fields of a request
    shards: Annotated[list[Shard], msgspec.Meta(min_length=1)]
    identities: list[Any]
    ignored: Count
    size: Count
    texts: Count

    def __post_init__(self) -> None:
        sources = [extent.source for shard in self.shards for extent in shard.extents]
        if len(self.identities) != len(self.inputs) or sources != sorted(sources) or sources[-1] >= len(self.inputs):
            raise ValueError("shards of other inputs")


class _Begun(msgspec.Struct):
    shards: _Shards
    salt: str = ""  # runs that find all pairs have neither this nor the others
    segments: list[str] = []
    segment: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{16})?$")] = ""
    for_index: bool = False


class _Extraction(msgspec.Struct):
    view: str
    templates: str | None


class _Learned(msgspec.Struct):
    known: str
    extraction: _Extraction


class _Fields(msgspec.Struct):
    schemas: list[str]
    misfits: list[str | None]


class _Placed(msgspec.Struct):
    paths: list[str]


def _counts(*names: str, **more: Any) -> type[msgspec.Struct]:
    """Return the type of records with these counts, *more* fields of other types, and files."""
    return msgspec.defstruct("Counts", [*((name, Count) for name in names), *more.items(), ("files", Files)])


_SIGNED: Final = _counts(
    "text",
    "features",
    seconds=float,
    revisits=bool,
    numbers=list[Count],
    lacking=dict[str, list[str]],
    **get_type_hints(RecordFaults, include_extras=True),
)
_PROPOSED: Final = _counts("compared", "candidates", "not_compared", "blocks")
KINDS: Final[dict[str, Any]] = {  # by the first part of the name of a stage
    "split": _Begun,
    "sign": _SIGNED,
    "sign_text": _SIGNED,
    "rank": _counts("leaders"),
    "bucket": _counts("not_compared"),
    "pair": _counts("candidates"),
    "arrange": _PROPOSED,
    "propose": _PROPOSED,
    "gather": _counts("features"),
    "settle": _counts("compared"),
    "fields": _Fields,
    "place": _Placed,
    "learn": _Learned,
    "decide": _counts("kept", "exact", "near", "empty", "too_short", rules=list[str]),
}
