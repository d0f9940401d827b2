"""What the audit keeps of a key: its settings, never a secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from services.context.keys.schemas import ApiKey, Limits
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Action, Deed
from shared.database.postgres import Connection

_SETTINGS = ("name", "access", "agent", "missions", "users", "expires_at", *Limits.__struct_fields__)


async def record(
    c: Connection,
    principal: Principal,
    action: Action,
    key: ApiKey,
    before: ApiKey | None = None,
    *,
    with_it: Sequence[int] = (),
) -> None:
    """`with_it` are the keys that it made, where the action reached them too."""
    deed = Deed(
        action=action,
        target=f"key:{key.id}",
        subjects=_bounds(key),
        before=None if before is None else _settings(before),
        after=_settings(key) | ({"with_it": list(with_it)} if with_it else {}),
    )
    await audit.record(c, principal, deed, tenant=key.tenant)


def _settings(key: ApiKey) -> dict[str, Any]:
    return {
        **{name: value for name in _SETTINGS if (value := getattr(key, name)) is not None},
        "status": key.status,
    }


def _bounds(key: ApiKey) -> list[str]:
    agents = [] if key.agent is None else [key.agent]
    bounds = {"agent": agents, "mission": key.missions or (), "user": key.users or ()}
    return [f"{kind}:{name}" for kind, names in bounds.items() for name in names]
