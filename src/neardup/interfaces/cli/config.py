"""Check a file of settings."""

import argparse

from neardup.interfaces.cli.terminal import summarise

EXAMPLE = "Example: neardup config check neardup.toml"
USAGE = """
action check|: check: are all keys known, and all values valid?
file FILE: settings for --config, such as neardup.toml
--json: print the settings as JSON
"""


def run(arguments: argparse.Namespace) -> int:
    """Check the file and print what it sets."""
    from neardup.pipeline.config import load_config

    config = load_config(arguments.file)
    settings = ", ".join(f"{name} = {value}" for name, value in config.settings.items())
    lines = [f"{arguments.file} is valid: {settings or 'nothing is set, all defaults'}", repr(config.scheme)]
    return summarise(arguments, {"scheme": config.scheme.name, **config.settings}, lines=lines)
