"""docker-compose.yml, deploy/env.example and the Dockerfile, read as they are written."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from deploy.verify.findings import Finding
from deploy.verify.tools import ROOT, ToolError, run, script
from deploy.verify.variables import MIGRATION, SERVICES, read_by, told

Compose = dict[str, Any]

EXAMPLE = ROOT / "deploy" / "env.example"
_DOOR, _ONCE = "proxy", "migration"
_ASSIGNED = re.compile(r"^#?([A-Z][A-Z0-9_]*)=", re.MULTILINE)
_INTERPOLATED = re.compile(r"\$\{([A-Z][A-Z0-9_]*)")
# The image says it.
_IN_IMAGE = {"SCRUBJAY_HOST"}


def load() -> Compose:
    loaded: Compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def example_names() -> set[str]:
    """Set and commented ones."""
    return set(_ASSIGNED.findall(EXAMPLE.read_text()))


def example() -> Iterator[Finding]:
    """env.example names what the code and the compose file read, and nothing else."""
    known = MIGRATION.union(*(read_by(module) for module in SERVICES))
    known |= set(_INTERPOLATED.findall((ROOT / "docker-compose.yml").read_text()))
    for name in sorted(known - example_names()):
        yield Finding("env.example", f"{name} is missing")
    for name in sorted(example_names() - known):
        yield Finding("env.example", f"nothing reads {name}")


def compose(loaded: Compose) -> Iterator[Finding]:
    for name, service in loaded["services"].items():
        yield from _hardened(name, service)
        yield from _settings(name, service)
        if name != _ONCE and "healthcheck" not in service:
            yield Finding("compose", f"{name} has no health check")
        if name != _DOOR and service.get("ports"):
            yield Finding("compose", f"{name} is published: only the proxy is")
    yield from _networks(loaded)
    probe = loaded["services"]["postgres"]["healthcheck"]["test"]
    if "-h" not in probe:
        yield Finding(
            "compose", "pg_isready without -h is content with the server that initialises the volume"
        )


def _hardened(name: str, service: Compose) -> Iterator[Finding]:
    if service.get("read_only") is not True:
        yield Finding("compose", f"{name} may write to its root")
    if service.get("cap_drop") != ["ALL"] or service.get("cap_add"):
        yield Finding("compose", f"{name} keeps capabilities")
    if "no-new-privileges:true" not in service.get("security_opt", []):
        yield Finding("compose", f"{name} may gain privileges")
    if service.get("privileged"):
        yield Finding("compose", f"{name} is privileged")
    if "build" not in service and service.get("user") in (None, "root", "0"):
        yield Finding("compose", f"{name} runs as root")


def _settings(name: str, service: Compose) -> Iterator[Finding]:
    """What the code reads is handed on; what is given is known and accepted."""
    if "build" not in service:
        return
    given = service["environment"]
    values = {key: str(value) for key, value in given.items() if value is not None}
    for finding in told(name, service["command"], values):
        yield Finding("compose", finding.message)
    module = next(part for part in service["command"] if part in (*SERVICES, "alembic"))
    wanted = MIGRATION if module == "alembic" else read_by(module)
    for missing in sorted(wanted - given.keys() - _IN_IMAGE):
        yield Finding("compose", f"{name} is not given {missing}, which it reads")


def _networks(loaded: Compose) -> Iterator[Finding]:
    services = loaded["services"]
    for name, service in services.items():
        shared = set(service["networks"]) & set(services[_DOOR]["networks"])
        if shared and name not in (_DOOR, "context"):
            yield Finding("compose", f"the proxy reaches {name} over {', '.join(shared)}")
    for name in services["postgres"]["networks"]:
        if not loaded["networks"][name].get("internal"):
            yield Finding("compose", f"the network {name} of Postgres has a way out")


def engine_reads_it() -> str | None:
    """What `docker compose config` says; None where there is none to ask."""
    try:
        run([script("docker"), "compose", "version"])
    except ToolError:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".env") as file:
        # As a person would who fills in what has to be.
        file.write(re.sub(r"^([A-Z_]+)=$", r"\1=x", EXAMPLE.read_text(), flags=re.MULTILINE))
        file.flush()
        text = run(["docker", "compose", "--env-file", file.name, "config", "--format", "json"])
    services = json.loads(text)["services"]
    return f"{len(services)} services"


def dockerfile(path: Path) -> Iterator[Finding]:
    """hadolint, and what some builders and registries cannot do."""
    lint = subprocess.run([script("hadolint"), path], capture_output=True, text=True, check=False)
    for line in (lint.stdout + lint.stderr).splitlines():
        yield Finding("dockerfile", line)
    text = path.read_text()
    for pattern, why in _REFUSED.items():
        if re.search(pattern, text, re.MULTILINE):
            yield Finding("dockerfile", why)
    users = re.findall(r"^USER\s+(\S+)", text, re.MULTILINE)
    if not users or not re.fullmatch(r"[1-9]\d*(:[1-9]\d*)?", users[-1]):
        yield Finding(
            "dockerfile", "the last USER is no number, so an orchestrator cannot tell that it is not root"
        )


_REFUSED = {
    r"^#\s*syntax=": "a syntax line fetches a front end from a registry",
    r"^FROM\s+\S+@sha256:": "a digest names one registry's copy of a base",
    r"<<-?['\"]?[A-Z]": "not every builder knows heredocs",
    r"--link\b": "not every builder knows COPY --link",
}


def unseen() -> Iterator[str]:
    """Every mistake in the compose file or the Dockerfile that no check sees."""
    good = load()
    for name, make in _COMPOSE_MISTAKES.items():
        bad = copy.deepcopy(good)
        make(bad["services"])
        if not list(compose(bad)):
            yield name
    text = (ROOT / "Dockerfile").read_text()
    for name, (old, new) in _DOCKERFILE_MISTAKES.items():
        with tempfile.NamedTemporaryFile("w", suffix=".Dockerfile") as file:
            file.write(text.replace(old, new, 1))
            file.flush()
            if old not in text or not list(dockerfile(Path(file.name))):
                yield name


_COMPOSE_MISTAKES: dict[str, Callable[[Compose], Any]] = {
    "a published cache": lambda s: s["cache"].update(ports=["8081:8081"]),
    "a proxy beside the owners": lambda s: s["proxy"]["networks"].append("services"),
    "a proxy beside Postgres": lambda s: s["proxy"]["networks"].append("data"),
    "pg_isready that lies": lambda s: s["postgres"]["healthcheck"].update(test=["CMD", "pg_isready"]),
    "no health check": lambda s: s["agent-memory"].pop("healthcheck"),
    "a root that can be written": lambda s: s["cache"].pop("read_only"),
    "Redis as root": lambda s: s["redis"].pop("user"),
    "kept capabilities": lambda s: s["proxy"].update(cap_add=["NET_BIND_SERVICE"]),
    "a setting nobody knows": lambda s: s["cache"]["environment"].update(SCRUBJAY_CACHE_TTL="1"),
    "a setting that cannot be set": lambda s: s["cache"]["environment"].pop("SCRUBJAY_CACHE_TAGS"),
    "a service without its token": lambda s: s["context"]["environment"].pop("SCRUBJAY_SERVICE_TOKEN"),
}
_DOCKERFILE_MISTAKES = {
    "root in the image": ("USER 10001:10001\n", ""),
    "a user by name": ("USER 10001:10001", "USER scrubjay"),
    "a base without a tag": ("FROM python:3.13-slim\n", "FROM python\n"),
    "COPY --link": ("COPY --from=build /app", "COPY --link --from=build /app"),
    "a syntax line": ("FROM", "# syntax=docker/dockerfile:1\nFROM"),
}
MISTAKES = len(_COMPOSE_MISTAKES) + len(_DOCKERFILE_MISTAKES)
