"""Assemble, answer, consolidate, again and again over one transcript: what was recalled must not be learned again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from proofs.consolidation.kills import CONSOLIDATE, SESSIONS
from shared.render import parse_block
from tests.support.cluster import Client

_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
_SAID = (
    "Bo lives in Lisbon.",
    "The port of the gateway is 8080.",
    "I'll send the report to Bo tomorrow.",
    "Bo lives in Porto.",
    "I'll call Bo tomorrow.",
    "I'll pay the invoice of the gateway tomorrow.",
    "My favourite colour is blue.",
)
_ASKED = (
    "What did I say that I will do tomorrow: send a report, call Bo, pay an invoice? And where does Bo live?"
)
_PROMISE = re.compile(r"(I'll [\w ]+?) tomorrow")
_LEARNED = """
select (select count(*) from memory.facts where user_id = $1)
     + (select count(*) from memory.long_term where user_id = $1 and kind = 'commitment')
"""


async def learned(client: Client, superuser: str, user: str, rounds: int) -> list[int]:
    """The facts and commitments, with all their former states, after each round."""
    sql = await asyncpg.connect(superuser)
    try:
        session = (await _ok(client, SESSIONS, {"agent_name": "scout", "user_id": user}))["data"]["id"]
        first = [{"role": "user", "text": text, "occurred_at": _at(0)} for text in _SAID]
        await _ok(client, f"{SESSIONS}/{session}/events", {"messages": first})
        kept = [{"role": "user", "content": text} for text in _SAID]
        await _ok(
            client,
            "/api/context/remember",
            {"caller": "scout", "user_id": user, "mission_namespace": user, "messages": kept},
        )
        counts = []
        for number in range(1, rounds + 1):
            await _round(client, session, user, number)
            counts.append(int(await sql.fetchval(_LEARNED, user)))
        return counts
    finally:
        await sql.close()


def _told(block: str, day: int) -> Iterator[str]:
    """What an agent says with a block before it: each item, and what is to be done tomorrow by its day, citing it."""
    tomorrow = f"by {_BEGAN + timedelta(days=day + 1):%Y-%m-%d}"
    for handle, text in parse_block(block):
        yield text
        for promise in _PROMISE.findall(text):
            yield f"{promise} {tomorrow} ({handle})."


async def _round(client: Client, session: str, user: str, number: int) -> None:
    question = {"query": _ASKED, "caller": "scout", "user_id": user, "mission_namespace": user}
    made = await _ok(client, "/api/context/assemble", question)
    block = made["context_block"]
    repeated = "\n".join(_told(block, number))
    call = {
        "type": "tool_use",
        "id": f"call-{number}",
        "name": "mcp__scrubjay__assemble_context",
        "input": {},
    }
    result = {"type": "tool_result", "tool_use_id": f"call-{number}", "content": json.dumps(made)}
    messages: list[dict[str, Any]] = [
        {"role": "user", "text": f"{_ASKED}\n\n{block}"},
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
        {"role": "assistant", "text": repeated or "Nothing."},
    ]
    for message in messages:
        message["occurred_at"] = _at(number)
    await _ok(client, f"{SESSIONS}/{session}/events", {"messages": messages})
    done = await _ok(client, CONSOLIDATE, {"session_id": session})
    assert done["status"] == "finished", done


def _at(day: int) -> str:
    return (_BEGAN + timedelta(days=day)).isoformat()


async def _ok(client: Client, path: str, body: Any) -> Any:
    answer = await client.post(path, body)
    assert answer.status < 300, answer
    return answer.body
