"""The system prompt of a turn, in parts that the provider caches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scrubjay.client import AsyncClient
from scrubjay.models import AssembleContextInput, BlockInput, Prompt
from scrubjay_agent.journal.entries import Received
from scrubjay_agent.settings import PromptBlock, Settings, SettingsError

_MOST_QUERY = 4_000
_SKILLS = "Skills, which `load_skill` reads in full:\n"


class Prompting:
    def __init__(
        self, jay: AsyncClient, settings: Settings, folder: Path, skills: Sequence[tuple[str, str]]
    ) -> None:
        """`folder` is where the settings lie; `skills` are names and descriptions. Raises SettingsError."""
        self._jay = jay
        self._settings = settings
        self._blocks = [_block(each, folder) for each in settings.prompt.blocks]
        if skills:
            listed = _SKILLS + "\n".join(f"- {name}: {about}" for name, about in skills)
            self._blocks.append(BlockInput(name="skills", stability="semi_stable", text=listed))

    async def of(self, message: Received, session: str, format_: str) -> Prompt:
        """The time is the message's own, so that a turn that goes on after a restart has the same prompt."""
        when = BlockInput(name="time", stability="dynamic", text=f"It is {message.at:%Y-%m-%d %H:%M} UTC.")
        return await self._jay.prompt(
            blocks=[*self._blocks, when],
            tiers=self._settings.prompt.tiers or None,
            tier=message.tier,
            source="system" if message.source == "schedule" else message.source,
            context=self._context(message, session),
            format="anthropic" if format_ == "anthropic" else "openai",
        )

    def _context(self, message: Received, session: str) -> AssembleContextInput | None:
        if not self._settings.prompt.context_tokens or not message.text.strip():
            return None
        return AssembleContextInput(
            query=message.text[:_MOST_QUERY],
            caller=self._settings.name,
            user_id=message.user,
            session_id=session,
            token_budget=self._settings.prompt.context_tokens,
        )


def _block(given: PromptBlock, folder: Path) -> BlockInput:
    sources = (given.text, given.file, given.path, given.handle)
    if sum(one is not None for one in sources) != 1:
        raise SettingsError(f"prompt block {given.name}: give one of text, file, path and handle")
    try:
        text = given.text if given.file is None else (folder / given.file).read_text()
    except (OSError, ValueError) as error:
        raise SettingsError(f"prompt block {given.name}: {error}") from error
    return BlockInput(
        name=given.name, stability=given.stability, text=text, path=given.path, handle=given.handle
    )
