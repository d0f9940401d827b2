"""Speech, through any endpoint that speaks OpenAI's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta
from openai import AsyncOpenAI, OpenAIError

from scrubjay_agent.journal.entries import Address
from scrubjay_agent.settings import Tools, secret
from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError

SendAudio = Callable[[Address, bytes], Awaitable[None]]


class Speak(Arguments, kw_only=True):
    text: Annotated[str, Meta(min_length=1, max_length=4_000)]


class Speech:
    def __init__(self, settings: Tools, send: SendAudio) -> None:
        self._model, self._voice = settings.speech_model or "", settings.speech_voice
        self._client = AsyncOpenAI(
            api_key=secret(settings.speech_key_env), base_url=settings.speech_base_url, max_retries=0
        )
        self._send = send

    async def speak(self, given: Speak, calling: Calling) -> str:
        """Sent once or not at all: an interrupted call is not repeated."""
        if calling.message.address.channel != "telegram":
            raise ToolError("only Telegram takes speech")
        try:
            made = await self._client.audio.speech.create(
                model=self._model, voice=self._voice, input=given.text, response_format="mp3"
            )
        except OpenAIError as error:
            raise ToolError(f"no speech: {error}") from error
        await self._send(calling.message.address, made.content)
        return "it was sent"


def tools(speech: Speech) -> list[Tool]:
    return [Tool("tts", "Send the user speech.", Speak, speech.speak, repeatable=False)]
