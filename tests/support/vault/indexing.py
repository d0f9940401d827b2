"""The command that indexes folders, as a child process that somebody watches or kills."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from local.database import ROOT
from local.process import Process, children, environment
from tests.support.vault.state import TENANT

_LOOK_SECONDS = 0.005


class Indexing(Process):
    """Of one tenant's folder."""

    def __init__(self, database_url: str, root: Path, log: Path) -> None:
        super().__init__("index of the vault", log)
        self._variables = {
            "DATABASE_URL": database_url,
            "REDIS_URL": "redis://127.0.0.1:1",
            "SCRUBJAY_AGENT_MEMORY_SECRET": "index",
            "VAULT_ROOT": str(root),
        }

    def start(self, tenant: str = TENANT) -> None:
        """Call it from the main thread."""
        command = [sys.executable, "-m", "services.agent_memory.vault", "index", tenant]
        self.spawn(command, cwd=ROOT, env=environment(self._variables))

    async def end(self) -> int:
        """Waits for its end. Returns the most bytes of memory that it and its children held at a time.

        Of a child that came and went between two looks, nothing is known; of others, their peak counts all the time.
        """
        most = 0
        while self.running:
            family, generation = [self.pid], [self.pid]
            while generation := children(*generation):
                family += generation
            most = max(most, sum(_memory(pid, "VmRSS:" if pid == self.pid else "VmHWM:") for pid in family))
            await asyncio.sleep(_LOOK_SECONDS)
        return most

    def kill_alone(self) -> bool:
        """Kills the process and not its children, as the kernel does. False: it had ended."""
        self.send(signal.SIGKILL)
        if self.child is not None:
            self.child.wait()
        return self.returncode == -signal.SIGKILL


def _memory(pid: int, name: str) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    _, found, rest = status.partition(name)
    return int(rest.split()[0]) * 1_024 if found else 0
