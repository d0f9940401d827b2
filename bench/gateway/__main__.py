"""What the gateway adds: `python -m bench.gateway`.

Fifty hosts (SESSIONS) send 150,000 bytes about once a second, every other answer a stream, to a provider that takes
50 ms: at the provider itself, through the gateway as it came, and through the gateway paged, in turns of SECONDS (10),
ROUNDS (3) times. Then STREAMS (1,000) begin and say nothing, and the memory of the service is read before and after.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import ExitStack
from typing import Any

from bench.assemble.cluster import Cluster
from bench.client import leaves
from bench.gateway.provider import WAIT_SECONDS, providing
from bench.gateway.sessions import Door, Idle, differences, rounds
from bench.promises.resident import megabytes, remote_model
from local.process import LocalError, free_ports
from local.servers import temporary_folder

_SETTLES_SECONDS = 2.0


def main() -> None:
    try:
        with ExitStack() as cleanup:
            (port,) = free_ports(1)
            cluster = Cluster(cleanup.enter_context(temporary_folder("scrubjay-gateway-")), cleanup)
            cluster.start("gateway", _settings(port))
            figures = asyncio.run(_measured(cluster, port))
    except* (LocalError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    print(json.dumps(figures))


def _settings(provider: int) -> dict[str, str]:
    most = dict.fromkeys(("REQUESTS_PER_KEY", "REQUESTS_PER_TENANT", "REQUESTS"), "10000")
    limits = {f"SCRUBJAY_GATEWAY_{name}": count for name, count in most.items()}
    own = {
        "SCRUBJAY_GATEWAY_ANTHROPIC_URL": f"http://127.0.0.1:{provider}",
        "SCRUBJAY_GATEWAY_UNPAGED_SHARE": "0",
    }
    return {**remote_model(), **limits, **own}


async def _measured(cluster: Cluster, port: int) -> dict[str, Any]:
    context = next(each for each in cluster.services["gateway"] if each.name == "context")
    key = b"x-scrubjay-key: " + cluster.tokens.write.encode() + b"\r\n"
    off = key + b"x-scrubjay-paging: off\r\n"
    doors = {
        "direct": Door(port),
        "gateway": Door(context.port, b"/gateway/anthropic", off),
        "paged": Door(context.port, b"/gateway/anthropic", key),
    }
    sessions, streams = _number("SESSIONS", 50), _number("STREAMS", 1_000)
    async with providing(port):
        seconds = await rounds(doors, sessions, _number("SECONDS", 10), _number("ROUNDS", 3))
        await asyncio.sleep(_SETTLES_SECONDS)
        before, idle = megabytes(context.pid), Idle()
        try:
            await idle.open(doors["paged"], streams)
            await asyncio.sleep(_SETTLES_SECONDS)
            after = megabytes(context.pid)
        finally:
            idle.close()
    memory = {"streams": streams, "before_mb": before, "added_mb": round(after - before, 1)}
    figures = {
        "as_it_came": differences(seconds["direct"], seconds["gateway"]),
        "paged": differences(seconds["direct"], seconds["paged"]),
    }
    return {"sessions": sessions, "provider_ms": WAIT_SECONDS * 1_000, **figures, "idle": memory}


def _number(name: str, usual: int) -> int:
    return int(os.environ.get(name, usual))


if __name__ == "__main__":
    main()
