"""Every screen, at two sizes and in two schemes: no fault, no finding of axe, nothing wider than the window."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from playwright.async_api import Browser

from proofs.console.browser import DESKTOP, PHONE, Scheme, Tab, tab
from proofs.console.filling import Filled
from proofs.console.hostile import FIND_UNSEEN, HOSTILE, marker

SIZES = (DESKTOP, PHONE)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


def screens(filled: Filled) -> dict[str, str]:
    """The address of each screen by its name."""
    return {
        "now": "/now",
        "why": "/why",
        "why-one": f"/why/{filled.assembly}",
        "explore": "/explore",
        "explore-item": f"/explore/item/{filled.memory}",
        "sessions": "/sessions",
        "session": f"/sessions/{filled.session}",
        "review": "/review",
        "tune": "/tune",
        "keys": "/keys",
    }


def hostile_screens(filled: Filled) -> dict[str, str]:
    """Screens that show what somebody stored."""
    return {
        "now": "/now",
        "why-one": f"/why/{filled.hostile_assembly}",
        "explore": "/explore?query=hostile&caller=mallory&mission=hostile",
        "explore-item": f"/explore/item/{filled.hostile_entry}",
        "session": f"/sessions/{filled.session}",
        "review": "/review?agent=mallory",
        "entries": "/explore?kind=entries&mission=hostile",
        "memories": "/explore?kind=memories&agent=mallory",
        "facts": "/explore?kind=facts&entity=hostile",
        "facts-around": "/explore/facts/hostile",
        "knowledge": "/explore?kind=knowledge&scope=mission:hostile",
        "large-file": f"/explore/item/{filled.large_file}",
    }


# Screens whose lists hold all the texts, or as many as have room in what they show.
_SHOWS = {
    "now": 0,
    "why-one": 20,
    "explore": 20,
    "explore-item": 1,
    "session": 40,
    "review": 5,
    "entries": 40,
    "memories": 35,
    "facts": 35,
    "facts-around": 35,
    "knowledge": 35,
    "large-file": 1,
}


async def look(browser: Browser, url: str, token: str, filled: Filled, shots: Path) -> tuple[int, list[str]]:
    """How many pages were looked at, and what was wrong."""
    looked, wrong = 0, []
    for size, scheme in product(SIZES, SCHEMES):
        async with tab(browser, url, token, size=size, scheme=scheme) as one:
            for name, path in screens(filled).items():
                where = f"{name} {size.width} {scheme}"
                wrong += [f"{where}: {fault}" for fault in await _shown(one, path)]
                if (wider := await one.overflow()) > 0:
                    wrong.append(f"{where}: {wider} pixels wider than the window")
                wrong += [f"{where}: {finding}" for finding in await one.axe()]
                await one.shot(shots, where.replace(" ", "-"))
                looked += 1
    return looked, wrong


async def look_at_hostile(
    browser: Browser, url: str, token: str, filled: Filled, shots: Path
) -> tuple[int, list[str]]:
    """Pairs of a screen and a text that were shown as text, and what was wrong."""
    shown, wrong = 0, []
    for name, path in hostile_screens(filled).items():
        async with tab(browser, url, token) as one:
            wrong += [f"hostile {name}: {fault}" for fault in await _shown(one, path)]
            await _open_all(one)
            wrong += [f"hostile {name}: {fault}" for fault in await one.faults()]
            wrong += [f"hostile {name}: {found!r}" for found in await one.page.evaluate(FIND_UNSEEN)]
            text = await one.page.evaluate("document.body.innerText")
            here = sum(marker(number) in text for number in range(len(HOSTILE)))
            if here < _SHOWS[name]:
                wrong.append(f"hostile {name}: shows {here} of the texts, and not {_SHOWS[name]}")
            shown += here
            await one.shot(shots, f"hostile-{name}")
    return shown, wrong


async def _shown(one: Tab, path: str) -> list[str]:
    one.wrong.clear()
    await one.show(path)
    await one.page.wait_for_timeout(400)
    return await one.faults()


async def _open_all(one: Tab) -> None:
    """Pages of lists, and the rest of long texts, as far as thirty clicks go."""
    for _ in range(30):
        more = one.page.locator("button:visible", has_text="Show more").first
        if await more.count() == 0:
            return
        await more.click()
        await one.settle()
