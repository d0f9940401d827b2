"""What the audit answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from shared.database.audit import Action
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import BigId


class AuditRow(msgspec.Struct):
    """What an admin did. A purge takes the names of its subject out of older rows."""

    id: int
    """Grows with time, though not without gaps."""
    at: datetime
    """When it was done, by the database's clock."""
    actor: str
    """The key that did it, as `key:12`, or the token of the environment, as `env:admin`."""
    agent_name: str | None
    """The agent that the key is bound to."""
    request_id: str | None
    """The `x-request-id` of the request."""
    action: Action
    """What was done."""
    target: str
    """What it was done to: `key:12`, a scope such as `mission:…`, or `tenant`."""
    before: Any
    """The settings before. Null for an action that replaces none."""
    after: Any
    """The settings after, or how many rows it concerned."""


class Audit(Page[AuditRow]):
    """A page of what admins did, newest first."""


class AuditCursor(Cursor, tag="audit"):
    id: BigId
