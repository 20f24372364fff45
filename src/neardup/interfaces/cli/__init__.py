"""The command line: parse, one call, render.

Exit codes: 0 done; 1 done or stopped with reported errors in the data or in writing; 2 wrong usage; 128 plus its number
after a signal. A command that only shows help loads nothing heavy.
"""

import argparse
import atexit
import gc
import io
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from itertools import chain, pairwise, takewhile
from shutil import get_terminal_size
from textwrap import wrap
from types import ModuleType
from typing import Any, NoReturn

from neardup import __version__
from neardup.interfaces.cli.advice import advice, more_memory, way_on
from neardup.interfaces.cli.interruption import SIGNALLED, Interrupted, signals_as_they_came
from neardup.interfaces.cli.scheme_options import SCHEME, add_scheme_options, settings_of
from neardup.interfaces.cli.terminal import complain
from neardup.interfaces.cli.usage import STDOUT, add_usage
from neardup.interfaces.escaping import printable
from neardup.model.errors import (
    EngineFailed,
    ExtraMissing,
    InputRefused,
    NeardupError,
    OutputRefused,
    ParameterError,
    RunComplete,
    StorageFailed,
    StorageRefused,
    reason,
)

_GROUPS = {  # of verbs, which are modules of this package
    "a collection": ("dedup", "work", "state", "pairs", "contamination", "compare"),
    "check the result, and fit it": ("audit", "label", "tune", "plan", "config"),
    "web pages": ("templates", "rules", "mirrors"),
    "an index": (
        *("index", "seen", "search", "reindex", "serve", "export"),
        *("remove", "expire", "compact", "check", "stats", "copy", "rescue"),
    ),
    "the program": ("demo", "warm"),
}
_VERBS = tuple(chain.from_iterable(_GROUPS.values()))
_COLUMN = 17  # where the purposes of verbs begin
_CLOSE = 0.75  # the similarity of an unknown option to one that is proposed
_ELSEWHERE = {  # options of other tools, by those here
    "permutations": ("num-perm", "num-perms", "num-hashes"),
    "shingle": ("ngram", "ngrams", "n-gram", "n-grams", "ngram-size", "n-gram-size"),
    "text": ("column",),
    "threads": ("jobs", "n-jobs", "num-proc", "num-workers", "workers"),
    "threshold": ("jaccard", "jaccard-threshold", "similarity"),
}
_LACKS = "expected one argument"
_NAMED = 3  # verbs in an error
_REQUIRED = "the following arguments are required: "
_NO_PART = "; no partial output is left"
_KERNELS = "neardup.kernels.machine_code"  # slow to load, and not the reason of an error before it is


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    parsed = _parsed(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in {"strict", "surrogateescape"}:
        sys.stdout.reconfigure(errors="backslashreplace")  # for characters that its encoding lacks
    atexit.register(gc.freeze)  # or the interpreter would collect garbage among all loaded objects before it ends
    try:
        with warnings.catch_warnings(), signals_as_they_came(), redirect_stdout(sys.stdout):  # verbs may redirect it
            warnings.filterwarnings("always", category=RuntimeWarning, module=r"neardup\.")
            warnings.showwarning = lambda message, *_, **__: complain(str(message))
            code = _run(parsed)
        if sys.stdout is not None:
            sys.stdout.flush()
    except NeardupError as error:
        ended = isinstance(error.__cause__, BrokenPipeError) and getattr(error, "where", "") == STDOUT
        return _abandon_stdout() if ended else _report(error, parsed)
    except BrokenPipeError:
        return _abandon_stdout()
    except (Interrupted, KeyboardInterrupt):
        complain(f"interrupted{'' if parsed.verb == 'seen' else _NO_PART}; {way_on(parsed)}")
        return SIGNALLED + signal.SIGINT
    except MemoryError:
        complain(f"not enough memory; {more_memory(parsed)}")
        return 1
    except Exception as error:
        failure = _failure(error)
        if failure is None:
            raise
        _abandon_stdout()
        return _report(failure, parsed)
    return code


def _run(parsed: argparse.Namespace) -> int:
    if sys.stdout is None and getattr(parsed, "json", False):
        raise OutputRefused("standard output", "it is closed")
    return int(_verb(parsed.verb).run(parsed))


def _failure(error: Exception) -> NeardupError | None:
    """Return an error of the machine code, of threads or of the system in words; ``None`` for other errors.

    Reading and writing documents raises own errors. So what the system refuses is about a named file, about temporary
    files, or about standard output.
    """
    if _KERNELS in sys.modules:
        from neardup.pipeline.kernel_cache import folder_that_failed

        if (folder := folder_that_failed(error)) is not None:
            rule = f"has damaged files; delete it, and start the command again: rm -r {shlex.quote(str(folder))}"
            if isinstance(error, OSError):
                way_out = "make room, or name another one: NUMBA_CACHE_DIR=DIR neardup ..."
                rule = f"cannot be used: {reason(error)}; {way_out}"
            return StorageFailed(f"the folder of the machine code, {folder},", rule)
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        from neardup.engines.local import NO_THREADS

        return EngineFailed("threads", NO_THREADS)
    if not isinstance(error, OSError):
        return None
    if error.filename is None and isinstance(error, FileNotFoundError):  # ``tempfile`` has tried several folders
        rule = "it was removed, or cannot be written; change to another folder, or name one: TMPDIR=DIR neardup ..."
        return StorageFailed("the current folder, or that for temporary files", rule)
    where, doing = (error.filename, "used") if error.filename else ("standard output", "written")
    return StorageFailed.by(error, where, doing)


class _Parser(argparse.ArgumentParser):
    """A parser that accepts only full names of options, and escapes control characters in errors."""

    _given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, which errors may be about."""
        self._given = args or ()
        return super().parse_known_args(args, namespace)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a message; end with an error if standard output cannot be written, which argparse would ignore."""
        if file is None or file is not sys.stdout:
            super()._print_message(message, file)
            return
        try:
            file.write(message)
            file.flush()
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                complain(str(_failure(error)))
            sys.exit(_abandon_stdout())

    def error(self, message: str) -> NoReturn:
        options = [one for one in takewhile("--".__ne__, self._given) if one.startswith("-")]
        known = {"-", *self._option_string_actions}
        unknown = [one for one in options if one.partition("=")[0] not in known and not one[1:2].isdigit()]
        if unknown and message.startswith(_REQUIRED):  # which argparse reports first
            self._given = ()
            self.refuse(unknown)
        message = message.removeprefix("argument ")
        for option, value in pairwise(self._given):  # a value such as -x.jsonl is taken for an option
            if message == f"{option}: {_LACKS}" and value[:1] == "-" != value[1:2] and value not in known:
                message += f"; to use {value} as the value, write {shlex.quote(f'{option}={value}')}"
        shown = printable(message)
        link = " See" if shown.endswith("?") else "; see"
        self.exit(2, f"neardup: {shown}{link} `{self.prog} --help`\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """End with an error for unknown arguments that suggests the option or the file that was probably meant."""
        whole = next((one for one in unknown if one.startswith("-")), None)
        if whole is None:
            self.error(f"unexpected arguments: {' '.join(unknown)}")
        if os.path.lexists(whole):  # as a pattern of the shell names it
            self.error(f"unknown option {whole}; if the file of this name is meant, write {shlex.quote(f'./{whole}')}")
        name = whole.partition("=")[0]
        options = [option.removeprefix("--") for option in self._option_string_actions if option.startswith("--")]
        wanted = name.lstrip("-").replace("_", "-").lower()
        otherwise = "" if name.startswith("--") else "; if it is not an option, write -- before it"
        if wanted == "ignore-common" and "common" in options:
            lists = "; `neardup dedup --ignore-common S --common FILE` writes a list of common shingles"
            otherwise = f"{lists}, which --common FILE names here"
        meant = next((option for option in options if wanted in _ELSEWHERE.get(option, ())), wanted)
        proposal = _proposal(meant, options, "--") or otherwise
        if not proposal and (others := _verbs_with(name)):
            proposal = f"; it is an option of {', '.join(others[:_NAMED])}{' and others' * (len(others) > _NAMED)}"
        self.error(f"unknown option {name}{proposal}")

    def has(self, option: str) -> bool:
        """Return whether there is an option of this name."""
        return option in self._option_string_actions

    def set_settings(self, settings: Mapping[str, object]) -> None:
        """Make *settings* the defaults of the options with these names; the verb has no use for the others."""
        options = {action.dest for action in self._actions}
        self.set_defaults(**{name: value for name, value in settings.items() if name in options})


def _proposal(given: str, known: Sequence[str], prefix: str = "") -> str:
    """Return a question for the known word that was probably meant, as the end of a message; empty if none is close.

    >>> _proposal("dedpu", ["dedup", "index"]), _proposal("xyz", ["dedup", "index"])
    ('; did you mean dedup?', '')
    """
    from difflib import get_close_matches

    begun = [one for one in known if given and one.startswith(given)]
    longer = [one for one in known if given.startswith(one)]
    likely = begun or get_close_matches(given, known, cutoff=_CLOSE) or longer
    return f"; did you mean {prefix}{likely[0]}?" if likely else ""


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """A formatter that shows defaults, except those of switches, which are off, and of optional positional ones.

    It does not break lines at hyphens.
    """

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help if action.default in (False, None, "", []) else super()._get_help_string(action)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(f"{indent}{line}" for line in self._split_lines(text, width))


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed arguments; unknown ones are refused with the verb's usage."""
    arguments = sys.argv[1:] if arguments is None else arguments
    named = arguments[:1] if {*arguments[:1]} & {*_VERBS} else ()
    parser, verbs = _parsers(named or _VERBS)
    if not named:
        if arguments and not arguments[0].startswith("-"):
            parser.error(f"unknown verb {arguments[0]!r}{_proposal(arguments[0].lower(), _VERBS)}")
        parser.parse_known_args(arguments)  # this ends with help or an error, or finds a verb after unknown options
        parser.refuse(arguments)
    _describe(_verb(named[0]), verbs[named[0]])
    parsed = _of_verb(parser, verbs, arguments)
    if "config" in parsed:
        try:
            settings = settings_of(parsed)
        except NeardupError as error:
            sys.exit(_report(error, parsed))
        verbs[parsed.verb].set_settings(settings)
        whole = _of_verb(parser, verbs, arguments)
        used = {name: value for name, value in vars(whole).items() if name in settings}
        whole.of_config = {name for name in used if name not in parsed or used[name] == settings[name]}
        return whole
    return parsed


def _of_verb(
    parser: argparse.ArgumentParser, verbs: Mapping[str, _Parser], arguments: Sequence[str]
) -> argparse.Namespace:
    """Return the parsed arguments of a verb, whose inputs may be before, between and behind its options."""
    parsed, unknown = parser.parse_known_args(arguments)
    verb = verbs[parsed.verb]
    if unknown and not any(one.startswith("-") for one in unknown):
        own = arguments[arguments.index(parsed.verb) + 1 :]
        parsed, unknown = verb.parse_known_intermixed_args(own, argparse.Namespace(verb=parsed.verb))
    if unknown:
        verb.refuse(unknown)
    return parsed


def _verb(name: str) -> ModuleType:
    return import_module(f"{__name__}.{name}")


def _describe(verb: ModuleType, parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a verb, which has a text, with a place for the options of schemes, or a function."""
    if hasattr(verb, "add_arguments"):
        verb.add_arguments(parser)
        return
    before, schemes, after = verb.USAGE.partition(SCHEME)
    add_usage(parser, before)
    if schemes:
        measure = getattr(verb, "MEASURE", "")
        add_scheme_options(parser, own_measure=measure, with_common="\n--common " not in after)
    add_usage(parser, after)


def _parsers(names: Sequence[str]) -> tuple[_Parser, Mapping[str, _Parser]]:
    """Return parsers of verbs without their options, which are slow to load: a command needs those of one verb."""
    parser = _Parser(
        prog="neardup",
        usage="neardup [-h] [--version] VERB ...",
        allow_abbrev=False,
        description=_overview() if len(names) > 1 else None,
        epilog="`neardup VERB --help` explains a verb.\n"
        "Exit codes: 0 done, 1 a problem of the data or the system, 2 wrong usage.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"neardup {__version__}")
    verbs = parser.add_subparsers(prog="neardup", dest="verb", required=True, metavar="VERB", help=argparse.SUPPRESS)
    for name in names:
        verbs.add_parser(
            name,
            allow_abbrev=False,
            description=_purpose(name),
            epilog=getattr(_verb(name), "EXAMPLE", None),
            formatter_class=_Help,
        )
    return parser, verbs.choices


def _verbs_with(option: str) -> list[str]:
    """Return the verbs with an option, for an error; this loads all verbs."""
    verbs = _parsers(_VERBS)[1]
    for name, parser in verbs.items():
        _describe(_verb(name), parser)
    return [name for name, parser in verbs.items() if parser.has(option)]


def _overview() -> str:
    """Return what the program does, and its verbs by group."""
    lines = ["Find, explain and remove near-duplicate documents."]
    width = max(2 * _COLUMN, get_terminal_size().columns - 2)
    for group, names in _GROUPS.items():
        lines += ["", f"{group}:"]
        for name in names:
            begin, rest = f"  {name:{_COLUMN - 2}}", " " * _COLUMN
            purpose = _purpose(name).rstrip(".")
            lines += wrap(purpose, width, initial_indent=begin, subsequent_indent=rest, break_on_hyphens=False)
    return "\n".join(lines)


def _purpose(verb: str) -> str:
    return (_verb(verb).__doc__ or "").partition("\n")[0]


def _abandon_stdout() -> int:
    """Discard output that cannot be printed, or the interpreter would try again at its end; return the exit code."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _report(error: NeardupError, parsed: argparse.Namespace) -> int:
    """Print an error for users of the command line; return its exit code."""
    usage = isinstance(error, ParameterError | ExtraMissing | InputRefused | OutputRefused | StorageRefused)
    usage &= error.code != "index exists"  # made by another process since this one looked: the same command is right
    complain(advice(error, parsed))
    for note in getattr(error, "__notes__", ()):  # further faults of a file of settings
        complain(note)
    if isinstance(error, RunComplete):
        return 1 if error.rejected else 0
    return 2 if usage else 1
