"""What fills the other stores: paragraphs of the handbook that every Python has, which answer none of the questions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pydoc_data.topics import topics
from typing import Any, NamedTuple

from bench.client import Client

_SHORTEST, _LONGEST = 120, 600
_LETTERS = 0.85
_BATCH = 100
_POLL_SECONDS = 0.5


class Junk(NamedTuple):
    """An equal share for each of the four."""

    own: list[str]
    peers: list[str]
    long_term: list[str]
    files: list[str]


def paragraphs() -> list[str]:
    texts = (" ".join(part.split()) for topic in topics.values() for part in topic.split("\n\n"))
    return [text[:_LONGEST] for text in dict.fromkeys(texts) if _is_prose(text)]


def _is_prose(text: str) -> bool:
    letters = sum(sign.isalpha() or sign == " " for sign in text)
    return len(text) >= _SHORTEST and letters > _LETTERS * len(text)


def junk(texts: list[str]) -> Junk:
    return Junk(*(texts[place :: len(Junk._fields)] for place in range(len(Junk._fields))))


async def fill(client: Client, run: str, callers: list[str], junk: Junk) -> None:
    """Each caller's own memory, that of its peers, what everybody knows, and everybody's files."""
    for number, (path, body) in enumerate(_writes(run, callers, junk)):
        await client.post(path, body, key=f"{run}:junk:{number}")
    await until_embedded(client)


def _writes(run: str, callers: list[str], junk: Junk) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, text in enumerate(junk.own):
        yield "/api/agent-memory/commit", _memory(callers[number % len(callers)], text)
    for text in junk.peers:
        yield "/api/agent-memory/commit", _memory(f"{run}-archivist", text)
    for start in range(0, len(junk.long_term), _BATCH):
        some = junk.long_term[start : start + _BATCH]
        memories = [{"kind": "knowledge", "content": text, "scope": "shared"} for text in some]
        yield "/api/memory/batch", {"memories": memories}
    for number, text in enumerate(junk.files):
        yield "/api/vault/files", {"path": f"shared/junk-{number}.md", "text": text}


def _memory(agent: str, text: str) -> dict[str, Any]:
    return {"agent_name": agent, "memory_type": "domain_pattern", "content": text}


async def until_embedded(client: Client) -> None:
    while any(store["items"] for store in (await client.call("GET", "/api/context/backlog"))["stores"]):
        await asyncio.sleep(_POLL_SECONDS)
