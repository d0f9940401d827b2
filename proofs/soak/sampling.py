"""What is measured of a soak, and which growth is too much."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import asyncpg

from local.process import descendants
from local.services import NAMES
from tests.support.cluster import Cluster

# Of tables with so many rows, dead ones count.
_MANY_ROWS = 1_000
_WORKER = b"shared.concurrency.worker"
_FIGURES = """
select (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid())
           as connections,
       (select coalesce(max(n_dead_tup::float / (n_live_tup + n_dead_tup)), 0) from pg_stat_user_tables
        where n_live_tup > $1) as dead,
       (select count(*) from cache.index_queue) + (select count(*) from memory.index_queue) as backlog,
       (select count(*) from timeline.events where seq is null) as unnumbered,
       pg_database_size(current_database())::float8 / 1048576 as database_mb
"""


class Sample(NamedTuple):
    at: float
    """Seconds since the soak began."""
    context_mb: float
    """Resident, of the replica with the most."""
    cache_mb: float
    agent_memory_mb: float
    spare_mb: float
    """Of the largest process for spare time, which comes and goes, and counts for no replica."""
    connections: int
    dead: float
    """The largest share of dead rows in a table."""
    backlog: int
    """What waits for vectors and summaries."""
    unnumbered: int
    """Events that no stream can read yet."""
    database_mb: float
    per_second: float
    """Requests that were done since the sample before."""
    p99_ms: float
    """Of those of them that needed one try."""


async def sample(
    cluster: Cluster, connection: asyncpg.Connection, began: float, taken: Sequence[float], per_second: float
) -> Sample:
    row = await connection.fetchrow(_FIGURES, _MANY_ROWS)
    assert row is not None
    p99 = statistics.quantiles(taken, n=100)[98] * 1_000 if len(taken) > 1 else 0.0
    return Sample(
        at=time.monotonic() - began,
        context_mb=_resident_mb(cluster, "context"),
        cache_mb=_resident_mb(cluster, "cache"),
        agent_memory_mb=_resident_mb(cluster, "agent_memory"),
        spare_mb=_spare_mb(cluster),
        per_second=per_second,
        p99_ms=p99,
        **dict(row),
    )


def _resident_mb(cluster: Cluster, name: str) -> float:
    """Of a replica and what it began."""
    return max((sum(map(_of_one, pids)) for pids in _processes(cluster, name, spare=False)), default=0.0)


def _spare_mb(cluster: Cluster) -> float:
    spare = (pid for name in NAMES for pids in _processes(cluster, name, spare=True) for pid in pids)
    return max(map(_of_one, spare), default=0.0)


def _processes(cluster: Cluster, name: str, *, spare: bool) -> list[list[int]]:
    """Of each replica that runs, the processes for spare time, or the others."""
    running = [service.pid for service in cluster.replicas[name] if service.running]
    return [[each for each in (pid, *descendants(pid)) if _is_spare(each) is spare] for pid in running]


def _is_spare(pid: int) -> bool:
    """Whether it is a worker that ends when it was not needed for some seconds, its last argument."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return False
    place = arguments.index(_WORKER) if _WORKER in arguments else len(arguments)
    return len(list(filter(None, arguments[place:]))) == len([_WORKER, "descriptor", "seconds"])


def _of_one(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return next((int(line.split()[1]) / 1_024 for line in lines if line.startswith("VmRSS:")), 0.0)


MOST_GROWTH = 1.15
"""Of memory, from the second quarter to the last: what is learned at the start is no growth."""
MOST_DEAD = 0.6
"""Autovacuum begins at 0.2 of a table, and waits for its minute."""
MOST_WAITING = 2_000
"""Items in the backlog, and events without a number, whatever is killed."""


def grown(samples: Sequence[Sample], most_connections: int) -> dict[str, float]:
    """What is beyond its bound at some time of the second half, with its figure."""
    quarter = max(1, len(samples) // 4)
    second, last = samples[quarter : 2 * quarter], samples[-quarter:]
    later = samples[len(samples) // 2 :]
    figures = {
        **{
            f"memory of {name}": (_growth(f"{name}_mb", second, last), MOST_GROWTH)
            for name in (*NAMES, "spare")
        },
        "connections": (max(s.connections for s in later), most_connections),
        # A table may be at its fullest of dead rows just before it is vacuumed.
        "dead rows": (statistics.median(s.dead for s in later), MOST_DEAD),
        "backlog": (max(s.backlog for s in later), MOST_WAITING),
        "unnumbered": (max(s.unnumbered for s in later), MOST_WAITING),
    }
    return {name: round(figure, 3) for name, (figure, most) in figures.items() if figure > most}


def _growth(name: str, second: Sequence[Sample], last: Sequence[Sample]) -> float:
    before, after = (statistics.median(getattr(each, name) for each in some) for some in (second, last))
    return after / before if before else 0.0


def unfinished(end: Sample) -> dict[str, float]:
    """What still waits when nobody has asked for anything for a while."""
    return {name: figure for name in ("backlog", "unnumbered") if (figure := getattr(end, name))}
