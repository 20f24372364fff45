"""Serve an index over HTTP: judge, admit, compare, collapse, search."""

import argparse
import os
import re
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING

from neardup.interfaces.cli import options
from neardup.interfaces.cli.interruption import without_waiting
from neardup.interfaces.cli.terminal import complain, print_error
from neardup.interfaces.cli.warm import say_if_cold
from neardup.model.errors import ExtraMissing, InputRefused, ParameterError, counted, require

if TYPE_CHECKING:
    from neardup.interfaces.http.service import Service
    from neardup.interfaces.http.tokens import Scope

_LIBRARIES = ("prometheus_client", "starlette", "uvicorn")

EXAMPLE = "Example: neardup serve seen --port 8000"
USAGE = f"""
index [DIR]: the folder of the index
--host HOST=127.0.0.1: the address to listen on
--port N=8000: the port to listen on; 0 selects a free port
--workers N=1: number of processes; with 2 or more, they answer read requests, and one additional process
  writes, unless --read-only
--read-only: do not write, and leave the index to another writer
{options.INDEX_MEMORY}
{options.VIEW_OF_INDEX}
{options.TEMPLATES_IN_USE}
{options.RULES}
--config FILE: settings from a file such as neardup.toml; its threshold replaces that of the index
--key-file PATH: the file of the index's secret key
--token-file FILE: file of accepted tokens, stored as hashes; without it, the service is reachable only from this
  machine, with all rights
--access-log FILE: append a line of JSON per request; - is standard error
--prefix /PATH=: the path under which a proxy offers the service, such as /neardup
--trust-proxy ADDRESS ...: accept the X-Forwarded-For and X-Forwarded-Proto headers of this proxy: its IP address, or a
  network such as 10.0.0.0/8; can be repeated
--new-token read|write: create a token, add its hash to the token file, print the token and exit
--allow-host NAME ...: also accept this Host header; can be repeated (default: names of this machine only)
"""


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal ends it, or create a token."""
    given = vars(arguments)
    token_file = given.get("token_file")
    if "new_token" in given:
        return _make_token(given["new_token"], token_file)
    if arguments.index is None:
        raise InputRefused("DIR", "is needed: the folder of the index")
    require(1 <= arguments.workers <= 64, "workers", arguments.workers, "must be from 1 to 64")  # noqa: PLR2004
    rule = "must be a path such as /neardup, of letters, digits and ._~-/, without a slash at the end"
    require(re.fullmatch(r"(/[\w.~-]+)*", arguments.prefix, re.ASCII) is not None, "prefix", arguments.prefix, rule)
    from neardup.interfaces.http.hosts import is_loopback, require_proxy

    if token_file is None and not is_loopback(arguments.host):
        rule = "can be reached from elsewhere, so it needs --token-file; --new-token makes tokens"
        raise ParameterError("host", arguments.host, rule)
    for address in given.get("trust_proxy", ()):
        require_proxy(address)
    server = loaded()
    say_if_cold()

    def started(address: str, service: "Service") -> None:
        does = "reads and writes" if service.writes == "yes" else "reads only"
        who = "clients with a token" if token_file is not None else "all clients on this machine, without tokens"
        documents = counted(len(service.index), "document")
        with suppress(OSError):  # no user may read it
            print(f"Serving {documents} of {arguments.index} at {address}: {does}, for {who}.", flush=True)

    deployment = server.Deployment(
        folder=arguments.index,
        memory=arguments.memory,
        addresses=options.addresses_of(arguments),
        extraction=options.extraction_if_given(arguments),
        allow_hosts=tuple(given.get("allow_host", ())),
        proxies=tuple(given.get("trust_proxy", ())),
        **options.chosen(arguments, "host port key_file config token_file access_log prefix read_only workers"),
    )
    with without_waiting():
        code: int = server.run(deployment, started=started, report=complain)
        print("Ended.", flush=True)
    return code


def loaded() -> ModuleType:
    """Load the libraries of the service; ``ExtraMissing`` if one is not installed."""
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)  # of another program; prometheus_client reads it on loading
    try:
        from neardup.interfaces.http import server
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _LIBRARIES:
            raise
        raise ExtraMissing(library, "web") from error
    return server


def _make_token(scope: "Scope", token_file: str | None) -> int:
    from neardup.interfaces.http.tokens import add_token

    if token_file is None:
        raise ParameterError("new_token", scope, "needs --token-file, the file that its hash is added to")
    token = add_token(scope, token_file)
    print_error(f"New {scope} token, shown only this once ({token_file} has its hash):")
    print(token)
    return 0
