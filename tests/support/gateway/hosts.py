"""Hosts: the official SDKs, with a tool of their own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from tests.support.gateway.said import Api, Chat, Messages

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
ASKED = "What is in a.py? é"


_NONE: Mapping[str, str] = MappingProxyType({})


async def asked(
    address: str, api: Api, *, streams: bool, headers: Mapping[str, str] = _NONE
) -> dict[str, Any]:
    """What the host has of the answer in the end."""
    if api is Messages:
        return await _messages(address, streams, headers)
    return await (_chat if api is Chat else _responses)(address, streams, headers)


async def _messages(address: str, streams: bool, headers: Mapping[str, str]) -> dict[str, Any]:
    tools: Any = [{"name": "read", "description": "Read a file.", "input_schema": SCHEMA}]
    named: Any = {"model": "claude", "max_tokens": 100, "tools": tools}
    named["messages"] = [{"role": "user", "content": ASKED}]
    own: Any = {"api_key": "k", "max_retries": 0, "default_headers": headers}
    async with AsyncAnthropic(base_url=address, **own) as client:
        if not streams:
            whole: dict[str, Any] = (await client.messages.create(**named)).to_dict()
            return whole
        async with client.messages.stream(**named) as stream:
            return (await stream.get_final_message()).to_dict()


async def _chat(address: str, streams: bool, headers: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": "read", "description": "Read a file.", "parameters": SCHEMA}
    named: Any = {"model": "gpt", "tools": [{"type": "function", "function": function}]}
    named["messages"] = [{"role": "user", "content": ASKED}]
    own: Any = {"api_key": "k", "max_retries": 0, "default_headers": headers}
    async with AsyncOpenAI(base_url=f"{address}/v1", **own) as client:
        if not streams:
            whole: dict[str, Any] = (await client.chat.completions.create(**named)).to_dict()
            return whole
        async with client.chat.completions.stream(**named, stream_options={"include_usage": True}) as stream:
            return (await stream.get_final_completion()).to_dict()


async def _responses(address: str, streams: bool, headers: Mapping[str, str]) -> dict[str, Any]:
    tool = {"type": "function", "name": "read", "parameters": SCHEMA, "strict": False}
    named: Any = {"model": "gpt", "tools": [tool], "input": ASKED, "store": False}
    own: Any = {"api_key": "k", "max_retries": 0, "default_headers": headers}
    async with AsyncOpenAI(base_url=f"{address}/v1", **own) as client:
        if not streams:
            whole: dict[str, Any] = (await client.responses.create(**named)).to_dict()
            return whole
        async with client.responses.stream(**named) as stream:
            return (await stream.get_final_response()).to_dict()
