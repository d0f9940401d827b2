"""Profiles as callers write and read them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from services.context.schemas import is_scope
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.provenance import SourceKind
from shared.text import Name, ShortText

ONE_SUBJECT = "exactly one of agent_name and user_id is needed"


def subjects(agent_name: str | None, user_id: str | None) -> list[str]:
    """The scopes of the subjects that a request names."""
    agents = [] if agent_name is None else [f"agent:{agent_name}"]
    return agents if user_id is None else [*agents, f"user:{user_id}"]


class ProfileInput(Body, kw_only=True):
    """The profile of an agent or of a user."""

    agent_name: Name | None = None
    """The agent that it describes."""
    user_id: Name | None = None
    """The user that it describes. A purge of the user erases it."""
    text: ShortText
    """What every block for the subject says first, within 15 % of its budget."""
    background: bool = False
    """Blocks for the subject also show its background, as far as a request does not say otherwise."""
    source_kind: SourceKind = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent."""

    def checks(self) -> Iterator[tuple[str, str]]:
        named = subjects(self.agent_name, self.user_id)
        if len(named) != 1:
            yield "agent_name", ONE_SUBJECT
        elif not is_scope(named[0]):
            yield ("user_id" if self.agent_name is None else "agent_name"), "must not begin with a space"

    @property
    def scope(self) -> str:
        (scope,) = subjects(self.agent_name, self.user_id)
        return scope


class Profile(msgspec.Struct):
    """What every block for an agent or a user says first."""

    agent_name: str | None
    """The agent that it describes."""
    user_id: str | None
    """The user that it describes."""
    text: str
    """What every block for the subject says first."""
    background: bool
    """Blocks for the subject also show its background."""
    written_by: str
    """The key that wrote it."""
    source_kind: str
    """The kind of source it is from."""
    source_claim: str | None
    """The kind that the writer names, where its key may not say so."""
    updated_at: datetime

    @property
    def scope(self) -> str:
        (scope,) = subjects(self.agent_name, self.user_id)
        return scope


class Profiles(Page[Profile]):
    """A page of profiles, agents' before users', by name."""


class ProfileCursor(Cursor, tag="profiles"):
    scope: str
