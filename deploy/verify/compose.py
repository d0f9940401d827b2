"""Checks of docker-compose.yml, deploy/env.example and the Dockerfile as text."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from deploy.verify.tools import ROOT, ToolError, run, script
from deploy.verify.variables import ROLES, SERVICES, faults, program, read_by

Compose = dict[str, Any]

EXAMPLE = ROOT / "deploy" / "env.example"
_PROXY, _MIGRATION = "proxy", "migration"
_ASSIGNED = re.compile(r"^#?([A-Z][A-Z0-9_]*)=", re.MULTILINE)
_INTERPOLATED = re.compile(r"\$\{([A-Z][A-Z0-9_]*)")
# The image sets it.
_IN_IMAGE = {"SCRUBJAY_HOST"}


def load() -> Compose:
    loaded: Compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def example_names() -> set[str]:
    """The variables that it sets, also in comments."""
    return set(_ASSIGNED.findall(EXAMPLE.read_text()))


def example() -> Iterator[str]:
    """env.example names what the code and the compose file read, and nothing else."""
    interpolated = _INTERPOLATED.findall((ROOT / "docker-compose.yml").read_text())
    known = ROLES.union(interpolated, *map(read_by, SERVICES))
    for name in sorted(known - example_names()):
        yield f"{name} is missing"
    for name in sorted(example_names() - known):
        yield f"nothing reads {name}"


def compose(loaded: Compose) -> Iterator[str]:
    for name, service in loaded["services"].items():
        for fault in (*_service_faults(name, service), *_setting_faults(service)):
            yield f"{name} {fault}"
    yield from _networks(loaded)
    if "-h" not in loaded["services"]["postgres"]["healthcheck"]["test"]:
        yield "pg_isready without -h mistakes the server that initialises the volume for the real one"


def _service_faults(name: str, service: Compose) -> Iterator[str]:
    if service.get("read_only") is not True:
        yield "may write to its root"
    if service.get("cap_drop") != ["ALL"] or service.get("cap_add"):
        yield "keeps capabilities"
    if "no-new-privileges:true" not in service.get("security_opt", []) or service.get("privileged"):
        yield "may gain privileges"
    if "build" not in service and service.get("user") in (None, "root", "0"):
        yield "runs as root"
    if name != _MIGRATION and "healthcheck" not in service:
        yield "has no health check"
    if name != _PROXY and service.get("ports"):
        yield "is published; only the proxy may be"


def _setting_faults(service: Compose) -> Iterator[str]:
    """Every variable that the code reads is passed on. Every variable passed on is read and accepted."""
    if "build" not in service:
        return
    given = service["environment"]
    values = {key: str(value) for key, value in given.items() if value is not None}
    yield from faults(service["command"], values)
    if running := program(service["command"]):
        for name in sorted(read_by(running) - given.keys() - _IN_IMAGE):
            yield f"is not given {name}, which it reads"


def _networks(loaded: Compose) -> Iterator[str]:
    services = loaded["services"]
    for name, service in services.items():
        shared = set(service["networks"]) & set(services[_PROXY]["networks"])
        if shared and name not in (_PROXY, "context"):
            yield f"the proxy reaches {name} over {', '.join(shared)}"
    for name in services["postgres"]["networks"]:
        if not loaded["networks"][name].get("internal"):
            yield f"Postgres reaches the outside over the network {name}"


def engine_reads_it() -> str:
    """Runs `docker compose config` on it, if there is a Docker engine."""
    try:
        run([script("docker"), "compose", "version"])
    except ToolError:
        return "there is no `docker compose` here to ask"
    with tempfile.NamedTemporaryFile("w", suffix=".env") as file:
        # Fill in the required settings, as a person would.
        file.write(re.sub(r"^([A-Z_]+)=$", r"\1=x", EXAMPLE.read_text(), flags=re.MULTILINE))
        file.flush()
        text = run(["docker", "compose", "--env-file", file.name, "config", "--format", "json"])
    return f"{len(json.loads(text)['services'])} services"


def dockerfile(path: Path) -> Iterator[str]:
    """hadolint's findings, and features that some builders and registries lack."""
    lint = subprocess.run([script("hadolint"), path], capture_output=True, text=True, check=False)
    yield from (lint.stdout + lint.stderr).splitlines()
    text = path.read_text()
    bases = dict(re.findall(r"^ARG\s+(\w+)=(\S+)$", text, re.MULTILINE))
    for name in re.findall(r"^FROM\s+\$\{(\w+)\}", text, re.MULTILINE):
        if not re.search(r":[^/:]+$", bases.get(name, "")):
            yield f"{name}, a base, has no tag by default"
    yield from (why for pattern, why in _REFUSED.items() if re.search(pattern, text, re.MULTILINE))
    users = re.findall(r"^USER\s+(\S+)", text, re.MULTILINE)
    if not users or not re.fullmatch(r"[1-9]\d*(:[1-9]\d*)?", users[-1]):
        yield "the last USER is not a number, so an orchestrator cannot tell that it is not root"


