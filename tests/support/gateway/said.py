"""Answers of models, written as each API writes them: whole, or as the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

Json = dict[str, Any]


class Think(NamedTuple):
    text: str


class Say(NamedTuple):
    text: str


class Do(NamedTuple):
    """A call of a tool."""

    id: str
    name: str
    arguments: Json


Part = Think | Say | Do


def cuts(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _event(value: Json, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


class Messages:
    """Anthropic's. `number` tells answers apart, and counts in their usage. `numbers` are those of the answers that one
    stands for: their output adds up, and the input is the last one's.
    """

    endpoint = "messages"

    @staticmethod
    def usage(numbers: Sequence[int]) -> Json:
        return {
            "input_tokens": 100 + numbers[-1],
            "cache_creation_input_tokens": 7 + numbers[-1],
            "cache_read_input_tokens": 1_000 + numbers[-1],
            "output_tokens": sum(10 + number for number in numbers),
        }

    @staticmethod
    def block(part: Part) -> Json:
        match part:
            case Think(text):
                return {"type": "thinking", "thinking": text, "signature": f"sig-{text}=="}
            case Say(text):
                return {"type": "text", "text": text}
            case Do(id, name, arguments):
                return {"type": "tool_use", "id": id, "name": name, "input": arguments}

    @classmethod
    def whole(cls, parts: Sequence[Part], number: int = 0, numbers: Sequence[int] | None = None) -> Json:
        calls = any(isinstance(part, Do) for part in parts)
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [cls.block(part) for part in parts],
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": cls.usage(numbers or [number]),
        }

    @classmethod
    def stream(
        cls, parts: Sequence[Part], number: int = 0, size: int = 5, numbers: Sequence[int] | None = None
    ) -> list[bytes]:
        whole = cls.whole(parts, number)
        usage = {**whole["usage"], "output_tokens": 1}
        start = {**whole, "content": [], "stop_reason": None, "usage": usage}
        events = [_event({"type": "message_start", "message": start}, "message_start")]
        for index, part in enumerate(parts):
            events += cls._block_events(index, part, size)
            if index == 0:
                events.append(_event({"type": "ping"}, "ping"))
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        told = cls.usage(numbers) if numbers else {"output_tokens": whole["usage"]["output_tokens"]}
        end = {"type": "message_delta", "delta": delta, "usage": told}
        return [*events, _event(end, "message_delta"), _event({"type": "message_stop"}, "message_stop")]

    @classmethod
    def _block_events(cls, index: int, part: Part, size: int) -> list[bytes]:
        block = cls.block(part)
        deltas: list[Json]
        match part:
            case Think(text):
                started: Json = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in cuts(text, size)]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case Say(text):
                started = {"type": "text", "text": ""}
                deltas = [{"type": "text_delta", "text": piece} for piece in cuts(text, size)]
            case Do(_, _, arguments):
                started = {**block, "input": {}}
                written = json.dumps(arguments) if arguments else ""
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece} for piece in cuts(written, size)
                ]
        start = {"type": "content_block_start", "index": index, "content_block": started}
        events = [_event(start, "content_block_start")]
        for delta in deltas:
            value = {"type": "content_block_delta", "index": index, "delta": delta}
            events.append(_event(value, "content_block_delta"))
        return [*events, _event({"type": "content_block_stop", "index": index}, "content_block_stop")]


class Chat:
    """OpenAI's chat completions."""

    endpoint = "chat"

    @staticmethod
    def usage(numbers: Sequence[int]) -> Json:
        given, said = 100 + numbers[-1], sum(10 + number for number in numbers)
        cached = {"cached_tokens": 50 + numbers[-1]}
        return {
            "prompt_tokens": given,
            "completion_tokens": said,
            "total_tokens": given + said,
            "prompt_tokens_details": cached,
        }

    @classmethod
    def whole(cls, parts: Sequence[Part], number: int = 0, numbers: Sequence[int] | None = None) -> Json:
        text = "".join(part.text for part in parts if isinstance(part, Say))
        calls = [_chat_call(part) for part in parts if isinstance(part, Do)]
        message: Json = {"role": "assistant", "content": text or None, "refusal": None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000 + number,
            "model": "gpt",
            "choices": [{**choice, "logprobs": None}],
            "usage": cls.usage(numbers or [number]),
        }

    @classmethod
    def stream(
        cls, parts: Sequence[Part], number: int = 0, size: int = 5, numbers: Sequence[int] | None = None
    ) -> list[bytes]:
        head = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000 + number,
            "model": "gpt",
        }

        def chunk(delta: Json, reason: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            return _event({**head, "choices": [choice], "usage": None})

        events = [chunk({"role": "assistant", "content": ""})]
        index = 0
        for part in parts:
            if isinstance(part, Say):
                events += [chunk({"content": piece}) for piece in cuts(part.text, size)]
            elif isinstance(part, Do):
                call = _chat_call(part)
                arguments = call["function"]["arguments"]
                begun = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
                events.append(chunk({"tool_calls": [begun]}))
                for piece in cuts(arguments, size):
                    events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
                index += 1
        events.append(chunk({}, "tool_calls" if index else "stop"))
        events.append(_event({**head, "choices": [], "usage": cls.usage(numbers or [number])}))
        return [*events, b"data: [DONE]\n\n"]


def _chat_call(part: Do) -> Json:
    function = {"name": part.name, "arguments": json.dumps(part.arguments)}
    return {"id": part.id, "type": "function", "function": function}


class Responses:
    """OpenAI's responses."""

    endpoint = "responses"

    @staticmethod
    def usage(numbers: Sequence[int]) -> Json:
        given, said = 100 + numbers[-1], sum(10 + number for number in numbers)
        return {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 50 + numbers[-1], "cache_write_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": len(numbers)},
            "total_tokens": given + said,
        }

    @staticmethod
    def item(part: Part) -> Json:
        match part:
            case Think(text):
                return {
                    "id": f"rs_{text}",
                    "type": "reasoning",
                    "summary": [],
                    "encrypted_content": f"enc {text}",
                }
            case Say(text):
                content = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
                whole = {"type": "message", "status": "completed", "role": "assistant", "content": [content]}
                return {"id": f"msg_{len(text)}", **whole}
            case Do(id, name, arguments):
                call = {"type": "function_call", "status": "completed", "call_id": id, "name": name}
                return {"id": f"fc_{id}", **call, "arguments": json.dumps(arguments)}

    @classmethod
    def whole(cls, parts: Sequence[Part], number: int = 0, numbers: Sequence[int] | None = None) -> Json:
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1_700_000_000,
            "status": "completed",
            "model": "gpt",
            "output": [cls.item(part) for part in parts],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "store": False,
            "usage": cls.usage(numbers or [number]),
        }

    @classmethod
    def stream(
        cls, parts: Sequence[Part], number: int = 0, size: int = 5, numbers: Sequence[int] | None = None
    ) -> list[bytes]:
        whole = cls.whole(parts, number, numbers)
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        values: list[Json] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
        ]
        for index, part in enumerate(parts):
            values += cls._item_events(index, part, size)
        values.append({"type": "response.completed", "response": whole})
        numbered = [{**value, "sequence_number": place} for place, value in enumerate(values)]
        return [_event(value, value["type"]) for value in numbered]

    @classmethod
    def _item_events(cls, index: int, part: Part, size: int) -> list[Json]:
        item = cls.item(part)
        at = {"output_index": index, "item_id": item["id"]}
        values: list[Json] = []
        match part:
            case Think():
                begun: Json = {**item, "encrypted_content": None}
            case Say(text):
                begun = {**item, "status": "in_progress", "content": []}
                whole, within = item["content"][0], {**at, "content_index": 0}
                empty = {"type": "response.content_part.added", **within, "part": {**whole, "text": ""}}
                delta = {"type": "response.output_text.delta", **within, "logprobs": []}
                values = [empty, *({**delta, "delta": piece} for piece in cuts(text, size))]
                values.append({"type": "response.output_text.done", **within, "text": text, "logprobs": []})
                values.append({"type": "response.content_part.done", **within, "part": whole})
            case Do():
                begun = {**item, "status": "in_progress", "arguments": ""}
                delta = {"type": "response.function_call_arguments.delta", **at}
                values = [{**delta, "delta": piece} for piece in cuts(item["arguments"], size)]
                done = {"type": "response.function_call_arguments.done", **at, "name": item["name"]}
                values.append({**done, "arguments": item["arguments"]})
        added = {"type": "response.output_item.added", "output_index": index, "item": begun}
        done = {"type": "response.output_item.done", "output_index": index, "item": item}
        return [added, *values, done]


Api = type[Messages] | type[Chat] | type[Responses]
APIS: tuple[Api, ...] = (Messages, Chat, Responses)
