"""Telegram, by long polling. An update is confirmed when the next ones are asked for, and then it is in the trail."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from telegram import Bot, Message, Update
from telegram.error import BadRequest, Forbidden, InvalidToken, RetryAfter, TelegramError
from telegram.request import HTTPXRequest

from scrubjay.errors import InvalidError, UnprocessableError
from scrubjay.models import ImageBlock
from scrubjay_agent.journal.entries import Address, Out, Received
from scrubjay_agent.outbox import NotSentError, TryAgainError
from scrubjay_agent.refusals import persistently
from scrubjay_agent.settings import Telegram, secret

_PLACEHOLDER = "…"
_REFUSED = "I may not take this message, and have not kept it."
_SAME = "not modified"
_PAUSE = 1.0
_log = logging.getLogger(__name__)


class TelegramChannel:
    def __init__(self, agent: str, settings: Telegram) -> None:
        self._agent, self._settings = agent, settings
        self._bot = Bot(
            secret(settings.token_env),
            base_url=settings.base_url,
            base_file_url=settings.file_url,
            request=HTTPXRequest(read_timeout=20),
            get_updates_request=HTTPXRequest(read_timeout=settings.poll + 10),
        )

    async def close(self) -> None:
        with suppress(TelegramError, RuntimeError):
            await self._bot.shutdown()

    async def run(self, accept: Callable[[Received], Awaitable[None]]) -> None:
        """Raises InvalidToken where Telegram does not know the bot."""
        await self._open()
        offset: int | None = None
        while True:
            try:
                updates = await self._bot.get_updates(
                    offset, timeout=self._settings.poll, allowed_updates=["message"]
                )
            except InvalidToken:
                raise
            except TelegramError as error:
                _log.warning("no updates: %s", error)
                await asyncio.sleep(_PAUSE)
                continue
            for update in updates:
                if (message := self._message(update)) is not None:
                    await self._take(message, accept)
                offset = update.update_id + 1

    async def _take(self, message: Received, accept: Callable[[Received], Awaitable[None]]) -> None:
        """What Scrubjay refuses, as a secret, is over: Telegram would bring it again and again."""
        try:
            await persistently(accept, message)
        except (InvalidError, UnprocessableError) as error:
            _log.warning("a message is refused: %s", error)
            with suppress(TelegramError):
                await self._bot.send_message(message.address.to, _REFUSED)
        else:
            await self._typing(message.address)

    async def _open(self) -> None:
        while True:
            try:
                return await self._bot.initialize()
            except InvalidToken:
                raise
            except TelegramError as error:
                _log.warning("no Telegram: %s", error)
                await asyncio.sleep(_PAUSE)

    def _message(self, update: Update) -> Received | None:
        """None for whoever is not among the users, and for what has neither text nor image."""
        given = update.message
        if given is None or given.from_user is None:
            return None
        user = self._settings.users.get(str(given.from_user.id))
        text = given.text or given.caption or ""
        images = [given.photo[-1].file_id] if given.photo else []
        if user is None or not (text or images):
            return None
        return Received(
            key=f"telegram:{self._bot.id}:{update.update_id}",
            session=f"{self._agent}.telegram.{user}.{given.chat_id}",
            user=user,
            source="telegram",
            address=Address("telegram", str(given.chat_id)),
            text=text,
            at=datetime.now(UTC),
            images=images,
            reply_to=str(given.message_id),
        )

    async def _typing(self, address: Address) -> None:
        with suppress(TelegramError):
            await self._bot.send_chat_action(address.to, "typing")

    async def images(self, message: Received) -> list[ImageBlock]:
        """Fetched again for each try: the trail keeps their hashes only."""
        return [await self._image(name) for name in message.images]

    async def _image(self, name: str) -> ImageBlock:
        try:
            file = await self._bot.get_file(name)
            data = bytes(await file.download_as_bytearray())
        except TelegramError as error:
            _log.warning("no image: %s", error)
            data = b""
        return ImageBlock(media_type="image/jpeg", data=base64.b64encode(data).decode())

    async def place(self, address: Address) -> str | None:
        sent: Message = await self._trying(self._bot.send_message(address.to, _PLACEHOLDER))
        return str(sent.message_id)

    async def send(self, out: Out) -> None:
        with suppress(_SameError):
            await self._trying(
                self._bot.edit_message_text(
                    out.text, chat_id=out.address.to, message_id=int(out.reference or "0")
                )
            )

    async def react(self, address: Address, message: str, emoji: str) -> None:
        await self._bot.set_message_reaction(address.to, int(message), emoji)

    async def send_audio(self, address: Address, audio: bytes) -> None:
        await self._bot.send_audio(address.to, audio, filename="speech.mp3")

    async def _trying(self, call: Awaitable[Message | bool]) -> Any:
        try:
            return await call
        except RetryAfter as error:
            raise TryAgainError(str(error)) from error
        except BadRequest as error:
            if _SAME in error.message.lower():
                raise _SameError from error
            raise NotSentError(error.message) from error
        except (Forbidden, InvalidToken) as error:
            raise NotSentError(error.message) from error
        except TelegramError as error:
            raise TryAgainError(str(error)) from error


class _SameError(Exception):
    """The text is there already: it was sent before a restart."""
