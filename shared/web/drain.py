from __future__ import annotations

import asyncio


class Drain:
    """`started` is set when the process must stop: streams then end, and readiness answers 503."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
