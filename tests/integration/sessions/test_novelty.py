"""What the context shows already is rejected, and reported; what it shows no longer, or has a name, is not."""

from __future__ import annotations

from shared.database.postgres import Connection
from tests.integration.sessions.calls import admitted, began, ok, shown
from tests.support.cluster import Client

BANNER = "\n".join(f"note {place}: dependency {place} is deprecated, see its page" for place in range(12))


async def test_repeated_boilerplate_is_rejected_and_reported(client: Client, sql: Connection) -> None:
    session = await began(client)
    first = await admitted(client, session, BANNER, object_type="tool_result")
    again = await admitted(client, session, f"  {BANNER}\n", object_type="tool_result")
    assert (again["status"], again.get("id"), again["like"]) == ("rejected", None, first["id"])
    assert again["score"] < 0.35
    assert len((await shown(client, session))["objects"]) == 1
    rows = await sql.fetch(
        "select object_id, admitted, score_novelty from sessions.admission_scores"
        " where session_id = $1 order by number",
        session.rpartition("/")[2],
    )
    assert [(row["object_id"] is None, row["admitted"]) for row in rows] == [(False, True), (True, False)]
    assert rows[1]["score_novelty"] == 0
    held = (await ok(client, "GET", f"{session}/objects/{first['id']}"))["data"]
    assert held["access_count"] == 1


async def test_what_is_half_new_is_admitted(client: Client) -> None:
    session = await began(client)
    await admitted(client, session, BANNER, object_type="tool_result")
    more = "\n".join(f"failed {place}: no such column" for place in range(12))
    assert (await admitted(client, session, f"{BANNER}\n{more}", object_type="tool_result"))[
        "status"
    ] == "created"


async def test_what_left_the_context_is_new_again(client: Client) -> None:
    session = await began(client)
    first = await admitted(client, session, BANNER, object_type="tool_result")
    await ok(client, "POST", f"{session}/objects/{first['id']}/release", {})
    assert (await admitted(client, session, BANNER, object_type="tool_result"))["status"] == "created"


async def test_a_source_and_another_session_are_never_rejected(client: Client) -> None:
    session = await began(client)
    await admitted(client, session, BANNER)
    assert (await admitted(client, session, BANNER, source_key="banner.txt"))["status"] == "created"
    assert (await admitted(client, await began(client), BANNER))["status"] == "created"
