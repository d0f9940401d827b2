"""`make proof-transcripts`: an import that is killed again and again ends as one that is not, a second run writes
nothing, memory stays bounded, and none of the secrets that the transcripts hold is in the database.

The control is a mark that stands beside each secret: the same search must find it.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import asyncpg

from local.database import ROOT
from proofs.ground import Ground, Proof, run
from proofs.transcripts.database import Found, State, search, state
from tests.support.cluster import Cluster
from tests.support.fakes.transcripts import Writer

SEED = 20_263
_MEGABYTES, _SHORT_MEGABYTES = 300, 12
_FILE_BYTES = 5_000_000
_KILLS, _SHORT_KILLS = 10, 3
_MOST_RESIDENT_MB = 300.0
_ENDED_BY_KILL = -signal.SIGKILL


class Run(NamedTuple):
    code: int
    seconds: float
    resident_mb: float
    said: str


class Importer:
    """The command with a folder of state of its own."""

    def __init__(self, transcripts: Path, folder: Path, url: str, token: str) -> None:
        self._transcripts, self._folder = transcripts, folder
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "clients/python/src"),
            "SCRUBJAY_URL": url,
            "SCRUBJAY_TOKEN": token,
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def run(self, scope: str, state_name: str, kill_after: float | None = None) -> list[Run]:
        """One run for each kind of transcripts."""
        return [self._run(kind, scope, state_name, kill_after) for kind in ("claude-code", "codex")]

    def _run(self, kind: str, scope: str, state_name: str, kill_after: float | None) -> Run:
        command = [
            sys.executable,
            "-m",
            "scrubjay",
            "import",
            kind,
            str(self._transcripts / kind),
            "--scope",
            scope,
        ]
        environment = {**self._environment, "XDG_STATE_HOME": str(self._folder / state_name)}
        begun = time.monotonic()
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT)
            if kill_after is not None:
                time.sleep(kill_after)
                os.kill(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            return Run(process.returncode, time.monotonic() - begun, usage.ru_maxrss / 1_024, said.read())


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    transcripts = ground.folder / "transcripts"
    megabytes = _SHORT_MEGABYTES if short else _MEGABYTES
    size = _written(transcripts, megabytes, seed)
    cluster = Cluster(ground.database, ground.valkey.url, ground.folder, settings=ground.vectors)
    async with cluster:
        sql = await asyncpg.connect(ground.postgres.dsn(ground.database.name))
        try:
            importer = Importer(transcripts, ground.folder, cluster.url(), cluster.tokens.write)
            return await _proved(importer, sql, size, _KILLS if not short else _SHORT_KILLS, seed)
        finally:
            await sql.close()


async def _proved(importer: Importer, sql: asyncpg.Connection, size: int, kills: int, seed: int) -> Proof:
    whole = importer.run("agent:whole", "whole")
    once = await state(sql, "agent:whole")
    importer.run("agent:whole", "again")
    twice = await state(sql, "agent:whole")
    killed = list(_killed(importer, kills, seed, whole))
    ended = importer.run("agent:killed", "killed")
    after_kills = await state(sql, "agent:killed")
    found = await search(sql)
    runs = [*whole, *killed, *ended]
    wrong = dict(_wrong(once, twice, after_kills, found, runs, kills))
    seconds = sum(each.seconds for each in whole)
    more = {
        "megabytes": round(size / 1e6),
        "entries_a_second": round(once.rows / seconds),
        "megabytes_a_second": round(size / 1e6 / seconds, 2),
        "resident_mb": round(max(each.resident_mb for each in runs)),
        "rows": [once.rows, twice.rows, after_kills.rows],
        "secrets_found": found.secrets,
        "searched_megabytes": round(found.bytes / 1e6),
        "wrong": wrong,
    }
    if wrong:
        more["said"] = [each.said[-300:] for each in whole]
    return Proof(once.rows, len(killed), sum(wrong.values()), found.marks, more)


def _killed(importer: Importer, kills: int, seed: int, whole: list[Run]) -> Iterator[Run]:
    """Runs that are killed at moments spread over what a whole run takes."""
    moments = random.Random(seed)
    share = whole[0].seconds / kills
    for _ in range(kills):
        yield from importer.run("agent:killed", "killed", 0.5 + moments.uniform(0.3, 1.0) * share)


def _wrong(
    once: State, twice: State, after_kills: State, found: Found, runs: list[Run], kills: int
) -> Iterator[tuple[str, int]]:
    if once.rows == 0 or any(each.code not in (0, _ENDED_BY_KILL) for each in runs):
        yield "runs that failed", 1
    if twice != once:
        yield "rows that a second run wrote or changed", max(abs(twice.rows - once.rows), 1)
    if after_kills != once:
        yield "rows that kills cost or changed", max(abs(after_kills.rows - once.rows), 1)
    if found.secrets:
        yield "secrets in the database", found.secrets
    if sum(each.code == _ENDED_BY_KILL for each in runs) < min(kills, 2):
        yield "kills that came too late", 1
    if max(each.resident_mb for each in runs) > _MOST_RESIDENT_MB:
        yield "runs that took too much memory", 1


def _written(folder: Path, megabytes: int, seed: int) -> int:
    """Four fifths are sessions of Claude Code. Answers the bytes."""
    writer, size = Writer(seed), 0
    bytes_ = min(_FILE_BYTES, megabytes * 1_000_000 // 10)
    for number in range(megabytes * 1_000_000 // bytes_):
        write = writer.codex if number % 5 == 4 else writer.claude_code
        kind = "codex" if number % 5 == 4 else "claude-code"
        size += write(folder / kind, bytes_).stat().st_size
    return size


if __name__ == "__main__":
    run("transcripts", SEED, prove)
