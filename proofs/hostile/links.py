"""`make proof-links`, P16: no path and no race leads out of a tenant's folder, or of an agent's workspace.

Hostile paths are refused, each. Then a folder is by turns itself and a link to another one outside, while its file is
read by all that reads files: explicit links, the index of a folder, and the agent's workspace. The control checks the
path first and then opens it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from local.servers import temporary_folder
from proofs.ground import Proof, show
from scrubjay_agent.workspace.beneath import PathError, Workspace
from services.agent_memory.vault.disk.files import open_tenant
from services.agent_memory.vault.disk.walking import Unreadable, read_file
from tests.support.vault.escaping import TENANT, lay_traps, make_vault, race, read, readers, swapping

# There is no chance in it but the kernel's.
SEED = 16
ATTEMPTS, SHORT_ATTEMPTS = 300_000, 30_000
_CONTROL_ATTEMPTS = 1_000_000
_MOST_BYTES = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the form for every change")
    started = time.monotonic()
    attempts = SHORT_ATTEMPTS if parser.parse_args().short else ATTEMPTS
    with temporary_folder("scrubjay-links-") as folder:
        proof = prove(folder, attempts)
    show("P16", proof, SEED, time.monotonic() - started)


def prove(folder: Path, attempts: int) -> Proof:
    vault = make_vault(folder)
    paths = lay_traps(vault)
    answers = [read(vault, path)[0] for path in paths]
    unrefused = [
        path for path, answer in zip(paths, answers, strict=True) if answer.refused is None or answer.text
    ]
    with ExitStack() as stack:
        beneath, checked_first = readers(vault)
        others = {"explicit links": beneath, **_others(vault, stack)}
        stack.enter_context(swapping(vault / TENANT / "race", folder / "outside"))
        tried, control = race(_CONTROL_ATTEMPTS, checked_first, until_escape=True)
        each = -(-attempts // len(others))
        escapes = {name: race(each, attempt)[1] for name, attempt in others.items()}
    return Proof(
        n=each * len(others),
        faults=len(paths),
        violations=sum(escapes.values()) + len(unrefused),
        control_violations=control,
        more={
            "escapes": escapes,
            "hostile paths": len(paths),
            "not refused": unrefused,
            "control: tried": tried,
        },
    )


def _others(vault: Path, stack: ExitStack) -> dict[str, Callable[[], str | None]]:
    tenant = open_tenant(vault, TENANT)
    workspace = Workspace(vault / TENANT)
    stack.callback(workspace.close)

    def index() -> str | None:
        try:
            return read_file(tenant, "race/secret.md", _MOST_BYTES).data.decode()
        except Unreadable:
            return None

    def agent() -> str | None:
        try:
            return workspace.read("race/secret.md").decode()
        except PathError:
            return None

    return {"the index of a folder": index, "the agent's workspace": agent}


if __name__ == "__main__":
    main()
