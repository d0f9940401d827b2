"""A day of an agent: messages over every channel while it is killed again and again, and what is wrong afterwards."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import aiohttp

from scrubjay.client import AsyncClient
from tests.support.agent.bot_api import FakeBotApi
from tests.support.agent.process import TELEGRAM_USER, TOKENS, AgentProcess
from tests.support.agent.provider import FakeProvider

KINDS = ("say", "fact", "send", "sub", "later", "silent")
_TELEGRAM, _HTTP, _CLI, _NOTIFY = range(4)
_QUIET_SECONDS = 90
_ANSWER = re.compile(r"\ba(\d+)\.")


@dataclass
class Day:
    agent: AgentProcess
    bot: FakeBotApi
    random: random.Random
    orders: list[str]
    """The i-th is message i, for the channel i % 4."""
    replies: dict[int, str] = field(default_factory=dict)
    """What HTTP answered."""
    kills: int = 0
    placeholders: int = 0
    lost_answers: int = 0


def orders(messages: int) -> list[str]:
    """Kinds turn slower than channels do, so that each channel gets each kind; files are for the terminal."""
    found = []
    for number in range(messages):
        kind = KINDS[number // 4 % len(KINDS)]
        on_terminal = number % 4 == _CLI and kind == "silent"
        found.append(f"q{number} {'file' if on_terminal else kind}")
    return found


async def lived(day: Day, kills: int, seconds: float, *, patient: bool = True) -> None:
    """Sends everything within `seconds` of the agent being up, kills it at random, and waits for its answers.

    Not `patient`: messages may stay without an answer.
    """
    await day.agent.start()
    sending = [asyncio.create_task(_send(day, number, seconds)) for number in range(len(day.orders))]
    for _ in range(kills):
        await asyncio.sleep(day.random.uniform(0.1, 2 * seconds / max(kills, 1)))
        await day.agent.kill()
        day.kills += 1
        await day.agent.start()
        await _type_again(day)
    _, waiting = await asyncio.wait(sending, timeout=_QUIET_SECONDS if patient else seconds)
    for task in waiting:
        task.cancel()
    assert not patient or not waiting, f"no answer to {[day.orders[sending.index(task)] for task in waiting]}"
    await asyncio.wait_for(_quiet(day), _QUIET_SECONDS)


async def _send(day: Day, number: int, seconds: float) -> None:
    await asyncio.sleep(day.random.uniform(0, seconds))
    text = day.orders[number]
    channel = number % 4
    if channel == _TELEGRAM:
        day.bot.say(text, TELEGRAM_USER)
    elif channel == _CLI:
        await day.agent.type(str(number), text)
        while str(number) not in day.agent.answers and "silent" not in text:
            await asyncio.sleep(0.2)
    else:
        await _post(day, number, "chat" if channel == _HTTP else "notify", text)


async def _type_again(day: Day) -> None:
    """What the terminal has not answered, as the program behind it would."""
    for number, text in enumerate(day.orders):
        if number % 4 == _CLI and str(number) not in day.agent.answers:
            await day.agent.type(str(number), text)


async def _post(day: Day, number: int, path: str, text: str) -> None:
    """Until it is answered, under one key."""
    headers = {"authorization": f"Bearer {TOKENS['ada']}", "idempotency-key": f"message-{number}"}
    body = {"message": text, "conversation": f"c{number % 3}"}
    async with aiohttp.ClientSession(day.agent.http, headers=headers) as session:
        while True:
            try:
                async with session.post(f"/api/v1/{path}", json=body) as answer:
                    given = await answer.json()
                    if answer.status == (200 if path == "chat" else 202):
                        day.replies[number] = given.get("reply", "")
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.2)


async def _quiet(day: Day) -> None:
    """Until the agent does nothing for a while: what it sends itself comes late, too."""
    headers = {"authorization": f"Bearer {TOKENS['ops']}"}
    idle, before = 0, -1
    async with aiohttp.ClientSession(day.agent.http, headers=headers) as session:
        while idle < 8:
            async with session.get("/api/v1/monitor") as answer:
                turns = (await answer.json())["turns"]
            now = len(day.bot.messages)
            idle = 0 if turns or day.bot.unconfirmed or now != before else idle + 1
            before = now
            await asyncio.sleep(0.5)


async def wrong(day: Day, jay: AsyncClient, name: str, provider: FakeProvider) -> Counter[str]:
    """What was lost, answered twice, or counted wrongly."""
    found: Counter[str] = Counter()
    found.update(await _history(day, jay, name))
    found.update(_telegram(day))
    found.update(_replies(day))
    found.update(await _costs(day, jay, name, provider))
    return found


async def _history(day: Day, jay: AsyncClient, name: str) -> Counter[str]:
    """Each order and each answer once in the trails, each call with its result, and no number missing."""
    found: Counter[str] = Counter()
    said: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    async for session in jay.sessions.session_list(agent_name=name):
        if session.external_id == f"{name}.journal":
            continue
        events = [
            event async for event in jay.sessions.session_history(session.external_id, full=True, limit=200)
        ]
        found["numbers missing"] += [event.seq for event in events] != list(range(1, len(events) + 1))
        calls: Counter[str] = Counter()
        for event in events:
            for block in event.content:
                if block.type == "text" and event.role == "user":
                    said.update(re.findall(r"\bq\d+ \w+", block.text))
                elif block.type == "text" and event.role == "assistant":
                    answers.update(_ANSWER.findall(block.text))
                elif block.type == "tool_use":
                    calls[block.id] += 1
                elif block.type == "tool_result":
                    calls[block.tool_use_id] -= 1
        found["calls without one result"] += sum(count != 0 for count in calls.values())
    for number, order in enumerate(day.orders):
        found["lost"] += said[order] == 0
        found["taken twice"] += said[order] > 1
        if "silent" not in order:
            found["without an answer"] += answers[str(number)] == 0
            found["answered twice"] += answers[str(number)] > 1
        if "later" in order:
            found["scheduled and not told"] += said[f"q8{number} say"] == 0
            found["told twice"] += said[f"q8{number} say"] > 1
    return found


def _telegram(day: Day) -> Counter[str]:
    """What the user reads in the chat."""
    texts = list(day.bot.messages.values())
    day.placeholders = texts.count("…")
    shown = Counter(number for text in texts for number in _ANSWER.findall(text))
    asides = Counter(text for text in texts if text.startswith("aside"))
    found: Counter[str] = Counter()
    for number, order in enumerate(day.orders):
        if number % 4 != _TELEGRAM:
            continue
        wanted = 0 if "silent" in order else 1
        found["not shown"] += shown[str(number)] < wanted
        found["shown twice"] += shown[str(number)] > wanted
        if "send" in order:
            found["asides not sent once"] += asides[f"aside {number}."] != 1
    return found


def _replies(day: Day) -> Counter[str]:
    found: Counter[str] = Counter()
    for number, order in enumerate(day.orders):
        wanted = "NO_REPLY" if "silent" in order else f"a{number}."
        if number % 4 == _HTTP:
            found["wrong replies"] += day.replies.get(number) != wanted
        elif number % 4 == _CLI and "silent" not in order:
            found["wrong on the terminal"] += day.agent.answers.get(str(number)) != {wanted}
    return found


async def _costs(day: Day, jay: AsyncClient, name: str, provider: FakeProvider) -> Counter[str]:
    """Each row of the agent is a call of the ledger, and each call of the ledger a row: by its tokens, or as
    abandoned. The services' own calls are no business of the provider.
    """
    rows = [row async for row in jay.cost_calls(agent=name, limit=200) if row.service == "caller"]
    known = Counter((row.input_tokens, row.output_tokens) for row in rows if row.outcome == "ok")
    abandoned = sum(row.outcome == "abandoned" for row in rows)
    billed = Counter((call.input, call.output) for call in provider.ledger)
    day.lost_answers = (billed - known).total()
    return Counter(
        {
            "costs that nobody billed": (known - billed).total(),
            "billed calls without a row": max(0, day.lost_answers - abandoned),
        }
    )


def show(day: Day, wrongs: Counter[str]) -> str:
    found: Sequence[str] = [f"{name}: {count}" for name, count in wrongs.items() if count]
    return (
        f"{len(day.orders)} messages, {day.kills} kills, {day.placeholders} placeholders left, "
        f"{day.lost_answers} billed answers that nobody read; {', '.join(found) or 'nothing wrong'}"
    )
