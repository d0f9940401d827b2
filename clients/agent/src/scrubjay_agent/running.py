"""Puts the agent together from its settings, and runs it with its channels."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import uvicorn

from scrubjay.client import AsyncClient
from scrubjay.models import ImageBlock
from scrubjay_agent.agent import Agent
from scrubjay_agent.channels.cli import Cli, CliSender
from scrubjay_agent.channels.http import HttpChannel
from scrubjay_agent.channels.telegram import TelegramChannel
from scrubjay_agent.journal.entries import Address, Received
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.outbox import Outbox, Sender
from scrubjay_agent.providers.choice import provider_of
from scrubjay_agent.settings import Settings, SettingsError
from scrubjay_agent.tools import agents, files, memory, messaging, schedule, shell, skills, status, web
from scrubjay_agent.tools.registry import Registry, Tool, ToolError
from scrubjay_agent.turns.calling import Caller
from scrubjay_agent.turns.loop import Loop
from scrubjay_agent.turns.monitor import Monitor
from scrubjay_agent.turns.prompting import Prompting
from scrubjay_agent.workspace.beneath import Workspace
from scrubjay_agent.workspace.confined import supported


class Running:
    def __init__(
        self, settings: Settings, folder: Path, jay: AsyncClient, *, cli: bool, structured: bool
    ) -> None:
        """`folder` is where the settings lie. Raises SettingsError."""
        self._settings, self._folder, self._jay = settings, folder, jay
        self._cli, self._structured = cli, structured
        telegram = settings.channels.telegram
        self._telegram = None if telegram is None else TelegramChannel(settings.name, telegram)
        self._provider = provider_of(settings.model)
        self._web = web.Web(settings.tools)
        self._monitor = Monitor()

    async def run(self) -> None:
        """Until it is cancelled, its input ends (with the terminal as only channel), or it fails."""
        journal = Journal(self._jay, self._settings.name)
        await journal.open()
        agent = self._agent(journal)
        channels = self._channels(agent, journal)
        try:
            await _first_failure([agent.run(), *channels])
        finally:
            await self._provider.close()
            await self._web.close()
            if self._telegram is not None:
                await self._telegram.close()

    def _agent(self, journal: Journal) -> Agent:
        settings, known = self._settings, self._skills()
        caller = Caller(self._jay, journal, self._provider, settings.name)
        prompting = Prompting(
            self._jay, settings, self._folder, [(one.name, one.description) for one in known]
        )
        spawned = agents.SubAgents(
            self._jay,
            settings,
            prompting,
            Loop(caller, settings.subagents.turns, self._monitor),
            self._provider.format,
        )
        outbox = Outbox(journal, self._senders())
        registry = self._registry(journal, outbox, [*agents.tools(spawned), *skills.tools(known)])
        return Agent(
            self._jay,
            journal,
            settings,
            Loop(caller, settings.turns, self._monitor),
            prompting,
            registry,
            outbox,
            self._monitor,
            self._images,
            self._provider.format,
        )

    def _skills(self) -> list[skills.Skill]:
        return [] if self._settings.skills is None else skills.read(self._folder / self._settings.skills)

    def _registry(self, journal: Journal, outbox: Outbox, more: list[Tool]) -> Registry:
        settings = self._settings
        found = [
            *memory.tools(self._jay, settings.name),
            *messaging.tools(messaging.Messaging(journal, outbox.wake, self._home, self._react)),
            *schedule.tools(schedule.Scheduling(journal)),
            *status.tools(status.Status(self._jay, settings.name, self._monitor)),
            *web.tools(self._web, settings.tools),
            *self._confined(),
            *self._speech(),
            *more,
        ]
        names = settings.tools.enabled
        if names is not None and (unknown := set(names) - {tool.name for tool in found}):
            raise SettingsError(
                f"tools.enabled names {', '.join(sorted(unknown))}, which these settings lack"
            )
        return Registry(
            [tool for tool in found if names is None or tool.name in names], settings.tools.truncation
        )

    def _confined(self) -> list[Tool]:
        """No shell where the kernel cannot confine one."""
        if self._settings.workspace is None:
            return []
        root = (self._folder / Path(self._settings.workspace).expanduser()).resolve()
        found = files.tools(Workspace(root))
        return [*found, *shell.tools(root, self._settings.tools.shell_seconds)] if supported() else found

    def _speech(self) -> list[Tool]:
        if self._settings.tools.speech_model is None or self._telegram is None:
            return []
        # The SDK takes most of a second to import.
        from scrubjay_agent.tools import speech

        return speech.tools(speech.Speech(self._settings.tools, self._telegram.send_audio))

    def _senders(self) -> dict[str, Sender]:
        found: dict[str, Sender] = {}
        if self._telegram is not None:
            found["telegram"] = self._telegram
        if self._cli:
            found["cli"] = CliSender(self._structured)
        return found

    def _home(self, user: str) -> Address | None:
        """A private chat has the number of its user."""
        telegram = self._settings.channels.telegram
        chats = [] if telegram is None else [chat for chat, name in telegram.users.items() if name == user]
        return Address("telegram", chats[0]) if chats else None

    async def _react(self, address: Address, message: str, emoji: str) -> None:
        if self._telegram is None:
            raise ToolError("Telegram is not on")
        await self._telegram.react(address, message, emoji)

    async def _images(self, message: Received) -> list[ImageBlock]:
        return [] if self._telegram is None else await self._telegram.images(message)

    def _channels(self, agent: Agent, journal: Journal) -> list[Coroutine[Any, Any, None]]:
        found: list[Coroutine[Any, Any, None]] = []
        settings = self._settings
        if (http := settings.channels.http) is not None:
            app = HttpChannel(settings, http, self._jay, agent, self._monitor).app()
            found.append(_served(uvicorn.Config(app, http.host, http.port, log_level="warning")))
        if self._telegram is not None:
            found.append(self._telegram.run(agent.accept))
        if self._cli:
            cli = Cli(
                settings.name,
                settings.channels.cli.user,
                self._structured,
                agent.accept,
                agent.known,
                CliSender(self._structured),
            )
            found.append(self._read(cli, alone=not found, agent=agent))
        return found

    async def _read(self, cli: Cli, *, alone: bool, agent: Agent) -> None:
        """The end of the input ends an agent that has no other channel, once it has answered."""
        await cli.run()
        await (agent.idle() if alone else asyncio.Event().wait())


class _Server(uvicorn.Server):
    """The agent handles signals itself."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


async def _served(config: uvicorn.Config) -> None:
    await _Server(config).serve()


async def _first_failure(running: list[Coroutine[Any, Any, None]]) -> None:
    """Runs all until one ends, and then cancels the others."""
    tasks = [asyncio.create_task(one) for one in running]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
