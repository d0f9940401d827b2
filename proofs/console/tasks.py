"""The main task of each screen, as a person does it: by clicks, and by keyboard alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, Route

from local import sample
from proofs.console.browser import DESKTOP, PHONE, Scheme, Size, Tab, tab
from proofs.console.filling import TRAINEE, Filled
from tests.support.cluster import Cluster

_WINDOWS: tuple[tuple[Size, Scheme], ...] = ((DESKTOP, "light"), (PHONE, "dark"))
# From "an agent gave a wrong answer" to the removal of the item that caused it.
_MOST_CLICKS = 8


class Hand:
    """Acts on a page by clicks, or by Tab, Enter and letters alone. Counts what it did."""

    def __init__(self, one: Tab, *, keyboard: bool) -> None:
        self.page = one.page
        self.one = one
        self.keyboard = keyboard
        self.clicks = 0

    async def press(
        self, name: str | re.Pattern[str], role: str = "button", within: Locator | None = None
    ) -> None:
        found = (within or self.page.locator("body")).get_by_role(role, name=name).first
        await found.wait_for()
        self.clicks += 1
        if self.keyboard:
            await self._reach(found)
            await self.page.keyboard.press("Enter")
        else:
            await found.click()

    async def fill(self, label: str, text: str) -> None:
        found = self.page.get_by_label(label, exact=True).first
        await found.wait_for()
        if self.keyboard:
            await self._reach(found)
            await self.page.keyboard.press("Control+A")
            await self.page.keyboard.type(text)
        else:
            await found.fill(text)

    async def slide(self, label: str, value: int) -> None:
        found = self.page.get_by_role("slider", name=label)
        await found.wait_for()
        if not self.keyboard:
            await found.fill(str(value))
            return
        await self._reach(found)
        await self.page.keyboard.press("Home")
        for _ in range(value):
            await self.page.keyboard.press("ArrowRight")

    async def _reach(self, target: Locator) -> None:
        """Goes there with Tab. Raises AssertionError if it is never reached."""
        for _ in range(400):
            if await target.evaluate("(element) => element === document.activeElement"):
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {target}")

    async def sees(self, text: str | re.Pattern[str]) -> None:
        await self.page.get_by_text(text).first.wait_for(timeout=10_000)


Task = Callable[[Hand, Filled], Awaitable[None]]


@asynccontextmanager
async def _held(page: Page, path: str) -> AsyncIterator[None]:
    """Requests of the path leave the browser at the end."""
    ended = asyncio.Event()

    async def slowly(route: Route) -> None:
        await ended.wait()
        await route.continue_()

    await page.route(path, slowly)
    try:
        yield
    finally:
        ended.set()


async def find_out_what_happens(hand: Hand, filled: Filled) -> None:
    """Now: narrow the timeline to one mission, and pause it."""
    await hand.one.show("/now")
    await hand.fill("Mission", sample.MISSION)
    await hand.press("Pause")
    await hand.sees("Go on")
    await hand.sees("kestrel")


async def find_out_why(hand: Hand, filled: Filled) -> None:
    """Why: open an answer, and see what another budget would have given."""
    await hand.one.show(f"/why?caller={sample.CALLER}")
    await hand.press(re.compile(f"Answer {filled.assembly},"), "link")
    await hand.one.settle()
    # The first answer comes once the budget is typed: it must not take that back.
    async with _held(hand.page, "**/replay"):
        await hand.press("Replay with other settings")
        await hand.fill("Budget in tokens", "120")
    await hand.sees("As it would be")
    await hand.page.keyboard.press("Tab")
    await hand.sees("no longer")


async def explore(hand: Hand, filled: Filled) -> None:
    """Explore: ask as an agent, and open an item."""
    await hand.one.show("/explore")
    await hand.fill("Question", "How do I move pgbouncer off the old primary?")
    await hand.fill("Agent", sample.CALLER)
    await hand.press("Search")
    await hand.press(re.compile("^(own|peer|cache):"), "link")
    await hand.sees("Where it comes from")


async def look_into_a_session(hand: Hand, filled: Filled) -> None:
    """Sessions: open one, look at an earlier turn of it, and read an object at each level."""
    await hand.one.show("/sessions?agent=mallory")
    await hand.press("hostile-session", "link")
    await hand.sees("Its context window")
    await hand.slide("After this turn", 7)
    await hand.sees(re.compile("^After turn 7:"))
    await hand.press("file-2", "link")
    await hand.sees("Detailed summary")
    await hand.sees("What shrank or grew")


async def review(hand: Hand, filled: Filled) -> None:
    """Review: decide about what a trainee wrote, by letters or by buttons."""
    kind = f"/review?kind=waiting&agent={TRAINEE}"
    await hand.one.show(kind)
    await hand.sees("Waits: nobody is shown it")
    waiting = await hand.page.locator("li.item").count()
    # Who decides fast does not wait for the answers.
    async with _held(hand.page, "**/review/decide"):
        if hand.keyboard:
            for letter in "jaa":
                await hand.page.keyboard.press(letter)
        else:
            for place in range(2):
                await hand.press(re.compile("^approve "), within=hand.page.locator("li.item").nth(place))
    decided = 1 if hand.keyboard else 2
    await hand.sees(f"{decided} decided.")
    assert not await hand.page.get_by_role("alert").count(), "an item was decided twice"
    await hand.one.show(kind)
    await hand.page.locator("li.item").nth(waiting - decided - 1).wait_for()
    assert await hand.page.locator("li.item").count() == waiting - decided, "the queue is as long as before"


async def tune(hand: Hand, filled: Filled) -> None:
    """Tune: set a weight, and see what stricter limits of a mission would evict."""
    await hand.one.show(f"/tune?mission={sample.MISSION}")
    await hand.press("Set a weight")
    dialog = hand.page.get_by_role("dialog")
    caller = dialog.get_by_label("Caller", exact=True)
    await caller.fill("kestrel")
    await hand.press("Set it", within=dialog)
    await dialog.wait_for(state="detached")
    await hand.sees("hand")
    await hand.fill("Entries", "5")
    await hand.press("What would that evict?")
    await hand.sees(re.compile("It would evict 2\\d entries"))


async def hand_out_a_key(hand: Hand, filled: Filled) -> None:
    """Keys: make one, see its secret once, revoke it, and find both in the audit."""
    await hand.one.show("/keys")
    await hand.press("Make a key")
    dialog = hand.page.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).fill("made in a browser")
    await hand.press("Make it", within=dialog)
    await hand.sees("It is shown this once")
    await hand.press("I have kept it")
    await hand.press(re.compile("^revoke key"))
    await hand.press("Revoke it", within=hand.page.get_by_role("dialog"))
    await hand.page.get_by_role("dialog").wait_for(state="detached")
    await hand.one.show("/keys?action=key+revoke")
    await hand.sees("key revoke")


TASKS: Sequence[Task] = (
    find_out_what_happens,
    find_out_why,
    explore,
    look_into_a_session,
    review,
    tune,
    hand_out_a_key,
)


async def do_all(
    browser: Browser, cluster: Cluster, filled: Filled, shots: Path
) -> tuple[dict[str, int], list[str]]:
    """Clicks by task, and what went wrong."""
    clicks: dict[str, int] = {}
    wrong: list[str] = []
    for keyboard, (size, scheme) in product((False, True), _WINDOWS):
        for task in TASKS:
            async with tab(browser, cluster.url(), cluster.tokens.admin, size=size, scheme=scheme) as one:
                name = f"{task.__name__} {size.width}{' by keyboard' if keyboard else ''}"
                hand = Hand(one, keyboard=keyboard)
                try:
                    await task(hand, filled)
                except Exception as error:
                    await one.shot(shots, f"failed-{task.__name__}")
                    wrong.append(f"{name}: {type(error).__name__} {str(error)[:300]}")
                wrong += [f"{name}: {fault}" for fault in await one.faults()]
                clicks[name] = hand.clicks
    clicks["wrong answer"], found = await _from_a_wrong_answer(browser, cluster, filled, shots)
    return clicks, [*wrong, *found]


async def _from_a_wrong_answer(
    browser: Browser, cluster: Cluster, filled: Filled, shots: Path
) -> tuple[int, list[str]]:
    """A person who has just signed in finds the item that caused an answer, and removes it."""
    async with tab(browser, cluster.url(), cluster.tokens.admin) as one:
        hand = Hand(one, keyboard=False)
        try:
            await one.show("/now")
            await hand.press("Why", "link")
            await hand.press(re.compile(f"Answer {filled.assembly},"), "link")
            item = one.page.locator("li.item").first
            await item.wait_for()
            handle = (await item.get_by_role("link").first.inner_text()).strip()
            await hand.press("Remove", within=item)
            await hand.press("Remove it", within=one.page.get_by_role("dialog"))
            await item.get_by_text("Removed.").wait_for()
        except Exception as error:
            await one.shot(shots, "failed-wrong-answer")
            return hand.clicks, [f"from a wrong answer: {type(error).__name__} {str(error)[:300]}"]
    async with cluster.client("read") as reader:
        left = await reader.get(f"/api/context/sources/{handle}")
    wrong = [f"{handle} is still there"] if left.status != 404 else []
    if hand.clicks > _MOST_CLICKS:
        wrong.append(f"{hand.clicks} clicks from a wrong answer to its removal")
    return hand.clicks, wrong
