"""The neutral format of messages: a role, and blocks that no provider's format is needed to read.

An image reaches a model with the request that carries it. The trail keeps its hash and its size, never its bytes.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, field

from shared.body import Body
from shared.provenance import NOT_PAST, lies_ahead
from shared.text import Name
from shared.tokens import estimate_tokens, estimate_tokens_of

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["message", "tool_call", "tool_result", "compaction", "reset"]
MAX_TEXT = 1_048_576
BlockText = Annotated[str, Meta(max_length=MAX_TEXT)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]

_TEXT_OR_CONTENT = "give either content or text"
_EMPTY = "must not be empty"
_NOT_BASE64 = "must be base64"
_NO_IMAGE = "an image needs data, or the sha256 of data that was sent before"


class TextBlock(Body, tag="text", tag_field="type", kw_only=True):
    text: BlockText
    """What is said."""


class ToolUse(Body, tag="tool_use", tag_field="type", kw_only=True):
    """A call of a tool by the assistant."""

    id: Name
    """Its result names it."""
    name: Name
    input: dict[str, Any] = field(default_factory=dict)


class ToolResult(Body, tag="tool_result", tag_field="type", kw_only=True):
    tool_use_id: Name
    """The call that it answers."""
    content: BlockText = ""
    is_error: bool = False


class ImageBlock(Body, tag="image", tag_field="type", kw_only=True):
    """An image. Answers hold its hash and size in place of `data`."""

    media_type: Annotated[str, Meta(min_length=1, max_length=100)]
    data: str | None = None
    """In base64. It is not stored."""
    sha256: Sha256 | None = None
    bytes: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.data is None and self.sha256 is None:
            yield "data", _NO_IMAGE
        elif self.data is not None and _decoded(self.data) is None:
            yield "data", _NOT_BASE64


Block: TypeAlias = TextBlock | ToolUse | ToolResult | ImageBlock


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


class MessageInput(Body, kw_only=True):
    """A message of the conversation. `text` is short for content that is one text."""

    role: Role
    content: Annotated[list[Block], Meta(min_length=1, max_length=200)] | BlockText | None = None
    """A text, or a list of blocks: text, tool_use, tool_result and image."""
    text: BlockText | None = None
    """In place of `content`."""
    occurred_at: datetime | None = None
    """When it was said, by default now. A time without an offset is UTC."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if (self.content is None) == (self.text is None):
            yield "content", _TEXT_OR_CONTENT
        elif not (self.content or self.text):
            yield "content", _EMPTY
        if lies_ahead(self.occurred_at):
            yield "occurred_at", NOT_PAST

    @property
    def blocks(self) -> list[Block]:
        """As they are stored."""
        content = self.text if self.content is None else self.content
        if isinstance(content, str):
            return [TextBlock(text=content)]
        return [_without_bytes(block) for block in content or []]


def _without_bytes(block: Block) -> Block:
    if not isinstance(block, ImageBlock) or block.data is None:
        return block
    data = _decoded(block.data) or b""
    return ImageBlock(media_type=block.media_type, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def kind_of(blocks: Sequence[Block]) -> Kind:
    """What its event is called. A message that says something and calls a tool is a call."""
    if any(isinstance(block, ToolUse) for block in blocks):
        return "tool_call"
    return "tool_result" if any(isinstance(block, ToolResult) for block in blocks) else "message"


def tokens_of(blocks: Sequence[Block]) -> int:
    """An image counts as its note, since its bytes are not kept."""
    return sum(_tokens(block) for block in blocks)


def _tokens(block: Block) -> int:
    if isinstance(block, TextBlock):
        return estimate_tokens(block.text)
    if isinstance(block, ToolResult):
        return estimate_tokens(block.content)
    if isinstance(block, ToolUse):
        return estimate_tokens_of([block.name, block.input])
    return estimate_tokens_of([block.media_type, block.sha256])


def brief(blocks: Sequence[Block]) -> list[Block]:
    """What was said: the texts, and that there were images."""
    return [block for block in blocks if isinstance(block, TextBlock | ImageBlock)]


_BLOCKS = list[Block]


def read_blocks(content: Any) -> list[Block]:
    return msgspec.convert(content, _BLOCKS)
