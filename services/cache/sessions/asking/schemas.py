"""Request and response bodies of questions and goals."""

from __future__ import annotations

from uuid import UUID

import msgspec

from services.cache.sessions.objects.schemas import ObjectType
from services.cache.sessions.paging.fidelity import Fidelity
from shared.body import Body
from shared.text import Query, ShortText


class QuestionInput(Body, kw_only=True):
    """A question about what the session holds, whole or not."""

    question: Query
    """Names as they are written in the text help most: of functions, files, errors."""
    object_id: UUID | None = None
    """Ask this object only."""


class MicroFault(msgspec.Struct, kw_only=True):
    """The lines that answer. Their object stays as it is: bringing it back would take more tokens."""

    answer: str | None
    """Null: nothing that the session holds answers it."""
    model_answer: str | None = None
    """The same in a model's words, where the installation has one: `answer` is the lines that prove it."""
    object_id: UUID | None = None
    """The object that answers."""
    object_type: ObjectType | None = None
    source_key: str | None = None
    first_line: int | None = None
    """Where the answer begins in its source."""
    last_line: int | None = None
    """Where it ends."""
    current_fidelity: Fidelity | None = None
    """How much of the object the context shows."""
    answer_tokens: int = 0
    """Tokens of the answer."""
    avoided_tokens: int = 0
    """Tokens that bringing the object back would have taken beyond the answer."""
    recorded: bool = False
    """It stands in the session's faults. A key that may not change the session asks without a trace."""


class GoalInput(Body, kw_only=True):
    goal: ShortText | None = None
    """What the agent works towards now; none ends the goal."""


class GoalSet(msgspec.Struct):
    goal: str | None
    """What the agent works towards now."""
    raised: list[UUID]
    """Objects about the goal that came up whole, because the budget allows it."""
    kept: list[UUID]
    """Objects about the goal that are whole already. They count as used in this turn."""
