"""`make verify-docker`: runs the image and docker-compose.yml on a Docker engine, in a temporary project.

`make demo` then plays the transcripts of `SESSION=` through the published port.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from deploy.verify.compose import EXAMPLE
from deploy.verify.findings import report
from deploy.verify.ingress import CLOSED
from deploy.verify.tools import ROOT, ToolError, run
from local.process import free_port

_RESTORE = ("pg_restore", "-U", "postgres", "--dbname", "scrubjay", "--exit-on-error", "--single-transaction")
# Seconds until Docker must report a container as unhealthy, or as healthy again.
_PATIENCE = 90.0


@dataclass
class Project:
    folder: Path
    name: str = field(default_factory=lambda: f"scrubjay-verify-{secrets.token_hex(3)}")
    port: int = field(default_factory=free_port)
    token: str = field(default_factory=lambda: secrets.token_hex(12), repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Fills env.example in as a person would."""
        text = re.sub(
            r"^([A-Z_]+)=$",
            lambda match: f"{match[1]}={secrets.token_hex(12)}",
            EXAMPLE.read_text(),
            flags=re.M,
        )
        text = re.sub(r"^SCRUBJAY_ADMIN_TOKEN=.*$", f"SCRUBJAY_ADMIN_TOKEN={self.token}", text, flags=re.M)
        more = f"SCRUBJAY_PUBLISH=127.0.0.1:{self.port}\nSCRUBJAY_IMAGE={self.name}\n"
        (self.folder / "env").write_text(text + more)

    def compose(self, *arguments: str) -> str:
        return run(["docker", "compose", "-p", self.name, "--env-file", self.folder / "env", *arguments])

    def inside(self, service: str, script: str) -> bool:
        """Whether a shell script succeeds in a service's container."""
        try:
            self.compose("exec", "-T", service, "sh", "-c", script)
        except ToolError:
            return False
        return True

    def stream(
        self, arguments: list[str], *, source: Path = Path(os.devnull), into: Path = Path(os.devnull)
    ) -> None:
        """A compose command that reads and writes files. Raises ToolError."""
        argv = ["docker", "compose", "-p", self.name, "--env-file", str(self.folder / "env"), *arguments]
        with source.open("rb") as stdin, into.open("wb") as stdout:
            done = subprocess.run(
                argv, cwd=ROOT, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, check=False
            )
        if done.returncode != 0:
            raise ToolError(done.stderr.decode())

    def forget_images(self) -> None:
        """Removes the images: each service leaves one, of the same layers, and only the last has the name."""
        label = f"label=com.docker.compose.project={self.name}"
        for argv in (["rm", self.name], ["prune", "--force", "--filter", label]):
            subprocess.run(["docker", "image", *argv], capture_output=True, check=False)

    def containers(self) -> list[dict[str, Any]]:
        ids = self.compose("ps", "-q").split()
        found: list[dict[str, Any]] = json.loads(run(["docker", "inspect", *ids]))
        return found

    def call(self, path: str, body: Any = None) -> tuple[int, Any]:
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.token}", "content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=15) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, None
        except OSError:
            return 0, None


def main() -> int:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        project.prepare()
        try:
            failed = report({name: partial(check, project) for name, check in CHECKS.items()})
        finally:
            project.compose("down", "--volumes", "--timeout", "15")
            project.forget_images()
    print(
        json.dumps({"checks": len(CHECKS), "failed": failed, "seconds": round(time.monotonic() - begun, 1)})
    )
    return 1 if failed else 0


def _builds(project: Project) -> Iterator[str]:
    project.compose("build", "--quiet")
    image = json.loads(run(["docker", "image", "inspect", project.name]))[0]
    print(f"   {image['Size'] / 1e6:.0f} MB, user {image['Config']['User']}")
    if image["Config"]["User"] != "10001:10001":
        yield f"the image runs as {image['Config']['User']!r}"


def _healthy(project: Project) -> Iterator[str]:
    project.compose("up", "--wait", "--quiet-pull")
    yield from ()


