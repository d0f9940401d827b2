"""A program over the client's calls, as its users write it: strict type checkers find nothing in it."""

from __future__ import annotations

from scrubjay import AsyncClient, Client, errors, parse_block
from scrubjay.models import Decision


def blocking(url: str, token: str) -> str:
    with Client(url, token) as jay:
        scout = jay.agent("scout", mission="checkout-incident")
        written = scout.cache.write(Decision(content="Roll back", decision_rationale="4.3.0 drops a header"))
        number: int = written.data.id
        found = scout.assemble("May I retry the failed webhooks?", token_budget=1_000)
        handles: list[str] = [item.handle for item in parse_block(found.context_block, found.nonce)]
        scout.feedback(assembly_id=found.assembly_id, used_source_ids=handles[:1])
        kinds: dict[str, str] = {entry.content: entry.context_type for entry in scout.cache.entries()}
        try:
            scores = [candidate.score for candidate in jay.explain(found.assembly_id).candidates]
        except errors.NotFoundError as error:
            return str(error)
    return f"{number} {kinds} {scores}"


async def waiting(url: str, token: str) -> int:
    async with AsyncClient(url, token) as jay:
        found = await jay.assemble("May I retry?", caller="scout", session_id="run-7", delta=True)
        async for event in jay.events(mission="checkout-incident"):
            return event.seq
    return found.total_tokens
