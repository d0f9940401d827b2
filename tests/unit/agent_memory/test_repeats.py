"""What commits of a batch repeat, from the rows that the database finds."""

from __future__ import annotations

from typing import Any

from services.agent_memory.memories.commits.content import MemoryContent
from services.agent_memory.memories.commits.queries_repeats import Commit
from services.agent_memory.memories.commits.repeats import Earlier, Repeats, Stored
from services.agent_memory.memories.commits.rows import hashes

FACT, REWORDED, OTHER = "Deploys need a migration check.", "The deploy needs a migrations check", "Ask Ana."


def commit(content: str, agent: str = "scout") -> Commit:
    memory = MemoryContent(content=content, memory_type="lesson_learned", written_by="k")
    own = hashes(content, None)
    return Commit(agent, memory, own.content, own.stated, None)


def row(place: int, **found: Any) -> dict[str, Any]:
    return {"place": place, "id": None, "earlier": None, "content": None, "distance": None, **found}


def test_a_known_fact_comes_before_a_near_text() -> None:
    repeats = Repeats([commit(FACT)], [row(1, id=7)])
    assert repeats.of(0) == Stored(7)


def test_a_near_text_counts_only_where_it_states_the_same() -> None:
    far, near = row(1, id=9, content=REWORDED, distance=0.04), row(1, id=8, content=OTHER, distance=0.01)
    assert Repeats([commit(FACT)], [near, far]).of(0) == Stored(9)
    assert Repeats([commit(FACT)], [near]).of(0) is None


def test_a_commit_repeats_an_earlier_one_only_if_that_is_new() -> None:
    commits, rows = [commit(FACT), commit(REWORDED)], [row(2, earlier=1, distance=0.04)]
    repeats = Repeats(commits, rows)
    assert repeats.of(1) is None
    repeats.add_new(0)
    assert repeats.of(1) == Earlier(0)


def test_commits_of_one_agent_with_one_fact_repeat_each_other() -> None:
    repeats = Repeats([commit(FACT), commit(FACT.upper()), commit(FACT, "smith")], [])
    repeats.add_new(0)
    assert [repeats.of(place) for place in (1, 2)] == [Earlier(0), None]
