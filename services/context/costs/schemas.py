"""Costs as callers report and read them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.bindings import OwnAgent, OwnMission
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import BigId, Name, mission_problem

By = Literal["agent", "mission", "session", "model", "kind", "key", "service", "day"]
Period = Literal["day", "month", "all"]
Count = Annotated[int, Meta(ge=0, le=10**12)]
Usd = Annotated[str, Meta(pattern=r"^[0-9]{1,9}(\.[0-9]{1,12})?$", max_length=22)]
"""A decimal number: binary fractions do not add up."""


class CostInput(Body, kw_only=True):
    """One call of a model that the caller paid for."""

    model: Name
    """As the provider names it. A model without a price is counted in tokens alone."""
    kind: Annotated[str, Meta(min_length=1, max_length=50)] = "call"
    """What the call was for."""
    outcome: Literal["ok", "abandoned", "failed"] = "ok"
    """`abandoned`: the caller gave up on it, and the provider may count it. `failed`: the provider refused it."""
    agent_name: OwnAgent | None = None
    """The agent that made it."""
    mission_id: OwnMission | None = None
    """The mission that it was for."""
    session_id: Name | None = None
    """The session, as the caller names it."""
    input_tokens: Count = 0
    """What the provider read afresh: neither from its cache nor into it."""
    output_tokens: Count = 0
    """What the model wrote."""
    cache_read_tokens: Count = 0
    """What came from the provider's cache."""
    cache_write_tokens: Count = 0
    """What went into the provider's cache."""
    cost_usd: Usd | None = None
    """What it cost, where the caller knows better than the table of prices."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.mission_id is not None and (problem := mission_problem(self.mission_id)) is not None:
            yield "mission_id", problem


class CeilingState(msgspec.Struct):
    """How much is left under a ceiling."""

    subject: str
    """Whose calls it counts: `tenant`, `key:…` or `mission:…`."""
    period: str
    """Over what time: a UTC `day` or `month`, or `all`."""
    limit_usd: str
    """Once so much is spent, no further call is made."""
    spent_usd: str
    """With an estimate for calls that nobody knows the tokens of."""
    calls: int
    """How many calls."""
    unpriced_calls: int
    """Calls of models without a price. The ceiling cannot count them."""
    reached: bool
    """Further calls are not made."""


class RecordedCost(msgspec.Struct):
    """What was recorded."""

    id: int
    """The id of its row."""
    cost_usd: str | None
    """Null where the model has no price, or the tokens are not known."""
    ceilings: list[CeilingState]
    """Those that the call counts towards, as far as the key may know of them. Once one is reached, make no other."""


class Allowance(msgspec.Struct):
    """A call may be made."""

    ceilings: list[CeilingState]
    """Those that it would count towards, as far as the key may know of them."""


class Amount(msgspec.Struct):
    """What calls took together."""

    calls: int
    """How many calls."""
    input_tokens: int
    """What was read afresh: neither from the provider's cache nor into it."""
    output_tokens: int
    """What the model wrote."""
    cache_read_tokens: int
    """What came from the provider's cache."""
    cache_write_tokens: int
    """What went into the provider's cache."""
    cost_usd: str
    """An exact decimal number, of the calls whose cost is known."""
    unpriced_calls: int
    """Calls whose cost is not known: their model has no price, or nobody knows their tokens."""
    estimated_usd: str
    """What those of unknown tokens may have cost besides."""


class CostGroup(msgspec.Struct):
    """What the calls of one agent, mission, session, model, kind, key or service took."""

    name: str | None
    """The agent, mission, session, model, kind, key or service. Null: none."""
    today: Amount
    """Since midnight, in UTC."""
    week: Amount
    """In the last seven days, today included."""
    all: Amount
    """As long as rows are kept, 400 days."""


class Costs(Page[CostGroup]):
    """What calls cost: all together, and a page of groups by name."""

    today: Amount
    """Since midnight, in UTC."""
    week: Amount
    """In the last seven days, today included."""
    all: Amount
    """As long as rows are kept, 400 days."""
    unpriced_models: list[str]
    """Models without a price, at most twenty."""
    prices_as_of: str
    """The date of the table of prices."""


class CostRow(msgspec.Struct):
    """A call of a model."""

    id: int
    """Its id."""
    created_at: datetime
    """When the call ended."""
    service: str
    """The service that made the call, or `caller`."""
    kind: str
    """What it was for, such as summary, answer, query, document, rerank or probe."""
    model: str
    """As its provider names it, after `anthropic:`, `openai:` or `voyage:` for our own calls."""
    outcome: str
    """`ok`, `uncounted` (answered without counting tokens), `abandoned` or `failed`."""
    agent_name: str | None
    """The agent that it was made for."""
    mission_id: str | None
    """The mission that it was for."""
    session_id: str | None
    """The session that it was for, as callers name it."""
    key: str | None
    """Whose call it was."""
    input_tokens: int
    """What was read afresh: neither from the provider's cache nor into it."""
    output_tokens: int
    """What the model wrote."""
    cache_read_tokens: int
    """What came from the provider's cache."""
    cache_write_tokens: int
    """What went into the provider's cache."""
    cost_usd: str | None
    """Null where the model has no price, or the tokens are not known."""
    estimated_usd: str | None
    """What a call of unknown tokens may have cost."""


class CostRows(Page[CostRow]):
    """A page of calls, the newest first."""


class SessionCosts(msgspec.Struct):
    """What sessions of the gateway cost."""

    sessions: int
    """How many sessions."""
    calls: int
    """How many requests, with those that the gateway made itself."""
    usd_per_session: float | None
    """The mean. Null without a session whose model has a price."""
    deviation_usd: float | None
    """The standard deviation. Null with fewer than two sessions."""


class Savings(msgspec.Struct):
    """What paging saves, as far as sessions show it."""

    paged: SessionCosts
    """Those that were paged."""
    control: SessionCosts
    """The random share that was not."""
    saved: float | None
    """The share by which a paged session costs less; negative where it costs more. Null: too few sessions."""
    saved_low: float | None
    """The lower end of the interval that holds it with a probability of 95 %."""
    saved_high: float | None
    """The upper end."""


class CeilingInput(Body, kw_only=True):
    """A ceiling for the calls of a key, of a mission, or of the whole tenant."""

    key_id: BigId | None = None
    """The key, with all keys that it made."""
    mission_id: Name | None = None
    """The mission. With neither, the ceiling is the whole tenant's."""
    period: Period = "day"
    """Over what time, in UTC."""
    limit_usd: Usd
    """Once so much is spent, no further call is made. 0 allows none."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.key_id is not None and self.mission_id is not None:
            yield "mission_id", "cannot be combined with key_id"
        if self.mission_id is not None and (problem := mission_problem(self.mission_id)) is not None:
            yield "mission_id", problem


class Ceilings(Page[CeilingState]):
    """A page of the tenant's ceilings, by whose they are."""


class GroupCursor(Cursor, tag="costs"):
    name: str


class CostCursor(Cursor, tag="cost_rows"):
    at: datetime
    id: BigId


class CeilingCursor(Cursor, tag="ceilings"):
    subject: str
    period: str


def subject_of(key_id: int | None, mission: str | None) -> str:
    if key_id is not None:
        return f"key:{key_id}"
    return "tenant" if mission is None else f"mission:{mission}"
