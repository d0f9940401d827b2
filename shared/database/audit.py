"""Adds to the audit what an admin did, in the transaction in which it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import structlog

from shared.auth import Principal
from shared.database.postgres import Connection

Action = Literal[
    "key_make",
    "key_change",
    "key_rotate",
    "key_revoke",
    "weight_set",
    "weight_reset",
    "budget_set",
    "budget_reset",
    "evaluate",
    "limits_set",
    "clear",
    "forget",
    "import",
    "export",
    "purge",
    "purge_begin",
    "secret_policy_set",
    "profile_set",
    "profile_delete",
    "language_set",
    "ceiling_set",
    "ceiling_reset",
    "webhook_make",
    "webhook_change",
    "webhook_rotate",
    "webhook_delete",
    "webhook_redeliver",
    "webhook_test",
    "review_rule_set",
    "review_rule_reset",
    "review_decide",
]

RECORD = "select timeline.record_audit($1, $2, $3, $4, $5, $6, $7, $8, $9)"


class Deed(msgspec.Struct, kw_only=True):
    """What was done. `before` and `after` hold settings and counts, never content or secrets."""

    action: Action
    target: str
    """A scope such as `mission:…`, or `key:…`, or `tenant`."""
    subjects: Sequence[str] = ()
    """The scopes of others whom the row names. A purge of one takes the names out."""
    before: Any = None
    after: Any = None


async def record(c: Connection, principal: Principal, deed: Deed, *, tenant: str | None = None) -> None:
    """`tenant` is the one acted upon, where it is not the caller's own. The request's id is that of the log."""
    own = [f"agent:{principal.agent}"] if principal.agent is not None else []
    await c.execute(
        RECORD,
        tenant or principal.tenant,
        principal.key,
        principal.agent,
        structlog.contextvars.get_contextvars().get("request_id"),
        deed.action,
        deed.target,
        sorted({deed.target, *deed.subjects, *own}),
        msgspec.to_builtins(deed.before),
        msgspec.to_builtins(deed.after),
    )
