"""The agent's settings: one file of TOML. Secrets stay in the environment; the file names their variables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(ge=0)]


class SettingsError(Exception):
    """What is wrong with the settings, for the person who wrote them."""


class _Part(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    pass


class Model(_Part, kw_only=True):
    provider: Literal["anthropic", "openai"] = "anthropic"
    """`openai`: any endpoint that speaks chat completions."""
    model: str
    base_url: str | None = None
    api_key_env: str
    max_tokens: Count = 4_096
    timeout: Seconds = 300
    retries: Annotated[int, Meta(ge=0)] = 3
    """How often a call is repeated that the provider refused as busy. A call without an answer is not repeated."""


class PromptBlock(_Part, kw_only=True):
    """A part of the system prompt. Exactly one of the last four says what it holds."""

    name: str
    stability: Literal["stable", "semi_stable", "dynamic"] = "stable"
    text: str | None = None
    file: str | None = None
    """A file beside the settings."""
    path: str | None = None
    """A file of the vault."""
    handle: str | None = None


class Prompt(_Part, kw_only=True):
    blocks: list[PromptBlock] = field(default_factory=list)
    tiers: dict[str, list[str]] = field(default_factory=dict)
    context_tokens: Annotated[int, Meta(ge=0)] = 2_000
    """The budget of what is assembled for each message. 0: nothing is."""


class Tools(_Part, kw_only=True):
    enabled: list[str] | None = None
    """By default all that the other settings make possible."""
    network: list[str] = field(default_factory=list)
    """Tools for files and the shell that messages from networks may use too."""
    truncation: Count = 30_000
    shell_seconds: Seconds = 60
    web_private: bool = False
    """Whether `web_fetch` may reach private addresses."""
    search_url: str = "https://api.search.brave.com/res/v1/web/search"
    search_key_env: str | None = None
    speech_model: str | None = None
    speech_voice: str = "alloy"
    speech_base_url: str | None = None
    speech_key_env: str = "OPENAI_API_KEY"


class SubAgents(_Part, kw_only=True):
    denied: list[str] = field(
        default_factory=lambda: ["sessions_spawn", "tts", "react", "message", "schedule_message"]
    )
    turns: Count = 50
    timeout: Seconds = 600
    model: str | None = None


class HttpToken(_Part, kw_only=True):
    env: str
    operator: bool = False
    """May read status, costs and every session, and reset them."""


class Http(_Part, kw_only=True):
    host: str = "127.0.0.1"
    port: int = 8090
    tokens: dict[Name, HttpToken]
    """Who calls: a user's name, and the variable that holds the token."""
    wait: Seconds = 300
    """After so many seconds, `chat` answers 202: ask again under the same Idempotency-Key."""


class Telegram(_Part, kw_only=True):
    token_env: str
    users: dict[str, Name]
    """The Telegram ids that are answered, and whose they are."""
    base_url: str = "https://api.telegram.org/bot"
    file_url: str = "https://api.telegram.org/file/bot"
    poll: Annotated[int, Meta(ge=0, le=60)] = 25
    debounce: Seconds = 1.0


class Cli(_Part, kw_only=True):
    user: Name = "owner"


class Channels(_Part, kw_only=True):
    http: Http | None = None
    telegram: Telegram | None = None
    cli: Cli = field(default_factory=Cli)


class Settings(_Part, kw_only=True):
    name: Name
    """The agent's name in Scrubjay. Its sessions and memories belong to it."""
    model: Model
    prompt: Prompt = field(default_factory=Prompt)
    tools: Tools = field(default_factory=Tools)
    subagents: SubAgents = field(default_factory=SubAgents)
    channels: Channels = field(default_factory=Channels)
    workspace: str | None = None
    """The folder that files and shell commands are confined to. Without one, there are no such tools."""
    skills: str | None = None
    """A folder with a folder for each skill, which holds SKILL.md."""
    turns: Count = 50
    parallel: Count = 8
    """How many conversations are answered at once."""
    silent: list[str] = field(default_factory=lambda: ["NO_REPLY", "HEARTBEAT_OK"])
    """An answer that is one of these is not sent."""
    compaction_tokens: Annotated[int, Meta(ge=500)] = 150_000
    compaction_model: str | None = None
    """What writes summaries. By default Scrubjay extracts them."""


def read(path: Path) -> Settings:
    """Raises SettingsError."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Settings)
    except (OSError, msgspec.MsgspecError, ValueError) as error:
        raise SettingsError(f"{path}: {error}") from error


def secret(name: str) -> str:
    """Raises SettingsError where the environment lacks it."""
    value = os.environ.get(name, "")
    if not value:
        raise SettingsError(f"the environment has no {name}")
    return value