def _confined(project: Project) -> Iterator[str]:
    """Inspects the processes in the containers, not the configuration."""
    for service in project.compose("ps", "--services").split():
        for what, script in {
            "runs as root": "grep -Eq '^Uid:\t[1-9]' /proc/1/status",
            "has capabilities": "grep -Eq '^CapEff:\t0+$' /proc/1/status",
            "may gain privileges": "grep -Eq '^NoNewPrivs:\t1$' /proc/1/status",
            "may write to its root": "! touch /etc/verify /verify 2>/dev/null",
        }.items():
            if not project.inside(service, script):
                yield f"{service} {what}"


def _only_context(project: Project) -> Iterator[str]:
    for container in project.containers():
        published = [
            port for bindings in container["NetworkSettings"]["Ports"].values() for port in bindings or []
        ]
        if published and "proxy" not in container["Name"]:
            yield f"{container['Name']} is published"
    for path in (*CLOSED, "/apis"):
        status, _ = project.call(path)
        if status != 404:
            yield f"{path} answers {status}"
    for target in ("cache/8081", "agent-memory/8082", "postgres/5432", "redis/6379"):
        if project.inside("proxy", f"timeout 3 bash -c 'exec 3<>/dev/tcp/{target}'"):
            yield f"the proxy reaches {target}"
    if not project.inside("proxy", "timeout 3 bash -c 'exec 3<>/dev/tcp/context/8080'"):
        yield "the proxy does not reach context either, so checking the others proves nothing"
    if run(["docker", "network", "inspect", "-f", "{{.Internal}}", f"{project.name}_data"]).strip() != "true":
        yield "Postgres can reach the outside"


def _remembers(project: Project) -> Iterator[str]:
    mission = f"verify-{secrets.token_hex(3)}"
    entry = {
        "mission_id": mission,
        "agent_name": "verify",
        "context_type": "decision",
        "content": "Roll back the payment worker",
        "decision_rationale": "409s",
    }
    status, _ = project.call("/api/psychic-cache/write", entry)
    if status != 201:
        yield f"a write answers {status}"
    yield from _assembles(project, mission)
    yield from _streams(project)


def _assembles(project: Project, mission: str) -> Iterator[str]:
    question = {
        "query": "What happened to the payment worker?",
        "caller": "verify",
        "mission_namespace": mission,
    }
    for _ in range(5):  # in a cold process, an owner may be too slow for the first queries
        status, answer = project.call("/api/context/assemble", question)
        if status == 200 and not answer["degraded"]:
            break
    if status != 200 or "payment worker" not in answer["context_block"] or answer["degraded"]:
        yield f"assemble answers {status}: {answer}"


def _streams(project: Project) -> Iterator[str]:
    request = urllib.request.Request(
        f"{project.url}/api/timeline?after=0",
        headers={"authorization": f"Bearer {project.token}", "accept": "text/event-stream"},
    )
    with urllib.request.urlopen(request, timeout=10) as stream:
        if not any(line.startswith(b"data:") for line in (stream.readline() for _ in range(20))):
            yield "the timeline streams no event"


def _plays(project: Project) -> Iterator[str]:
    sessions = os.environ.get("SESSION", "").split()
    if not sessions:
        print("   without SESSION= nothing is played")
        return
    environment = {**os.environ, "SCRUBJAY_URL": project.url, "SCRUBJAY_ADMIN_TOKEN": project.token}
    argv = [sys.executable, "-m", "bench.demo", "--quiet", *sessions]
    demo = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if demo.returncode != 0:
        yield demo.stderr.strip()
        return
    figures = json.loads(demo.stdout.splitlines()[-1])
    print(
        f"   block {figures['block_share']}, tail {figures['tail_share']}, {figures['questions']} questions"
    )


