"""Telegram's Bot API: updates stay until a request for later ones confirms them, and messages can be edited."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

from aiohttp import web

from tests.support.agent.server import FakeServer

Json = dict[str, Any]
TOKEN = "7:test-bot-token"
_NOW = 1_790_000_000


class FakeBotApi(FakeServer):
    def __init__(self) -> None:
        super().__init__()
        self._updates: list[Json] = []
        self._numbers = itertools.count(100)
        self.messages: dict[int, str] = {}
        """What stands in the chats, by the messages' ids."""
        self.reactions: list[Json] = []
        self._arrived = asyncio.Event()

    @property
    def base_url(self) -> str:
        return f"{self.url}/bot"

    def say(self, text: str, user: int) -> None:
        sender = {"id": user, "is_bot": False, "first_name": "User"}
        message = {
            "message_id": next(self._numbers),
            "date": _NOW,
            "chat": {"id": user, "type": "private"},
            "from": sender,
            "text": text,
        }
        self._updates.append({"update_id": next(self._numbers), "message": message})
        self._arrived.set()

    @property
    def unconfirmed(self) -> int:
        return len(self._updates)

    def routes(self) -> list[web.RouteDef]:
        return [web.post(f"/bot{TOKEN}/{{method}}", self._call)]

    async def _call(self, request: web.Request) -> web.Response:
        given = {name: _read(str(value)) for name, value in (await request.post()).items()}
        method = getattr(self, f"_{request.match_info['method']}", None)
        if method is None:
            return web.json_response({"ok": False, "error_code": 404, "description": "Not Found"}, status=404)
        result = await method(given)
        if result is None:
            text = "Bad Request: message is not modified"
            return web.json_response({"ok": False, "error_code": 400, "description": text}, status=400)
        return web.json_response({"ok": True, "result": result})

    async def _getMe(self, _: Json) -> Json:
        return {"id": 7, "is_bot": True, "first_name": "Jay", "username": "jay_bot"}

    async def _getUpdates(self, given: Json) -> list[Json]:
        offset = given.get("offset") or 0
        self._updates = [one for one in self._updates if one["update_id"] >= offset]
        if not self._updates:
            self._arrived.clear()
            try:
                await asyncio.wait_for(self._arrived.wait(), float(given.get("timeout") or 0))
            except TimeoutError:
                return []
        return self._updates[:100]

    async def _sendMessage(self, given: Json) -> Json:
        number = next(self._numbers)
        self.messages[number] = str(given["text"])
        return self._message(number, given)

    async def _editMessageText(self, given: Json) -> Json | None:
        number = int(given["message_id"])
        if self.messages.get(number) == str(given["text"]):
            return None
        self.messages[number] = str(given["text"])
        return self._message(number, given)

    async def _sendChatAction(self, _: Json) -> bool:
        return True

    async def _setMessageReaction(self, given: Json) -> bool:
        self.reactions.append(given)
        return True

    def _message(self, number: int, given: Json) -> Json:
        chat = {"id": int(given["chat_id"]), "type": "private"}
        return {"message_id": number, "date": _NOW, "chat": chat, "text": self.messages[number]}


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value
