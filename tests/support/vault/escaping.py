"""Paths that lead out of a tenant's folder, and a folder that is by turns itself and a link to another."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from services.agent_memory.vault.disk.files import MAX_BYTES
from services.agent_memory.vault.disk.links import read_files
from services.agent_memory.vault.schemas import LinkedFile
from shared.auth import Principal

SECRET = "secret"
TENANT = "acme"


def make_vault(parent: Path) -> Path:
    """A vault with two tenants, beside a secret."""
    vault = parent / "vault"
    mine = vault / TENANT
    (mine / "notes").mkdir(parents=True)
    (mine / "notes" / "plan.md").write_text("fence the replica, then fail over")
    (mine / "with space [x].md").write_text("odd name")
    (mine / "inside.md").symlink_to("notes/plan.md")
    (vault / "other").mkdir()
    (vault / "other" / "theirs.md").write_text(SECRET)
    (parent / "outside").mkdir()
    (parent / "outside" / "secret.md").write_text(SECRET)
    return vault


def read(root: Path | None, *paths: str, tenant: str = TENANT, characters: int = 64_000) -> list[LinkedFile]:
    return read_files(root, Principal(tenant, "key:1", frozenset({"read"})), paths, characters)


def lay_traps(root: Path) -> list[str]:
    """Answers the paths, none of which may be read."""
    mine, outside = root / "acme", root.parent / "outside"
    (mine / "absolute").symlink_to(outside / "secret.md")
    (mine / "relative").symlink_to("../../outside/secret.md")
    (mine / "folder").symlink_to(outside)
    (mine / "folder-up").symlink_to("../..")
    (mine / "neighbour").symlink_to("../other/theirs.md")
    (mine / "chain-1").symlink_to("chain-2")
    (mine / "chain-2").symlink_to("../../outside/secret.md")
    (mine / "loop").symlink_to("loop")
    (mine / "proc").symlink_to("/proc/self/root")
    (mine / "fd").symlink_to("/proc/self/fd")
    (mine / "notes" / "deep").symlink_to("../../../outside/secret.md")
    (mine / "notes" / "back").symlink_to("../../acme/../other/theirs.md")
    (mine / "null").symlink_to("/dev/null")
    os.mkfifo(mine / "pipe")
    (mine / "huge").write_bytes(b"a" * (MAX_BYTES + 1))
    (mine / "binary").write_bytes(b"text\x00more")
    (mine / "latin").write_bytes("caf\xe9".encode("latin-1"))
    secret = str(outside / "secret.md")
    return [
        *("../other/theirs.md", "../../outside/secret.md", "notes/../../other/theirs.md", secret),
        *("/etc/passwd", "//etc/passwd", "///etc/passwd", "/", "..", "../", "../..", ".", "./", "notes"),
        *("notes/", "notes/..", "./../other/theirs.md", "notes/../../../outside/secret.md"),
        *("absolute", "relative", "folder/secret.md", "folder-up/outside/secret.md", "neighbour", "chain-1"),
        *("loop", "proc/etc/passwd", "fd/0", "notes/deep", "notes/back", "null", "pipe", "huge", "binary"),
        *("latin", "missing", "notes/plan.md/", "notes/plan.md/x", "..\\other\\theirs.md", "%2e%2e/other"),
        *(
            "file:///etc/passwd",
            "~/secret",
            "\ud800",
            "a" * 1000,
            "notes/" * 150 + "x",
            "…/…/x",
            "\u202e..",
            " ",
        ),
    ]


@contextmanager
def swapping(folder: Path, outside: Path) -> Iterator[None]:
    """`folder` is by turns itself and a symbolic link to `outside`."""
    aside = folder.with_name(folder.name + "-aside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            with suppress(OSError):
                folder.rename(aside)
                folder.symlink_to(outside)
                folder.unlink()
                aside.rename(folder)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def race(attempts: int, attempt: Callable[[], str | None], until_escape: bool = False) -> tuple[int, int]:
    """How many were made and how many read the secret."""
    escapes = 0
    for number in range(attempts):
        escapes += attempt() == SECRET
        if escapes and until_escape:
            return number + 1, escapes
    return attempts, escapes


def readers(root: Path) -> tuple[Callable[[], str | None], Callable[[], str | None]]:
    """Two ways to read one file of a new folder, `race`: beneath the tenant's, and by a path that was checked first."""
    mine = root / TENANT
    (mine / "race").mkdir()
    (mine / "race" / "secret.md").write_text("fine")

    def beneath() -> str | None:
        return read(root, "race/secret.md")[0].text

    def checked_first() -> str | None:
        # Looking may meet the moment between two names, too.
        try:
            path = os.path.realpath(mine / "race" / "secret.md")
            if not path.startswith(f"{mine.resolve()}/"):
                return None
            return (mine / "race" / "secret.md").read_text()
        except OSError:
            return None

    return beneath, checked_first
