"""Skills: texts that the model reads when it needs them. The prompt lists their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from scrubjay_agent.settings import SettingsError
from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError

_FENCE = "---"


class Skill(NamedTuple):
    name: str
    description: str
    body: str


class _Front(msgspec.Struct):
    name: str
    description: str = ""


class LoadSkill(Arguments, kw_only=True):
    name: str


class Skills:
    def __init__(self, skills: Mapping[str, Skill]) -> None:
        self._skills = skills

    async def load(self, given: LoadSkill, _: Calling) -> str:
        skill = self._skills.get(given.name)
        if skill is None:
            raise ToolError(f"there is no skill {given.name!r}; there are {', '.join(self._skills)}")
        return skill.body


def read(folder: Path) -> list[Skill]:
    """Each SKILL.md below the folder, by its path. Raises SettingsError."""
    return [parsed(path.read_text(), str(path)) for path in sorted(folder.glob("*/SKILL.md"))]


def parsed(text: str, where: str) -> Skill:
    """Markdown behind front matter in YAML with a name and a description. Raises SettingsError."""
    lines = text.splitlines()
    try:
        end = lines.index(_FENCE, 1) if lines[:1] == [_FENCE] else 0
        front = msgspec.yaml.decode("\n".join(lines[1:end]), type=_Front)
    except (ValueError, msgspec.MsgspecError) as error:
        raise SettingsError(f"{where} begins with no front matter that names the skill: {error}") from error
    return Skill(front.name, front.description, "\n".join(lines[end + 1 :]).strip())


def tools(skills: Sequence[Skill]) -> list[Tool]:
    if not skills:
        return []
    found = Skills({one.name: one for one in skills})
    return [Tool("load_skill", "Read a skill in full.", LoadSkill, found.load)]
