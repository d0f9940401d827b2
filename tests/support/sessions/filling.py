"""A session that holds a word wherever it can hold one: for looking whether anything of it is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from shared.database.postgres import Connection

SESSIONS = "/api/sessions"
Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Posts a body to a path, and returns the answer's body."""

_TABLES = """
select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'sessions' and c.relkind in ('r', 'p') and not c.relispartition
  and c.relname not in ('persistent_objects', 'persistent_chunks', 'persistent_vec')
order by 1
"""


async def fill_session(ask: Ask, word: str, name: str, *, kept: str, **parties: str) -> str:
    """Its path. `name` is what the host calls it; `parties` are its agent, mission and user; `kept` is kept for the
    user, and outlives the session."""
    made = await ask(
        SESSIONS, {**parties, "external_id": name, "model": word, "config": {"token_budget": 900}}
    )
    path = f"{SESSIONS}/{made['data']['id']}"
    await ask(f"{path}/events", {"messages": _messages(word)})
    await ask(f"{path}/compact", {"force": True, "summary": f"{word} was read"})
    file = await _admitted(ask, path, word, _code(word), object_type="file_context", source_key=f"{word}.py")
    await _admitted(
        ask, path, word, _code(f"{word}_new"), object_type="file_context", source_key=f"{word}.py"
    )
    decision = await _admitted(ask, path, word, f"{word} is kept", object_type="design_decision")
    relation = {
        "source_id": decision,
        "target_id": file,
        "relationship": "caused_by",
        "metadata": {"of": word},
    }
    await ask(f"{path}/relationships", relation)
    await ask(f"{path}/turns", {"released": [file]})
    await ask(f"{path}/objects/{file}/fault", {})
    await ask(f"{path}/objects/{file}/pin", {"reason": f"{word} is under change"})
    await ask(f"{path}/search", {"query": f"what of {word}?"})
    await ask(f"{path}/query", {"question": f"where is {word}?", "object_id": file})
    await ask(f"{path}/objects/{decision}/persist", {"content": kept})
    return path


async def rows_of_sessions(sql: Connection) -> Mapping[str, int]:
    """Rows by table of what is a session's, as a superuser sees them."""
    tables = [row["relname"] for row in await sql.fetch(_TABLES)]
    counts = {name: await sql.fetchval(f"select count(*) from sessions.{name}") for name in tables}
    return {f"sessions.{name}": count for name, count in counts.items() if count}


async def _admitted(ask: Ask, path: str, word: str, content: str, **more: Any) -> str:
    body = {"content": content, "tags": [word], "fault_when": [f"{word} changes"], **more}
    return str((await ask(f"{path}/objects", body))["objects"][0]["id"])


def _messages(word: str) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": f"{word}.py"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": f"{word} = 1"}
    return [
        {"role": "user", "text": f"read {word}"},
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
        {"role": "assistant", "text": f"{word} is 1"},
    ]


def _code(word: str) -> str:
    """One function, long enough for both summaries."""
    lines = "".join(f"    total_{line} = event.{word} * {line} + 7\n" for line in range(45))
    return f'def {word}(event):\n    """Adds up what {word} says."""\n{lines}    return total_1\n'
