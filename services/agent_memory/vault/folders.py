"""Whose a file is, by the folder that it lies in. Pure.

`agents/<name>/`, `missions/<name>/` and `users/<name>/` belong to an agent, a mission and a user. `shared/` is for
every key of the tenant, and all other paths are for keys without bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from shared.auth import Principal
from shared.errors import Forbidden

SHARED = "shared"
UNBOUND = "vault"
"""The scope of what lies in none of these folders."""
MAX_PATH_BYTES = 1_000
_KINDS = {"agents": "agent", "missions": "mission", "users": "user"}
_FOLDERS = {kind: folder for folder, kind in _KINDS.items()}
# What may be one step of a path.
_STEP = re.compile(r"(?!\.{1,2}$)[^/\x00]+")
_LINES = re.compile(r"#L(?P<first>[1-9][0-9]{0,8})(?:-L?(?P<last>[1-9][0-9]{0,8}))?$")


def path_problem(path: str) -> str | None:
    """Why a file of the vault cannot have this path, or None."""
    if not path.isprintable():
        return "must hold printable characters only"
    if len(path.encode(errors="replace")) > MAX_PATH_BYTES:
        return f"must have at most {MAX_PATH_BYTES} bytes"
    if not all(_STEP.fullmatch(step) for step in path.split("/")):
        return "must be a relative path without empty steps, '.' and '..'"
    if _LINES.search(path):
        return "must not end as a range of lines does"
    return None


def lines_of(path: str) -> tuple[str, int | None, int | None]:
    """The path, the first and the last line of `path#L10-L40`."""
    match = _LINES.search(path)
    if match is None:
        return path, None, None
    first = int(match["first"])
    return path[: match.start()], first, int(match["last"] or first)


def scope_of(path: str) -> str:
    first, _, rest = path.partition("/")
    if first == SHARED and rest:
        return SHARED
    name, slash, _ = rest.partition("/")
    return f"{_KINDS[first]}:{name}" if first in _KINDS and slash else UNBOUND


def is_operators(path: str) -> bool:
    """Whether a file of the tenant's folder is in no agent's, mission's or user's. A path with `..` may lead there."""
    return path_problem(path) is None and scope_of(path) in (SHARED, UNBOUND)


def user_of(scope: str) -> str | None:
    return scope.removeprefix("user:") if scope.startswith("user:") else None


def own_folders(principal: Principal) -> list[str] | None:
    """The folders that a bound key may read in its tenant's: those of its bounds, and the shared one. None: all."""
    scopes = principal.own_scopes()
    return None if scopes is None else [SHARED, *_folders_of(scopes)]


def _folders_of(scopes: Iterable[str]) -> Iterator[str]:
    for scope in scopes:
        kind, _, name = scope.partition(":")
        if kind in _FOLDERS and _STEP.fullmatch(name):
            yield f"{_FOLDERS[kind]}/{name}"


def may_read(principal: Principal, scope: str) -> bool:
    own = principal.own_scopes()
    return own is None or scope in own


def require_folder(principal: Principal, scope: str) -> None:
    """A bound key writes in the folders of its bounds only. Raises Forbidden."""
    if scope == SHARED and principal.bound:
        raise Forbidden("this key is bound, and writes only in the folders of its agent, missions and users")
    if not may_read(principal, scope):
        raise Forbidden("this key has no grant for the folder of this path")


def asked_scopes(principal: Principal, agent: str | None, named: Sequence[str]) -> list[str]:
    """Where a question is searched: the shared folder, that of who asks, and those that the request names."""
    wanted = [SHARED, UNBOUND, *([] if agent is None else [f"agent:{agent}"]), *named]
    return [scope for scope in dict.fromkeys(wanted) if may_read(principal, scope)]
