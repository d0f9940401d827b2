"""What paging at the gateway does to the bill: DATA=folder of transcripts, SESSIONS=20, TOKENS=150000.

The first THROUGH (2) of the long sessions go through a running gateway, too, which must send what the plan says.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from bench.gateway_cost.delegated import delegated
from bench.gateway_cost.greedy import greedy
from bench.gateway_cost.host import Api
from bench.gateway_cost.measuring import Bill, Replay
from bench.gateway_cost.through import Same, running
from bench.paging import events
from bench.paging.events import Event
from services.context.gateway.paging.paged import Planner
from services.context.gateway.paging.plan import plan

_LEAST_SAVED = 0.4
_WAYS: Mapping[str, Planner | None] = {
    "unpaged": None,
    "paged": plan,
    "greedy": greedy,
    "delegated": delegated(),
}
_APIS: Sequence[Api] = ("anthropic", "openai")


def main() -> None:
    arguments = _arguments()
    files = sorted(Path(arguments.data).glob("*.jsonl"))
    if not files:
        sys.exit(f"{arguments.data} holds no transcript: name a folder of *.jsonl")
    real = [events.read(path) for path in files]
    made = [events.prolonged(real, seed, arguments.tokens) for seed in range(arguments.sessions)]
    reports = {
        f"{name} {api}": {
            way: _bills(sessions, api, planner, arguments.head) for way, planner in _WAYS.items()
        }
        for api in _APIS
        for name, sessions in (("real", real), ("long", made))
    }
    failed = _print(reports)
    for api in _APIS:
        failed |= _goes_through(made[: arguments.through], api, arguments.head)
    sys.exit(failed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.gateway_cost", description=__doc__)
    parser.add_argument("data", help="a folder of transcripts, one event a line")
    parser.add_argument("--sessions", type=int, default=int(os.environ.get("SESSIONS") or 20))
    parser.add_argument("--tokens", type=int, default=int(os.environ.get("TOKENS") or 150_000))
    parser.add_argument("--through", type=int, default=int(os.environ.get("THROUGH") or 2))
    parser.add_argument("--head", type=int, default=3_000, help="tokens of the host's system and tools")
    return parser.parse_args()


def _bills(sessions: Sequence[Sequence[Event]], api: Api, planner: Planner | None, head: int) -> Bill:
    sums = Bill()
    for session in sessions:
        bill = Replay(api, planner).play(session, head)
        for name, value in msgspec.structs.asdict(bill).items():
            known = getattr(sums, name)
            setattr(sums, name, max(known, value) if name == "largest" else known + value)
    return sums


def _goes_through(sessions: Sequence[Sequence[Event]], api: Api, head: int) -> int:
    """0: every request reaches the provider in the bytes of the plan."""
    with running() as gateway:
        played = [
            gateway.play(events, api, head, f"{api}-{number}") for number, events in enumerate(sessions)
        ]
    sums = Same(*(sum(each) for each in zip(*played, strict=True))) if played else Same(0, 0, 0)
    print(json.dumps({f"through the gateway {api}": sums._asdict()}))
    return int(sums.differing > 0)


def _print(reports: Mapping[str, Mapping[str, Bill]]) -> int:
    """0: long sessions cost less by the promised share, none lost a fault, and the greedy pager costs more."""
    failed = False
    for name, ways in reports.items():
        whole = ways["unpaged"].usd
        for way, bill in ways.items():
            print(
                f"{name:<16}{way:<10}{bill.usd:>9.2f} USD {1 - bill.usd / whole:>7.1%} less  "
                f"read {bill.read:>11,} write {bill.write:>10,} input {bill.input:>9,} "
                f"batches {bill.batches:>5} faults {bill.faults:>4} first {bill.first_sights:>4} "
                f"prefix {bill.same / max(1, bill.before):.3f}"
            )
        if name.startswith("long"):
            failed |= ways["paged"].usd > (1 - _LEAST_SAVED) * whole or ways["greedy"].usd <= whole
            failed |= ways["paged"].faults_lost > 0
    print(json.dumps({name: msgspec.to_builtins(ways) for name, ways in reports.items()}))
    return int(failed)


if __name__ == "__main__":
    main()
