"""The systems of a race, and the throw-away environment of each peer at its pinned versions."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from local.process import LocalError, run

PEERS = Path(__file__).parent / "peers"


class Racer(NamedTuple):
    """One measured way into a system. Its worker is a module with arguments, run by `peer`'s Python or by our own."""

    name: str
    module: str
    arguments: tuple[str, ...]
    database: str
    peer: str | None
    server: str | None
    """The server whose processes answer; None for a library in the worker's process."""
    in_worker: bool
    """The worker runs in the peer's environment."""


RACERS = (
    Racer("assemble", "of_scrubjay", ("assemble",), "scrubjay", None, "scrubjay", False),
    Racer("memory query", "of_scrubjay", ("memory",), "scrubjay", None, "scrubjay", False),
    Racer("LangGraph store", "of_langgraph", (), "langgraph", "langgraph", None, True),
    Racer("mem0", "of_mem0", (), "mem0", "mem0", None, True),
    Racer("Hindsight", "of_hindsight", (), "hindsight", "hindsight", "hindsight", False),
)


def requirements(peer: str) -> list[str]:
    return (PEERS / f"{peer}.txt").read_text().split("\n")[:-1]


def installed(folder: Path, peers: Sequence[str]) -> dict[str, Path]:
    """The environments' folders by peer, without the peers that cannot be installed."""
    found = {}
    for peer in peers:
        stamp = folder / peer / "requirements.txt"
        wanted = (PEERS / f"{peer}.txt").read_text()
        try:
            if not stamp.exists() or stamp.read_text() != wanted:
                _install(folder / peer, peer)
                stamp.write_text(wanted)
            found[peer] = folder / peer
        except (LocalError, OSError, subprocess.CalledProcessError) as error:
            print(f"{peer} is missing: {error}", file=sys.stderr)
    return found


def _install(folder: Path, peer: str) -> None:
    print(f"installing {', '.join(requirements(peer))} ...", file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    pip: list[str | Path] = [
        folder / "bin/python",
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "-qq",
    ]
    run(f"installing {peer}", [*pip, "-r", PEERS / f"{peer}.txt"], folder / "install.log")


def versions(environments: dict[str, Path]) -> dict[str, str]:
    """What is installed of each pinned package, and of Scrubjay what the database and this Python are."""
    found = {"python": sys.version.split()[0], "asyncpg": importlib.metadata.version("asyncpg")}
    for peer, folder in environments.items():
        site = next(folder.glob("lib/python*/site-packages"))
        name = requirements(peer)[0].partition("==")[0]
        distribution = next(iter(importlib.metadata.distributions(name=name, path=[str(site)])))
        found[name] = distribution.version
    return found
