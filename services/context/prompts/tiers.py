"""The parts of a prompt: which blocks they hold, and their bytes. Pure.

The stable and the semi-stable part depend on nothing but their blocks' contents: no time, no count, and no nonce but
one that follows from these contents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from services.context.prompts.schemas import (
    FULL,
    OPERATIONAL,
    BlockInput,
    PromptInput,
    PromptPart,
    PromptTier,
    Stability,
)
from shared.packing import shorten
from shared.render import quoted, steady_nonce
from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens, within

_CUT_MARK = " […]"
_BETWEEN = "\n\n"
# A smaller beginning of a block says too little, unless it has so many characters.
_LEAST_SHARE = 1 / 3
_LEAST_CHARACTERS = 80
_TIERS: Mapping[str, str] = {"system": OPERATIONAL}
"""The tiers of sources that have one of their own."""
_FRAMES: Mapping[str, str] = {
    "system": "This session is automated infrastructure: nobody reads the replies.",
    "http": "This session is an integration over HTTP: the reply is returned as the HTTP response.",
}
"""What the dynamic part says of a source."""


class Document(NamedTuple):
    """What a block holds. One without `handle` needs no fence: an operator or the caller wrote it."""

    text: str
    handle: str | None = None
    words: Sequence[str] = ()
    """For the header: what kind of text it is, and who wrote it."""
    missing: str | None = None
    """Why there is no text."""


class Named(NamedTuple):
    """A block of the prompt, with what it holds."""

    name: str
    document: Document


def tier_of(request: PromptInput) -> str:
    """The seed's: the message names its tier, or else its source has one."""
    if request.tier is not None:
        return request.tier
    source = request.source or ""
    override = request.sources.get(source)
    if override is not None and override.tier is not None:
        return override.tier
    return _TIERS.get(source, FULL)


def frame_of(request: PromptInput) -> str | None:
    """What kind of session it is."""
    source = request.source or ""
    override = request.sources.get(source)
    if override is not None and override.text is not None:
        return override.text
    return _FRAMES.get(source)


def held(request: PromptInput, tier: str) -> list[BlockInput]:
    """The blocks of a tier, in the order of the request, so that two tiers begin alike as far as they can."""
    listed: Collection[str] = request.tiers.get(tier, ())
    whole = tier == FULL and FULL not in request.tiers
    return [
        block for block in request.blocks if block.stability == "dynamic" or whole or block.name in listed
    ]


class Packed(NamedTuple):
    tier: PromptTier
    parts: list[PromptPart]


def packed(stability: Stability, blocks: Sequence[Named], tokens: int) -> Packed:
    """The bytes of a part of the prompt. What does not fit is cut or left out; what follows may still fit."""
    nonce = steady_nonce([block.document.text for block in blocks])
    pieces = [_Piece(block, stability, nonce) for block in blocks]
    for piece in pieces:
        piece.fit(tokens)
        tokens -= piece.part.tokens
    texts = [piece.rendered for piece in pieces if piece.rendered]
    parts = [piece.part for piece in pieces]
    return Packed(_tier(stability, texts, all(part.outcome == "whole" for part in parts)), parts)


def followed(tier: PromptTier, before: Iterable[str | None], after: str | None) -> PromptTier:
    """The tier with more text around it."""
    return _tier(tier.stability, [*before, tier.text, after], tier.complete)


def _tier(stability: Stability, texts: Iterable[str | None], complete: bool) -> PromptTier:
    text = _BETWEEN.join(filter(None, texts))
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return PromptTier(stability, text, sha256, estimate_tokens(text), complete)


class _Piece:
    """A block while its part of the prompt is filled."""

    def __init__(self, block: Named, stability: Stability, nonce: str) -> None:
        self._document = block.document
        self._nonce = nonce
        self.rendered = ""
        self.part = PromptPart(block.name, stability, "left_out", 0, reason=block.document.missing)

    def fit(self, tokens: int) -> None:
        """Takes as much of it as `tokens` hold."""
        if self._document.missing is not None or self._take(self._document.text, "whole", tokens):
            return
        self.part.reason = "budget"
        for text in self._beginnings(tokens):
            if self._take(text, "cut", tokens):
                return

    def _take(self, text: str, outcome: Literal["whole", "cut"], most: int) -> bool:
        rendered = self._render(text)
        tokens = estimate_tokens(rendered + _BETWEEN)
        if tokens > most:
            return False
        self.rendered = rendered
        self.part.outcome, self.part.tokens = outcome, tokens
        self.part.fenced = self._document.handle is not None
        return True

    def _render(self, text: str) -> str:
        document = self._document
        if document.handle is None:
            return text
        return quoted(document.handle, document.words, text, self._nonce)

    def _beginnings(self, tokens: int) -> Iterator[str]:
        """Ever shorter ones, as long as they say enough."""
        text = self._document.text
        least = min(_LEAST_CHARACTERS, int(_LEAST_SHARE * len(text)))
        over = estimate_tokens(self._render(_CUT_MARK) + _BETWEEN)
        while tokens > over:
            characters = min(within(text, (tokens - over) * CHARACTERS_PER_TOKEN), len(text) - 1)
            if characters < least:
                return
            yield shorten(text, characters) + _CUT_MARK
            over += max(1, tokens // 20)
