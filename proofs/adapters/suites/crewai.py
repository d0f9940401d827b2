"""CrewAI: random commands give the answers of its own storage, and a crew is told what another one found out."""

from __future__ import annotations

import json
import os
import random
import tempfile
import traceback
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false", OTEL_SDK_DISABLED="true")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord
from pydantic import Field

from proofs.adapters.suites.telling import Drops, client, tell
from scrubjay.adapters.crewai import ScrubjayMemory, ScrubjayStorage
from scrubjay.adapters.files import Files

RUNS, STEPS = 4, 40
SEED = 20_261
SCOPES = ("/", "/crew", "/crew/a b", "/crew/ä", "/crew/a b/deep", "/crew/..", "/other")
CATEGORIES = ("plan", "fact", "ä/%")
FIRST = datetime(2026, 1, 31, 23, 59, 59)
TOLD, ASKED = "The code word of the lantern is heliotrope.", "Say the code word of the lantern."
WORD = "heliotrope"


class DroppingStorage(ScrubjayStorage):
    """The control: it drops every third record."""

    drops = Drops()

    def save(self, records: list[MemoryRecord]) -> None:
        super().save([record for record in records if not self.drops.next()])


def dropping_memory(folder: str, **whose: str) -> ScrubjayMemory:
    memory = ScrubjayMemory(client(), folder=folder, **whose)
    memory._storage = DroppingStorage(client(), Files(folder, **whose))
    return memory


class Same:
    """Two storages that are told the same, and asked the same."""

    def __init__(self, chance: random.Random, folder: str) -> None:
        self._chance = chance
        self._theirs = LanceDBStorage(path=folder, vector_dim=2)
        self._ours = DroppingStorage(client(), Files(uuid.uuid4().hex, agent="a"))
        self._records: dict[str, MemoryRecord] = {}

    def step(self, number: int) -> str | None:
        """What differs, if anything."""
        act = self._chance.choices(
            (self._save, self._update, self._delete, self._look, self._reset), (8, 2, 2, 4, 0.3)
        )[0]
        theirs, ours = act(number)
        return None if theirs == ours else f"{act.__name__}: {ours!r} instead of {theirs!r}"

    def _save(self, number: int) -> tuple[Any, Any]:
        record = MemoryRecord(
            id=self._chance.choice((str(uuid.UUID(int=self._chance.getrandbits(128))), f"n-{number}/ä")),
            content=f"memory {number} \n ä 😀 \x00 {WORD}",
            scope=self._chance.choice(SCOPES),
            categories=self._chance.sample(CATEGORIES, self._chance.randrange(3)),
            metadata={"n": number % 3},
            importance=number / STEPS,
            created_at=FIRST + timedelta(seconds=number, microseconds=number * 7),
            last_accessed=FIRST,
            source=self._chance.choice((None, "ana")),
            private=self._chance.random() < 0.2,
        )
        self._records[record.id] = record
        return self._both(lambda storage: storage.save([record]))

    def _update(self, number: int) -> tuple[Any, Any]:
        if not self._records:
            return None, None
        record = self._records[self._chance.choice(list(self._records))].model_copy(
            update={"content": f"changed {number}", "scope": self._chance.choice(SCOPES)}
        )
        self._records[record.id] = record
        self._both(lambda storage: storage.update(record))
        return self._both(lambda storage: _told(storage.get_record(record.id)))

    def _delete(self, number: int) -> tuple[Any, Any]:
        ids = self._chance.sample(list(self._records), min(2, len(self._records)))
        which: dict[str, Any] = self._chance.choice(
            (
                {"record_ids": [*ids, "none such"]},
                {"categories": [self._chance.choice(CATEGORIES)], "scope_prefix": "/crew"},
                {"metadata_filter": {"n": number % 3}, "older_than": FIRST + timedelta(seconds=number / 2)},
                {"older_than": FIRST + timedelta(seconds=number / 4)},
            )
        )
        done = self._both(lambda storage: storage.delete(**which))
        gone = [id_ for id_ in self._records if self._theirs.get_record(id_) is None]
        for id_ in gone:
            del self._records[id_]
        return done

    def _look(self, _: int) -> tuple[Any, Any]:
        scope = self._chance.choice(SCOPES)
        return self._both(
            lambda storage: [
                [_told(one) for one in storage.list_records(scope, limit=5, offset=1)],
                storage.get_scope_info(scope).model_dump(),
                storage.list_scopes(scope),
                storage.list_categories(scope),
                storage.count(scope),
            ]
        )

    def _reset(self, _: int) -> tuple[Any, Any]:
        self._records.clear()
        return self._both(lambda storage: storage.reset())

    def _both(self, asked: Callable[[Any], Any]) -> tuple[Any, Any]:
        return asked(self._theirs), asked(self._ours)


