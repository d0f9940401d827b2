"""The final search statement of each store, as a file: `python -m tests.support.search_statements` writes them anew."""

from __future__ import annotations

from pathlib import Path

from services.agent_memory.memories import queries_search as memories
from services.agent_memory.vault import queries_search as files
from services.cache.entries import queries_search as entries
from shared.search.sql import Statement

FOLDER = Path(__file__).parents[1] / "unit/shared/search/golden"
STATEMENTS = {
    "psychic_cache": entries.SEARCH.exact,
    "psychic_cache_of_users": entries.SEARCH.exact_of_users,
    "agent_memory_own": memories.SEARCH_OWN.exact,
    "agent_memory_own_of_users": memories.SEARCH_OWN.exact_of_users,
    "agent_memory_peer": memories.SEARCH_PEER.exact,
    "agent_memory_peer_of_users": memories.SEARCH_PEER.exact_of_users,
    "agent_memory_peers": memories.SEARCH_PEERS.exact,
    "agent_memory_peers_of_users": memories.SEARCH_PEERS.exact_of_users,
    "agent_memory_peers_approximate": memories.SEARCH_PEERS.approximate,
    "agent_memory_peers_approximate_of_users": memories.SEARCH_PEERS.approximate_of_users,
    "vault_index": files.SEARCH.exact,
    "vault_index_of_users": files.SEARCH.exact_of_users,
    "vault_index_everywhere": files.SEARCH_ALL.exact,
}


def text(statement: Statement) -> str:
    parameters = ", ".join(f"${number} {name}" for number, name in enumerate(statement.parameters, 1))
    return f"-- {parameters}\n{statement.sql}"


def main() -> None:
    for name, statement in STATEMENTS.items():
        (FOLDER / f"{name}.sql").write_text(text(statement))


if __name__ == "__main__":
    main()
