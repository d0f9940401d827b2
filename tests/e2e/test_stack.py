"""`make run` as a person meets it: it comes up, answers the line it prints, and leaves nothing behind."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from local.database import ROOT
from local.process import alive, descendants, wait_for
from local.services import PORTS

_STORES = {"psychic_cache", "agent_memory_own"}


class Run:
    def __init__(self, data: Path, output: Path, **environment: str) -> None:
        self._output = output
        with output.open("wb") as file:
            argv = [sys.executable, "-m", "local", "--data", str(data)]
            self.process = subprocess.Popen(
                argv, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, env=os.environ | environment
            )

    @property
    def output(self) -> str:
        return self._output.read_text()

    def await_ready(self) -> None:
        wait_for(lambda: "Ctrl-C stops" in self.output or self.process.poll() is not None, 600)
        assert "Ctrl-C stops" in self.output, self.output

    @property
    def family(self) -> list[int]:
        return descendants(self.process.pid)

    def curl(self) -> Any:
        """Sends what the printed lines say."""
        token, line = (self._line(start) for start in ("TOKEN=", "curl "))
        parts = shlex.split(line.replace("$TOKEN", token.removeprefix("TOKEN=")))
        headers = dict(parts[i + 1].split(": ", 1) for i, part in enumerate(parts) if part == "-H")
        request = urllib.request.Request(
            parts[2], data=parts[parts.index("-d") + 1].encode(), headers=headers, method="POST"
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def whole_answer(self) -> Any:
        """A machine that has just started eight processes may miss an owner's deadline, and vectors come later."""
        for _ in range(30):
            answer = self.curl()
            if not answer["degraded"] and {source["store"] for source in answer["sources"]} >= _STORES:
                return answer
            time.sleep(1)
        raise AssertionError(answer)

    def _line(self, start: str) -> str:
        return next(line for line in self.output.splitlines() if line.startswith(start))


@contextmanager
def running(data: Path, output: Path, **environment: str) -> Iterator[Run]:
    run = Run(data, output, **environment)
    try:
        run.await_ready()
        yield run
    finally:
        run.process.kill()
        run.process.wait()


@contextmanager
def taken(port: int) -> Iterator[None]:
    with ExitStack() as held:
        with suppress(OSError):  # somebody else holds it
            held.enter_context(socket.create_server(("127.0.0.1", port)))
        yield


@pytest.fixture(scope="module")
def data(server_folder: Path) -> Path:
    return server_folder / "stack"


def test_it_answers_and_leaves_nothing_when_it_is_killed(data: Path, tmp_path: Path) -> None:
    with running(data, tmp_path / "first") as run:
        answer = run.whole_answer()
        assert "pgbouncer" in answer["context_block"]
        family = run.family
        assert len(family) > 5
        run.process.kill()
        assert wait_for(lambda: not any(map(alive, family)), 120)


def test_a_shell_that_sources_its_settings_makes_keys_and_may_start_it_again(
    data: Path, tmp_path: Path
) -> None:
    with running(data, tmp_path / "shell") as run:
        begin = run.output.index("set -a")
        source, make, psql = run.output[begin:].splitlines()[:3]
        assert source == f"set -a; . {data}/env; set +a"
        assert psql == 'psql "$DATABASE_URL"'
        assert (data / "env").stat().st_mode & 0o777 == 0o600
        shown = in_shell(f"{source}; env -0")
        settings = dict(line.split("=", 1) for line in shown.split("\0") if "=" in line)
        token = in_shell(f"{source}; {make}").strip()
        request = urllib.request.Request(
            f"{settings['SCRUBJAY_URL']}/api/agent-memory/list",
            data=b"{}",
            headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert json.load(answer)["data"] == []
    with running(data, tmp_path / "shell again", **settings) as run:
        assert "the one at DATABASE_URL" not in run.output
        assert run.curl()["sources"]


def in_shell(line: str) -> str:
    done = subprocess.run(["/bin/sh", "-c", line], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def test_it_keeps_its_data_and_stops_in_order(data: Path, tmp_path: Path) -> None:
    with running(data, tmp_path / "second") as run:
        assert "sample data" not in run.output
        assert "pgbouncer" in run.curl()["context_block"]
        second = subprocess.run(
            [sys.executable, "-m", "local", "--data", data], cwd=ROOT, capture_output=True, text=True
        )
        assert second.returncode == 1
        assert f"process {run.process.pid}" in second.stdout
        family = run.family
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(60) == 0
        assert not any(map(alive, family))
    stops = [
        line.split("stopping ")[1].split(" ...")[0] for line in run.output.splitlines() if "stopping" in line
    ]
    assert stops == ["the services", "Valkey", "PostgreSQL"]


def test_a_taken_port_is_said_and_a_service_that_ends_stops_the_stack(data: Path, tmp_path: Path) -> None:
    with taken(PORTS["context"]), running(data, tmp_path / "third") as run:
        assert f"port {PORTS['context']} is taken: context listens on" in run.output
        assert run.curl()["sources"]
        family = run.family
        victim = next(pid for pid in family if b"services.cache" in Path(f"/proc/{pid}/cmdline").read_bytes())
        os.kill(victim, signal.SIGKILL)
        assert run.process.wait(60) == 1
        assert "cache ended with -9" in run.output
        # What the killed service had started ends as soon as it sees that.
        assert wait_for(lambda: not any(map(alive, family)), 10)
