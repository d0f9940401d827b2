"""The three services as child processes, for the stack and for the tests."""

import http.client
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local.database import ROOT
from local.process import Server, environment
from shared import identity
from shared.auth import Principal
from shared.identity import Signer

# In starting order. They stop in reverse, so that no service calls one that has stopped.
NAMES = ("cache", "agent_memory", "context")
PORTS = {"context": 8080, "cache": 8081, "agent_memory": 8082}


@dataclass(frozen=True)
class Tokens:
    cache: str
    agent_memory: str
    read: str
    write: str
    admin: str

    @classmethod
    def make(cls) -> "Tokens":
        return cls(*(secrets.token_urlsafe(24) for _ in range(5)))

    def identity(self, owner: str, principal: Principal) -> dict[str, str]:
        """The header with which the context service would name the principal to an owner, valid for a day."""
        signer = Signer(owner, [getattr(self, owner)], valid_seconds=86_400)
        return {identity.HEADER: signer.header(principal)}


class Service(Server):
    """One replica on 127.0.0.1. After SIGTERM it finishes its open requests."""

    start_seconds = 300  # three at once, compiling what they import, on a busy machine
    stop_seconds = 12  # a drain may take 10

    def __init__(self, name: str, log: Path, port: int, variables: Mapping[str, str]) -> None:
        super().__init__(name.replace("_", "-"), log)
        self.port = port
        self.variables = {
            **variables,
            "SCRUBJAY_HOST": "127.0.0.1",
            "SCRUBJAY_PORT": str(port),
            "PYTHONUNBUFFERED": "1",
        }
        self.module = f"services.{name}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def launch(self) -> None:
        self.spawn([sys.executable, "-m", self.module], cwd=ROOT, env=environment(self.variables))

    def ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def variables(
    name: str, *, database_url: str, redis_url: str, tokens: Tokens, addresses: Mapping[str, str]
) -> dict[str, str]:
    """The settings of one service. `addresses` maps the services' names to URLs."""
    common = {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        # All callers are on this machine, so late calls come in soon.
        "SCRUBJAY_LINGER_SECONDS": "0.3",
    }
    secrets = {"SCRUBJAY_CACHE_SECRET": tokens.cache, "SCRUBJAY_AGENT_MEMORY_SECRET": tokens.agent_memory}
    if name != "context":
        own = f"SCRUBJAY_{name.upper()}_SECRET"
        return {**common, own: secrets[own]}
    return {
        **common,
        **secrets,
        "SCRUBJAY_READ_TOKEN": tokens.read,
        "SCRUBJAY_WRITE_TOKEN": tokens.write,
        "SCRUBJAY_ADMIN_TOKEN": tokens.admin,
        "SCRUBJAY_CACHE_URL": addresses["cache"],
        "SCRUBJAY_AGENT_MEMORY_URL": addresses["agent_memory"],
    }
