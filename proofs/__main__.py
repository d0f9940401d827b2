"""`make proofs` and `make proofs-short`: every promise that has a proof of its own.

Two run at once, in short three, but for those that judge times or answers of 503, and in full for heavy ones. In short,
the quiet ones run beside those that judge times, with the lowest priority, unless these judge idle work, too. What a
busy machine can have broken runs once more, alone.

A promise is kept when nothing was violated and its control failed: a harness that cannot see a fault proves nothing.
Prints a table and a line of JSON for each promise. ONLY=P1,P15 runs some.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

from local.database import ROOT
from local.warm import WARM, Original
from proofs.ground import PREPARED, prepared, temporary

# A proof that takes longer hangs.
_MOST_SECONDS = 3_600
# On two processors: a proof waits for a part of its time, and in short for more of it.
_AT_ONCE, _SHORT_AT_ONCE, _QUIET_AT_ONCE = 2, 3, 2
# Characters of a broken proof's output.
_SHOWN = 4_000
_running: set[subprocess.Popen[str]] = set()
_KEYS = ("promise", "n", "faults", "violations", "control_violations", "seconds", "seed")


class Promise(NamedTuple):
    name: str
    target: str
    what: str
    times: bool = False
    """It judges how long answers take, or that there are any, so nothing runs beside it."""
    long: bool = False
    """It begins first, so that it is not left alone at the end."""
    quiet: bool = False
    """It judges no times and needs no answer soon, so it can wait for whoever has a higher priority."""
    idle: bool = False
    """It judges work of the lowest priority, too, so not even a quiet one runs beside it."""
    heavy: bool = False
    """In full, it keeps both processors busy for minutes, so nothing runs beside it."""
    installs: tuple[str, ...] = ()
    """What make installs for it, before its time begins."""


# In the order of docs/promises.md.
PROMISES = (
    Promise("P1", "proof-writes", "no acknowledged write is lost", heavy=True),
    Promise("P2", "proof-retries", "a retried write happens once", long=True),
    Promise("P3", "proof-timeline", "the timeline is complete and in order"),
    Promise("P4", "proof-deadlines", "a slow dependency is not a slow answer", times=True),
    Promise("P5", "proof-degraded", "degraded answers are named", times=True),
    Promise("P6", "proof-fuzz", "no input causes a 5xx", times=True),
    Promise("P7", "proof-tenants", "no tenant reaches what is another's", long=True),
    Promise("P8", "proof-restarts", "rolling restarts drop nothing", times=True),
    Promise("P9", "proof-upgrade", "upgrades are online"),
    Promise("P10", "proof-disk", "a full disk loses nothing"),
    Promise("P11", "proof-clocks", "clocks of services do not matter", long=True),
    Promise("P12", "proof-mcp", "any MCP client works on any replica", long=True, installs=(".node/stamp",)),
    Promise("P13", "proof-junk", "no credit for junk"),
    Promise("P15", "proof-paging", "paging corrupts nothing", quiet=True),
    Promise("P16", "proof-links", "links cannot escape", quiet=True),
    Promise("P17", "proof-blocks", "stored text forges no structure", quiet=True),
    Promise("P18", "proof-overload", "overload is shed", times=True),
    Promise("P19", "proof-purge", "a purge leaves nothing", long=True, heavy=True, quiet=True),
    Promise(
        "P20",
        "verify-adapters",
        "adapters pass their frameworks' suites",
        long=True,
        heavy=True,
        installs=(".adapters/stamp", ".crewai/stamp"),
    ),
    Promise("P21", "proof-fairness", "one tenant cannot slow another", times=True, idle=True),
    Promise("P22", "proof-isolation", "nobody reads or speaks for another", long=True),
    Promise("P23", "proof-freshness", "what is hot is never stale"),
    Promise("core", "proof-core", "every interleaving of the core keeps its rules", quiet=True),
    Promise("vault", "proof-vault", "the index of a folder stands kills and hostile files", quiet=True),
    Promise("sessions", "proof-sessions", "kills lose nothing of a trail"),
    Promise("consolidation", "proof-consolidation", "kills change nothing of what is learned", long=True),
    Promise("webhooks", "proof-webhooks", "every event reaches its receiver"),
    Promise("agent", "proof-agent", "the agent answers each message once", long=True),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default=os.environ.get("ONLY") or "", help="names, with commas")
    given = parser.parse_args()
    names = [name for name in given.only.split(",") if name]
    if unknown := set(names) - {promise.name for promise in PROMISES}:
        parser.error(f"no promise is called {', '.join(sorted(unknown))}")
    promises = [one for one in PROMISES if not names or one.name in names]
    install(promises)
    # As Ctrl-C: what was begun ends, and its folders go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with prepared() as database, ExitStack() as cleanup:
        os.environ[PREPARED] = str(database)
        if given.short:
            original = Original(cleanup.enter_context(temporary()))
            cleanup.callback(original.stop)
            original.start()
            os.environ[WARM] = str(original.socket)
        results = run_all(promises, short=given.short)
    print(table(results))
    for result in results:
        print(json.dumps({name: result[name] for name in _KEYS}))
    return int(not all(map(is_kept, results)))


def install(promises: Sequence[Promise]) -> None:
    targets = {target for one in promises for target in one.installs}
    if targets:
        subprocess.run(["make", "--no-print-directory", *sorted(targets)], cwd=ROOT, check=True)


def run_all(promises: Sequence[Promise], *, short: bool) -> list[dict[str, Any]]:
    """In their order, whichever ended first."""
    quiet = _long_first(one for one in promises if short and one.quiet)
    alone = [one for one in promises if one.times or (one.heavy and not short)]
    beside = _long_first(one for one in promises if one not in alone and one not in quiet)
    with _pool(_SHORT_AT_ONCE if short else _AT_ONCE) as pool:
        done = dict(zip(beside, pool.map(partial(run, short=short), beside), strict=True))
    with _pool(_QUIET_AT_ONCE) as pool:
        quietly = {one: pool.submit(run, one, short=short) for one in quiet}
        done |= {one: run(one, short=short) for one in alone if not one.idle}
        done |= {one: result.result() for one, result in quietly.items()}
    done |= {one: run(one, short=short) for one in alone if one.idle}
    if short:
        done |= {one: run(one, short=short) for one in promises if _may_be_the_machine(one, done[one])}
    return [done[one] for one in promises]


def _long_first(promises: Iterable[Promise]) -> list[Promise]:
    return sorted(promises, key=lambda one: not one.long)


@contextmanager
def _pool(places: int) -> Iterator[ThreadPoolExecutor]:
    """When this process is to end, nothing that waits begins, and what runs ends."""
    with ThreadPoolExecutor(places) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in tuple(_running):
                process.terminate()
            raise


def _may_be_the_machine(promise: Promise, result: Mapping[str, Any]) -> bool:
    """Whether a busy machine can have broken it: its times, its control or the run itself. What was lost is lost."""
    return not is_kept(result) and (promise.times or not result["violations"])


def run(promise: Promise, *, short: bool) -> dict[str, Any]:
    """Its figures; without any where it ended before it printed them."""
    print(f"{promise.name}: {promise.what} (make {promise.target})\n", end="", flush=True)
    began = time.monotonic()
    command = ["make", "--no-print-directory", promise.target, *(["SHORT=1"] if short else [])]
    if short and promise.quiet:
        command = ["nice", "-n", "19", *command]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        _running.add(process)
        try:
            output, _ = process.communicate(timeout=_MOST_SECONDS)
        except subprocess.TimeoutExpired as error:
            process.terminate()
            output = str(error)
        code = process.wait()
        _running.discard(process)
    figures = figures_of(output) or {}
    result = {
        "promise": promise.name,
        **{name: figures.get(name) for name in _KEYS[1:]},
        "seconds": round(time.monotonic() - began),
        "ended": code,
    }
    print(row(result), flush=True)
    if not is_kept(result):
        print(f"{promise.name} is not kept; the end of what it printed:\n{output[-_SHOWN:]}", flush=True)
    return result


def figures_of(output: str) -> dict[str, Any] | None:
    """Those of the last line, which names the proof."""
    lines = output.strip().splitlines()
    try:
        (figures,) = json.loads(lines[-1]).values()
    except (IndexError, ValueError, AttributeError):
        return None
    return figures if isinstance(figures, dict) else None


def is_kept(result: Mapping[str, Any]) -> bool:
    return result["ended"] == 0 and result["violations"] == 0 and bool(result["control_violations"])


def table(results: Sequence[Mapping[str, Any]]) -> str:
    head = f"{'promise':<14}{'n':>9}{'faults':>8}{'violations':>12}{'control':>9}{'seconds':>9}"
    return "\n".join([head, *map(row, results)])


def row(one: Mapping[str, Any]) -> str:
    counts = (one["n"], one["faults"], one["violations"], one["control_violations"], one["seconds"])
    cells = ["-" if count is None else str(count) for count in counts]
    widths = zip(cells, (9, 8, 12, 9, 9), strict=True)
    kept = "" if is_kept(one) else "  NOT KEPT"
    return f"{one['promise']:<14}" + "".join(f"{cell:>{width}}" for cell, width in widths) + kept


if __name__ == "__main__":
    sys.exit(main())