_REFUSED = {
    r"^#\s*syntax=": "a syntax line fetches a front end from a registry",
    r"^FROM\s+\S+@sha256:": "a digest names one registry's copy of a base",
    r"<<-?['\"]?[A-Z]": "not every builder supports heredocs",
    r"--link\b": "not every builder supports COPY --link",
}


def unseen() -> Iterator[str]:
    """Every mistake in the compose file or the Dockerfile that no check detects."""
    for name, make in _COMPOSE_MISTAKES.items():
        bad = load()
        make(bad["services"])
        if not list(compose(bad)):
            yield name
    text = (ROOT / "Dockerfile").read_text()
    for name, (old, new) in _DOCKERFILE_MISTAKES.items():
        if old not in text or not _seen(text.replace(old, new, 1)):
            yield name


def _seen(text: str) -> bool:
    with tempfile.NamedTemporaryFile("w", suffix=".Dockerfile") as file:
        file.write(text)
        file.flush()
        return bool(list(dockerfile(Path(file.name))))


_COMPOSE_MISTAKES: dict[str, Callable[[Compose], Any]] = {
    "a published cache": lambda s: s["cache"].update(ports=["8081:8081"]),
    "a proxy beside the owners": lambda s: s["proxy"]["networks"].append("services"),
    "a proxy beside Postgres": lambda s: s["proxy"]["networks"].append("data"),
    "pg_isready on the wrong server": lambda s: s["postgres"]["healthcheck"].update(
        test=["CMD", "pg_isready"]
    ),
    "no health check": lambda s: s["agent-memory"].pop("healthcheck"),
    "a root that can be written": lambda s: s["cache"].pop("read_only"),
    "Redis as root": lambda s: s["redis"].pop("user"),
    "kept capabilities": lambda s: s["proxy"].update(cap_add=["NET_BIND_SERVICE"]),
    "a setting that nothing reads": lambda s: s["cache"]["environment"].update(SCRUBJAY_CACHE_TTL="1"),
    "a setting that is not handed on": lambda s: s["cache"]["environment"].pop("SCRUBJAY_CACHE_TAGS"),
    "a service without its secret": lambda s: s["context"]["environment"].pop("SCRUBJAY_CACHE_SECRET"),
    "a service with another's secret": lambda s: s["cache"]["environment"].update(
        {"SCRUBJAY_AGENT_MEMORY_SECRET": "x"}
    ),
}
_DOCKERFILE_MISTAKES = {
    "root in the image": ("USER 10001:10001\n", ""),
    "a user by name": ("USER 10001:10001", "USER scrubjay"),
    "a base without a tag": ("PYTHON_IMAGE=python:3.13-slim\n", "PYTHON_IMAGE=python\n"),
    "a base that no argument names": ("ARG PYTHON_IMAGE=python:3.13-slim\n", ""),
    "a digest for everybody": ("FROM ${PYTHON_IMAGE}\n", f"FROM python:3.13-slim@sha256:{'0' * 64}\n"),
    "COPY --link": ("COPY --from=build /app", "COPY --link --from=build /app"),
    "a syntax line": ("FROM", "# syntax=docker/dockerfile:1\nFROM"),
}
MISTAKES = len(_COMPOSE_MISTAKES) + len(_DOCKERFILE_MISTAKES)
