"""Pages that do what the console must not, so that the proof sees that it can see."""

from __future__ import annotations

from playwright.async_api import Browser

from proofs.console.browser import tab
from proofs.console.hostile import FIND_UNSEEN, HOSTILE

# They would leave the page, or hide it, before anything could be seen.
_HIDES = ("http-equiv", "<style>")
# Text as markup, on a page without a policy.
_CARELESS = """texts => {
  document.body.innerHTML = `<h1>x</h1><input>` + texts.map(t => `<p class=stored>${t}</p>`).join('')
}"""


async def careless(browser: Browser, url: str) -> list[str]:
    """What the proof sees on a page that takes stored text for markup. On it, each of four looks must find a fault."""
    async with tab(browser, url, None) as one:
        await one.page.route(
            "**/careless", lambda route: route.fulfill(content_type="text/html", body="<h1>x</h1>")
        )
        await one.page.goto(f"{url}/careless")
        await one.page.evaluate(
            _CARELESS, [text for text in HOSTILE if not any(word in text for word in _HIDES)]
        )
        await one.page.wait_for_timeout(500)
        looks = (
            [fault for fault in await one.faults() if "script ran" in fault],
            [fault for fault in one.wrong if "request to" in fault],
            await one.page.evaluate(FIND_UNSEEN),
            await one.axe(),
        )
    return [found[0] for found in looks if found]
