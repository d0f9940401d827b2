"""Hostile requests: those of the API's examples with one thing in them wrong, or as wrong as bytes can be."""

from __future__ import annotations

import asyncio
import copy
import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import aiohttp
from yarl import URL

from proofs.fuzz.judging import LATE, PAUSE_SECONDS, RETRIES, Judge, Reply
from proofs.fuzz.values import BODIES, ELSEWHERE, HEADERS, LITERALS, VALUES
from tests.support.openapi import Operation, operations
from tools.openapi.examples import EXAMPLES
from tools.openapi.playing import resolved
from tools.openapi.recorded import recorded

_AT_ONCE = 8
_SECONDS = 90
_KEPT: Mapping[str, Any] = recorded()["kept"]


class Hostile(NamedTuple):
    operation: Operation
    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None

    def __str__(self) -> str:
        body = b"" if self.body is None else self.body[:200]
        return f"{self.method} {self.target[:300]} {self.headers} {body!r}"


class _Plain(NamedTuple):
    """A request that would be right, or nearly: its ids may lead nowhere."""

    operation: Operation
    parameters: dict[str, Any]
    body: Any


async def play(url: str, token: str, count: int, seed: int) -> Judge:
    judge = Judge()
    waiting = iter(hostiles(count, seed))
    headers = {"authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(url, headers=headers) as session:

        async def work() -> None:
            for hostile in waiting:
                judge.judge(hostile.operation, str(hostile), await _last_reply(session, hostile, judge))

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    return judge


async def _last_reply(session: aiohttp.ClientSession, hostile: Hostile, judge: Judge) -> Reply:
    """The first reply that is no 503, or else the last of several."""
    for _ in range(RETRIES):
        reply = await _reply(session, hostile)
        if reply.status != LATE:
            return reply
        judge.late[f"{hostile.operation.id} {reply.text}"] += 1
        await asyncio.sleep(PAUSE_SECONDS)
    return await _reply(session, hostile)


async def _reply(session: aiohttp.ClientSession, hostile: Hostile) -> Reply:
    """The status and text. Of a stream, only its head; status 0 where the connection broke."""
    try:
        async with session.request(
            hostile.method,
            URL(hostile.target, encoded=True),
            data=hostile.body,
            headers=hostile.headers,
            timeout=aiohttp.ClientTimeout(_SECONDS),
        ) as response:
            streams = response.content_type == "text/event-stream"
            text = "" if streams else (await response.read()).decode("utf-8", "replace")
            return Reply(response.status, response.content_type, text)
    except (aiohttp.ClientError, TimeoutError) as error:
        return Reply(599, "", repr(error))


def hostiles(count: int, seed: int) -> Iterator[Hostile]:
    """Each operation in turn, in every way that fits it."""
    chance = random.Random(seed)
    plain = [*_plain_requests()]
    for number in range(count):
        one = plain[number % len(plain)]
        ways = [_odd_header, *([_odd_parameter] * 3 if one.parameters else [_unknown_parameter])]
        if one.body is not None:
            ways += [_odd_field] * 8 + [_odd_literal] * 3 + [_odd_body, _broken_off, _twice]
        yield chance.choice(ways)(one, chance)


def _plain_requests() -> Iterator[_Plain]:
    known = {operation.id: operation for operation in operations()}
    for example in EXAMPLES:
        operation = known[example.operation]
        given = resolved(example.parameters, _KEPT)
        if example.accept == "application/json":
            yield _Plain(operation, given, resolved(example.body, _KEPT))


def _odd_field(one: _Plain, chance: random.Random) -> Hostile:
    """A value of another type or out of range somewhere in the body."""
    body = copy.deepcopy(one.body)
    if isinstance(body, str):
        lines = [json.loads(line) for line in body.splitlines()]
        _change(chance.choice(lines), chance)
        return _request(one, b"\n".join(map(_encoded, lines)))
    _change(body, chance)
    return _request(one, _encoded(body))


def _change(value: Any, chance: random.Random) -> None:
    """Puts a hostile value in the place of one that it holds, or beside those."""
    places = [*_places(value)]
    if not places or chance.random() < 0.1:
        value[chance.choice(["extra", "", "content\x00", "__class__", "é" * 300])] = chance.choice(VALUES)
        return
    holder, name = chance.choice(places)
    if chance.random() < 0.05:
        del holder[name]
    else:
        holder[name] = chance.choice(VALUES)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield value, name
        yield from _places(item)


def _odd_literal(one: _Plain, chance: random.Random) -> Hostile:
    """A value that JSON cannot hold somewhere in the body."""
    text = one.body.encode() if isinstance(one.body, str) else _encoded(one.body)
    starts = [place for place in range(len(text)) if text[place : place + 1] == b":"] or [0]
    start = chance.choice(starts) + 1
    end = min(
        (place for place in (text.find(b",", start), text.find(b"}", start)) if place > 0), default=start
    )
    return _request(one, text[:start] + chance.choice(LITERALS) + text[end:])


def _odd_body(one: _Plain, chance: random.Random) -> Hostile:
    return _request(one, chance.choice(BODIES))


def _broken_off(one: _Plain, chance: random.Random) -> Hostile:
    text = one.body.encode() if isinstance(one.body, str) else _encoded(one.body)
    return _request(one, text[: chance.randrange(len(text))])


def _twice(one: _Plain, chance: random.Random) -> Hostile:
    """The same name with two values."""
    text = one.body.encode() if isinstance(one.body, str) else _encoded(one.body)
    name = chance.choice([*json.loads(text.splitlines()[0])] or ["extra"])
    return _request(
        one, text.replace(b"{", b'{"%s":%s,' % (name.encode(), _encoded(chance.choice(VALUES))), 1)
    )


def _odd_header(one: _Plain, chance: random.Random) -> Hostile:
    plain = _request(one, None if one.body is None else _whole(one.body))
    return plain._replace(headers={**plain.headers, **dict([chance.choice(HEADERS)])})


def _odd_parameter(one: _Plain, chance: random.Random) -> Hostile:
    name = chance.choice([*one.parameters])
    value = chance.choice(VALUES)
    if value in ELSEWHERE:
        value = "%"
    changed = {**one.parameters, name: value}
    return _request(one._replace(parameters=changed), None if one.body is None else _whole(one.body))


def _unknown_parameter(one: _Plain, chance: random.Random) -> Hostile:
    plain = _request(one, None if one.body is None else _whole(one.body))
    return plain._replace(target=f"{plain.target}?{urlencode({'x': _text(chance.choice(VALUES))})}")


def _request(one: _Plain, body: bytes | None) -> Hostile:
    places = {parameter["name"]: parameter["in"] for parameter in one.operation.parameters}
    path = one.operation.path
    for name, value in one.parameters.items():
        if places[name] == "path":
            path = path.replace("{" + name + "}", quote(_text(value), safe=""))
    query = {name: _text(value) for name, value in one.parameters.items() if places[name] == "query"}
    kind = "application/x-ndjson" if isinstance(one.body, str) else "application/json"
    headers = {} if body is None else {"content-type": kind}
    return Hostile(
        one.operation, one.operation.method, path + (f"?{urlencode(query)}" if query else ""), headers, body
    )


def _whole(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else _encoded(body)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()[:4_000]


def _encoded(value: Any) -> bytes:
    """Surrogates stand as escapes."""
    return json.dumps(value).encode()
