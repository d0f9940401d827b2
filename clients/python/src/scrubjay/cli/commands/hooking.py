"""The hook, for `--help`: it begins elsewhere, where less is loaded."""

from __future__ import annotations

import sys

import click

from scrubjay.hooks.command import HOSTS, main


@click.command()
@click.argument("host", type=click.Choice(HOSTS))
def hook(host: str) -> int:
    """Answer a hook of a coding agent: HOST runs it, with the event on standard input.

    It tells the agent what matters for the prompt, and leaves the writing of what happened to a process of its own. It
    takes at most 300 ms and never fails. A file called .scrubjay-off in a repository switches it off there.
    """
    return main([host]) if not sys.stdin.isatty() else 0


COMMANDS = (hook,)
