"""Transcripts of both agents, line by line: from the beginning, from a place within, and while they grow."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scrubjay.transcripts.lines
from scrubjay.importing.items import Refused
from scrubjay.transcripts.claude_code import ClaudeCode
from scrubjay.transcripts.codex import Codex
from scrubjay.transcripts.entries import Entry
from scrubjay.transcripts.following import Transcript
from scrubjay.transcripts.places import Place, Places
from scrubjay.transcripts.summing_up import summed_up
from tests.support.fakes.transcripts import Writer

SAME = {"sessionId": "s-1", "cwd": "/home/ana/lantern", "timestamp": "2026-03-01T12:00:00Z"}


def claude(kind: str, uuid: str, content: Any, **more: Any) -> dict[str, Any]:
    return {**SAME, "type": kind, "uuid": uuid, "message": {"role": kind, "content": content}, **more}


USE = claude(
    "assistant", "u-2", [{"type": "tool_use", "id": "t-1", "name": "Bash", "input": {"command": "ls"}}]
)
RESULT = claude(
    "user",
    "u-3",
    [{"type": "tool_result", "tool_use_id": "t-1", "content": [{"type": "text", "text": "a.py"}]}],
)


def written(path: Path, *records: Any) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def read(path: Path, place: Place | None = None, reader: type[ClaudeCode | Codex] = ClaudeCode) -> list[Any]:
    return [each for told in Transcript(path, reader(), place or Place(0)).told() for each in told.found]


def test_a_call_is_told_with_its_result(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", claude("user", "u-1", "List the files"), USE, RESULT)
    asked, ran = read(path)
    assert (asked.id, asked.text, asked.speaker, asked.session, asked.project) == (
        "u-1",
        "List the files",
        "user",
        "s-1",
        "lantern",
    )
    assert (ran.id, ran.text, ran.about) == ("t-1", "$ ls\na.py", ("tool: Bash", "command: ls"))


def test_what_nobody_said_is_left_out(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.jsonl",
        {"type": "summary", "summary": "x"},
        claude("user", "u-1", "<system-reminder>from the host</system-reminder>"),
        claude("user", "u-2", "a caveat", isMeta=True),
        claude("assistant", "u-3", [{"type": "thinking", "thinking": "hm"}]),
        claude("user", "u-4", "<scrubjay-memory>known</scrubjay-memory>"),
        claude("user", "u-5", [{"type": "tool_result", "tool_use_id": "of nobody", "content": "x"}]),
        claude("user", "u-6", "[Request interrupted by user]"),
    )
    assert read(path) == []


@pytest.mark.parametrize(
    "line", ["{", "[1]", "3", '{"type": "user", "message": {"content": {"a": 1}}}', "\ufffe"]
)
def test_a_line_that_is_none_costs_itself(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "a.jsonl", claude("user", "u-1", "before"))
    path.write_text(f"{path.read_text()}{line}\n{json.dumps(claude('user', 'u-2', 'after'))}\n")
    texts = [each.text for each in read(path) if isinstance(each, Entry)]
    assert texts == ["before", "after"]


def test_a_line_that_is_too_long_is_refused_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrubjay.transcripts.lines, "LONGEST", 1_000)
    path = written(tmp_path / "a.jsonl", claude("user", "u-1", "x" * 9_000), claude("user", "u-2", "after"))
    refused, after = read(path)
    assert isinstance(refused, Refused)
    assert refused.place == "a.jsonl line 1"
    assert after.text == "after"


def test_from_any_place_on_a_transcript_tells_what_it_tells_from_its_beginning(tmp_path: Path) -> None:
    for reader, path in (
        (ClaudeCode, Writer(1).claude_code(tmp_path, 60_000)),
        (Codex, Writer(2).codex(tmp_path, 60_000)),
    ):
        whole = list(Transcript(path, reader(), Place(0)).told())
        for at in range(0, len(whole), 7):
            later = [each for told in whole[at + 1 :] for each in told.found]
            assert read(path, whole[at].place, reader) == later


def test_a_line_that_is_being_written_is_left_for_later(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", USE)
    transcript = Transcript(path, ClaudeCode(), Place(0))
    assert [told.found for told in transcript.told()] == [[]]
    half = json.dumps(RESULT)
    with path.open("a") as file:
        file.write(half[:50])
        file.flush()
        assert list(transcript.told()) == []
        file.write(f"{half[50:]}\n")
    assert [entry.id for told in transcript.told() for entry in told.found if isinstance(entry, Entry)] == [
        "t-1"
    ]


def codex(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T12:00:00Z", "type": kind, "payload": payload}


def test_a_session_of_codex(tmp_path: Path) -> None:
    run = {"type": "function_call", "name": "shell", "call_id": "c-1"}
    patch = {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c-2"}
    path = written(
        tmp_path / "rollout.jsonl",
        codex("session_meta", {"id": "s-2", "cwd": "/home/ana/lantern"}),
        codex(
            "response_item",
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]},
        ),
        codex(
            "response_item",
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]},
        ),
        codex("response_item", {**run, "arguments": json.dumps({"command": ["bash", "-lc", "make test"]})}),
        codex(
            "response_item",
            {
                "type": "function_call_output",
                "call_id": "c-1",
                "output": json.dumps({"output": "2 failed", "metadata": {"exit_code": 2}}),
            },
        ),
        codex(
            "response_item",
            {**patch, "input": "*** Begin Patch\n*** Update File: src/a.py\n+x\n*** End Patch"},
        ),
        codex("response_item", {"type": "custom_tool_call_output", "call_id": "c-2", "output": "Success"}),
    )
    asked, ran, changed = read(path, reader=Codex)
    assert (asked.id, asked.text, asked.speaker) == ("s-2/3", "Go", "user")
    assert (ran.id, ran.step, ran.about[-1]) == ("s-2/c-1", "test", "error")
    assert ran.text.endswith("exit code: 2\n2 failed")
    assert (changed.paths, changed.step) == (("src/a.py",), "edit")


def test_a_place_is_that_of_one_file_and_one_target(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", USE)
    inode = path.stat().st_ino
    with Places("here", tmp_path / "places") as places:
        assert places.of(path) == Place(inode)
        places.keep(path, Place(inode, 2, 10))
        assert places.of(path) == Place(inode, 2, 10)
    with Places("there", tmp_path / "places") as places:
        assert places.of(path) == Place(inode)
    path.write_text("")
    with Places("here", tmp_path / "places") as places:
        assert places.of(path) == Place(inode)


def test_where_a_session_is_names_what_was_wanted_said_and_changed() -> None:
    entries = [
        Entry("1", "Light the lantern", None, "s", speaker="user"),
        Entry("2", "Changed a.py", None, "s", paths=("a.py",), step="edit", about=("tool: Edit",)),
        Entry("3", "$ pytest\n1 failed", None, "s", step="test", about=("tool: Bash", "error")),
        Entry("4", "It is lit, but a test fails.", None, "s"),
    ]
    found = summed_up(entries)
    assert (found.title, found.turns, list(found.paths)) == ("Light the lantern", 1, ["a.py"])
    for part in ("Wanted: Light", "Said last: It is lit", "Failed last: $ pytest", "changed:\na.py"):
        assert part in found.prose
    assert summed_up([]).prose == "A session"


LETTERS = st.text(st.sampled_from("ab \n\0\ud800\u200bü"), max_size=12)
TEXTS = st.builds(lambda part, count: part * count, LETTERS, st.integers(0, 2_000))
ENTRIES = st.builds(
    Entry,
    id=st.just("1"),
    text=TEXTS,
    at=st.none(),
    session=st.just("s"),
    speaker=st.sampled_from(["user", "user", "subagent", None]),
    paths=st.lists(st.builds(lambda part, count: part * count, LETTERS, st.integers(0, 60)), max_size=4).map(
        tuple
    ),
    step=st.sampled_from(["edit", "edit", "run", None]),
    about=st.sampled_from([(), ("error",)]),
)


@given(st.lists(ENTRIES, max_size=30))
def test_where_any_session_is_can_be_stored(entries: list[Entry]) -> None:
    found = summed_up(entries)
    assert 1 <= len(found.prose) <= 2_000
    assert found.title.strip()
    for text in (found.title, found.prose, *found.paths):
        assert "\0" not in text
        assert text.encode()
    assert all(1 <= len(path) <= 300 for path in found.paths)


def test_the_files_that_were_changed_last_are_named() -> None:
    paths = [f"src/{number:02}{'a' * 60}.py" for number in range(9)]
    found = summed_up([Entry("1", "Changed", None, "s", paths=(path,), step="edit") for path in paths])
    assert list(found.paths) == paths
    assert found.prose.endswith("\n".join(["changed:", *paths[-3:]]))
