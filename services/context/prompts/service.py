"""Puts a prompt together: its stable parts, and the context that is assembled for it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from services.context.assembly.schemas import Assembly
from services.context.assembly.service import Assembler
from services.context.prompts.documents import Documents
from services.context.prompts.schemas import (
    BlockInput,
    Prompt,
    PromptInput,
    PromptPart,
    Stability,
)
from services.context.prompts.shapes import for_anthropic, for_openai
from services.context.prompts.tiers import Named, Packed, followed, frame_of, held, packed, tier_of
from shared.auth import Principal
from shared.deadline import READ_SECONDS, Deadline
from shared.tokens import CHARACTERS_PER_TOKEN

# The share of the time left for the documents. The rest is for the context.
_DOCUMENTS_SHARE = 0.4


class Prompts:
    def __init__(self, documents: Documents, assembler: Assembler) -> None:
        self._documents = documents
        self._assembler = assembler

    async def build(
        self, principal: Principal, request: PromptInput, deadline: Deadline, request_id: str
    ) -> Prompt:
        """Raises Forbidden where the context may not be assembled for this key."""
        tier = tier_of(request)
        blocks = held(request, tier)
        budgets: dict[Stability, int] = {
            "stable": request.stable_tokens,
            "semi_stable": request.semi_stable_tokens,
            "dynamic": request.dynamic_tokens,
        }
        # One more than can be needed, which tells that there is more.
        characters = max(budgets.values()) * CHARACTERS_PER_TOKEN + 1
        patience = Deadline(min(deadline.left(), READ_SECONDS) * _DOCUMENTS_SHARE)
        read = await self._documents.read(principal, blocks, characters, patience, request_id)
        parts = [packed(name, _of(name, blocks, read.blocks), tokens) for name, tokens in budgets.items()]
        frame = frame_of(request)
        assembly = await self._assemble(principal, request, parts, frame, deadline, request_id)
        context = None if assembly is None else assembly.context_block
        tiers = [part.tier for part in parts]
        tiers[-1] = followed(tiers[-1], [frame], context)
        degraded = [*read.degraded, *(assembly.degraded if assembly is not None else ())]
        return _shaped(
            request,
            Prompt(
                tier=tier,
                blocks=tiers,
                parts=_in_order(blocks, parts),
                total_tokens=sum(each.tokens for each in tiers),
                degraded=degraded,
                assembly=assembly,
            ),
        )

    async def _assemble(
        self,
        principal: Principal,
        request: PromptInput,
        parts: Sequence[Packed],
        frame: str | None,
        deadline: Deadline,
        request_id: str,
    ) -> Assembly | None:
        if request.context is None:
            return None
        # The headers of the context end in what no other text of the prompt holds.
        besides = [*(part.tier.text for part in parts), frame or ""]
        return await self._assembler.assemble(
            principal, request.context, deadline, request_id, besides=besides
        )


def _of(stability: Stability, blocks: Sequence[BlockInput], read: Sequence[Named]) -> list[Named]:
    return [named for block, named in zip(blocks, read, strict=True) if block.stability == stability]


def _in_order(blocks: Sequence[BlockInput], packed: Sequence[Packed]) -> list[PromptPart]:
    by_name = {part.name: part for each in packed for part in each.parts}
    return [by_name[block.name] for block in blocks]


def _shaped(request: PromptInput, prompt: Prompt) -> Prompt:
    if request.format == "anthropic":
        return msgspec.structs.replace(prompt, system=for_anthropic(prompt.blocks, request.stable_ttl))
    if request.format == "openai":
        return msgspec.structs.replace(prompt, messages=for_openai(prompt.blocks))
    return prompt
