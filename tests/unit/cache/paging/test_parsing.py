"""Code that cannot be parsed in time."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from services.cache.sessions.paging.parsing import WEIGHT, Author, parsing
from services.cache.sessions.paging.segmentation.segments import Segment, segment

_HOSTILE = "a<" * 5_000
_CODE = "".join(
    f"class Point{number} {{\n    int first() {{ return {number}; }}\n}}\n\n" for number in range(90)
)


@pytest.fixture(autouse=True)
def _waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a worker that starts on a busy machine."""
    monkeypatch.setattr("shared.concurrency.threads._PATIENCE", 60.0)


def _cut(text: str, path: str, *, parsed: bool = True) -> list[Segment]:
    return segment(text, path, parsed=parsed)


async def _parsed(tenant: str, text: str, path: str = "A.java", key: str = "key") -> list[Segment]:
    return await parsing(Author(tenant, key), path, WEIGHT * len(text), _cut, text, path)


async def test_it_is_cut_by_lines() -> None:
    assert await _parsed(secrets.token_hex(4), _HOSTILE) == _cut(_HOSTILE, "A.java", parsed=False)


async def test_its_key_has_no_code_parsed_for_a_while_and_others_have() -> None:
    tenant = secrets.token_hex(4)
    await _parsed(tenant, _HOSTILE)
    by_lines, by_grammar = _cut(_CODE, "A.java", parsed=False), _cut(_CODE, "A.java")
    assert by_lines != by_grammar
    assert await _parsed(tenant, _CODE) == by_lines
    assert await _parsed(tenant, _CODE, key="other") == by_grammar
    assert await _parsed(f"{tenant}-other", _CODE) == by_grammar


async def test_its_key_is_served_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.cache.sessions.paging.parsing._PAUSE_SECONDS", 0.0)
    tenant = secrets.token_hex(4)
    await _parsed(tenant, _HOSTILE)
    assert await _parsed(tenant, _CODE) == _cut(_CODE, "A.java")


async def test_other_texts_of_its_key_are_read_as_before() -> None:
    tenant = secrets.token_hex(4)
    await _parsed(tenant, _HOSTILE)
    text = '{"numbers": [' + ", ".join(map(str, range(3_000))) + "]}"
    assert await _parsed(tenant, text, "a.json") == _cut(text, "a.json")


async def test_tenants_take_turns() -> None:
    tenant, done = secrets.token_hex(4), list[str]()

    async def parse(each: str) -> None:
        await _parsed(each, _CODE)
        done.append(each)

    flood = [asyncio.create_task(parse(tenant)) for _ in range(12)]
    await asyncio.sleep(0)
    await parse(f"{tenant}-other")
    assert len(done) <= 3
    await asyncio.gather(*flood)
