"""T12: the resident memory of each service when it is ready, without and with the local model."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

from bench.assemble.cluster import Cluster
from local.process import free_ports
from local.servers import temporary_folder


def main() -> None:
    with ExitStack() as cleanup:
        folder = cleanup.enter_context(temporary_folder("scrubjay-resident-"))
        cluster = Cluster(folder, cleanup)
        figures = {}
        for kind, settings in (("without", remote_model()), ("with", {})):
            cluster.start(kind, settings)
            figures[kind] = {service.name: megabytes(service.pid) for service in cluster.services[kind]}
    print(json.dumps(figures))


def remote_model() -> dict[str, str]:
    """Settings of a model that nobody asks for anything."""
    (away,) = free_ports(1)
    return {
        "SCRUBJAY_EMBEDDER": "openai",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{away}/v1",
        "OPENAI_API_KEY": "none",
    }


def megabytes(process: int) -> float:
    """What is resident."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return round(kilobytes / 1024, 1)


if __name__ == "__main__":
    main()
