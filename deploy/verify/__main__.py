"""`make verify-deploy`: the deployment files, without an engine and without a cluster."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from deploy.verify import alerts, compose, ingress, mistakes
from deploy.verify.chart import lint, render, value_sets
from deploy.verify.checks import verify
from deploy.verify.findings import Finding, containers, of_kind
from deploy.verify.schemas import VERSIONS
from deploy.verify.tools import ROOT, ToolError, run

Check = Callable[[], Iterable[Finding | str]]


def main() -> int:
    begun = time.monotonic()
    failed = [name for name, check in _checks() if not _holds(name, check)]
    figures = {
        "checks": len(_checks()),
        "failed": failed,
        "value_sets": len(value_sets()),
        "kubernetes": list(VERSIONS),
        "mistakes": len(mistakes.MISTAKES) + compose.MISTAKES,
        "seconds": round(time.monotonic() - begun, 1),
    }
    print(json.dumps(figures))
    return 1 if failed else 0


def _checks() -> list[tuple[str, Check]]:
    return [
        ("the chart, as Helm renders it", _chart),
        ("commands of CronJobs", _commands),
        ("alert rules", alerts.alerts),
        ("docker-compose.yml", lambda: compose.compose(compose.load())),
        ("docker-compose.yml, as an engine reads it", _engine),
        ("deploy/env.example", compose.example),
        ("Dockerfile", lambda: compose.dockerfile(ROOT / "Dockerfile")),
        ("the Ingress, under Traefik", ingress.ingress),
        ("mistakes in the chart are seen", mistakes.unseen),
        ("mistakes in the Dockerfile and docker-compose.yml are seen", compose.unseen),
        ("a wrong Ingress is seen", ingress.unseen),
    ]


def _chart() -> Iterator[Finding]:
    for values in value_sets():
        lint(values)
        for finding in verify(render(values), values):
            yield Finding(f"{values.stem}, {finding.check}", finding.message)


def _commands() -> Iterator[Finding]:
    """The program itself says whether it knows a command."""
    argvs = {
        (sys.executable, *container["command"][1:], *container.get("args", []), "--help")
        for values in value_sets()
        for _, container in containers(of_kind(render(values), "CronJob"))
    }
    for argv in argvs:
        try:
            run(list(argv))
        except ToolError as error:
            yield Finding("commands", f"{' '.join(argv[1:])}: {error}")


def _engine() -> Iterator[Finding]:
    if (said := compose.engine_reads_it()) is None:
        print("   no `docker compose` here: not asked")
    else:
        print(f"   {said}")
    yield from ()


def _holds(name: str, check: Check) -> bool:
    begun = time.monotonic()
    try:
        findings = list(check())
    except ToolError as error:
        findings = [str(error)]
    print(f"{'FAILED' if findings else 'ok':<8}{name} ({time.monotonic() - begun:.1f} s)", flush=True)
    for finding in findings:
        print(f"   {finding}")
    return not findings


if __name__ == "__main__":
    sys.exit(main())
