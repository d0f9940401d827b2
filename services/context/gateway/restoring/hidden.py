"""What one answer hid from the host, and between which parts of it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from services.context.gateway.cleanup import cut
from services.context.gateway.phantom import NAMES, Endpoint, PhantomCall, is_phantom_in_chat


class Round(NamedTuple):
    said: list[dict[str, Any]]
    """All that the model said: blocks, items, or the one message of a chat."""
    calls: list[PhantomCall]
    results: list[str]


class Step(msgspec.Struct, frozen=True):
    """Calls of one round, and their results."""

    position: int
    """How many of the parts that the host saw stand before them."""
    said: list[msgspec.Raw]
    results: list[msgspec.Raw]
    mixed: bool = False
    """Calls of the host stand beside them, so that all results belong together."""


class Hidden(msgspec.Struct, frozen=True):
    """Of one answer. It can be kept as JSON."""

    at: int
    """How many messages or items the host had sent: what it sends back of the answer stands there, or behind it."""
    names: list[str]
    """The parts that the host saw."""
    steps: list[Step]


_THOUGHT = "thought"
_encode = msgspec.json.Encoder().encode


def hidden(endpoint: Endpoint, at: int, rounds: Sequence[Round]) -> Hidden:
    """Of an answer that took these rounds, the last of which may hold none of our calls."""
    return _of_chat(at, rounds) if endpoint == "chat" else _of_parts(endpoint, at, rounds)


def name_of(part: Mapping[str, Any]) -> str | None:
    """What tells a block or an item from others, whatever a host adds to it; None for an empty text."""
    match part:
        case {"type": "tool_use", "id": str(id)} | {"call_id": str(id), "arguments": str()}:
            return f"call {id}"
        case {"type": "thinking", "signature": str(key)} if key:
            return _hashed(_THOUGHT, key)
        case {"encrypted_content": str(key)} | {"type": "redacted_thinking", "data": str(key)}:
            return _hashed(_THOUGHT, key)
        case {"type": "text", "text": str(text)}:
            return _text_name(text)
        case {"role": "assistant", "content": list(parts)}:
            return _text_name(
                "".join(str(each.get("text") or "") for each in parts if isinstance(each, dict))
            )
        case {"role": "assistant", "content": str(text)}:
            return _text_name(text)
        case {"type": str(kind), "id": str(id)}:
            return f"{kind} {id}"
    return None


def chat_name(message: Mapping[str, Any]) -> str | None:
    calls = [call for call in message.get("tool_calls") or () if not is_phantom_in_chat(call)]
    return f"calls {' '.join(str(call.get('id')) for call in calls)}" if calls else name_of(message)


def is_thought(name: str) -> bool:
    """Hosts may leave it out of older answers."""
    return name.startswith(_THOUGHT)


def is_of_model(item: Mapping[str, Any]) -> bool:
    """Of the items of a request for a response."""
    if item.get("role") is not None:
        return bool(item["role"] == "assistant")
    return not str(item.get("type")).endswith(("_output", "_response"))


def _of_parts(endpoint: Endpoint, at: int, rounds: Sequence[Round]) -> Hidden:
    """Calls are told behind what the host saw of their round, unless it has calls of its own to answer."""
    names: list[str] = []
    steps: list[Step] = []
    for said, calls, results in rounds:
        mixed = endpoint == "messages" and any(_is_own_call(part) for part in said)
        first = next((place for place, part in enumerate(said) if _is_phantom(part)), len(said))
        position = len(names) + len(_seen(said[:first] if mixed else said))
        names += _seen(said)
        if calls:
            made = [_raw(part) for part in said if _is_phantom(part)]
            steps.append(Step(position, made, _results(endpoint, calls, results), mixed))
    return Hidden(at, names, steps)


def _seen(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    names = [name_of(part) for part in parts if not _is_phantom(part)]
    return [name for name in names if name is not None]


def _of_chat(at: int, rounds: Sequence[Round]) -> Hidden:
    """A chat has one text for all rounds, so that calls are told before it."""
    text = "".join(cut(str(said[0].get("content") or ""))[0] for said, *_ in rounds)
    name = chat_name({**rounds[-1].said[0], "role": "assistant", "content": text})
    steps: list[Step] = []
    for said, calls, results in rounds:
        made = said[0].get("tool_calls") or []
        phantom = [_raw(call) for call in made if is_phantom_in_chat(call)]
        if calls:
            steps.append(Step(0, phantom, _results("chat", calls, results), len(phantom) < len(made)))
    return Hidden(at, [name] if name else [], steps)


def _results(endpoint: Endpoint, calls: Sequence[PhantomCall], results: Sequence[str]) -> list[msgspec.Raw]:
    return [_raw(_result(endpoint, call.id, text)) for call, text in zip(calls, results, strict=True)]


def _result(endpoint: Endpoint, id: str, text: str) -> dict[str, Any]:
    match endpoint:
        case "messages":
            return {"type": "tool_result", "tool_use_id": id, "content": text}
        case "chat":
            return {"role": "tool", "tool_call_id": id, "content": text}
        case "responses":
            return {"type": "function_call_output", "call_id": id, "output": text}


def _is_phantom(part: Mapping[str, Any]) -> bool:
    return part.get("name") in NAMES


def _is_own_call(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "tool_use" and not _is_phantom(part)


def _text_name(text: str) -> str | None:
    kept = cut(text)[0].strip()
    return _hashed("text", kept) if kept else None


def _hashed(kind: str, text: str) -> str:
    return f"{kind} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(_encode(value))
