"""Who a bearer token is: a token from the environment, or a hashed API key."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Request

from services.context import queries
from shared.auth import Access, Principal, bearer, same_secret
from shared.deadline import Deadline
from shared.errors import Unauthorized
from shared.http import provide_deadline
from shared.postgres import Database

DEFAULT_TENANT = "default"
_PREFIX = "sj_"
_REACH: Mapping[Access, frozenset[Access]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
}


def hash_token(token: str) -> bytes:
    """Keys are 32 random bytes: a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode()).digest()


class Keys:
    def __init__(self, database: Database, tokens: Mapping[Access, str]) -> None:
        self._database = database
        self._tokens = tokens

    async def authenticate(self, request: Request[Any, Any, Any]) -> Principal:
        return await self.verify(request.headers.get("authorization"), provide_deadline(request))

    async def verify(self, authorization: str | None, deadline: Deadline) -> Principal:
        """Raises Unauthorized, the same for unknown, expired and revoked."""
        token = bearer(authorization)
        for access, expected in self._tokens.items():
            if same_secret(token, expected):
                return Principal(DEFAULT_TENANT, f"env:{access}", _REACH[access])
        if token.startswith(_PREFIX):
            principal = await self._database.run(lambda c: queries.find_key(c, hash_token(token)), deadline)
            if principal is not None:
                return principal
        raise Unauthorized("the token is not valid")

    async def add(
        self,
        tenant: str,
        name: str,
        access: Access,
        *,
        agent: str | None = None,
        missions: Sequence[str] | None = None,
        users: Sequence[str] | None = None,
    ) -> str:
        """A new key; the token is shown this once."""
        token = _PREFIX + secrets.token_urlsafe(32)
        await self._database.run(
            lambda c: queries.add_key(
                c, tenant, name, hash_token(token), sorted(_REACH[access]), agent, missions, users
            ),
            Deadline(5.0),
        )
        return token
