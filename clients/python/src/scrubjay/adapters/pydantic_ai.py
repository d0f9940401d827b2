"""Pydantic AI: the history of a conversation on the trail of a session. `pip install scrubjay[pydantic-ai]`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from scrubjay.adapters.sending import AnyClient
from scrubjay.adapters.trails import Item, Trails


class ScrubjayHistory:
    """What `message_history` of a run takes, and what `new_messages()` of its result gives.

    Histories of other parties are others, whatever their names.
    """

    def __init__(
        self,
        session_id: str,
        client: AnyClient,
        *,
        agent: str | None = None,
        mission: str | None = None,
        user: str | None = None,
    ) -> None:
        self._name = quote(session_id, safe=" ")
        self._trails = Trails(client, "pydantic-ai", agent=agent, mission=mission, user=user, said=_said)

    async def load(self) -> list[ModelMessage]:
        items = await self._trails.items(self._name) or []
        messages: list[ModelMessage] = ModelMessagesTypeAdapter.validate_python(items)
        return messages

    async def append(self, messages: Sequence[ModelMessage]) -> None:
        told: list[Any] = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
        await self._trails.add(self._name, told)

    async def clear(self) -> None:
        await self._trails.clear(self._name)

    def load_sync(self) -> list[ModelMessage]:
        """For a client that waits, where no event loop runs."""
        return asyncio.run(self.load())

    def append_sync(self, messages: Sequence[ModelMessage]) -> None:
        asyncio.run(self.append(messages))


def _said(item: Item) -> tuple[str, str]:
    role = "assistant" if item.get("kind") == "response" else "user"
    kinds = ("text", "user-prompt")
    texts = [part.get("content") for part in item.get("parts", []) if part.get("part_kind") in kinds]
    return role, "\n".join(text for text in texts if isinstance(text, str))
