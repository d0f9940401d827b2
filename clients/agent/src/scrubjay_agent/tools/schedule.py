"""Messages that the agent sends itself later."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from cronsim import CronSim, CronSimError
from msgspec import Meta

from scrubjay_agent.journal.entries import Cancelled, Timer
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError

_MOST = 50


class Schedule(Arguments, kw_only=True):
    """One of `minutes`, `at` and `cron` says when."""

    text: Annotated[str, Meta(min_length=1, max_length=4_000, description="What you will be told then.")]
    minutes: Annotated[float, Meta(gt=0, le=527_040)] | None = None
    at: Annotated[datetime | None, Meta(description="With an offset; without one, UTC.")] = None
    cron: Annotated[str, Meta(max_length=100, description="Five fields, in UTC.")] | None = None


class Cancel(Arguments, kw_only=True):
    id: str


class Nothing(Arguments, kw_only=True):
    pass


class Scheduling:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def schedule(self, given: Schedule, calling: Calling) -> str:
        when = first(given, datetime.now(UTC))
        timer = calling.once()
        if self._journal.state.has_made(calling.key, timer):
            return f"scheduled as {timer}"
        if len(self._of(calling)) >= _MOST:
            raise ToolError(f"this user has {_MOST} scheduled messages already")
        message = msgspec.structs.replace(
            calling.message, key=timer, source="schedule", text=given.text, images=[], tier=None
        )
        await self._journal.append(Timer(timer, when, message, given.cron, turn=calling.key))
        return f"scheduled as {timer} for {when:%Y-%m-%d %H:%M:%S} UTC"

    async def listed(self, _: Nothing, calling: Calling) -> str:
        lines = [
            f"{one.id} {one.at:%Y-%m-%d %H:%M} UTC {one.cron or ''} {one.message.text}"
            for one in self._of(calling)
        ]
        return "\n".join(lines) or "nothing is scheduled"

    async def cancel(self, given: Cancel, calling: Calling) -> str:
        if given.id not in {one.id for one in self._of(calling)}:
            raise ToolError(f"nothing is scheduled as {given.id}")
        await self._journal.append(Cancelled(given.id))
        return "cancelled"

    def _of(self, calling: Calling) -> list[Timer]:
        """The user's own: nobody sees or cancels what another one has scheduled."""
        timers = self._journal.state.timers.values()
        return [one for one in timers if one.message.user == calling.message.user]


def first(given: Schedule, now: datetime) -> datetime:
    """Raises ToolError."""
    if sum(one is not None for one in (given.minutes, given.at, given.cron)) != 1:
        raise ToolError("give one of minutes, at and cron")
    if given.cron is not None:
        return following(given.cron, now)
    if given.minutes is not None:
        return now + timedelta(minutes=given.minutes)
    assert given.at is not None
    at = given.at if given.at.tzinfo else given.at.replace(tzinfo=UTC)
    if at <= now:
        raise ToolError(f"{at.isoformat()} is past: it is {now.isoformat()}")
    return at.astimezone(UTC)


def following(cron: str, after: datetime) -> datetime:
    """Raises ToolError."""
    try:
        return next(CronSim(cron, after))
    except (CronSimError, StopIteration) as error:
        raise ToolError(f"{cron!r} is no schedule of five fields: {error}") from error


def tools(scheduling: Scheduling) -> list[Tool]:
    return [
        Tool("schedule_message", "Have yourself told something later.", Schedule, scheduling.schedule),
        Tool("list_scheduled", "List what is scheduled.", Nothing, scheduling.listed),
        Tool("cancel_scheduled", "Cancel something scheduled.", Cancel, scheduling.cancel),
    ]
