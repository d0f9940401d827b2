"""The TypeScript client as its users have it: packed, compiled strictly, and on a running cluster.

Every call is made with the document's examples. A strict compiler then reads each call and each answer, the blocks of
the README, and a module of what it must refuse. The client's own tests cut connections; their control sends no key.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from proofs.ground import Ground, ground
from proofs.typescript_client.package import (
    NODE,
    compiled,
    environment,
    executable,
    installed,
    packed,
    readme_blocks,
)
from proofs.typescript_client.playing import OPERATIONS, Played, play, written
from tests.support.cluster import Cluster

_WRONG = 'import { Scrubjay } from "scrubjay";\nvoid new Scrubjay().assemble({});\n'


def main() -> int:
    with tempfile.TemporaryDirectory(dir=NODE, prefix="client-") as name, ground() as stands_on:
        folder = installed(packed(Path(name)), Path(name) / "user")
        return asyncio.run(_verified(folder, stands_on))


async def _verified(folder: Path, stands_on: Ground) -> int:
    cluster = Cluster(stands_on.database, stands_on.valkey.url, stands_on.folder)
    async with cluster:
        played, tests, readme = await asyncio.to_thread(_used, cluster, folder)
    (folder / "calls.ts").write_text(written(played))
    (folder / "wrong.ts").write_text(_WRONG)
    paths = [folder / "calls.ts", folder / "strict.ts", *readme_blocks(folder)]
    errors = compiled(paths, folder)
    control = compiled([folder / "wrong.ts"], folder)
    refused = [f"{one.method}: {one.error}" for one in played if one.error]
    missed = OPERATIONS.keys() - {one.operation.spec["operationId"] for one in played}
    print("\n".join([*errors, *refused, *sorted(missed)]))
    figures = {
        "calls": len(played),
        "refused": len(refused),
        "operations missed": len(missed),
        "compiled": len(paths),
        "errors": len(errors),
        "control_errors": len(control),
        "tests failed": tests,
        "readme failed": readme,
    }
    print(json.dumps({"typescript": figures}))
    return 1 if errors or refused or missed or tests or readme or not control else 0


def _used(cluster: Cluster, folder: Path) -> tuple[list[Played], int, int]:
    """The calls, and how the tests and the README's first block ended."""
    tokens = cluster.tokens
    own = environment(
        SCRUBJAY_URL=cluster.url(),
        SCRUBJAY_TOKEN=tokens.write,
        READ=tokens.read,
        WRITE=tokens.write,
        ADMIN=tokens.admin,
    )
    tests = subprocess.run(
        [executable("node"), "--test", "client.test.mjs", "ai-sdk.test.mjs"], cwd=folder, env=own
    )
    first = readme_blocks(folder)[0]
    readme = subprocess.run([executable("node"), first.name], cwd=folder, env=own)
    played = list(play(folder, cluster.url(), tokens.admin))
    return played, tests.returncode, readme.returncode


if __name__ == "__main__":
    sys.exit(main())
