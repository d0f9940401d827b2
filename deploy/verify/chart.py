"""The chart as Helm renders it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from deploy.verify.findings import Manifest
from deploy.verify.tools import CHART, helm, run

RELEASE, NAMESPACE = "sj", "agents"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def value_sets() -> list[Path]:
    return sorted((CHART / "ci").glob("*-values.yaml"))


def value_set(name: str) -> Path:
    return CHART / "ci" / f"{name}-values.yaml"


def lint(values: Path) -> None:
    """Raises ToolError."""
    run([helm(), "lint", "--strict", "--quiet", CHART, "--values", values])


def render(values: Path, changes: dict[str, Any] | None = None) -> list[Manifest]:
    """`changes` are further values by their path, such as `cache.port`. Raises ToolError where Helm refuses."""
    sets: Sequence[str] = [
        part
        for path, value in (changes or {}).items()
        for part in ("--set-json", f"{path}={json.dumps(value)}")
    ]
    text = run([helm(), "template", RELEASE, CHART, "--namespace", NAMESPACE, "--values", values, *sets])
    return [manifest for manifest in yaml.load_all(text, Loader=_LOADER) if manifest]
