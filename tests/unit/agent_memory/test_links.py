"""Explicit links stay beneath the tenant's folder: hostile paths, and a race that a path check loses."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from services.agent_memory.vault.disk import files as links
from services.agent_memory.vault.disk.links import read_files
from shared.auth import Principal
from tests.support.vault.escaping import lay_traps, make_vault, race, read, readers, swapping

# `make proofs` asks for the full form of 100,000.
ATTEMPTS = int(os.environ.get("RACE_ATTEMPTS", "20000"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path)


def test_a_file_of_the_tenant(root: Path) -> None:
    plain, odd, inside = read(root, "notes/plan.md", "with space [x].md", "inside.md")
    assert plain.text == inside.text == "fence the replica, then fail over"
    assert plain.modified_at is not None
    assert odd.text == "odd name"
    assert read(root, "notes/plan.md", characters=5)[0].text == "fence"


def test_hostile_paths(root: Path) -> None:
    paths = lay_traps(root)
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


def test_nothing_escapes_a_race(root: Path) -> None:
    beneath, checked_first = readers(root)
    with swapping(root / "acme" / "race", root.parent / "outside"):
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
