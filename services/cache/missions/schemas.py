from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import Language, Name, TtlHours

ClearReason = Literal["mission_complete", "superseded", "contaminated", "operator"]


class ClearInput(Body, kw_only=True):
    reason: ClearReason


class ClearResult(msgspec.Struct):
    deleted_count: int
    freed_tokens: int


class ClearAnswer(msgspec.Struct):
    data: ClearResult


class CacheStats(msgspec.Struct):
    mission_id: str
    total_tokens: int
    entry_count: int
    token_budget: int
    entry_budget: int
    ttl_hours: float
    by_type: dict[str, int]
    """Entries by type."""
    tokens_by_type: dict[str, int]
    """Tokens by type."""
    by_agent: dict[str, int]
    """Entries by agent."""
    written_count: int
    """Entries ever written."""
    evicted_count: int
    """Entries evicted for newer ones."""
    expired_count: int
    """Entries that expired."""
    cleared_count: int
    """Entries that were cleared or deleted."""
    unindexed_count: int
    """Entries that wait for their vectors."""
    created_at: datetime
    last_write_at: datetime
    oldest_at: datetime | None
    """When its oldest entry was stored."""
    newest_at: datetime | None
    """When its newest entry was stored."""
    next_expiry: datetime | None
    """When the next entry expires."""
    vectors_expected_at: datetime | None = None
    """When the unindexed entries are expected to have vectors. It is missing while none are made."""


class StatsAnswer(msgspec.Struct):
    data: CacheStats


class Mission(msgspec.Struct):
    mission_id: str
    total_tokens: int
    entry_count: int
    token_budget: int
    entry_budget: int
    written_count: int
    """Entries that were ever written to it."""
    evicted_count: int
    created_at: datetime
    last_write_at: datetime


class MissionsAnswer(Page[Mission]):
    """A page of missions, by name."""


class MissionCursor(Cursor, tag="missions"):
    mission_id: Name


class MissionLimits(Body, kw_only=True):
    """Null means the installation's default."""

    token_budget: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    """The most tokens that the mission may hold."""
    entry_budget: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """The most entries that it may hold."""
    ttl_hours: TtlHours | None = None
    """How long an entry lives by default."""


LimitOrigin = Literal["mission", "installation"]


class LimitOrigins(msgspec.Struct):
    """Whether the mission has the limit of its own, or the installation's default holds."""

    token_budget: LimitOrigin
    entry_budget: LimitOrigin
    ttl_hours: LimitOrigin


class LimitsInForce(msgspec.Struct):
    mission_id: str
    token_budget: int
    entry_budget: int
    ttl_hours: float
    """How long an entry lives that names no time to live."""
    origins: LimitOrigins
    """Where each limit comes from."""


class LimitsAnswer(msgspec.Struct):
    data: LimitsInForce


class ChangedLimits(LimitsInForce):
    evicted_count: int
    """Entries that went, so that the new limits hold; in a dry run, those that would go."""
    dry_run: bool
    """Nothing was changed: the answer is what would be."""


class ChangedLimitsAnswer(msgspec.Struct):
    data: ChangedLimits


class MissionLanguageInput(Body, kw_only=True):
    language: Annotated[
        Language | None,
        Meta(description="The language of the mission's texts. Without one, the tenant's holds again."),
    ] = None


class MissionLanguage(msgspec.Struct):
    """The language of a mission's texts and of questions about it, where neither they nor their writer tells it."""

    mission_id: str
    language: Language | None
    """As ISO 639-1 names it; null where the tenant's holds."""


class MissionLanguageAnswer(msgspec.Struct):
    data: MissionLanguage


class LanguagesInput(Body, kw_only=True):
    missions: Annotated[list[Name], Meta(max_length=200)]


class MissionLanguages(msgspec.Struct, frozen=True):
    languages: dict[str, Language]
    """By mission, of those that have one."""
    any: bool
    """Whether any mission of the tenant has one."""
