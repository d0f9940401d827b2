"""The memory tool of Anthropic against the SDK's own over a folder of files: random commands, and the same answers."""

from __future__ import annotations

import asyncio
import random
import re
import tempfile
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from anthropic.lib.tools._beta_functions import ToolError
from anthropic.types.beta import BetaMemoryTool20250818CreateCommand

from proofs.adapters.suites.telling import Drops, async_client, client, tell
from scrubjay.adapters.anthropic import AsyncScrubjayMemoryTool, ScrubjayMemoryTool

RUNS, STEPS = 8, 40
SEED = 20_261
PATHS = [
    f"/memories/{name}"
    for name in ("a.md", "b.txt", "d/a.md", "d/b.md", "e/d/notes.md", "e/.hidden", "d", "e")
]
TEXTS = ("", "one\ntwo\nthree", "likes coffee\n", "ä 😀\r\nsecond\n\n", "two two", "x\n" * 300)
WORDS = ("two", "coffee", "x", "ä 😀", "nothing such")
_SIZE = re.compile(r"^[^\t\n]+(?=\t/memories)", re.MULTILINE)


class Dropping(ScrubjayMemoryTool):
    """The control: it drops every third creation."""

    drops = Drops()

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        if self.drops.next():
            return f"File created successfully at: {command.path}"
        return super().create(command)


class DroppingAsync(AsyncScrubjayMemoryTool):
    drops = Drops()

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        if self.drops.next():
            return f"File created successfully at: {command.path}"
        return await super().create(command)


def some_command(random_: random.Random) -> dict[str, Any]:
    path = random_.choice(PATHS)
    commands: list[dict[str, Any]] = [
        {"command": "view", "path": random_.choice([path, "/memories"])},
        {"command": "view", "path": path, "view_range": random_.choice([[1, 2], [2, -1], [0, 1], [5, 2]])},
        *[{"command": "create", "path": path, "file_text": random_.choice(TEXTS)}] * 3,
        {"command": "str_replace", "path": path, "old_str": random_.choice(WORDS), "new_str": "new\nwords"},
        {"command": "insert", "path": path, "insert_line": random_.randrange(4), "insert_text": "between\n"},
        {"command": "delete", "path": random_.choice([path, "/memories", "/elsewhere", "/memories/../up"])},
        {"command": "rename", "old_path": path, "new_path": random_.choice(PATHS)},
    ]
    return random_.choice(commands)


def told(answer: str) -> str:
    """A file system counts bytes, and the vault characters; a path outside is refused in words of its own."""
    if "escape" in answer or "must start" in answer:
        return "refused"
    return _SIZE.sub("", answer)


def of_files(tool: BetaLocalFilesystemMemoryTool, command: dict[str, Any]) -> str | None:
    """None where the file system knows no answer: a folder into itself, a file as a folder."""
    answer: str | None = None
    try:
        answer = str(tool.call(command))
    except ToolError as error:
        answer = str(error)
    except OSError:
        pass
    for folder in sorted(tool.memory_root.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()  # The vault has no empty folders.
    return None if answer is None else told(answer)


async def one_run(number: int, ours: Callable[[dict[str, Any]], Awaitable[Any]]) -> str | None:
    """What differs, if anything."""
    random_ = random.Random(SEED + number)
    with tempfile.TemporaryDirectory() as folder:
        reference = BetaLocalFilesystemMemoryTool(folder)
        for step in range(STEPS):
            command = some_command(random_)
            expected = of_files(reference, command)
            if expected is None:
                continue
            try:
                answer = str(await ours(command))
            except ToolError as error:
                answer = str(error)
            if told(answer) != expected:
                return f"run {number}, step {step}, {command}: {told(answer)!r} instead of {expected!r}"
    return None


async def main() -> None:
    found: list[str | None] = []
    with client() as waiting:
        async with async_client() as awaiting:
            for number in range(RUNS):
                folder = uuid.uuid4().hex
                if number % 2:
                    tool = DroppingAsync(awaiting, user="ana", folder=folder)
                    found.append(await one_run(number, tool.call))
                else:
                    plain = Dropping(waiting, agent="a", folder=folder)

                    async def call(command: dict[str, Any], plain: Dropping = plain) -> Any:
                        return await asyncio.to_thread(plain.call, command)

                    found.append(await one_run(number, call))
    failed = [each for each in found if each is not None]
    tell("memory tool, as of files", "anthropic", len(found) - len(failed), failed)


if __name__ == "__main__":
    asyncio.run(main())
