"""`make verify-deploy`: checks the deployment files without an engine or a cluster."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

from deploy.observability import alerts
from deploy.verify import compose, ingress, mistakes
from deploy.verify.checks import verify
from deploy.verify.findings import Check, Finding, report
from deploy.verify.manifests import containers, lint, of_kind, render, value_sets
from deploy.verify.schemas import VERSIONS
from deploy.verify.tools import ROOT, ToolError, run


def main() -> int:
    begun = time.monotonic()
    failed = report(CHECKS)
    figures = {
        "checks": len(CHECKS),
        "failed": failed,
        "value_sets": len(value_sets()),
        "kubernetes": list(VERSIONS),
        "mistakes": mistakes.count() + compose.MISTAKES,
        "seconds": round(time.monotonic() - begun, 1),
    }
    print(json.dumps(figures))
    return 1 if failed else 0


def _chart() -> Iterator[Finding]:
    for values in value_sets():
        lint(values)
        for finding in verify(render(values), values):
            yield Finding(f"{values.stem}, {finding.check}", finding.message)


def _commands() -> Iterator[str]:
    """Asks the program itself whether it knows each command."""
    jobs = [job for values in value_sets() for job in of_kind(render(values), "CronJob")]
    commands = {(*container["command"][1:], *container.get("args", [])) for _, container in containers(jobs)}
    for command in sorted(commands):
        try:
            run([sys.executable, *command, "--help"])
        except ToolError as error:
            yield f"{' '.join(command)}: {error}"


def _engine() -> Iterator[str]:
    print(f"   {compose.engine_reads_it()}")
    yield from ()


CHECKS: dict[str, Check] = {
    "the chart, as Helm renders it": _chart,
    "commands of CronJobs": _commands,
    "alert rules": alerts.well_formed,
    "docker-compose.yml": lambda: compose.compose(compose.load()),
    "docker-compose.yml, as an engine reads it": _engine,
    "deploy/env.example": compose.example,
    "Dockerfile": lambda: compose.dockerfile(ROOT / "Dockerfile"),
    "the Ingress, under Traefik": ingress.ingress,
    "mistakes in the chart are seen": mistakes.unseen,
    "mistakes in the Dockerfile and docker-compose.yml are seen": compose.unseen,
    "a wrong Ingress is seen": ingress.unseen,
}


if __name__ == "__main__":
    sys.exit(main())
