from __future__ import annotations

import asyncio


class Drain:
    """`started` is set when the process is asked to stop: streams end, and readiness answers 503."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
