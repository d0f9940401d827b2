"""Files of the workspace."""

from __future__ import annotations

import asyncio
from typing import Annotated

from msgspec import Meta

from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError
from scrubjay_agent.workspace.beneath import PathError, Workspace

Path = Annotated[str, Meta(min_length=1, max_length=1_000, description="Relative to the workspace.")]


class ReadFile(Arguments, kw_only=True):
    path: Path


class WriteFile(Arguments, kw_only=True):
    path: Path
    content: str


class EditFile(Arguments, kw_only=True):
    path: Path
    old: Annotated[str, Meta(min_length=1, description="Occurs exactly once in the file.")]
    new: str


class ListFiles(Arguments, kw_only=True):
    path: str = "."


class Files:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def read(self, given: ReadFile, _: Calling) -> str:
        return await self._text(given.path)

    async def write(self, given: WriteFile, _: Calling) -> str:
        await self._keep(given.path, given.content)
        return f"{given.path} holds {len(given.content)} characters"

    async def edit(self, given: EditFile, _: Calling) -> str:
        text = await self._text(given.path)
        if (count := text.count(given.old)) != 1:
            raise ToolError(f"`old` occurs {count} times in {given.path}, not once")
        await self._keep(given.path, text.replace(given.old, given.new))
        return f"{given.path} is changed"

    async def listed(self, given: ListFiles, _: Calling) -> str:
        try:
            return "\n".join(await asyncio.to_thread(self._workspace.names, given.path)) or "(empty)"
        except PathError as error:
            raise ToolError(str(error)) from error

    async def _text(self, path: str) -> str:
        try:
            return (await asyncio.to_thread(self._workspace.read, path)).decode()
        except UnicodeDecodeError as error:
            raise ToolError(f"{path} is not text") from error
        except PathError as error:
            raise ToolError(str(error)) from error

    async def _keep(self, path: str, text: str) -> None:
        try:
            await asyncio.to_thread(self._workspace.write, path, text.encode("utf-8", "replace"))
        except PathError as error:
            raise ToolError(str(error)) from error


def tools(workspace: Workspace) -> list[Tool]:
    files = Files(workspace)
    return [
        Tool("read", "Read a text file of the workspace.", ReadFile, files.read, confined=True),
        Tool("write", "Write a whole text file into the workspace.", WriteFile, files.write, confined=True),
        Tool(
            "edit",
            "Replace a text that occurs once in a file of the workspace.",
            EditFile,
            files.edit,
            repeatable=False,
            confined=True,
        ),
        Tool("list_files", "List a folder of the workspace.", ListFiles, files.listed, confined=True),
    ]
