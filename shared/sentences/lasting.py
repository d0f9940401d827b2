"""Which texts are a preference, a promise with a date, or an account of what happened. Pure.

The rules take only what clearly is such a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from shared.sentences.due import due

_SENTENCE = re.compile(r"[^.!?\n]+")
_PREFERS = re.compile(
    r"\A\s*+(?:please,? |and |but |also,? |by the way,? )?"
    r"(?:I(?: would| really| generally| usually| always|'d)? (?:prefer|rather)\b"
    r"|I(?: am|'m) (?:allergic to|vegetarian|vegan)\b"
    r"|my (?:favou?rite|preferred) \w+(?: \w+)? (?:is|are)\b"
    r"|(?:please )?(?:always )?(?:call|address) me (?!back|when|if|at|on|later|tomorrow)\w)",
    re.I,
)
_PROMISES = re.compile(r"\bI(?:'ll| will| shall| promise to| commit to)\b(?! (?:not|never|be able)\b)", re.I)
_TELLS = re.compile(
    r"\A\s*+#{0,3} ?(?:(?:session|meeting|call|conversation|incident|sprint|daily|weekly) "
    r"(?:summary|recap|notes|minutes|report|retrospective)|summary of (?:the |our |today's )?(?:session|meeting|call"
    r"|conversation|incident)|post-?mortem|recap)\b",
    re.I,
)


def tells(text: str) -> bool:
    """Whether its beginning calls it a summary, a recap or the like."""
    return _TELLS.search(text) is not None


def is_preference(text: str) -> bool:
    return any(_PREFERS.search(sentence) for sentence in _sentences(text))


def promised(text: str, said: datetime) -> Iterator[datetime]:
    """When each promise with a date is due. A promise counts with the one date that its sentence names."""
    for sentence in _sentences(text):
        if _PROMISES.search(sentence) and (at := due(sentence, said)) is not None:
            yield at


def _sentences(text: str) -> Iterator[str]:
    return (match[0].strip() for match in _SENTENCE.finditer(text))
