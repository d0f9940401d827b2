"""What other systems remember, and what coding agents wrote down of their sessions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from scrubjay.cli.exits import DONE, IN_PART, INTERRUPTED, NOT_REACHED, REFUSED
from scrubjay.cli.session import access, connect
from scrubjay.cli.settings import Settings
from scrubjay.errors import NotReachedError, ScrubjayError, TooManyError, UnavailableError
from scrubjay.importing.command import AGAIN, CALL_SECONDS, RETRIES, Order, import_, placement
from scrubjay.importing.reporting import Report
from scrubjay.importing.sending import Hopeless
from scrubjay.importing.sources import SYSTEMS
from scrubjay.transcripts.command import KINDS, Transcripts, import_transcripts

_SYSTEMS = "\n".join(
    [f"{name:<12} {kind.title}, below {kind.home}" for name, kind in KINDS.items()]
    + [f"{name:<12} {system.title}" for name, system in SYSTEMS.items()]
)


@click.command("import", epilog=f"\b\nSystems:\n{_SYSTEMS}")
@click.argument("system", metavar="SYSTEM", type=click.Choice([*KINDS, *SYSTEMS]))
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--scope",
    metavar="SCOPE",
    help="Where records go that name no user and no agent: user:…, agent:…, mission:…, project:… or shared. "
    "LangGraph's may name parts of the namespace, such as user:{1}, Graphiti's user:{group}, and transcripts' "
    "project:{project}.",
)
@click.option(
    "--agent",
    metavar="NAME",
    help="The same as --scope agent:NAME. Transcripts go to their agent by default.",
)
@click.option("--dry-run", is_flag=True, help="Send nothing; print what would go where.")
@click.option("--watch", is_flag=True, help="Transcripts only: go on with running sessions, until Ctrl-C.")
@click.option("--again", is_flag=True, help="Transcripts only: send also what an earlier run has sent.")
@access
def command(
    found: Settings,
    system: str,
    path: Path | None,
    scope: str | None,
    agent: str | None,
    dry_run: bool,
    watch: bool,
    again: bool,
) -> int:
    """Import what another system remembers, or transcripts of coding agents, from PATH.

    Ids and times are kept, and what is there already stays as it is: run it again whenever you like. PATH is an export,
    or a folder. For transcripts, it is a file or a folder of them, by default where their agent keeps them.
    """
    if scope and agent:
        raise click.UsageError("Give --scope or --agent, not both.")
    if system not in KINDS and (watch or again):
        raise click.UsageError("--watch and --again are for transcripts.")
    connecting = partial(connect, found, timeout=CALL_SECONDS, retries=RETRIES)
    report = Report(sys.stdout, sys.stderr)
    if system in KINDS:
        order = Transcripts(system, path, placement(scope, agent), found.agent, dry_run, watch, again)
        return _told(report, partial(import_transcripts, order, found, connecting, report))
    if path is None:
        raise click.UsageError("Missing argument PATH: the export to import.")
    export = Order(system, path, placement(scope, agent), dry_run)
    return _told(report, partial(import_, export, connecting, report))


def _told(report: Report, importing: Callable[[], None]) -> int:
    """Runs the import, and says how far it came whatever ends it."""
    try:
        importing()
    except (Hopeless, ScrubjayError) as error:
        click.echo(f"{error}\n{report.summary()}\n{AGAIN}", err=True)
        away = isinstance(error, NotReachedError | TooManyError | UnavailableError)
        return NOT_REACHED if away else REFUSED
    except KeyboardInterrupt:
        click.echo(f"{report.summary()}\nInterrupted. {AGAIN}", err=True)
        return INTERRUPTED
    click.echo(report.summary())
    return IN_PART if report.refused else DONE


COMMANDS = (command,)
