"""Learns from the sessions of a data set by rules, and writes what they teach beside the turns."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bench.client import ApiError, Client
from bench.quality.dataset import Query, Row
from services.agent_memory.consolidation.extraction.rules import learn
from services.agent_memory.consolidation.learned import Learned, LearnedEpisode, Source, Turn
from shared.search.dates import dated

_BATCH = 100
_STALLED_SECONDS = 600


def learned(rows: Sequence[Row]) -> Iterator[tuple[str, list[str], Learned]]:
    """Of each session: its group, the ids of its turns by their positions, and what it teaches."""
    sessions: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        sessions[row.group, str(row.body.get("session_id"))].append(row)
    for (group, _), of in sessions.items():
        turns = [_turn(place, row) for place, row in enumerate(of)]
        yield group, [row.id for row in of], learn(turns, Source())


def _turn(place: int, row: Row) -> Turn:
    at = datetime.fromisoformat(row.body["occurred_at"])
    return Turn(
        position=place,
        role="user",
        author=row.body.get("speaker"),
        text=row.body["content"],
        at=at if at.tzinfo is not None else at.replace(tzinfo=UTC),
        trust="user",
    )


async def write(
    client: Client, missions: Mapping[str, str], rows: Sequence[Row]
) -> dict[str, dict[str, int]]:
    """Answers how many facts, events, episodes and commitments each conversation has."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for group, _, taught in learned(rows):
        scope = f"mission:{missions[group]}"
        await _post(client, "/api/kg/batch", "facts", [_fact(scope, each) for each in taught.facts])
        memories = [_episode(scope, each) for each in taught.episodes]
        memories += [_commitment(scope, each) for each in taught.commitments]
        await _post(client, "/api/memory/batch", "memories", memories)
        alone = sum(len(each.turns) == 1 for each in taught.episodes)
        counts[group].update(
            facts=len(taught.facts),
            events=alone,
            episodes=len(taught.episodes) - alone,
            commitments=len(taught.commitments),
        )
    await _wait(client, missions, rows)
    return {group: dict(count) for group, count in counts.items()}


async def _post(client: Client, path: str, name: str, items: Sequence[Any]) -> None:
    for start in range(0, len(items), _BATCH):
        await client.post(path, {name: items[start : start + _BATCH]})


def _fact(scope: str, fact: Any) -> dict[str, Any]:
    return {
        "scope": scope,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "single": fact.single,
        "valid_from": fact.valid_from.isoformat(),
        "source_kind": "derived",
    }


def _episode(scope: str, episode: LearnedEpisode) -> dict[str, Any]:
    return {
        "kind": "episode",
        "scope": scope,
        "content": episode.content,
        "topics": [*episode.topics],
        "occurred_at": episode.began_at.isoformat(),
        "ended_at": episode.ended_at.isoformat(),
        "source_kind": "derived",
    }


def _commitment(scope: str, promise: Any) -> dict[str, Any]:
    fields = {
        "kind": "commitment",
        "scope": scope,
        "content": promise.content,
        "occurred_at": promise.said_at.isoformat(),
        "due_at": promise.due_at.isoformat(),
        "owed_by": promise.owed_by,
        "owed_to": promise.owed_to,
        "source_kind": "derived",
    }
    return {name: value for name, value in fields.items() if value is not None}


async def _wait(client: Client, missions: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Until the last episode of each conversation has its vector: they come in about the order of the writes."""
    last = {group: taught.episodes[-1] for group, _, taught in learned(rows) if taught.episodes}
    for group, episode in last.items():
        began = time.monotonic()
        while not await _has_vector(client, missions[group], episode):
            if time.monotonic() - began > _STALLED_SECONDS:
                raise ApiError(504, f"the vectors of {group} have not come for {_STALLED_SECONDS} s")
            await asyncio.sleep(1)


async def _has_vector(client: Client, mission: str, episode: LearnedEpisode) -> bool:
    question = {"query": episode.content[:4_000], "caller": "bench", "mission_namespace": mission}
    answer = await client.post("/api/context/assemble", {**question, "log": False, "debug": True})
    found = [one for one in answer["candidates"] if one["store"] == "memory"]
    return bool(found) and all(one["cosine"] is not None for one in found)


def days(rows: Sequence[Row], queries: Sequence[Query]) -> dict[str, int]:
    """Of the questions whose answer is one day and stands in one turn: how many turns teach an event, and how many of
    these have that day."""
    taught = {
        ids[event.turns[0]]: event
        for _, ids, each in learned(rows)
        for event in each.episodes
        if len(event.turns) == 1
    }
    asked = [
        (query.gold[0], day) for query in queries if len(query.gold) == 1 and (day := _day(query.answer))
    ]
    found = [(taught[turn], day) for turn, day in asked if turn in taught]
    right = sum(event.began_at.date().isoformat() == day for event, day in found)
    return {"questions": len(asked), "found": len(found), "right": right}


def _day(answer: str) -> str | None:
    named = dated(answer)
    if len(named) != 1 or (named[0].start, named[0].stop) != (0, len(answer)):
        return None
    year, month, day = named[0].mention
    return f"{year}-{month:02}-{day:02}" if None not in (year, month, day) else None
