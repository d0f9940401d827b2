"""The terminal: a message a line, and answers.

With `--json`, a line is {"id", "text"} and an answer is {"id", "text"}: a program that sends a line again under its id
gets the same answer. Any other line is left out, and the log says so: an answer would need its id.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import msgspec

from scrubjay.errors import InvalidError, NotFoundError, ScrubjayError, TooLargeError, UnprocessableError
from scrubjay_agent.journal.entries import Address, Out, Received

CHANNEL = "cli"
_PAUSE = 1.0
_log = logging.getLogger(__name__)


class Line(msgspec.Struct):
    id: str
    text: str


class CliSender:
    """Prints. The reader tells a repeat by its id."""

    def __init__(self, structured: bool) -> None:
        self._structured = structured

    async def place(self, address: Address) -> str | None:
        return None

    async def send(self, out: Out) -> None:
        name = out.key.removeprefix("cli:").rpartition("#")[0]
        line = msgspec.json.encode(Line(name, out.text)).decode() if self._structured else f"\n{out.text}\n"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


class Cli:
    def __init__(
        self,
        agent: str,
        user: str,
        structured: bool,
        accept: Callable[[Received], Awaitable[None]],
        known: Callable[[str], Awaitable[str | None]],
        sender: CliSender,
    ) -> None:
        self._agent, self._user, self._structured = agent, user, structured
        self._accept, self._known, self._sender = accept, known, sender

    async def run(self) -> None:
        """Until the input ends."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        # A thread that is never joined: nothing can interrupt the reading of a terminal.
        threading.Thread(target=_read, args=(loop, lines), daemon=True).start()
        while (line := await lines.get()) is not None:
            if not line.strip():
                continue
            try:
                message = self._message(line.strip())
            except (msgspec.DecodeError, RecursionError) as error:
                _log.warning("a line of the terminal is left out: %s", error)
            else:
                await self._taken(message)

    async def _taken(self, message: Received) -> None:
        """Waits while Scrubjay is away. What it will never take is left out."""
        while True:
            try:
                return await self._take(message)
            except (InvalidError, NotFoundError, TooLargeError, UnprocessableError) as error:
                return _log.warning("a line of the terminal is left out: %s", error)
            except ScrubjayError as error:
                _log.warning("Scrubjay is away: %s", error)
                await asyncio.sleep(_PAUSE)

    async def _take(self, message: Received) -> None:
        if (answer := await self._known(message.key)) is not None:
            await self._sender.send(Out(f"{message.key}#0", message.address, answer))
        else:
            await self._accept(message)

    def _message(self, line: str) -> Received:
        given = msgspec.json.decode(line, type=Line) if self._structured else Line(uuid.uuid4().hex, line)
        return Received(
            key=f"cli:{given.id}",
            session=f"{self._agent}.cli.{self._user}",
            user=self._user,
            source="cli",
            address=Address("cli", self._user),
            text=given.text,
            at=datetime.now(UTC),
            local=True,
        )


def _read(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str | None]) -> None:
    # Bytes, since text that is not UTF-8 would end the thread.
    for line in sys.stdin.buffer:
        loop.call_soon_threadsafe(lines.put_nowait, line.decode("utf-8", "replace"))
    loop.call_soon_threadsafe(lines.put_nowait, None)
