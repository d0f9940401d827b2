"""What a proof stands on: servers and services of its own, a seed that is printed, and how its figures are shown."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from local.database import NAME, Database, create_database, create_roles, migrate
from local.servers import Postgres, Valkey, reachable
from tests.support.fakes.fake_openai import FakeOpenAI

# For a user whose own temporary folder is private.
_SHARED = ("/tmp", "/var/tmp")  # noqa: S108
PREPARED = "SCRUBJAY_PROOF_PREPARED"
"""The environment variable with the folder of `prepared`, for the proofs of one run."""


class Ground(NamedTuple):
    postgres: Postgres
    valkey: Valkey
    database: Database
    folder: Path
    vectors: Mapping[str, str]
    """The services' settings for an embedder that answers at once: a local server that speaks OpenAI's protocol."""


class Proof(NamedTuple):
    """`violations` and `control_violations` are counts: the first must be 0, the second must not."""

    n: int
    faults: int
    violations: int
    control_violations: int
    more: Mapping[str, Any]


@contextmanager
def ground() -> Iterator[Ground]:
    """Servers for one proof."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as cleanup:
        folder = cleanup.enter_context(temporary())
        postgres, valkey = Postgres(folder / "postgres", durable=False), Valkey(folder / "valkey")
        for server in (postgres, valkey):
            cleanup.callback(server.stop)
        database = asyncio.run(start(postgres, folder))
        valkey.start()
        api = cleanup.enter_context(FakeOpenAI())
        vectors = {"SCRUBJAY_EMBEDDER": "openai", "OPENAI_API_KEY": api.key, "OPENAI_BASE_URL": api.url}
        yield Ground(postgres, valkey, database, folder, vectors)


@contextmanager
def prepared() -> Iterator[Path]:
    """The folder of a stopped PostgreSQL with a migrated database, which each proof of a run copies."""
    with temporary() as folder:
        postgres = Postgres(folder / "postgres", durable=False)
        try:
            asyncio.run(start(postgres, folder))
        finally:
            postgres.stop()
        yield postgres.base


@contextmanager
def temporary() -> Iterator[Path]:
    """A folder that every user can enter, as the one that runs PostgreSQL has to."""
    parent = next(path for path in (tempfile.gettempdir(), *_SHARED) if reachable(Path(path)))
    folder = Path(tempfile.mkdtemp(prefix="scrubjay-proof-", dir=parent))
    try:
        folder.chmod(0o711)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def start(postgres: Postgres, folder: Path) -> Database:
    """Starts it with a migrated database: from a copy of the folder that PREPARED names, or made anew, with a log."""
    if template := os.environ.get(PREPARED):
        await asyncio.to_thread(_copy, Path(template), postgres.base)
        postgres.start()
        return Database.on(postgres.dsn(), NAME)
    postgres.start()
    await create_roles(postgres.dsn())
    database = await create_database(postgres.dsn(), NAME)
    migrate(database.owner, folder / "migrations.log")
    return database


def _copy(template: Path, base: Path) -> None:
    """PostgreSQL must own its files, and shutil.copytree would give them to us."""
    subprocess.run(["cp", "-pR", template, base], check=True)


def run(name: str, seed: int, prove: Callable[[Ground, bool, int], Coroutine[Any, Any, Proof]]) -> None:
    """Runs a proof from the command line, and ends the process as `show` does."""
    parser = argparse.ArgumentParser(description=name)
    parser.add_argument("--short", action="store_true", help="the form for every change")
    parser.add_argument("--seed", type=int, default=seed)
    given = parser.parse_args()
    started = time.monotonic()
    with ground() as stands_on:
        proof = asyncio.run(prove(stands_on, given.short, given.seed))
    show(name, proof, given.seed, time.monotonic() - started)


def show(name: str, proof: Proof, seed: int, seconds: float) -> None:
    """Prints the figures; exits with 1 when the proof did not hold, or could not have failed."""
    figures = {
        "n": proof.n,
        "faults": proof.faults,
        "violations": proof.violations,
        "control_violations": proof.control_violations,
        "seconds": round(seconds, 1),
        "seed": seed,
        **proof.more,
    }
    for key, value in figures.items():
        print(f"{key:24} {value}")
    print(json.dumps({name: figures}))
    sys.exit(proof.violations > 0 or proof.control_violations == 0)
