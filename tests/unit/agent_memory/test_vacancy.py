"""One query tells which of a request's stores hold nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from services.agent_memory.app import NOTHING
from services.agent_memory.vacancy import HOLDINGS, PEER, Vacancies
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.search.evidence import GRAPH, SearchRequest

PRINCIPAL = Principal("acme", "key", frozenset({"read"}))
STORES = [*NOTHING, GRAPH]
OWN = "agent_memory_own"


class Looks:
    """Counts queries. All stores are empty but those in `holding`."""

    def __init__(self) -> None:
        self.agents: list[str] = []
        self.holding: set[str] = set()

    async def look(self, tenant: str, query: object, arguments: Sequence[Any], deadline: Deadline) -> Any:
        self.agents += arguments
        return [{store: store in self.holding for store in STORES}]


def request(agent: str = "scout") -> SearchRequest:
    return SearchRequest(query="q", agent=agent, stores={store: [] for store in STORES})


async def empty(vacancies: Vacancies, agent: str = "scout") -> set[str]:
    return set(await vacancies.empty(PRINCIPAL, request(agent), Deadline(30)))


def emptied(looks: Looks, agent: str = "scout") -> Vacancies:
    vacancies = Vacancies(cast(Database, looks))
    for store in {*STORES} - {PEER}:
        vacancies.learn("acme", store, agent if store == OWN else None, found=False)
    return vacancies


def test_a_column_is_asked_for_each_store() -> None:
    for store in STORES:
        assert f" as {store}" in HOLDINGS


async def test_one_query_asks_about_all_stores() -> None:
    looks = Looks()
    assert await empty(emptied(looks)) == set(STORES)
    assert looks.agents == ["scout"]


async def test_nothing_is_asked_of_stores_that_were_not_empty() -> None:
    looks = Looks()
    vacancies = Vacancies(cast(Database, looks))
    assert await empty(vacancies) == {PEER}
    looks.holding = {PEER}
    assert await empty(vacancies) == set()
    assert await empty(vacancies) == set()
    # Only peers are asked about before a search, once there are any no more.
    assert looks.agents == ["scout", "scout"]


async def test_a_store_that_holds_something_now_is_searched_and_not_asked_about_again() -> None:
    looks = Looks()
    vacancies = emptied(looks)
    looks.holding = {*STORES}
    assert await empty(vacancies) == set()
    vacancies.learn("acme", "memory", found=False)  # the scopes of this search were empty
    assert await empty(vacancies) == set()
    assert looks.agents == ["scout"]


async def test_an_agents_own_memories_are_its_own() -> None:
    looks = Looks()
    vacancies = emptied(looks)
    assert await empty(vacancies, "wren") == {*STORES} - {OWN}
