"""What happens: the timeline, and the missions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

from scrubjay.cli.screen import ago, cell
from scrubjay.cli.session import MISSION, Session, connected
from scrubjay.models import Event

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_AGO = re.compile(r"(\d{1,6})([smhd])")


def _time(value: str) -> datetime:
    if found := _AGO.fullmatch(value):
        return datetime.now(UTC) - timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no time: give 30m, 2h, 7d or a date such as 2026-03-01T12:00"
        ) from None
    return read if read.tzinfo else read.astimezone()


@click.command()
@MISSION
@click.option("--kind", metavar="KIND", help="Only events of this kind, such as cache_write.")
@click.option("--after", type=int, metavar="NUMBER", help="Begin after this event.")
@click.option("--since", type=_time, metavar="TIME", help="Begin at a time: 30m, 2h, 7d ago, or a date.")
@click.option("--no-follow", is_flag=True, help="Stop at the newest event.")
@connected
def tail(
    jay: Session,
    mission: str | None,
    kind: str | None,
    after: int | None,
    since: datetime | None,
    no_follow: bool,
) -> None:
    """Show the timeline as it happens, until Ctrl-C.

    It begins with the next event, or where --after or --since says. Events hold ids and counts, never content.
    """
    wanted = jay.mission(mission)
    last = after
    if since is not None or no_follow:
        for event in jay.client.timeline(
            after=after, since=since, mission=wanted, kind=None if kind is None else [kind]
        ):
            _event(jay, event)
            last = event.seq
    if not no_follow:
        jay.screen.note("Waiting for events. Ctrl-C ends it.")
        for event in jay.client.events(mission=wanted, kind=kind, after=last):
            _event(jay, event)


def _event(jay: Session, event: Event) -> None:
    if jay.screen.as_json:
        return jay.screen.json(event)
    who = event.agent_name or ""
    about = " ".join(
        f"{name}={cell(value)}" for name, value in event.payload.items() if value not in (None, "", [])
    )
    return jay.screen.text(
        f"{event.seq:>8} {cell(event.created_at)}  {event.kind:<22} {event.scope}  {who}  {about}"
    )


@click.command()
@connected
def missions(jay: Session) -> None:
    """List the missions, with what each holds of its budgets."""
    found = jay.client.cache.missions()
    if jay.screen.as_json:
        return jay.screen.jsons(found)
    rows = (
        (
            each.entry_count,
            f"{each.entry_count / max(each.entry_budget, 1):.0%}",
            each.total_tokens,
            f"{each.total_tokens / max(each.token_budget, 1):.0%}",
            each.evicted_count,
            ago(each.last_write_at),
            each.mission_id,
        )
        for each in found
    )
    titles = ("entries#", "of budget#", "tokens#", "of budget #", "evicted#", "last write", "mission")
    return jay.screen.table(titles, rows, empty="there is no mission")


COMMANDS = (tail, missions)
