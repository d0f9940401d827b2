"""Gives a block the style that was asked for, where the helper model writes it in time."""

from __future__ import annotations

from services.context.assembly.asking import Ask
from services.context.assembly.schemas import Assembly, SynthesisOfBlock
from services.context.schemas import Degraded
from services.context.synthesis.writing import VERSIONS, NotWritten, Synthesis, Wish
from shared.deadline import Deadline
from shared.render import Fence

SOURCE = "synthesis"
# Seconds kept for the answer and the log.
_REST_SECONDS = 0.5
_REST_SHARE = 0.2


async def styled(
    synthesis: Synthesis, ask: Ask, assembly: Assembly, fence: Fence, deadline: Deadline
) -> str | None:
    """Replaces the assembly's block, and answers what was written. None: the block stays as it is."""
    style = ask.request.style
    if style == "structured":
        return None
    assembly.synthesis = SynthesisOfBlock(style, "structured")
    if not assembly.context_block:
        return None
    wish = Wish(
        style, ask.request.query, assembly.context_block, fence, ask.budget.tokens, ask.principal.tenant
    )
    left = deadline.left()
    try:
        made = await synthesis.write(wish, left - min(_REST_SECONDS, _REST_SHARE * left))
    except NotWritten as error:
        assembly.degraded.append(Degraded(SOURCE, error.reason))
        return None
    assembly.context_block, assembly.total_tokens = made.block, made.tokens
    assembly.synthesis = SynthesisOfBlock(
        asked=style,
        style=style,
        model=synthesis.model,
        prompt=VERSIONS[style],
        tokens=made.tokens,
        cited=made.cited,
        dropped=made.dropped,
    )
    return made.text
