"""Check a file of settings."""

import argparse
import json

from neardup.interfaces.cli.terminal import show_lines

EXAMPLE = "Example: neardup config check neardup.toml"
INTERRUPTED = "interrupted"
USAGE = """
action check|: check: are all keys known, and all values valid?
file FILE: settings for --config, such as neardup.toml
--json: print the settings as JSON
"""


def run(arguments: argparse.Namespace) -> int:
    """Check the file and print what it sets."""
    from neardup.pipeline.config import load_config

    config = load_config(arguments.file)
    if arguments.json:
        print(json.dumps({"scheme": config.scheme.name, **config.settings}))
        return 0
    settings = ", ".join(f"{name} = {value}" for name, value in config.settings.items())
    show_lines([f"{arguments.file} is valid: {settings or 'nothing is set, all defaults'}", repr(config.scheme)])
    return 0
