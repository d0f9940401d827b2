"""What a memory's row and its chunks hold, and what an edit replaces."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from services.agent_memory.memories.commits import rows
from services.agent_memory.memories.commits.content import MemoryContent, edited
from services.agent_memory.memories.commits.rows import (
    Hashes,
    content_hashes,
    hashes,
    memory_row,
    words_of,
)
from services.agent_memory.memories.schemas import EditAgentMemoryInput, TaskContext
from shared.auth import Principal

MEMORY = MemoryContent(
    content="Port 5433",
    memory_type="lesson_learned",
    written_by="k1",
    source_kind="tool",
    skills_used=["sql"],
    user_id="alice",
)
OWN = Hashes(bytes(32), None)
EDITOR = Principal("acme", "k2", frozenset(["write"]))


def test_a_row_counts_the_chunks_that_its_words_have() -> None:
    long = msgspec.structs.replace(MEMORY, content="One sentence of a long text. " * 200)
    row = memory_row("acme", "scout", long, OWN)
    words = words_of(row)
    assert row.chunks == len(words.chunks) == len(words.starts) == len(words.stops) > 1
    assert "".join(words.chunks) == long.content
    assert words.head == "scout lesson learned sql"


def test_a_fact_is_one_whatever_its_punctuation_and_another_for_another_user() -> None:
    assert hashes("port 5433!", "alice") == hashes("Port 5433", "alice")
    assert len({hashes("Port 5433", user).content for user in ("alice", "bob", None)}) == 3


def test_what_a_text_may_state_is_one_number_of_a_bigint_unless_it_is_long() -> None:
    stated = hashes("Always check the migrations.", None).stated
    assert stated == hashes("check migration", "alice").stated != hashes("check migration 5", None).stated
    assert stated is not None
    assert -(2**63) <= stated < 2**63
    assert hashes("One sentence of a long text. " * 200, None).stated is None


def test_an_edit_without_a_new_text_keeps_who_wrote_it() -> None:
    change = EditAgentMemoryInput(content=MEMORY.content, private=True, source_kind="user")
    assert edited(MEMORY, change, EDITOR) == msgspec.structs.replace(MEMORY, private=True)


def test_an_edit_replaces_the_text_with_its_source_and_the_task_as_a_whole() -> None:
    task = TaskContext(task_description="a task", skills_used=[], outcome="failed")
    change = EditAgentMemoryInput(content="Port 6644", task_context=task)
    memory = edited(MEMORY, change, EDITOR)
    assert (memory.content, memory.written_by, memory.source_kind) == ("Port 6644", "k2", "agent")
    assert (memory.task_description, memory.skills_used, memory.outcome) == ("a task", [], "failed")
    assert (memory.memory_type, memory.user_id) == (MEMORY.memory_type, MEMORY.user_id)


@pytest.mark.parametrize(("length", "on_the_loop"), [(1_000, True), (200_000, False)])
async def test_the_event_loop_reads_no_long_text(
    length: int, on_the_loop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noting(read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*texts: Any) -> Any:
            threads.append(threading.current_thread())
            return read(*texts)

        return reading

    for name in ("fact_key", "indexed", "chunk"):
        monkeypatch.setattr(rows, name, noting(getattr(rows, name)))
    long = msgspec.structs.replace(MEMORY, content="word " * (length // 5))
    (own,) = await content_hashes([long])
    await rows.made("acme", "scout", long, own)
    # Another process may have read it.
    assert (threading.main_thread() in threads) == on_the_loop


async def test_the_event_loop_reads_no_long_list_of_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    async def observed(length: int, work: Callable[..., Any], *given: Any, **more: Any) -> Any:
        lengths.append(length)
        return work(*given, **more)

    monkeypatch.setattr(rows, "beside", observed)
    paths = [f"src/{'x' * 500}/{n}.py" for n in range(20)]
    await rows.made("acme", "scout", msgspec.structs.replace(MEMORY, paths=paths), OWN)
    assert lengths[0] > sum(map(len, paths))
