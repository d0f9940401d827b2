"""Examples of checkpoints."""

from __future__ import annotations

from typing import Any

from tools.openapi.examples_cache import MISSION, Example

_PARTIES = {"agent_name": "scout", "mission_id": MISSION, "user_id": "ana"}
_THREAD = {**_PARTIES, "thread_id": "triage-7"}
_FIRST, _SECOND = "1f0c0001-6f2e-6a10-8000-5d3f4c2b1a00", "1f0c0002-7b1d-6c54-8001-5d3f4c2b1a00"


def _put(title: str, checkpoint_id: str, step: int, **more: Any) -> Example:
    state = {"channel_values": {"question": "Why are webhooks applied twice?", "step": step}}
    told = {"checkpoint_id": checkpoint_id, "state": state, "metadata": {"source": "loop", "step": step}}
    return Example("checkpoints_put", title, {**_THREAD, **told, "run_id": "run-1", **more})


CHECKPOINTS = [
    _put("The first state of a graph", _FIRST, 0),
    Example(
        "checkpoints_put_writes",
        "What a node of it found",
        {
            **_THREAD,
            "checkpoint_id": _FIRST,
            "task_id": "task-1",
            "writes": [{"place": 0, "channel": "answer", "value": {"text": "The retry sends no key."}}],
        },
    ),
    _put("The state after the node", _SECOND, 1, parent_id=_FIRST, keep_last=10),
    Example("checkpoints_list", "Where the graph stands", {**_THREAD, "namespace": "", "limit": 1}),
    Example(
        "checkpoints_copy",
        "Try another way from here",
        {**_PARTIES, "source_id": "triage-7", "target_id": "triage-8"},
    ),
    Example("checkpoints_prune", "Only where it stands", {**_PARTIES, "thread_ids": ["triage-7"]}),
    Example("checkpoints_prune", "Nothing of a run", {**_PARTIES, "run_ids": ["run-1"]}),
]
