"""Writes what a session does, while it does it: started by a hook, ended by silence or by the end of the session."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from scrubjay.cli import settings
from scrubjay.cli.settings import Settings
from scrubjay.client import Client
from scrubjay.errors import ApiError, ConflictError, ScrubjayError
from scrubjay.hooks import state
from scrubjay.hooks.injecting import project_of
from scrubjay.importing.checks import LONGEST
from scrubjay.importing.placing import Placement
from scrubjay.importing.sending import Hopeless, Outcome, Written
from scrubjay.models import MessageInput, ThreadCheckpoint
from scrubjay.transcripts.command import KINDS, Following, Transcripts
from scrubjay.transcripts.entries import Entry, storable
from scrubjay.transcripts.following import Transcript
from scrubjay.transcripts.places import Place, Places, target
from scrubjay.transcripts.summing_up import summed_up

_SILENT_SECONDS, _POLL_SECONDS = 20.0, 0.5
# A host may write the last lines just after its hook.
_LATE_SECONDS = 1.0
_CALL_SECONDS, _RETRIES = 20.0, 2
_MOST_MESSAGES = 100

Said: TypeAlias = tuple[Place, Entry]
"""With the place behind its line."""


class _Own:
    """Notes what the session wrote: its context holds that, and need not be told."""

    def __init__(self, session: str) -> None:
        self._session = session

    def done(self, outcome: Outcome) -> None:
        if isinstance(outcome, Written) and outcome.id is not None:
            state.add_own(self._session, {f"memory:{outcome.id}"})


class Background:
    def __init__(
        self, client: Client, found: Settings, host: str, session: str, transcript: Path, folder: Path
    ) -> None:
        self._client, self._found = client, found
        self._host, self.session, self._path = host, session, transcript
        self._agent = found.agent or host
        self._mission = found.mission or project_of(folder)

    def follow(self, silent: float) -> None:
        """Writes what is new, until nothing was for so long."""
        order = Transcripts(self._host, self._path, Placement(None), self._found.agent, watch=True)
        with Places(target(self._found.url, self._found.token, f"agent:{self._agent}")) as places:
            following = Following(order, self._client, places, _Own(self.session))
            last, size = time.monotonic(), -1
            while time.monotonic() - last < silent:
                now = self._path.stat().st_size
                if now != size:
                    last, size = time.monotonic(), now
                    following.once()
                time.sleep(_POLL_SECONDS)

    def checkpoint(self) -> None:
        """Says where the session is, for the time after its context was compacted."""
        found = summed_up(each for _, each in self._entries(Place(0)))
        checkpoint = ThreadCheckpoint(
            content=found.title,
            mission_id=self._mission,
            agent_name=self._agent,
            session_id=self.session,
            paths=list(found.paths),
            turn_count=found.turns,
            active_dispatches=[],
            open_decisions=[],
            pending_directives=[],
            current_mission_namespaces=[self._mission],
            working_state_prose=found.prose,
        )
        self._client.cache.write(checkpoint)

    def consolidate(self) -> None:
        """Gives what was said to the session's trail, and has the service learn from it."""
        # Whatever the key is: a trail does not know what it holds, and would hold all of it twice.
        given, begun = (target(self._found.url, None, scope) for scope in ("trail", "trail, begun"))
        with Places(given) as places, Places(begun) as ends:
            self._hand_over(places, ends)
            holds_something = places.of(self._path).offset > 0
        if holds_something:
            self._client.memory.consolidate(session_id=self.session)

    def _hand_over(self, places: Places, ends: Places) -> None:
        """What was cut off may be stored: it is sent again as it was, up to where `ends` says."""
        began = places.of(self._path)
        said = [(place, each) for place, each in self._entries(began) if _is_said(each)]
        if said:
            self._open()
        for batch in batches(said, ends.of(self._path).offset):
            end = batch[-1][0]
            ends.keep(self._path, end)
            self._client.sessions.session_append(
                self.session,
                messages=[_message(each) for _, each in batch],
                idempotency_key=f"{self._host}:{self.session}:{began.offset}-{end.offset}",
            )
            places.keep(self._path, end)
            began = end

    def _open(self) -> None:
        try:
            self._client.sessions.session_create(
                external_id=self.session, agent_name=self._agent, mission_id=self._mission
            )
        except ConflictError:
            # An earlier end of the session opened it.
            return

    def _entries(self, place: Place) -> Iterator[Said]:
        transcript = Transcript(self._path, KINDS[self._host](), place)
        for told in transcript.told():
            for each in told.found:
                if isinstance(each, Entry):
                    yield told.place, each


def batches(said: Iterable[Said], until: int) -> Iterator[list[Said]]:
    """Whole lines of the transcript. What lies before the offset `until` was sent as one, and stays one."""
    batch: list[Said] = []
    for place, line in groupby(said, key=lambda each: each[0]):
        further = [*batch, *line]
        if batch and place.offset > until and (batch[-1][0].offset <= until or _is_too_large(further)):
            yield batch
            further = further[len(batch) :]
        batch = further
    if batch:
        yield batch


def _is_too_large(batch: Sequence[Said]) -> bool:
    return len(batch) > _MOST_MESSAGES or sum(len(each.text) for _, each in batch) > LONGEST


def _is_said(entry: Entry) -> bool:
    """Not what tools answered, and not what subagents said to each other."""
    return (
        not entry.about
        and not entry.summary
        and entry.speaker in (None, "user")
        and storable(entry.text) != ""
    )


def _message(entry: Entry) -> MessageInput:
    return MessageInput(
        role="user" if entry.speaker else "assistant", text=storable(entry.text), occurred_at=entry.at
    )


def main(host: str, event: str, session: str, transcript: str, folder: str) -> None:
    found = settings.read()
    try:
        with Client(found.url, found.token, timeout=_CALL_SECONDS, retries=_RETRIES) as client:
            _work(Background(client, found, host, session, Path(transcript), Path(folder)), event)
    except ApiError as error:
        if error.problem.status >= 500:
            state.note_down()
    except (ScrubjayError, Hopeless):
        state.note_down()
    state.tidy()


def _work(work: Background, event: str) -> None:
    if event == "PreCompact":
        # The host compacts meanwhile. Whoever follows the session goes on with that.
        work.checkpoint()
        return
    ends = event == "SessionEnd"
    with state.locked(work.session, wait=ends) as mine:
        if not mine:
            return
        try:
            work.follow(_LATE_SECONDS if ends else _SILENT_SECONDS)
        finally:
            # Whatever became of the episodes: a session ends once.
            if ends:
                work.consolidate()


if __name__ == "__main__":
    main(*sys.argv[1:6])
