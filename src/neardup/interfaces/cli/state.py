"""Show, merge or forget the documents that dedup --state has kept."""

import argparse
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from neardup.interfaces.cli import options
from neardup.interfaces.cli.terminal import shown_ids, summarise
from neardup.interfaces.wording.numbers import Row, row, total
from neardup.interfaces.wording.runs import extraction_line
from neardup.model.errors import ParameterError, counted
from neardup.model.moments import moment_in

if TYPE_CHECKING:
    from neardup.pipeline.spilled.state import SegmentInfo

EXAMPLE = "Example: neardup state forget crawls --before 2026-01-01"
USAGE = f"""
action info|compact|forget: info: what is in it; compact: merge the segments, one for each run; forget: remove
  documents, so that later runs keep documents like these again
folder DIR: the folder that dedup --state DIR names
--ids FILE: forget: a file of ids, one per line; - is standard input
--before TIME: forget: instead of --ids, what runs added before this time: {options.MOMENT}
--last: forget: instead of --ids, what the last run added
--json: print the result as JSON
"""


def run(arguments: argparse.Namespace) -> int:
    """Compact the state or forget documents, as requested, and describe it."""
    from neardup.pipeline.spilled.state import State

    ids, before = _to_forget(arguments)
    removed = 0
    unknown: list[str] = []
    undone: list[SegmentInfo] = []
    with State.open(arguments.folder, write=arguments.action != "info", make=False) as state:
        header, bytes_before = state.header, state.bytes()
        if arguments.action == "compact":
            state.compact()
        elif arguments.last:
            undone = [state.forget_last()]
            removed = undone[0].documents
        elif arguments.action == "forget":
            removed, unknown = state.forget(ids, before=before)
        segments, size = state.segments, state.bytes()
    about = {"scheme": header.scheme, "recipe": header.recipe, **header.policy, "for_index": header.for_index}
    totals = {name: sum(getattr(segment, name) for segment in segments) for name in ("documents", "kept", "leaders")}
    record = {
        **totals,
        **about,
        "extraction": header.extraction,
        "bytes": size,
        "removed": removed,
        "unknown": len(unknown),
        "segments": msgspec.to_builtins(segments),
    }
    changed = f" (before: {bytes_before:,})" if size != bytes_before else ""
    rows = [
        (total if arguments.action == "forget" else row)(removed, "document", " removed"),
        row(len(unknown), "id", f" not in the state{shown_ids(unknown)}"),
        total(totals["documents"], "document"),
        Row(totals["kept"], "kept", always=True),
        Row(totals["leaders"], "stored; the others are equal to one of these, or have nothing to compare", always=True),
        total(size, "byte", changed),
    ]
    of_index = ", with signatures for an index" if header.for_index else ""
    lines = [*(f"removed: {_run(one)}" for one in undone), *map(_run, segments)]
    scheme, verify = header.scheme["scheme"], header.policy["verify"]
    lines.append(f"scheme {scheme}, recipe {header.recipe}, verify {verify}{of_index}")
    if header.extraction is not None:
        lines.append(extraction_line(header.extraction, arguments.folder))
    return summarise(arguments, record, rows, lines=lines)


def _run(segment: "SegmentInfo") -> str:
    """Return when a run added how many documents, and the names of its inputs."""
    added = segment.added[:16].replace("T", " ")
    return f"{added}  {counted(segment.documents, 'document')} from {_names(segment.inputs)}"


def _to_forget(arguments: argparse.Namespace) -> tuple[list[str], datetime | None]:
    """Return the ids and the time that choose what is forgotten; refuse them for other actions, and both together."""
    from neardup.sources.lines import read_names

    chosen = options.chosen(arguments, "ids before") | ({"last": None} if arguments.last else {})
    if arguments.action != "forget":
        options.refuse(chosen, chosen, "can only be used with forget")
    elif not chosen:
        raise ParameterError("ids", None, "FILE, --before TIME or --last is needed, to name what to forget")
    elif len(chosen) > 1:
        (name, value), (other, _), *_ = chosen.items()
        raise ParameterError(name, value, f"cannot be used with --{other}; forget first by one, then by the other")
    before = moment_in(chosen["before"]) if "before" in chosen else None
    return read_names(chosen["ids"]) if "ids" in chosen else [], before


def _names(inputs: tuple[str, ...]) -> str:
    more = f" and {len(inputs) - 1:,} more" if len(inputs) > 1 else ""
    return f"{inputs[0]}{more}" if inputs else "no inputs"