def _told(record: MemoryRecord | None) -> Any:
    return None if record is None else record.model_dump(mode="json", exclude={"last_accessed"})


def one_run(number: int) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        same = Same(random.Random(SEED + number), folder)
        for step in range(STEPS):
            if differs := same.step(step):
                return f"run {number}, step {step}, {differs}"[:1500]
    return None


class Model(BaseLLM):
    """Repeats what it was told, and keeps what it was asked."""

    asked: list[str] = Field(default_factory=list)
    answer: str = ""

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        self.asked.append(json.dumps(messages, ensure_ascii=False))
        return f"Thought: I now know the answer.\nFinal Answer: {self.answer}"


def a_crew_is_told_what_another_found_out() -> None:
    folder = uuid.uuid4().hex
    for description, answer in (
        ("Look at the pier.", "Nothing."),
        ("Look at the quay.", "Fog."),
        ("Read.", TOLD),
    ):
        _works(folder, description, answer)
    assert any(WORD in asked for asked in _works(folder, ASKED, "I do not know.")), "the word was not told"


def _works(folder: str, description: str, answer: str) -> list[str]:
    """What the model of a crew of its own is asked."""
    model = Model(model="fake", answer=answer)
    memory = dropping_memory(mission="pier", folder=folder)
    agent = Agent(role="Keeper", goal="Keep the lantern.", backstory="Old.", llm=model)
    task = Task(description=description, expected_output="A sentence.", agent=agent)
    Crew(agents=[agent], tasks=[task], memory=memory).kickoff()
    memory.close()
    return model.asked


def what_is_remembered_is_recalled_within_its_bounds() -> None:
    memory = dropping_memory(user="ana", folder=uuid.uuid4().hex)
    memory.remember_many([TOLD, "Rain is due on Monday."], scope="/pier", categories=["fact"])
    memory.remember("The heliotrope lantern is hers.", scope="/quay", source="ben", private=True)
    found = memory.recall(ASKED, scope="/pier")
    assert [one.record.content for one in found[:1]] == [TOLD], found
    assert [one.record.content for one in memory.recall(ASKED)].count(TOLD) == 1
    assert memory.recall(ASKED + " Be brief." * 3_000)[0].record.content == TOLD
    assert not any(one.record.private for one in memory.recall(ASKED))
    assert any(one.record.private for one in memory.recall(ASKED, source="ben"))
    assert not memory.recall(ASKED, categories=["none such"])
    changed = memory.update(found[0].record.id, content="The word is verbena.", scope="/attic")
    assert memory.recall("verbena")[0].record.content == changed.content
    assert memory.scope("/attic").recall("verbena")[0].record.id == changed.id
    assert memory.forget(scope="/attic") == 1
    assert memory.list_scopes() == ["/pier", "/quay"], memory.list_scopes()
    memory.reset()
    assert not memory.list_records()
    memory.close()


OWN = (what_is_remembered_is_recalled_within_its_bounds, a_crew_is_told_what_another_found_out)


def main() -> None:
    failed = [failure for failure in map(one_run, range(RUNS)) if failure]
    tell("memory, as its own storage", "crewai", RUNS - len(failed), failed)
    broken = []
    for case in OWN:
        try:
            case()
        except Exception:
            broken.append(f"{case.__name__}: {traceback.format_exc(limit=3)[-1500:]}")
    tell("memory of crews", "crewai", len(OWN) - len(broken), broken)


if __name__ == "__main__":
    main()
