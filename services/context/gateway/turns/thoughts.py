"""What a model thought, in the fields of a chat that some providers refuse to do without beside a call. Pure.

Other fields are left out of what goes back: there are providers that refuse fields of their own answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXT, _PARTS = "reasoning_content", "reasoning_details"


class Thoughts:
    def __init__(self) -> None:
        self._texts: list[str] = []
        self._parts: list[Any] = []

    def add(self, said: Mapping[str, Any]) -> None:
        """`said` is a message, or a piece of one."""
        if isinstance(text := said.get(_TEXT), str):
            self._texts.append(text)
        if isinstance(parts := said.get(_PARTS), list):
            self._parts += parts

    def fields(self) -> dict[str, Any]:
        """Of a message; empty where the model told no thought."""
        text = {_TEXT: "".join(self._texts)} if self._texts else {}
        return {**text, **({_PARTS: self._parts} if self._parts else {})}
