"""Keys that may little: they see no control that the service would refuse, and nothing outside of their bounds."""

from __future__ import annotations

from playwright.async_api import Browser, Response

from local import sample
from proofs.console.browser import tab
from proofs.console.filling import MISSION, OTHER_MISSION, OUTSIDER, Filled
from proofs.console.looks import screens
from tests.support.cluster import Cluster

_REFUSED = 403
# What would take a tab away from the screen.
_LEAVES = {"Sign out"}
_MOST_CLICKS = 60
# What agents learned is open to every mission; what happened in another mission is not.
_OUTSIDE = ("secret-of-elsewhere", OTHER_MISSION, OUTSIDER)


async def little(browser: Browser, cluster: Cluster, filled: Filled) -> tuple[int, list[str]]:
    """How many controls a read key was offered, and what was wrong."""
    offered, wrong = await _read_key(browser, cluster, filled)
    wrong += await _mission_key(browser, cluster, filled)
    async with cluster.client("read") as reader:
        for method, path in (
            ("POST", "/api/context/keys"),
            ("POST", "/api/context/purge"),
            ("PUT", "/api/context/weights"),
            ("GET", "/api/context/audit"),
        ):
            answer = await reader.call(method, path, {} if method != "GET" else None)
            if answer.status != _REFUSED:
                wrong.append(f"a read key's {method} {path} was answered {answer.status}")
    return offered, wrong


async def _read_key(browser: Browser, cluster: Cluster, filled: Filled) -> tuple[int, list[str]]:
    """Presses every button of every screen. One that the service refuses should not have been there."""
    offered, wrong = 0, []
    async with tab(browser, cluster.url(), cluster.tokens.read) as one:

        def note(response: Response) -> None:
            if response.status == _REFUSED:
                wrong.append(f"a read key was offered {response.request.method} {response.url}")

        one.page.on("response", note)
        for path in screens(filled).values():
            await one.show(path)
            for place in range(_MOST_CLICKS):
                button = one.page.locator("main button:visible:enabled").nth(place)
                if await button.count() == 0:
                    break
                if (await button.inner_text()).strip() in _LEAVES:
                    continue
                offered += 1
                await button.click(timeout=3_000)
                await one.page.wait_for_timeout(50)
                await one.page.keyboard.press("Escape")
        await one.page.wait_for_timeout(300)
    return offered, wrong


async def _mission_key(browser: Browser, cluster: Cluster, filled: Filled) -> list[str]:
    async with cluster.client("admin") as admin:
        made = await admin.post(
            "/api/context/keys", {"name": "one mission", "access": "read", "missions": [sample.MISSION]}
        )
    wrong = []
    async with tab(browser, cluster.url(), made.body["token"]) as one:
        hostile = {
            "hostile": f"/why/{filled.hostile_assembly}",
            "entry": f"/explore/item/{filled.hostile_entry}",
        }
        for name, path in {**screens(filled), **hostile, "mission": f"/explore?mission={MISSION}"}.items():
            await one.show(path)
            text = await one.page.evaluate(
                "[...document.querySelectorAll('main *:not(input)')].map((e) => e.textContent).join(' ')"
            )
            wrong += [
                f"a key of one mission sees {word!r} on {name}"
                for word in _OUTSIDE
                if word in text and word not in path
            ]
    return wrong
