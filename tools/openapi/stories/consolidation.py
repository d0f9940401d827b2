"""Examples of consolidation."""

from __future__ import annotations

from tools.openapi.examples_cache import Example

_RUN = {"run_id": "$run"}

CONSOLIDATION = [
    Example(
        "memory_consolidate",
        "What a session teaches",
        {"session_id": "$agent_session"},
        keep={"run": "run_id"},
    ),
    Example("memory_consolidations", "The last runs", parameters={"limit": 10}),
    Example("memory_consolidation", "What a run did", parameters=_RUN),
    Example("memory_consolidation_changes", "Row by row", parameters={**_RUN, "limit": 10}),
    Example("memory_undo_consolidation", "It should not have", parameters=_RUN),
]
