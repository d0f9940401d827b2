"""A context service that learns from what was recalled, too: the control of the loop."""

from __future__ import annotations

from services.context.app import create
from services.context.consolidation import service, turns
from services.context.settings import Settings
from shared.web.serving.start import start


def own(text: str, recalled: frozenset[str], *, repeats: bool) -> tuple[str, int]:
    return text, 0


if __name__ == "__main__":
    vars(turns).update(own=own, is_own_tool=lambda name: False)
    # What cannot be pickled stays in this process. Another one would have the guard.
    vars(service).update(step_of=lambda *given: turns.step_of(*given))
    start("context", Settings.from_env, create)
