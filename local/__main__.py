"""`make run`: runs the stack in the foreground until Ctrl-C."""

import argparse
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from types import FrameType

from local import sample
from local.console import hangup_probe, say
from local.database import ROOT
from local.process import LocalError, die_with_parent
from local.stack import Stack

_PYTHON = ".venv/bin/python"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local", description="Run the whole cluster here.")
    parser.add_argument("--stop-with-parent", action="store_true", help="stop when the caller is killed")
    parser.add_argument("--data", type=Path, default=ROOT / ".data", help="the folder for all data")
    arguments = parser.parse_args()
    if arguments.stop_with_parent:
        die_with_parent(signal.SIGTERM)
    stack = Stack(arguments.data.absolute(), os.environ)
    _stop_on_signals(stack)
    try:
        say("Scrubjay is starting.")
        stack.start()
        say(_introduction(stack))
        stack.watch(until=hangup_probe())
        return 0
    except KeyboardInterrupt:
        say()
        return 0
    except LocalError as error:
        say(f"\n{error}\n")
        return 1
    finally:
        stack.stop()


def _stop_on_signals(stack: Stack) -> None:
    """The first signal stops the stack. A second one makes it hurry."""

    def handle(signum: int, frame: FrameType | None) -> None:
        if stack.stopping:
            stack.hurried = True
            return
        stack.stopping = True
        raise KeyboardInterrupt

    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, handle)


def _introduction(stack: Stack) -> str:
    url = {name: service.url for name, service in stack.services.items()}
    return f"""
Scrubjay runs.

  context       {url["context"]}  the one address that agents need
  cache         {url["cache"]}
  agent-memory  {url["agent_memory"]}
  console       {url["context"]}/console  what your agents know, and why
  API page      {url["context"]}/docs
  logs          {stack.logs}
  settings      {stack.shell}  for a shell, with the tokens and DATABASE_URL

  read token    {stack.tokens.read}
  write token   {stack.tokens.write}
  admin token   {stack.tokens.admin}

Ask what the sample fleet knows about its incident:

TOKEN={stack.tokens.read}
{question(url["context"])}

Make an API key, or look into the database:

set -a; . {shlex.quote(_shown(stack.shell))}; set +a
{_PYTHON} -m services.context key make --name scout --access write --agent scout
psql "$DATABASE_URL"

Ctrl-C stops everything; the data stays in {stack.data}.
"""


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def question(url: str) -> str:
    """The shell line that queries the sample data, with $TOKEN. The README shows the same line."""
    body = {"query": sample.QUESTION, "caller": sample.CALLER, "mission_namespace": sample.MISSION}
    return (
        f'curl -sS {url}/api/context/assemble -H "Authorization: Bearer $TOKEN" '
        f"-H 'Content-Type: application/json' -d {shlex.quote(json.dumps({**body, 'token_budget': 1000}))}"
    )


if __name__ == "__main__":
    sys.exit(main())
