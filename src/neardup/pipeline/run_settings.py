"""The settings of a run over files, in memory or in pieces."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from neardup.engines.executors import Executors
from neardup.model.policy import Policy
from neardup.schemes.scheme import Scheme
from neardup.sources.formats import AnyPath
from neardup.sources.output import is_folder
from neardup.sources.request import Request

if TYPE_CHECKING:  # runs in pieces are loaded when there is one
    from collections.abc import Callable

    from neardup.pipeline.spilled.changes import Continuation
    from neardup.pipeline.spilled.forecast import Forecast
    from neardup.pipeline.spilled.stored_documents import StoredResult


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierDocuments:
    """The documents that those of a run are compared with: of a state, or of indexes and then of other inputs."""

    state: Path | None = None
    adds: bool = False  # whether the run adds its documents to the state
    for_index: bool = False  # adds what an index needs
    inputs: tuple[str, ...] = ()
    indexes: tuple[Any, ...] = ()  # see ``IndexTexts``


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What a run decides, and how: see ``neardup.dedup_files``."""

    request: Request
    scheme: Scheme
    ignore_common: float | None  # the share of documents from which a shingle does not count
    policy: Policy
    learn_templates: AnyPath | Literal[False] | None = None
    outputs: dict[str, str]  # by name: out, dropped, mark and report
    force: bool
    revisits: bool

    # only of runs in pieces
    folder: Path = Path()  # the work folder
    memory: int
    restart: bool
    keep_work: bool
    part_size: int | None
    out_format: str | None
    executors: Executors | None
    earlier: EarlierDocuments
    page: "Callable[[StoredResult], bytes] | None" = None
    announce: "Callable[[Forecast], None]" = lambda _: None
    continued: "Callable[[Continuation], None]" = lambda _: None
    templates: Any = None  # those that the run learns, if it does: see ``RunTemplates``

    @property
    def report(self) -> str | None:
        """The path of a report that is a single file; one in a folder is an output like the others."""
        path = self.outputs.get("report")
        return None if path is None or is_folder(path) else path
