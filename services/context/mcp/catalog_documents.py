"""The tools for documents."""

from __future__ import annotations

from services.context.mcp.tool import Tool

DOCUMENTS: tuple[Tool, ...] = (
    Tool(
        "vault_search",
        "vault_search",
        "Search the documents of the vault. Answers the best passage of each file, with its path and lines.",
        fields={
            "query": "What to look for.",
            "agent_name": "Search this agent's folder, and what is nobody's.",
            "mission_namespace": "Search this mission's folder, and what is nobody's.",
            "user_id": "Search this user's folder, and what is nobody's.",
        },
        without=("language",),
    ),
    Tool(
        "vault_read",
        "vault_read",
        "Read lines of a document: give the path as a block or vault_search shows it, such as notes/plan.md#L10-L40.",
    ),
    Tool(
        "vault_list",
        "vault_list",
        "The documents of the vault, by path.",
    ),
)
