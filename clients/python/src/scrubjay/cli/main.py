"""Where the command line begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["hook"] and not {"-h", "--help"} & set(given):
        # Loaded here: a hook has not the time for the libraries of the other commands.
        from scrubjay.hooks.command import main as hook

        hook(given[1:])
        # Nothing is left to do, and Python takes its time to end.
        os._exit(0)
    # And the other commands need no hooks.
    from scrubjay.cli.app import run

    return run(given)
