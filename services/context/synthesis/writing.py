"""Has the helper model write a block anew, in a style. Whatever goes wrong, the block itself serves."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Any, Literal, NamedTuple

from services.context.synthesis.checking import (
    MOST,
    SentencesFields,
    Synthesized,
    checked,
    evidence,
    rendered,
)
from shared.llm import Helper, HelperUnavailable, prompts
from shared.render import Fence, render_item

Style = Literal["structured", "narrative", "factual"]
VERSIONS = {"narrative": "narrative_v1", "factual": "factual_v1"}
"""The files that say what the model is asked."""
NO_MODEL, LATE, UNCITED = "no model", "timeout", "uncited"

_TEXT = {"type": "string"}
_SENTENCE = {
    "type": "object",
    "properties": {"text": _TEXT, "cites": {"type": "array", "items": _TEXT}},
    "required": ["text", "cites"],
    "additionalProperties": False,
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sentences": {"type": "array", "items": _SENTENCE}},
    "required": ["sentences"],
    "additionalProperties": False,
}
# What fields and handles take beside the sentences.
_FORM_TOKENS = 500
_FORM_SHARE = 2
# The least tokens that are worth a call.
_LEAST_TOKENS = 60


class NotWritten(Exception):
    """`reason` is a metric label."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Wish(NamedTuple):
    """A block that is to be written anew. No text of it, and not the question, holds the fence's nonce."""

    style: Style
    question: str
    block: str
    fence: Fence
    tokens: int
    """The most tokens of what is written."""
    tenant: str


class Synthesis:
    def __init__(self, helper: Helper | None) -> None:
        self._helper = helper

    @property
    def model(self) -> str | None:
        return None if self._helper is None else self._helper.model

    async def write(self, wish: Wish, seconds: float) -> Synthesized:
        """Raises NotWritten with the reason."""
        if self._helper is None:
            raise NotWritten(NO_MODEL)
        if seconds <= 0 or wish.tokens < _LEAST_TOKENS:
            raise NotWritten(LATE if seconds <= 0 else "budget")
        try:
            async with asyncio.timeout(seconds):
                given = await self._ask(self._helper, wish)
        except TimeoutError as error:
            raise NotWritten(LATE) from error
        except HelperUnavailable as error:
            raise NotWritten(LATE if error.reason == "slow" else error.reason.replace("_", " ")) from error
        sentences = given.sentences[:MOST]
        kept = checked(sentences, evidence(wish.block, wish.fence.nonce), wish.fence.nonce)
        for sentence in kept:
            sentence.text = prompts.scrubbed(sentence.text)
        made = rendered(kept, wish.style, wish.fence, wish.tokens)
        if made is None:
            raise NotWritten(UNCITED)
        return made._replace(dropped=made.dropped + len(sentences) - len(kept))

    async def _ask(self, helper: Helper, wish: Wish) -> SentencesFields:
        question = render_item("question:1", wish.fence.now, [], prompts.scrubbed(wish.question), wish.fence)
        return await helper.report(
            "synthesis",
            rules_of(wish.style).format(nonce=wish.fence.nonce, tokens=wish.tokens),
            f"{prompts.scrubbed(wish.block)}\n{question}",
            _SCHEMA,
            SentencesFields,
            _FORM_SHARE * wish.tokens + _FORM_TOKENS,
            tenant=wish.tenant,
        )


@functools.cache
def rules_of(style: str) -> str:
    return Path(__file__).with_name(f"{VERSIONS[style]}.md").read_text()
