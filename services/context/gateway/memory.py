"""What a session's objects answer to a model's calls and tags, through the cache service and in the caller's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import UUID

import msgspec

from services.context.forwarding.owners import Owner
from services.context.gateway.cleanup import Action, Verb
from services.context.gateway.phantom import PhantomCall
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import AppError

UNKNOWN_HANDLE = "Unknown handle. A handle stands in the [memory …] line of a text of this conversation."
NO_ARGUMENT = (
    "The call lacks its argument: a handle for memory_fault and memory_release, a question for memory_query."
)
NOTHING_FOUND = "Nothing that this conversation has held answers that."
RELEASED = "Released. A line of it is left."
_REFUSED = (400, 404, 422)
_SECONDS = 2.0
_LONGEST_QUESTION = 2_000
# What is left of an object, by the levels of the cache service.
_LEFT: dict[Verb, int] = {"summarize": 2, "release": 3, "drop": 4}


class SessionMemory(NamedTuple):
    """`session` is the caller's own, and in the path of every call: an object of another one is not found in it.

    Raises AppError when the cache service does not answer.
    """

    cache: Owner
    principal: Principal
    session: str
    request_id: str

    async def answer(self, call: PhantomCall) -> str:
        if call.given is None:
            return NO_ARGUMENT
        try:
            return await self._answered(call.name, call.given)
        except AppError as error:
            if error.status not in _REFUSED:
                raise
            return UNKNOWN_HANDLE

    async def act(self, actions: Sequence[Action]) -> None:
        """A handle that nobody knows changes nothing: the model wrote it, and gets no answer to a tag."""
        for action in actions:
            found = _object(action.handle)
            if found is None:
                continue
            try:
                if action.verb == "anchor":
                    await self._post(f"/objects/{found}/pin", {"reason": "anchor tag"})
                else:
                    await self._post(f"/objects/{found}/release", {"fidelity": _LEFT[action.verb]})
            except AppError as error:
                if error.status not in _REFUSED:
                    raise

    async def _answered(self, name: str, given: str) -> str:
        if name == "memory_query":
            answer = await self._post("/query", {"question": given.strip()[:_LONGEST_QUESTION]})
            return str(answer.get("model_answer") or answer.get("answer") or NOTHING_FOUND)
        found = _object(given)
        if found is None:
            return UNKNOWN_HANDLE
        if name == "memory_release":
            await self._post(f"/objects/{found}/release", {})
            return RELEASED
        restored = await self._post(f"/objects/{found}/fault", {})
        return str(restored["data"]["content"])

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        target = f"/api/sessions/{quote(self.session, safe='')}{path}"
        deadline = Deadline(_SECONDS)
        return await self.cache.ask(
            "POST", target, self.principal, deadline, self.request_id, body=msgspec.json.encode(body)
        )


def _object(handle: str) -> UUID | None:
    """The object of a handle, with or without what a model writes around it."""
    try:
        return UUID(handle.strip().strip("[]").removeprefix("object:"))
    except ValueError:
        return None
