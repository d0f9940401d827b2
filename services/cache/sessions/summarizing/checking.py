"""Whether a model's summary is as long as it should be, and says the truth of itself. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from services.cache.sessions.summarizing.queries import Made
from shared.llm import Written
from shared.llm.prompts import Shortened
from shared.search import code
from shared.tokens import estimate_tokens

# Shares of the text's tokens.
_DETAILED = (0.15, 0.40)
_COMPACT = (0.02, 0.08)
_MOST_LISTED = 20
_LONGEST_NAME = 200


def checked(written: Written, text: str, plain: Made) -> Made | None:
    """None where it is too long or short, names what the text has not, or is wrong about what it kept or lost.

    `plain` are the summaries without a model: what they know of the text's names is added to the losses.
    """
    detailed, compact = written.detailed, written.compact
    names = plain.key_entities
    if not (_is_true(detailed, text, _DETAILED) and _is_true(compact, text, _COMPACT)):
        return None
    return Made(
        summary_detailed=detailed.text,
        summary_compact=compact.text,
        losses_l1=_losses(detailed, text, names),
        losses_l2=_losses(compact, detailed.text, names),
        can_answer_l1=_listed(detailed.can_answer),
        can_answer_l2=_listed(compact.can_answer),
        key_entities=_listed([*(name for name in written.key_entities if name in text), *names]),
        tokens_l1=estimate_tokens(detailed.text),
        tokens_l2=estimate_tokens(compact.text),
    )


def _is_true(short: Shortened, text: str, shares: tuple[float, float]) -> bool:
    least, most = shares
    whole, lower = text.lower(), short.text.lower()
    return (
        least <= estimate_tokens(short.text) / max(1, estimate_tokens(text)) <= most
        and all(name and name in short.text and name in text for name in short.can_answer)
        and not any(loss.strip().lower() in lower for loss in short.losses)
        and all(name.lower() in whole for name in code.names(short.text))
    )


def _losses(short: Shortened, above: str, names: Sequence[str]) -> list[str]:
    """Of what the level above has, what the model and its names say this has not."""
    lower, lower_above = short.text.lower(), above.lower()
    return _listed(
        [
            name
            for name in (*short.losses, *names)
            if name.lower() in lower_above and name.lower() not in lower
        ]
    )


def _listed(names: Sequence[str]) -> list[str]:
    return [*dict.fromkeys(name for name in names if name.strip() and len(name) <= _LONGEST_NAME)][
        :_MOST_LISTED
    ]
