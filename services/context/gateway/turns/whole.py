"""Answers that are not streamed: one for the host, however many requests it took. Pure.

An answer without a call or tag of the gateway's own keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from services.context.gateway.cleanup import Action, cut
from services.context.gateway.phantom import NAMES, PhantomCall, call_of, is_phantom_in_chat
from services.context.gateway.turns import chat, messages, responses
from services.context.gateway.turns.thoughts import Thoughts
from services.context.gateway.turns.usage import total

UNREADABLE = (msgspec.MsgspecError, UnicodeError, LookupError, TypeError, AttributeError)
_ANY = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode


class Whole:
    """`feed` raises one of UNREADABLE for what is no such answer."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.calls: list[PhantomCall] = []
        self.is_mixed = False
        self._spent: dict[str, Any] | None = None
        self._first: dict[str, Any] | None = None
        self._value: dict[str, Any] = {}
        self._body = b""
        self._changes = False

    def feed(self, body: bytes) -> None:
        self._body, self._value = body, _ANY.decode(body)
        self._first = self._first or self._value
        self.calls = self._read(self._value)
        self._changes |= bool(self.calls)

    def said(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def goes_on(self, body: bytes, results: Sequence[str]) -> bytes | None:
        """The request of the next round."""
        try:
            request = self._continued(body, results)
        except (msgspec.MsgspecError, UnicodeError):
            return None
        self._spent = total(self._spent or {}, self._value.get("usage") or {})
        return request

    def finish(self) -> bytes:
        """The answer of the last round, with what the others said."""
        if not self._changes:
            return self._body
        usage = total(self._spent or {}, self._value.get("usage") or {})
        value = {**self._value, "id": self._id(), **({"usage": usage} if usage else {})}
        return _encode(self._merged(value))

    def _id(self) -> Any:
        return (self._first or self._value).get("id")

    def _cut(self, text: str) -> str:
        kept, actions = cut(text)
        self.actions += actions
        self._changes |= bool(actions)
        return kept

    def _read(self, value: dict[str, Any]) -> list[PhantomCall]:
        raise NotImplementedError

    def _continued(self, body: bytes, results: Sequence[str]) -> bytes:
        raise NotImplementedError

    def _merged(self, value: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


class WholeMessages(Whole):
    def __init__(self) -> None:
        super().__init__()
        self._shown: list[dict[str, Any]] = []

    def _read(self, value: dict[str, Any]) -> list[PhantomCall]:
        phantom = [block for block in value["content"] if _is_phantom(block, "tool_use")]
        own = [block for block in value["content"] if block not in phantom]
        self.is_mixed = any(block.get("type") == "tool_use" for block in own)
        self._shown += [block for block in map(self._without_tags, own) if block is not None]
        self._changes |= bool(phantom)
        if value.get("stop_reason") != "tool_use":
            return []
        return [call_of(block["id"], block["name"], _encode(block.get("input"))) for block in phantom]

    def _without_tags(self, block: dict[str, Any]) -> dict[str, Any] | None:
        if block.get("type") != "text":
            return block
        kept = self._cut(block["text"])
        if kept == block["text"]:
            return block
        return {**block, "text": kept} if kept.strip() else None

    def said(self) -> list[dict[str, Any]]:
        return list(self._value["content"])

    def _continued(self, body: bytes, results: Sequence[str]) -> bytes:
        return messages.with_answers(body, self.said(), self.calls, results)

    def _merged(self, value: dict[str, Any]) -> dict[str, Any]:
        ended = {"stop_reason": "end_turn"} if self.calls and not self.is_mixed else {}
        return {**value, "content": self._shown, **ended}


class WholeChat(Whole):
    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        self._thoughts = Thoughts()
        self._own: list[dict[str, Any]] = []

    def _read(self, value: dict[str, Any]) -> list[PhantomCall]:
        choice = value["choices"][0]
        message = choice["message"]
        self._texts.append(self._cut(message.get("content") or ""))
        self._thoughts.add(message)
        calls = message.get("tool_calls") or []
        phantom = [call for call in calls if is_phantom_in_chat(call)]
        self._own = [call for call in calls if call not in phantom]
        self.is_mixed = bool(self._own)
        self._changes |= bool(phantom)
        if choice.get("finish_reason") not in ("tool_calls", "stop"):
            return []
        return [
            call_of(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in phantom
        ]

    def said(self) -> list[dict[str, Any]]:
        message = self._value["choices"][0]["message"]
        calls, thoughts = message.get("tool_calls"), Thoughts()
        thoughts.add(message)
        said = {"role": "assistant", "content": message.get("content"), **thoughts.fields()}
        return [{**said, **({"tool_calls": calls} if calls else {})}]

    def _continued(self, body: bytes, results: Sequence[str]) -> bytes:
        return chat.with_answers(body, self.said()[0], self.calls, results)

    def _merged(self, value: dict[str, Any]) -> dict[str, Any]:
        first, *others = value["choices"]
        text = "".join(self._texts)
        message = {**first["message"], "content": text or None, **self._thoughts.fields()}
        message.pop("tool_calls", None)
        if self._own:
            message["tool_calls"] = self._own
        reason = "stop" if self.calls and not self._own else first.get("finish_reason")
        return {**value, "choices": [{**first, "message": message, "finish_reason": reason}, *others]}


class WholeResponses(Whole):
    def __init__(self) -> None:
        super().__init__()
        self._shown: list[dict[str, Any]] = []

    def _read(self, value: dict[str, Any]) -> list[PhantomCall]:
        phantom = [item for item in value["output"] if _is_phantom(item, "function_call")]
        own = [item for item in value["output"] if item not in phantom]
        self.is_mixed = any(item.get("type") in responses.HOST_CALLS for item in own)
        self._shown += [item for item in map(self._without_tags, own) if item is not None]
        self._changes |= bool(phantom)
        if value.get("status") != "completed":
            return []
        return [call_of(item["call_id"], item["name"], item["arguments"]) for item in phantom]

    def _without_tags(self, item: dict[str, Any]) -> dict[str, Any] | None:
        content = item.get("content")
        if item.get("type") != "message" or not content or content[0].get("type") != "output_text":
            return item
        text = content[0]["text"]
        kept = self._cut(text)
        if kept == text:
            return item
        return {**item, "content": [{**content[0], "text": kept}, *content[1:]]} if kept.strip() else None

    def said(self) -> list[dict[str, Any]]:
        return list(self._value["output"])

    def _continued(self, body: bytes, results: Sequence[str]) -> bytes:
        return responses.with_answers(body, self.said(), self.calls, results)

    def _merged(self, value: dict[str, Any]) -> dict[str, Any]:
        return {**value, "output": self._shown}

    def _id(self) -> Any:
        """The provider keeps the last answer with all that led to it: the host may go on from its id."""
        return super()._id() if self._value.get("store") is False else self._value.get("id")


KINDS: Mapping[str, type[Whole]] = {
    "messages": WholeMessages,
    "chat": WholeChat,
    "responses": WholeResponses,
}


def _is_phantom(block: dict[str, Any], kind: str) -> bool:
    return block.get("type") == kind and block.get("name") in NAMES
