"""`scrubjay import SYSTEM PATH`: the command line of imports."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from scrubjay.client import Client
from scrubjay.errors import ScrubjayError
from scrubjay.importing.items import Unfit
from scrubjay.importing.placing import Placement, scope_problem
from scrubjay.importing.reporting import Report
from scrubjay.importing.sending import Hopeless, Sender
from scrubjay.importing.sources import SYSTEMS, System

DONE, SOME_REFUSED, FAILED, INTERRUPTED = 0, 1, 2, 130
_AGAIN = "Run the same command again: it goes on, and changes nothing of what was imported."
# A service may restart or be full for a while.
_CALL_SECONDS, _RETRIES = 300.0, 100


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "import",
        help="import what another system remembers",
        description="Imports what another system remembers. Ids and times are kept, and what is there already stays "
        "as it is. Answers 1 if records were refused, and 2 if it had to stop.",
        epilog="\n".join(f"{name:<11} {system.title}" for name, system in SYSTEMS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("system", choices=SYSTEMS, metavar="SYSTEM", help="where it comes from; see below")
    parser.add_argument("path", type=Path, metavar="PATH", help="the export: a file, or a folder of files")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--scope",
        metavar="SCOPE",
        help="where records go that name no user and no agent: user:…, agent:…, mission:…, project:… or shared. "
        "LangGraph's may name parts of the namespace, such as user:{1}, and Graphiti's user:{group}",
    )
    where.add_argument("--agent", metavar="NAME", help="the same as --scope agent:NAME")
    parser.add_argument("--dry-run", action="store_true", help="send nothing; print what would go where")
    parser.add_argument("--url", help="the address of the service, by default SCRUBJAY_URL")
    parser.add_argument(
        "--token", help="a key that may write, by default SCRUBJAY_TOKEN, which others cannot see"
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    report = Report(out, err)
    try:
        _import(given, report)
    except (OSError, ValueError) as error:
        err.write(f"{error}\n")
        return FAILED
    except (Hopeless, ScrubjayError) as error:
        err.write(f"{error}\n{report.summary()}\n{_AGAIN}\n")
        return FAILED
    except KeyboardInterrupt:
        err.write(f"{report.summary()}\nInterrupted. {_AGAIN}\n")
        return INTERRUPTED
    out.write(f"{report.summary()}\n")
    return SOME_REFUSED if report.refused else DONE


def _import(given: argparse.Namespace, report: Report) -> None:
    system = SYSTEMS[given.system]
    source: Path = given.path
    _require(system, source)
    items = system.read(source, _placement(given))
    if given.dry_run:
        for item in items:
            report.plan(item)
        return
    with Client(given.url, given.token, timeout=_CALL_SECONDS, retries=_RETRIES) as client:
        for outcome in Sender(client).outcomes(items):
            report.done(outcome)


def _require(system: System, source: Path) -> None:
    if system.folder and not source.is_dir():
        raise ValueError(f"{source} is not a folder")
    if not system.folder and not source.is_file():
        raise ValueError(f"{source} is not a file")


def _placement(given: argparse.Namespace) -> Placement:
    scope = given.scope if given.agent is None else f"agent:{given.agent}"
    if scope is not None and (problem := scope_problem(scope)):
        raise Unfit(problem)
    return Placement(scope)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scrubjay", description="The command line of Scrubjay.")
    add_to(parser.add_subparsers(required=True, metavar="COMMAND"))
    given = parser.parse_args(arguments)
    done: int = given.run(given, sys.stdout, sys.stderr)
    return done
