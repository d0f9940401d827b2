"""Request and response bodies of prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from services.context.assembly.schemas import AssembleContextInput, Assembly, LinkPath
from services.context.schemas import Degraded
from shared.body import Body
from shared.text import AnyContent, AnyShortText, Name

Stability = Literal["stable", "semi_stable", "dynamic"]
Format = Literal["neutral", "anthropic", "openai"]
TierTokens = Annotated[int, Meta(ge=1, le=200_000)]
Handle = Annotated[str, Meta(min_length=3, max_length=1_000, pattern=r"^[a-z_]+:\S+$")]

FULL, OPERATIONAL = "full", "operational"


class BlockInput(Body, kw_only=True):
    """A part of the prompt. Exactly one of `text`, `path` and `handle` says what it holds."""

    name: Name
    """Its name, unique in the prompt."""
    stability: Stability
    """The part of the prompt that it belongs to: `stable` for what hardly ever changes, `semi_stable` for what changes
    now and then, `dynamic` for what changes with each turn."""
    text: AnyContent | None = None
    """The caller's own words. They stand in the prompt as they are."""
    path: LinkPath | None = None
    """A file of the tenant's vault."""
    handle: Handle | None = None
    """A document behind a handle: `memory:…`, `profile:…`, `vault:…` and others."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if sum(value is not None for value in (self.text, self.path, self.handle)) != 1:
            yield "text", "give exactly one of `text`, `path` and `handle`"


class SourceInput(Body, kw_only=True):
    """What differs for messages of one source."""

    tier: Name | None = None
    """The tier of its messages."""
    text: AnyShortText | None = None
    """What the dynamic part says first: what kind of session it is."""


class PromptInput(Body, kw_only=True):
    blocks: Annotated[list[BlockInput], Meta(max_length=50)] = field(default_factory=list)
    """The parts of the prompt, in their order. At most 20 of them are files, and 20 are behind handles."""
    tiers: Annotated[dict[Name, Annotated[list[Name], Meta(max_length=50)]], Meta(max_length=50)] = field(
        default_factory=dict
    )
    """Names of tiers, with the names of the stable and semi-stable blocks that each one holds. `full` holds all of them
    unless it is listed here, and any other tier that is not listed holds none. Every tier has the dynamic blocks."""
    tier: Name | None = None
    """The tier of this message. Left out, its source decides: `operational` for `system`, `full` for others."""
    source: Name | None = None
    """Where the message is from, such as `user`, `system`, `http` or `telegram`. The dynamic part says what kind of
    session `system` and `http` are."""
    sources: Annotated[dict[Name, SourceInput], Meta(max_length=50)] = field(default_factory=dict)
    """What differs for messages of some sources, by the source's name."""
    context: AssembleContextInput | None = None
    """What to assemble for the dynamic part, as for `POST /api/context/assemble`."""
    stable_tokens: TierTokens = 16_000
    """The most tokens of the stable part."""
    semi_stable_tokens: TierTokens = 16_000
    """The most tokens of the semi-stable part."""
    dynamic_tokens: TierTokens = 16_000
    """The most tokens of the dynamic part's blocks. The assembled context has a budget of its own."""
    format: Format = "neutral"
    """`anthropic` and `openai`: the answer also holds the prompt in the shape that this API takes."""
    stable_ttl: Literal["5m", "1h"] = "1h"
    """With `anthropic`, how long the stable part is cached. The semi-stable one always is for five minutes."""

    def checks(self) -> Iterator[tuple[str, str]]:
        # A body that is refused comes as it was sent.
        blocks = msgspec.convert(self.blocks, list[BlockInput])
        names = Counter(block.name for block in blocks)
        for place, block in enumerate(blocks):
            if names[block.name] > 1:
                yield f"blocks[{place}].name", "names more than one block"
        for kind in ("path", "handle"):
            if sum(getattr(block, kind) is not None for block in blocks) > _MOST_DOCUMENTS:
                yield "blocks", f"at most {_MOST_DOCUMENTS} of them may have a {kind}"
        fixed = {block.name for block in blocks if block.stability != "dynamic"}
        for tier, listed in self.tiers.items():
            for place, name in enumerate(listed):
                if name not in fixed:
                    yield f"tiers.{tier}[{place}]", _unlisted(name, names)


_MOST_DOCUMENTS = 20


def _unlisted(name: str, names: Counter[str]) -> str:
    return "is dynamic: every tier holds it" if name in names else "names no block"


class PromptTier(msgspec.Struct):
    """One part of the prompt. It is empty where it holds nothing."""

    stability: Stability
    """Which part it is."""
    text: str
    """Its words. The same blocks with the same contents make the same bytes, except for what is assembled."""
    sha256: str
    """Of the bytes of the text in UTF-8."""
    tokens: int
    """Estimated tokens of the text."""
    complete: bool
    """False: a block is cut or left out, as `parts` say."""


class PromptPart(msgspec.Struct, omit_defaults=True):
    """What became of a block."""

    name: str
    stability: Stability
    """The part of the prompt that it belongs to."""
    outcome: Literal["whole", "cut", "left_out"]
    """What of it is in the prompt."""
    tokens: int
    """Estimated tokens of it in the prompt."""
    fenced: bool = False
    """It stands under a header `[handle kind author nonce]`, because agents or users may have written it. The nonce
    changes only with the contents of its part of the prompt."""
    reason: str | None = None
    """Why it is not whole, such as `budget`, `not found` or `agent_memory timeout`."""


class CacheControl(msgspec.Struct, omit_defaults=True):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"]
    """How long the provider keeps it."""


class AnthropicBlock(msgspec.Struct, omit_defaults=True):
    """A block of `system` in Anthropic's Messages API."""

    type: Literal["text"]
    text: str
    """A part of the prompt."""
    cache_control: CacheControl | msgspec.UnsetType = msgspec.UNSET
    """The prompt up to here is cached. A prompt has at most two of these; the API takes four."""


class OpenAIMessage(msgspec.Struct):
    """A message of OpenAI's chat completions."""

    role: Literal["system"]
    content: str
    """The parts in their order, with a blank line between them."""


class Prompt(msgspec.Struct):
    tier: str
    """The tier that was chosen."""
    blocks: list[PromptTier]
    """The parts of the prompt: stable, semi-stable, dynamic."""
    parts: list[PromptPart]
    """What became of each block, in the order of the request. Blocks that the tier does not hold are not listed."""
    total_tokens: int
    """Tokens of the prompt."""
    degraded: list[Degraded]
    """Documents that could not be read, and what was missing when the context was assembled."""
    assembly: Assembly | None
    """The assembled context, which ends the dynamic part. Null: none was asked for."""
    system: list[AnthropicBlock] | msgspec.UnsetType = msgspec.UNSET
    """Only with the format `anthropic`."""
    messages: list[OpenAIMessage] | msgspec.UnsetType = msgspec.UNSET
    """Only with the format `openai`."""
