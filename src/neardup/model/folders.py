"""The names of the files by which the folders that neardup makes are recognised."""

from typing import Final

INDEX: Final = ("manifest.json", "manifest.copy")
STATE: Final = ("state.json", "state.lock")
RUN: Final = ("terms.json", "coordinator.lock")
URL_RULES: Final = "url-rules.json"  # inside an index: the rules of hosts that the ids of pages follow
TEMPLATES: Final = "templates.arrow"  # inside an index or a state: the templates of hosts that pages are read with
BESIDE: Final = ".neardup-work"  # the end of the name of such a folder next to an output
WORK: Final = "work"  # inside a state: the work folder of runs that name none
