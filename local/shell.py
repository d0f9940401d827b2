"""The file that a shell sources to reach the running stack: settings of the services' commands and of the client."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from local.servers import write_private
from local.services import Tokens


def settings(
    *, database_url: str, redis_url: str, tokens: Tokens, addresses: Mapping[str, str]
) -> dict[str, str]:
    """`database_url` is the owner's; the client speaks to context, with the token that writes."""
    return {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "SCRUBJAY_CACHE_SECRET": tokens.cache,
        "SCRUBJAY_AGENT_MEMORY_SECRET": tokens.agent_memory,
        "SCRUBJAY_READ_TOKEN": tokens.read,
        "SCRUBJAY_WRITE_TOKEN": tokens.write,
        "SCRUBJAY_ADMIN_TOKEN": tokens.admin,
        "SCRUBJAY_CACHE_URL": addresses["cache"],
        "SCRUBJAY_AGENT_MEMORY_URL": addresses["agent_memory"],
        "SCRUBJAY_URL": addresses["context"],
        "SCRUBJAY_TOKEN": tokens.write,
    }


def write(path: Path, values: Mapping[str, str]) -> None:
    """Only its owner can read it: it holds secrets."""
    write_private(path, "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items()))


def without(path: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment but for what a shell has from the file: the servers that it names are the stack's own."""
    lines = shlex.split(path.read_text()) if path.exists() else []
    own = dict(line.split("=", 1) for line in lines)
    return {name: value for name, value in environment.items() if own.get(name) != value}
