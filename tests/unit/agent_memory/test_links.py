"""Explicit links stay beneath the tenant's folder: hostile paths, and a race that a path check loses."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from services.agent_memory.vault.disk import files as links
from services.agent_memory.vault.disk.files import MAX_BYTES
from services.agent_memory.vault.disk.links import read_files
from services.agent_memory.vault.schemas import LinkedFile
from shared.auth import Principal

# `make proofs` asks for the full form of 100,000.
ATTEMPTS = int(os.environ.get("RACE_ATTEMPTS", "20000"))
SECRET = "secret"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with two tenants, beside a secret."""
    vault = tmp_path / "vault"
    mine = vault / "acme"
    (mine / "notes").mkdir(parents=True)
    (mine / "notes" / "plan.md").write_text("fence the replica, then fail over")
    (mine / "with space [x].md").write_text("odd name")
    (mine / "inside.md").symlink_to("notes/plan.md")
    (vault / "other").mkdir()
    (vault / "other" / "theirs.md").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text(SECRET)
    return vault


def read(root: Path | None, *paths: str, tenant: str = "acme", characters: int = 64_000) -> list[LinkedFile]:
    return read_files(root, Principal(tenant, "key:1", frozenset({"read"})), paths, characters)


def test_a_file_of_the_tenant(root: Path) -> None:
    plain, odd, inside = read(root, "notes/plan.md", "with space [x].md", "inside.md")
    assert plain.text == inside.text == "fence the replica, then fail over"
    assert plain.modified_at is not None
    assert odd.text == "odd name"
    assert read(root, "notes/plan.md", characters=5)[0].text == "fence"


def _lay_traps(root: Path) -> list[str]:
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


def test_hostile_paths(root: Path) -> None:
    paths = _lay_traps(root)
    assert len(paths) >= 40
    for path in paths:
        (answer,) = read(root, path)
        assert answer.refused is not None, path
        assert answer.text == "", path
        assert answer.path == path


@pytest.mark.parametrize(
    "tenant", ["", ".", "..", "acme/../other", "a/b", "/", "missing", "ac\x00me", "../vault/acme"]
)
def test_hostile_tenants(root: Path, tenant: str) -> None:
    assert read(root, "notes/plan.md", tenant=tenant)[0].refused == "no vault"


def test_a_tenant_that_is_a_link_has_no_vault(root: Path) -> None:
    (root / "linked").symlink_to("other")
    assert read(root, "theirs.md", tenant="linked")[0].refused == "no vault"


def test_off_without_a_vault_or_the_system_call(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(None, "notes/plan.md")[0].refused == "no vault"
    assert read(root / "nowhere", "notes/plan.md")[0].refused == "no vault"
    monkeypatch.setattr(links, "supported", lambda: False)
    assert read(root, "notes/plan.md")[0].refused == "no openat2"


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


def test_nothing_escapes_a_race(root: Path) -> None:
    mine, outside = root / "acme", root.parent / "outside"
    (mine / "race").mkdir()
    (mine / "race" / "secret.md").write_text("fine")

    def checked_first() -> str | None:
        # Looking may meet the moment between two names, too.
        try:
            path = os.path.realpath(mine / "race" / "secret.md")
            if not path.startswith(f"{mine.resolve()}/"):
                return None
            return (mine / "race" / "secret.md").read_text()
        except OSError:
            return None

    def beneath() -> str | None:
        return read(root, "race/secret.md")[0].text

    with swapping(mine / "race", outside):
        attempts, escapes = race(ATTEMPTS, beneath)
        tried, control = race(1_000_000, checked_first, until_escape=True)
    print(f"openat2: {attempts} attempts, {escapes} escapes; realpath: an escape after {tried}")
    assert escapes == 0
    assert control > 0


OWN = ("shared/a.md", "agents/ana/a.md", "missions/apollo/a.md", "users/alice/a.md")
OTHERS = ("a.md", "agents/bo/a.md", "missions/gemini/a.md", "users/bob/a.md", "users/a.md")


@pytest.fixture
def folders(root: Path) -> Path:
    for path in (*OWN, *OTHERS):
        (root / "acme" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "acme" / path).write_text(path)
    for place, target in enumerate(("../../users/bob/a.md", "../../a.md", str(root / "acme/a.md"))):
        (root / "acme/users/alice" / f"out-{place}").symlink_to(target)
    return root


def shown(root: Path, paths: Iterable[str], **bounds: Any) -> list[str]:
    principal = Principal("acme", "key:1", frozenset({"read"}), **bounds)
    return [file.text for file in read_files(root, principal, [*paths], 100) if file.refused is None]


def test_a_bound_key_reads_the_folders_of_its_bounds(folders: Path) -> None:
    every = (*OWN, *OTHERS)
    missions, users = frozenset({"apollo"}), frozenset({"alice"})
    assert shown(folders, every) == list(every)
    assert shown(folders, every, agent="ana") == ["shared/a.md", "agents/ana/a.md"]
    assert shown(folders, every, missions=missions) == ["shared/a.md", "missions/apollo/a.md"]
    assert shown(folders, every, users=users) == ["shared/a.md", "users/alice/a.md"]
    assert shown(folders, every, agent="ana", missions=missions, users=users) == list(OWN)
    assert shown(folders, every, users=frozenset()) == ["shared/a.md"]


def test_a_bound_key_finds_no_way_out_of_its_folders(folders: Path) -> None:
    ways = [
        *("shared/../a.md", "users/alice/../bob/a.md", "users/alice/../../a.md", "users/alice//../bob/a.md"),
        *("./users/bob/a.md", "/users/bob/a.md", "users//bob/a.md", "users/alice", "shared", "shared/", ""),
        *(f"users/alice/out-{place}" for place in range(3)),
    ]
    assert shown(folders, ways, users=frozenset({"alice"})) == []
    named = frozenset({"..", ".", "", "alice/../bob", "/", "bob/.."})
    assert shown(folders, [*ways, *OTHERS, "users/../a.md", "users/./a.md"], users=named) == []
