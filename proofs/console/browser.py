"""A real browser, and what it must never see on the console: errors, other hosts, scripts of strangers."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright

from local.database import ROOT

CHROMIUM = "/usr/bin/chromium"
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_AXE = ROOT / "console/node_modules/axe-core/axe.min.js"
# What a script of stored text would do, if it ran, and what the policy kept from happening.
_WATCH = """
window.__broken = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__broken.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""
_STORED_KEY = "scrubjay.key"

Scheme = Literal["light", "dark"]


class Size(NamedTuple):
    width: int
    height: int


DESKTOP = Size(1440, 900)
PHONE = Size(390, 844)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        yield browser
        await browser.close()


class Tab:
    """A page that is signed in with a key, and everything that went wrong on it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.wrong: list[str] = []
        self.refused: list[int] = []
        page.on("console", self._note_message)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", self._note_request)
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))
        page.on("response", lambda response: self.refused.append(response.status))

    def _note_message(self, message: ConsoleMessage) -> None:
        # The browser's own line for an answer that the service refused; the page shows the refusal.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.wrong.append(f"console: {message.text}")

    def _note_request(self, request: Request) -> None:
        if urlsplit(request.url).netloc not in (urlsplit(self.url).netloc, ""):
            self.wrong.append(f"request to {request.url[:200]}")

    async def show(self, path: str) -> None:
        """Opens a screen and waits until it has loaded what it shows."""
        await self.page.goto(f"{self.url}/console{path}")
        await self.settle()

    async def settle(self) -> None:
        await self.page.wait_for_selector("h1", timeout=20_000)
        # The policy forbids the page to wait by a text of code.
        end = time.monotonic() + 20
        while await self.page.locator(".waiting:visible").count():
            assert time.monotonic() < end, f"{self.page.url} still waits"
            await self.page.wait_for_timeout(50)

    async def faults(self) -> list[str]:
        """All that went wrong so far, with what the policy blocked."""
        broken = await self.page.evaluate("window.__broken ?? []")
        ran = await self.page.evaluate("window.__ran ?? null")
        return [
            *self.wrong,
            *(f"policy: {one}" for one in broken),
            *([f"a stored script ran: {ran}"] if ran is not None else []),
        ]

    async def axe(self) -> list[str]:
        """Serious and critical findings of axe-core."""
        await self.page.evaluate(_AXE.read_text())
        result = await self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"axe {one['id']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0].get('failureSummary', '')[:200]}"
            for one in result["violations"]
            if one["impact"] in ("serious", "critical")
        ]

    async def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(await self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))

    async def shot(self, folder: Path, name: str) -> None:
        await self.page.screenshot(path=folder / f"{name}.png", full_page=True)


@asynccontextmanager
async def tab(
    browser: Browser, url: str, token: str | None, *, size: Size = DESKTOP, scheme: Scheme = "light"
) -> AsyncIterator[Tab]:
    """A tab of its own storage; without a token, one that is not signed in."""
    context = await browser.new_context(
        viewport={"width": size.width, "height": size.height}, color_scheme=scheme, reduced_motion="reduce"
    )
    await context.add_init_script(_WATCH)
    if token is not None:
        kept = f"sessionStorage.setItem({json.dumps(_STORED_KEY)}, {json.dumps(token)})"
        await context.add_init_script(kept)
    page = await context.new_page()
    yield Tab(page, url)
    await context.close()


async def heap(page: Page) -> int:
    """Bytes of live objects, after a collection."""
    session: Any = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return int(used["usedSize"])
