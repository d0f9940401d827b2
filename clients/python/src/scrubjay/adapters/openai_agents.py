"""OpenAI Agents SDK: a session that keeps its items on the trail of a session. `pip install scrubjay[openai-agents]`"""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import quote

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from scrubjay.adapters.sending import AnyClient
from scrubjay.adapters.trails import Item, Trails


class ScrubjaySession(SessionABC):
    """The history of a conversation, for any process that names the session.

    Sessions of other parties are others, whatever their names. What is popped or cleared leaves the history and stays
    on the trail: a purge of the agent, mission or user erases it.
    """

    def __init__(
        self,
        session_id: str,
        client: AnyClient,
        *,
        agent: str | None = None,
        mission: str | None = None,
        user: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self._name = quote(session_id, safe=" ")
        self.session_settings = session_settings or SessionSettings()
        self._trails = Trails(client, "openai", agent=agent, mission=mission, user=user, said=_said)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        items: list[Any] = await self._trails.items(self._name) or []
        most = resolve_session_limit(limit, self.session_settings)
        if most is None:
            return items
        return items[-most:] if most > 0 else []

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        given: list[Any] = items
        await self._trails.add(self._name, given)

    async def pop_item(self) -> TResponseInputItem | None:
        item: Any = await self._trails.pop(self._name)
        return cast("TResponseInputItem | None", item)

    async def clear_session(self) -> None:
        await self._trails.clear(self._name)


def _said(item: Item) -> tuple[str, str]:
    content = item.get("content")
    if isinstance(content, str):
        return str(item.get("role", "assistant")), content
    blocks = content if isinstance(content, list) else []
    texts = [
        block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    return str(item.get("role", "assistant")), "\n".join(texts)
