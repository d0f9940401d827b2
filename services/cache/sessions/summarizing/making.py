"""Texts to the columns of their summaries, without a model. Pure."""

from __future__ import annotations

from typing import NamedTuple

from services.cache.sessions.paging.summaries import Summaries, summarize
from services.cache.sessions.summarizing.queries import Made
from shared.concurrency.cpu import Endless


class Text(NamedTuple):
    content: str
    path: str | None


def make(text: Text, *, parsed: bool = True) -> Made | None:
    """None for a text that cannot be summarized: an error in one does not stop the others. Raises Endless."""
    try:
        return made(summarize(text.content, text.path, parsed=parsed))
    except Endless:
        raise
    except Exception:
        return None


def made(summaries: Summaries) -> Made:
    detailed, compact = summaries.detailed, summaries.compact
    return Made(
        summary_detailed=detailed and detailed.text,
        summary_compact=compact and compact.text,
        losses_l1=[*detailed.losses] if detailed else [],
        losses_l2=[*compact.losses] if compact else [],
        can_answer_l1=[*detailed.can_answer] if detailed else [],
        can_answer_l2=[*compact.can_answer] if compact else [],
        key_entities=[*summaries.key_entities],
        tokens_l1=detailed and detailed.tokens,
        tokens_l2=compact and compact.tokens,
    )
