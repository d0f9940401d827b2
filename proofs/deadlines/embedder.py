"""An embedding API in a process of its own, which can be stopped.

Run as `python -m proofs.deadlines.embedder`, with PROOF_PORT.
"""

from __future__ import annotations

import http.client
import os
import signal
import sys
from pathlib import Path

from local.database import ROOT
from local.process import Server, environment, free_port
from tests.support.fakes.fake_openai import FakeOpenAI


class Embedder(Server):
    start_seconds = 120

    def __init__(self, log: Path) -> None:
        super().__init__("embedder", log)
        self.port = free_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def launch(self) -> None:
        argv = [sys.executable, "-m", "proofs.deadlines.embedder"]
        self.spawn(argv, cwd=ROOT, env=environment({"PROOF_PORT": str(self.port)}))

    def ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/")
            connection.getresponse()
        except OSError:
            return False
        finally:
            connection.close()
        return True


def main() -> None:
    with FakeOpenAI(int(os.environ["PROOF_PORT"])):
        signal.pause()


if __name__ == "__main__":
    main()
