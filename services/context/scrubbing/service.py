"""What becomes of the secrets in requests: as the tenant's policy says, or else the installation's."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import unquote

from litestar import Request

from services.context.scrubbing import queries
from services.context.scrubbing.bodies import scrubbed
from services.context.scrubbing.schemas import Masked, Policy, SecretPolicy
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database import audit
from shared.database.audit import Deed
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import FieldError, Forbidden, Unprocessable
from shared.secrets.scanning import found_in
from shared.web import idempotency_key
from shared.web.request import deadline_of_route

MASKED = "masked"
"""Where the state of a request's scope holds the secrets that were masked in it, and the name in its answer."""

_KEY = idempotency_key.HEADER.encode()


class Scrubber:
    def __init__(self, database: Database, default: Policy) -> None:
        self._database = database
        self._default = default

    async def scrub(self, scope: Any, body: bytes, principal: Principal, deadline: Deadline) -> bytes:
        """The body to work with; notes in the scope what was masked. Raises Unprocessable where secrets are refused.

        Only a body that holds a secret costs a look at the policy.
        """
        lines = _leads_to(scope, "/import")
        clean = await beside(len(body), scrubbed, body, lines=lines)
        in_path, in_key = _in_path(scope), _in_key(scope)
        if not clean.secrets and not in_path and not in_key:
            return body
        policy = (await self.policy(principal, deadline)).policy
        if policy == "allow":
            return body
        # Nothing can stand for a secret in a path.
        if refused := in_path if policy == "mask" else [*clean.secrets, *in_path, *in_key]:
            raise _refused(refused)
        if in_key:
            scope["headers"] = [_digested(*header) for header in scope["headers"]]
        scope["state"][MASKED] = [*clean.secrets, *in_key]
        return clean.body

    async def screen(self, request: Request[Any, Any, Any], principal: Principal) -> bytes:
        """For the routes of this service."""
        body = await request.body()
        return await self.scrub(request.scope, body, principal, deadline_of_route(request))

    async def policy(self, principal: Principal, deadline: Deadline) -> SecretPolicy:
        own = await self._database.run(
            principal.tenant, lambda c: queries.policy_of(c, principal.tenant), deadline
        )
        return SecretPolicy(own or self._default, "installation" if own is None else "tenant")

    async def set_policy(
        self, principal: Principal, policy: Policy | None, deadline: Deadline
    ) -> SecretPolicy:
        """Raises Forbidden for a key that is bound, because the policy holds for the whole tenant."""
        if (principal.agent, principal.missions, principal.users) != (None, None, None):
            raise Forbidden("this key is bound, and the policy holds for the whole tenant")

        async def work(connection: Connection) -> None:
            before = await queries.policy_of(connection, principal.tenant)
            if policy is None:
                await queries.reset_policy(connection, principal.tenant)
            else:
                await queries.put_policy(connection, principal.tenant, policy, principal.key)
            deed = Deed(
                action="secret_policy_set",
                target="tenant",
                before={"policy": before},
                after={"policy": policy},
            )
            await audit.record(connection, principal, deed)

        await self._database.transaction(principal.tenant, work, deadline)
        return await self.policy(principal, deadline)


def _leads_to(scope: Any, end: str) -> bool:
    """Whether the path ends so. A mount ends `path` with a slash, and `raw_path` is not decoded."""
    path: str = scope["path"]
    return path.rstrip("/").endswith(end)


def _in_path(scope: Any) -> list[Masked]:
    """The secrets in names that a path or a query gives to what is written, and to an export, which the audit names."""
    if scope["method"] in ("GET", "HEAD") and not _leads_to(scope, "/export"):
        return []
    parts = {"path": scope["raw_path"], "query": scope["query_string"]}
    return [
        Masked(field=where, kind=found.kind)
        for where, part in parts.items()
        for found in found_in(unquote(part.decode("latin-1")))
    ]


def _in_key(scope: Any) -> list[Masked]:
    """The secrets in the header Idempotency-Key, which is stored with the answer."""
    return [
        Masked(field="Idempotency-Key", kind=found.kind)
        for name, value in scope["headers"]
        if name == _KEY
        for found in found_in(value.decode("latin-1"))
    ]


def _digested(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A digest takes the key's place, so that a retry is still known."""
    return (name, hashlib.sha256(value).hexdigest().encode()) if name == _KEY else (name, value)


def _refused(secrets: list[Masked]) -> Unprocessable:
    errors = [
        FieldError(field=secret.field, message=f"holds a secret ({secret.kind}), which is refused")
        for secret in secrets
    ]
    return Unprocessable(
        "; ".join(f"{error['field']}: {error['message']}" for error in errors[:8]), errors=errors
    )
