"""A worker as the race sees it: a process that takes orders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.race import usage
from bench.race.environments import Racer
from bench.race.servers import Field
from local.database import ROOT
from local.process import LocalError, tail


class Remote:
    def __init__(self, racer: Racer, folder: Path, environments: Mapping[str, Path], field: Field) -> None:
        self.racer = racer
        self.dsn = field.addresses["dsn"][racer.database]
        python = environments[racer.peer] / "bin/python" if racer.in_worker and racer.peer else sys.executable
        self._log = folder / f"{racer.name.replace(' ', '-')}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [python, "-m", f"bench.race.{racer.module}", folder, *racer.arguments],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.own = field.processes[racer.server] if racer.server else [self._process.pid]
        self._postgres = field.processes["postgres"]
        self._answer()

    def do(self, order: str, **values: Any) -> dict[str, Any]:
        """The worker's answer, with the processor's milliseconds in Postgres and in the system, for one item."""
        assert self._process.stdin is not None
        before = self._processor()
        self._process.stdin.write(json.dumps({"do": order, **values}) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if answer["failed"]:
            print(f"{self.racer.name}: {answer['failed']} failed: {answer['errors']}", file=sys.stderr)
        self.await_idle()
        items = max(1, len(answer["ms"]) * answer.get("size", 1))
        answer["items"] = items
        answer["cpu"] = [1000 * (b - a) / items for a, b in zip(before, self._processor(), strict=True)]
        return answer

    def await_idle(self) -> None:
        if self.racer.server == "scrubjay":
            usage.await_indexed(self.dsn)

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _processor(self) -> tuple[float, float]:
        return usage.processor_seconds(self._postgres), usage.processor_seconds(self.own)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                return dict(json.loads(line))
        raise LocalError(f"the worker of {self.racer.name} ended:\n{tail(self._log)}")
