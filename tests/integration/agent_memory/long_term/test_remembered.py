"""What `remember` also keeps in long-term memory, and who finds it there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.integration.conftest import Tenant
from tests.support.cluster import Client

REMEMBER = "/api/context/remember"
PREFERENCE = "I prefer numbers first, then reasons."


async def remember(client: Client, *messages: tuple[str, str], **more: Any) -> list[dict[str, Any]]:
    said = [{"role": role, "content": content} for role, content in messages]
    body = {"caller": "scout", "mission_namespace": "moria", "user_id": "ana", "messages": said} | more
    answer = await client.post(REMEMBER, body)
    assert answer.status == 200, answer
    items: list[dict[str, Any]] = answer.body["items"]
    return items


async def texts(client: Client, **more: Any) -> list[str]:
    asked = {"query": "What does the user prefer first, numbers or reasons?", "caller": "scout"}
    answer = await client.post("/api/context/assemble", {**asked, **more})
    assert answer.status == 200, answer
    return [source["store"] for source in answer.body["sources"]]


async def test_a_preference_stays_in_its_mission_and_follows_its_user(client: Client) -> None:
    (item,) = await remember(client, ("user", PREFERENCE))
    assert (item["store"], item["status"]) == ("psychic_cache", "created")
    assert item["also"].items() >= {"kind": "preference", "status": "created", "scope": "user:ana"}.items()
    assert await texts(client, mission_namespace="moria") == ["psychic_cache"]
    assert await texts(client, mission_namespace="lorien", user_id="ana") == ["memory"]
    assert await texts(client, mission_namespace="lorien", user_id="ben") == []
    assert len(await texts(client, mission_namespace="moria", user_id="ana")) == 1


async def test_a_promise_is_due_at_its_date(client: Client) -> None:
    until = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    first, second = await remember(
        client, ("assistant", "I'll send you the list in 3 days."), ("user", "Thanks, send it here.")
    )
    assert "also" not in second
    due = (await client.get("/api/memory/due", params={"user_id": "ana", "until": until})).body["data"]
    assert [one["id"] for one in due] == [first["also"]["id"]]
    assert due[0].items() >= {"owed_by": "scout", "owed_to": "ana", "status": "open"}.items()


async def test_what_is_said_again_is_known(client: Client) -> None:
    (first,), (again,) = [await remember(client, ("user", PREFERENCE)) for _ in range(2)]
    assert (first["also"]["status"], again["also"]["status"]) == ("created", "known")
    assert first["also"]["id"] == again["also"]["id"]


async def test_a_key_keeps_nothing_beyond_its_bounds(tenant: Tenant) -> None:
    bens = await tenant.client("write", users=["ben"], missions=["moria"])
    body = {"caller": "scout", "mission_namespace": "moria", "user_id": "ana", "text": PREFERENCE}
    assert (await bens.post(REMEMBER, body)).status == 403
    anyone = await tenant.client("read")
    assert (await anyone.get("/api/memory")).body["data"] == []