def _truthful(project: Project) -> Iterator[str]:
    """Health checks tell the truth: without Postgres, neither the services nor the proxy are healthy."""
    project.compose("pause", "postgres")
    try:
        for service in ("context", "cache", "agent-memory", "proxy"):
            if not _becomes(project, service, "unhealthy"):
                yield f"{service} stays healthy while Postgres is stopped"
    finally:
        project.compose("unpause", "postgres")
    for service in ("context", "cache", "agent-memory", "proxy"):
        if not _becomes(project, service, "healthy"):
            yield f"{service} does not recover"


def _becomes(project: Project, service: str, state: str) -> bool:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        container = project.compose("ps", "-q", service).split()[0]
        if run(["docker", "inspect", "-f", "{{.State.Health.Status}}", container]).strip() == state:
            return True
        time.sleep(1)
    return False


def _scales(project: Project) -> Iterator[str]:
    """With two replicas of each service behind the proxy, one of each stops and no request fails."""
    both = [f"--scale={name}=2" for name in ("cache", "context", "agent-memory")]
    project.compose("up", "--wait", "--no-recreate", *both)
    time.sleep(5)  # the proxy resolves names every second, and asks /readyz
    statuses: list[int] = []
    stopped = threading.Event()
    question = {"query": "payment worker", "caller": "verify"}

    def ask() -> None:
        while not stopped.is_set():
            statuses.append(project.call("/api/context/assemble", question)[0])

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for service in ("context", "cache", "agent-memory"):
            leaving = project.compose("ps", "-q", service).split()[0]
            run(["docker", "stop", "--time", "15", leaving])
            time.sleep(1)
    finally:
        stopped.set()
        asking.join()
    wrong = [status for status in statuses if status != 200]
    print(f"   {len(statuses)} requests while three replicas left")
    if wrong or not statuses:
        yield f"{len(wrong)} of {len(statuses)} failed: {sorted(set(wrong))}"


def _restores(project: Project) -> Iterator[str]:
    """A dump restored into an empty volume loses nothing, and the timeline continues after its last event."""
    before = _events(project)
    dump = project.folder / "dump"
    project.stream(["exec", "-T", "postgres", "pg_dump", "-U", "postgres", "-Fc", "scrubjay"], into=dump)
    project.compose("down", "--volumes", "--timeout", "15")
    project.compose("up", "--wait", "postgres")
    project.stream(["exec", "-T", "postgres", *_RESTORE], source=dump)
    project.compose("up", "--wait")
    if _events(project)[: len(before)] != before:
        yield "the restored timeline differs"
    yield from _remembers(project)
    after = _events(project)
    if after[: len(before)] != before or not after[len(before) :]:
        yield "the timeline does not continue where it ended"
    if after != sorted(set(after)):
        yield "event numbers repeat or are out of order"


def _events(project: Project) -> list[int]:
    """The numbers of all events, once every event has one."""
    numbers: list[int] = []
    for _ in range(50):
        time.sleep(0.2)
        seen, after = numbers, 0
        numbers = []
        while True:
            page = project.call(f"/api/timeline?after={after}&limit=500")[1]["data"]
            if not page:
                break
            numbers += [event["seq"] for event in page]
            after = numbers[-1]
        if numbers == seen:
            break
    return numbers


def _runs_again(project: Project) -> Iterator[str]:
    """roles.sql and the migrations succeed again on a server that already has both."""
    script = "psql -qU postgres -d scrubjay -f /docker-entrypoint-initdb.d/roles.sql"
    if not project.inside("postgres", script):
        yield "roles.sql does not run twice"
    project.compose("run", "--rm", "-T", "migration")


CHECKS: dict[str, Callable[[Project], Iterator[str]]] = {
    "the image builds": _builds,
    "`compose up --wait` is healthy": _healthy,
    "no root, no capabilities, a read-only root": _confined,
    "only context is reachable": _only_context,
    "a write is found, and streamed": _remembers,
    "transcripts through the published port": _plays,
    "health checks tell the truth": _truthful,
    "one of two replicas leaves": _scales,
    "roles and migrations run again": _runs_again,
    "a backup, an empty volume, a restore": _restores,
}


if __name__ == "__main__":
    sys.exit(main())
