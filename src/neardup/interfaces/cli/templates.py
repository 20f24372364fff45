"""Learn, show, or learn again the lines that the pages of a host share."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli.options import FORMAT, VIEW, chosen, refuse
from neardup.interfaces.cli.terminal import print_json, show_counts, show_lines, show_rejected
from neardup.interfaces.wording.numbers import Row, total
from neardup.model.errors import InputRefused, ParameterError, plural, require

if TYPE_CHECKING:
    from neardup.text.host_templates import HostTemplates

_OPTIONS = {  # of each action
    "learn": ("out", "templates", "html", "url", "text_view", "format", "force"),
    "relearn": ("out", "templates", "html", "url", "format", "force"),
    "show": ("templates",),
}
_READING = "html url format"  # options
EXAMPLE = (
    "Examples: neardup templates learn crawl.warc.gz --out templates.arrow;"
    " neardup templates show a.example --templates templates.arrow"
)
USAGE = f"""
action learn|relearn|show: `learn INPUT ... --out FILE` finds the templates of all hosts in files of pages;
  `relearn HOST INPUT ... --templates FILE` learns the template of one host again, and replaces it in FILE;
  `show [HOST ...] --templates FILE` prints those of these hosts, or a list of all hosts
inputs [INPUT ...]: learn, relearn: archives, folders of pages, or .jsonl .csv .tsv .parquet with fields for HTML and
  the URL; for relearn, the HOST precedes them. show: hosts only
--templates FILE: show, relearn: a file that learn has written, or the folder of a state or an index. learn: a file of
  earlier templates. A template that was found in at least 200 different pages is kept, and so are those of hosts with
  too few pages in INPUT
--json: print the result as JSON
[learn and relearn]
--out PATH: the file for the templates (.arrow). relearn: default: FILE of --templates; needed if that is a state or an
  index, whose next run must then have --templates PATH
--html FIELD: the field with HTML (default: html)
--url FIELD: the field with the URL (default: url)
{VIEW}
{FORMAT}
--force: replace an output that exists
"""


def run(arguments: argparse.Namespace) -> int:
    """Learn or show templates; return 1 if records were rejected."""
    for name in dict.fromkeys(name for names in _OPTIONS.values() for name in names):
        if name not in _OPTIONS[arguments.action]:
            others = " and ".join(action for action, names in _OPTIONS.items() if name in names)
            refuse(vars(arguments), [name], f"can only be used with {others}")
    actions = {"learn": _learn, "relearn": _relearn, "show": _show}
    return actions[arguments.action](arguments)


def _learn(arguments: argparse.Namespace) -> int:
    require("out" in arguments, "out", None, "is needed: a path for the templates")
    if not arguments.inputs:
        raise InputRefused("templates learn", "needs archives, folders or tables of pages")
    from neardup.pipeline.crawl.file_templates import ARROW, learn_from_files
    from neardup.pipeline.crawl.templates import LEAST, learned
    from neardup.sources.output import check_file, write_file
    from neardup.text.extraction import Extraction

    check_file(arguments.out, ARROW, arguments.inputs, force=arguments.force)
    known = _loaded(arguments) if "templates" in arguments else None
    extraction = Extraction(view=vars(arguments).get("text_view", "auto"))
    learn = partial(learned, extraction=extraction, known=known)
    found, rejected = learn_from_files(arguments.inputs, learn=learn, **chosen(arguments, _READING))
    write_file(arguments.out, found.to_bytes(), ARROW, force=arguments.force)
    if arguments.json:
        print_json({**_about(found), "rejected": len(rejected)})
    else:
        _summarise(found)
        if not len(found):
            pages = f"{LEAST} pages of one host that are not near duplicates of each other"
            rule = "and full URLs, such as https://docs.example/a"
            show_lines([f"no host has a template: that needs {pages}, {rule}"])
        show_rejected(rejected, arguments)
    return 1 if rejected else 0


def _relearn(arguments: argparse.Namespace) -> int:
    if len(arguments.inputs) < 2:  # noqa: PLR2004 - the host, and its pages
        raise InputRefused("templates relearn", "needs a host, then files of its pages")
    templates = _loaded(arguments)
    from neardup.pipeline.crawl.file_templates import ARROW, learn_from_files
    from neardup.pipeline.crawl.templates import learned_again
    from neardup.sources.hosts import named_host
    from neardup.sources.output import check_file, write_file

    host, paths = named_host(arguments.inputs[0]), arguments.inputs[1:]
    if "out" not in arguments and Path(arguments.templates).is_dir():
        rule = f"is needed, as --templates {arguments.templates} is a folder; name a .arrow file, and then that file as"
        raise ParameterError("out", None, f"{rule} --templates of the next run with this folder")
    out = vars(arguments).get("out", arguments.templates)
    force = arguments.force or "out" not in arguments
    check_file(out, ARROW, paths, force=force)
    learn = partial(learned_again, templates, host)
    found, rejected = learn_from_files(paths, learn=learn, **chosen(arguments, _READING))
    write_file(out, found.to_bytes(), ARROW, force=force)
    one = found.get(host)
    if arguments.json:
        print_json({**_of(one), "templates": found.identity, "rejected": len(rejected)})
    else:
        show_lines([f"{host}: {_described(one)}, version {one.version if one else 0}"])
        show_lines([f"id of the templates: {found.identity}"])
        show_rejected(rejected, arguments)
    return 1 if rejected else 0


def _loaded(arguments: argparse.Namespace) -> "HostTemplates":
    rule = "is needed: a file that `neardup templates learn` has written, or the folder of a state or an index"
    require("templates" in arguments, "templates", None, rule)
    from neardup.text.host_templates import HostTemplates

    return HostTemplates.load(arguments.templates)


def _show(arguments: argparse.Namespace) -> int:
    from neardup.sources.hosts import named_host

    templates = _loaded(arguments)
    if not arguments.inputs:
        if arguments.json:
            print_json(_about(templates))
        else:
            show_lines([f"{one.host}: {_described(one)}" for one in templates.templates])
            _summarise(templates)
        return 0
    for name in arguments.inputs:
        one = templates.get(named_host(name))
        if one is None:
            raise InputRefused(name, "there is no template of this host; without a host, `templates show` lists all")
        if arguments.json:
            print_json({**_of(one), "examples": one.examples})
        else:
            show_lines([f"{one.host}: {_described(one)}", *(f"  {line}" for line in one.examples)])
    return 0


def _of(one: Any) -> dict[str, Any]:
    """Return what describes a template, without its lines."""
    return {name: getattr(one, name) for name in ("host", "id", "version", "view", "kept")} | {"lines": len(one.lines)}


def _described(one: Any) -> str:
    number = len(one.lines)
    return f"{number:,} {plural(number, 'line')} of {one.kept:,} different pages, {one.view} text, id {one.id}"


def _about(templates: "HostTemplates") -> dict[str, Any]:
    return {
        "id": templates.identity,
        "text_view": templates.rule["extraction"]["text_view"],
        "hosts": [_of(one) for one in templates.templates],
    }


def _summarise(templates: "HostTemplates") -> None:
    hosts, lines = len(templates), len(templates.terms)
    visible = sum(one.view == "visible" for one in templates.templates)
    show_counts(
        [
            total(hosts, "host", " with a template"),
            Row(visible, "of these are read by their visible text"),
            total(lines, "line", " of templates"),
        ]
    )
    show_lines([f"id of the templates: {templates.identity}"])
