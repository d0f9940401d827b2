"""What a client for one agent says in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from scrubjay._call import Call, path
from scrubjay._data import encode

C = TypeVar("C", bound=Call[Any])


@dataclass(frozen=True)
class Bound:
    agent: str
    mission: str | None

    def on(self, call: C) -> C:
        """The call with the agent and the mission where it leaves them out."""
        return replace(call, path=path(call.path, mission=self.mission), body=self._body(call))

    def _body(self, call: Call[Any]) -> Any:
        if not call.own:
            return call.body
        body = encode(call.body)
        if call.each is None:
            return self._filled(body, call.own)
        return {**body, call.each: [self._filled(item, call.own) for item in body[call.each]]}

    def _filled(self, body: Mapping[str, Any], own: Mapping[str, str]) -> dict[str, Any]:
        known = {"agent": self.agent, "mission": self.mission}
        left_out = {main: known[short] for short, main in own.items() if not body.keys() & {short, main}}
        return {**{name: value for name, value in left_out.items() if value is not None}, **body}
