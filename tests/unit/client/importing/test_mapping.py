"""What becomes of records at the edges: sizes, times, names, texts that a terminal would obey."""

import io
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.importing import fields
from scrubjay.importing.checks import LONGEST, split
from scrubjay.importing.folders import files
from scrubjay.importing.items import File, Found, Item, LeftOut, Refused
from scrubjay.importing.placing import Placement
from scrubjay.importing.reporting import Report
from scrubjay.importing.sources import SYSTEMS
from scrubjay.models import AddFactInput, WriteMemoryInput


def read(system: str, folder: Path, *records: Any, scope: str | None = "shared") -> list[Item]:
    path = folder / "export.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return list(SYSTEMS[system].read(path, Placement(scope)))


def mem0(**more: Any) -> dict[str, Any]:
    return {"id": "1", "memory": "Ana likes tea", "user_id": "ana"} | more


def written(item: Item) -> WriteMemoryInput:
    assert isinstance(item, Found)
    assert isinstance(item.write, WriteMemoryInput)
    return item.write


def test_what_is_too_long_is_split_at_ends_of_paragraphs(tmp_path: Path) -> None:
    text = "\n\n".join(["A paragraph of some length."] * 12_000)
    parts = [written(item) for item in read("mem0", tmp_path, mem0(memory=text))]
    assert "".join(part.content for part in parts) == text
    assert [part.origin for part in parts] == ["mem0:1", "mem0:1#2", "mem0:1#3"]
    assert all(part.content.endswith("\n\n") for part in parts[:-1])
    assert all(len(part) <= LONGEST for part in split("x" * (3 * LONGEST + 1)))


@pytest.mark.parametrize(
    "wrong",
    [
        mem0(user_id="x" * 201),
        mem0(user_id=7),
        mem0(user_id=" ana"),
        mem0(memory="half \ud83d"),
        mem0(memory="nothing \0 more"),
        mem0(created_at="yesterday"),
        mem0(expiration_date="soon"),
        mem0(metadata="none"),
        mem0(categories=[1]),
        mem0(id=None),
        {"source": "ana", "relationship": "knows", "target": "x" * 4_001},
        {"source": "ana", "relationship": "knows"},
        ["a", "list"],
        "text",
        None,
    ],
)
def test_a_bad_record_is_named_by_its_line_and_costs_itself(tmp_path: Path, wrong: Any) -> None:
    lines = [json.dumps(wrong) if isinstance(wrong, list) else wrong]
    first, second, third = read("mem0", tmp_path, mem0(), *lines, mem0(id="2"))
    assert isinstance(second, Refused)
    assert second.place == "line 2"
    assert (written(first).origin, written(third).origin) == ("mem0:1", "mem0:2")


def test_a_record_that_names_nobody_needs_a_scope(tmp_path: Path) -> None:
    nobody = {"id": "1", "memory": "Tea is served at four"}
    (refused,) = read("mem0", tmp_path, nobody, scope=None)
    assert isinstance(refused, Refused)
    assert "--scope" in refused.reason
    assert written(*read("mem0", tmp_path, nobody, scope="agent:scout")).scope == "agent:scout"


def test_a_time_ahead_is_no_time_of_writing(tmp_path: Path) -> None:
    ahead = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    (memory,) = read("mem0", tmp_path, mem0(created_at="2025-01-01T00:00:00", updated_at=ahead))
    assert written(memory).occurred_at == datetime(2025, 1, 1, tzinfo=UTC)


def test_origins_of_different_records_differ() -> None:
    ids = [("a/b",), ("a", "b"), ("a%2Fb",), ("x" * 600,), ("x" * 599 + "y",)]
    made = [fields.origin("langgraph", *parts) for parts in ids]
    assert len(set(made)) == len(ids)
    assert max(map(len, made)) <= 500


def test_an_edge_that_ended_is_history(tmp_path: Path) -> None:
    nodes: list[dict[str, Any]] = [
        {"uuid": name, "name": name, "labels": [], "summary": ""} for name in ("ana", "acme")
    ]
    edge = {
        "uuid": "e",
        "name": "WORKS_AT",
        "source_node_uuid": "ana",
        "target_node_uuid": "acme",
        "fact": "Ana worked at Acme",
        "valid_at": "2020-01-01T00:00:00Z",
        "invalid_at": "2021-01-01T00:00:00Z",
    }
    fact, episode = read("graphiti", tmp_path, edge, *nodes)
    assert isinstance(fact, Found)
    assert isinstance(fact.write, AddFactInput)
    assert (fact.write.subject, fact.write.predicate, fact.write.object) == ("ana", "works at", "acme")
    assert (fact.write.valid_from, fact.write.valid_to) == (
        datetime(2020, 1, 1, tzinfo=UTC),
        datetime(2021, 1, 1, tzinfo=UTC),
    )
    assert (written(episode).kind, written(episode).ended_at) == ("episode", fact.write.valid_to)
    (backwards,) = read("graphiti", tmp_path, edge | {"valid_at": "2022-01-01T00:00:00Z"}, *nodes)
    assert isinstance(backwards, Refused)


def test_a_folder_gives_its_own_text_and_names_the_rest(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config.md").write_text("hidden")
    (folder / "outside.md").symlink_to("/etc/hostname")
    (folder / "loop").symlink_to(folder)
    (folder / "bytes.md").write_bytes(b"\xff\xfe")
    (folder / "empty.md").write_text("")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    os.mkfifo(folder / "pipe.md")
    (folder / "note.md").write_text("# A note")
    found = {item.place: item for item in files(folder, "shared/notes", (".md",))}
    assert {place: type(item) for place, item in found.items()} == {
        "bytes.md": Refused,
        "empty.md": LeftOut,
        "loop": LeftOut,
        "note.md": Found,
        "outside.md": LeftOut,
        "picture.png": LeftOut,
        "pipe.md": Refused,
    }
    note = found["note.md"]
    assert isinstance(note, Found)
    assert isinstance(note.write, File)
    assert (note.write.path, note.write.text) == ("shared/notes/note.md", "# A note")


def test_a_folder_that_cannot_be_read_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.md", "locked/deep/b.md", "open/c.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# A note")
    listed = os.scandir

    def scandir(folder: Path) -> Any:
        if folder.name == "locked":
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    # A mode would not keep the superuser out.
    monkeypatch.setattr(os, "scandir", scandir)
    found = {item.place: item for item in files(tmp_path, "shared/notes", (".md",))}
    assert found.pop("locked") == Refused("locked", "cannot be read: Permission denied")
    assert list(found) == ["a.md", "open/c.md"]
    with pytest.raises(PermissionError):
        list(files(tmp_path / "locked", "shared/notes"))


def test_a_plan_shows_no_text_that_a_terminal_obeys(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    report = Report(out, err)
    for item in read(
        "mem0", tmp_path, mem0(memory="\x1b[2J\rgone\n" * 9_000), mem0(id="\x1b]0;x\x07", memory="")
    ):
        report.plan(item)
    lines = (out.getvalue() + err.getvalue()).splitlines()
    assert all(line.isprintable() and len(line) < 500 for line in lines)
    assert len(lines) == 2


def test_a_topic_that_shows_nothing_is_left_out() -> None:
    """The service would refuse the whole record for it."""
    assert fields.topics(["tea", " \u200b", "\ufeff", "🍵 "], ["tea"]) == ["tea", "🍵"]
