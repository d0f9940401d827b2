"""Anthropic: the memory tool with its files in the vault. `pip install scrubjay[anthropic]`."""

from __future__ import annotations

from typing import TypeVar

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.lib.tools._beta_functions import ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from scrubjay.adapters import memory_files as commands
from scrubjay.adapters.files import Files
from scrubjay.adapters.sending import AnyClient, Sender, Steps
from scrubjay.errors import ApiError

T = TypeVar("T")


class ScrubjayMemoryTool(BetaAbstractMemoryTool):
    """What Claude keeps under `/memories`: files of an agent, a mission or a user, or those that the tenant shares.

    Search and assembly find them, a purge of the party erases them, and secrets are masked.
    """

    def __init__(
        self,
        client: AnyClient,
        *,
        agent: str | None = None,
        mission: str | None = None,
        user: str | None = None,
        folder: str = "memories",
    ) -> None:
        super().__init__()
        self._sender = Sender(client)
        self._files = Files(folder, agent=agent, mission=mission, user=user)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._run(commands.view(self._files, command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._run(commands.create(self._files, command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self._run(commands.replace(self._files, command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self._run(commands.insert(self._files, command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._run(commands.delete(self._files, command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._run(commands.rename(self._files, command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        return self._run(commands.clear(self._files))

    def _run(self, steps: Steps[T]) -> T:
        try:
            return self._sender.run(steps)
        except (commands.Refused, ApiError) as error:
            raise ToolError(str(error)) from error


class AsyncScrubjayMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same, to await."""

    def __init__(
        self,
        client: AnyClient,
        *,
        agent: str | None = None,
        mission: str | None = None,
        user: str | None = None,
        folder: str = "memories",
    ) -> None:
        super().__init__()
        self._sender = Sender(client)
        self._files = Files(folder, agent=agent, mission=mission, user=user)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self._run(commands.view(self._files, command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self._run(commands.create(self._files, command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self._run(commands.replace(self._files, command.path, command.old_str, command.new_str))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self._run(
            commands.insert(self._files, command.path, command.insert_line, command.insert_text)
        )

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self._run(commands.delete(self._files, command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self._run(commands.rename(self._files, command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        return await self._run(commands.clear(self._files))

    async def _run(self, steps: Steps[T]) -> T:
        try:
            return await self._sender.arun(steps)
        except (commands.Refused, ApiError) as error:
            raise ToolError(str(error)) from error
