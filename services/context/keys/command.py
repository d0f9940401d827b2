"""Manages keys from the command line. Needs only the database, so it can make a tenant's first key."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from services.context.keys.schemas import KeyInput, MadeKey, RotateInput
from services.context.keys.service import KeyService
from services.context.keys.verification import DEFAULT_TENANT, REACH, Keys
from shared.auth import Principal
from shared.database.idempotency import Records
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.text import to_json

_SECONDS = 10.0
_PAGE = 1_000


def add_arguments(key: argparse.ArgumentParser) -> None:
    verbs = key.add_subparsers(dest="verb", required=True)
    make = _verb(verbs, "make", "make a key and print its secret, this once")
    make.add_argument("--name", required=True)
    make.add_argument("--access", choices=list(REACH), default="write")
    make.add_argument("--agent", help="the key acts as this agent only")
    make.add_argument("--mission", action="append", dest="missions", help="it may touch; repeat for more")
    make.add_argument("--user", action="append", dest="users", help="it may touch; repeat for more")
    make.add_argument("--expires-at", type=datetime.fromisoformat, help="a time as 2030-01-31T12:00:00+00:00")
    make.add_argument("--requests-per-second", type=float)
    make.add_argument("--burst", type=int)
    make.add_argument("--requests-per-day", type=int)
    make.add_argument("--tokens-per-day", type=int)
    _verb(verbs, "list", "print the keys, a JSON object a line; never a secret")
    revoke = _verb(verbs, "revoke", "withdraw a key")
    revoke.add_argument("id", type=int)
    rotate = _verb(verbs, "rotate", "make a new secret for a key and print it, this once")
    rotate.add_argument("id", type=int)
    rotate.add_argument("--overlap-seconds", type=int, default=3_600, help="how long both are valid (3600)")


def _verb(verbs: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text)
    parser.add_argument("--tenant", default=DEFAULT_TENANT)
    return parser


async def run(database_url: str, arguments: argparse.Namespace, ttl_days: float | None = None) -> str:
    """The text to print. A secret stands alone, for scripts. Its key's id and name go to standard error."""
    database = Database(database_url, connections=1)
    await database.open()
    keys = KeyService(database, Keys(database, {}), Records("context"), ttl_days=ttl_days)
    principal = Principal(arguments.tenant, "command", REACH["admin"])
    try:
        return await _VERBS[arguments.verb](keys, principal, arguments)
    except AppError as error:
        raise SystemExit(error.detail) from error
    finally:
        await database.close()


async def _make(keys: KeyService, principal: Principal, arguments: argparse.Namespace) -> str:
    values = {name: getattr(arguments, name) for name in KeyInput.__struct_fields__}
    return _secret(await keys.make(principal, KeyInput(**values), None, Deadline(_SECONDS)))


async def _list(keys: KeyService, principal: Principal, _: argparse.Namespace) -> str:
    page = await keys.list(principal, None, _PAGE, Deadline(_SECONDS))
    lines = [to_json(key) for key in page.data]
    while page.next is not None:
        page = await keys.list(principal, page.next, _PAGE, Deadline(_SECONDS))
        lines += [to_json(key) for key in page.data]
    return "\n".join(lines)


async def _revoke(keys: KeyService, principal: Principal, arguments: argparse.Namespace) -> str:
    return to_json(await keys.revoke(principal, arguments.id, Deadline(_SECONDS)))


async def _rotate(keys: KeyService, principal: Principal, arguments: argparse.Namespace) -> str:
    given = RotateInput(overlap_seconds=arguments.overlap_seconds)
    return _secret(await keys.rotate(principal, arguments.id, given, None, Deadline(_SECONDS)))


def _secret(made: MadeKey) -> str:
    sys.stderr.write(f"key {made.key.id}, {made.key.name!r}\n")
    return made.token or ""


_VERBS: dict[str, Callable[[KeyService, Principal, argparse.Namespace], Awaitable[str]]] = {
    "make": _make,
    "list": _list,
    "revoke": _revoke,
    "rotate": _rotate,
}
