"""All checks of one rendering of the chart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from deploy.verify import hardening, references
from deploy.verify.findings import Finding
from deploy.verify.manifests import Manifest
from deploy.verify.network import network
from deploy.verify.schemas import schemas
from deploy.verify.tools import CHART
from deploy.verify.variables import environment

ManifestCheck = Callable[[Sequence[Manifest]], Iterator[str]]


def verify(manifests: Sequence[Manifest], values: Path, *, known: Sequence[Manifest] = ()) -> list[Finding]:
    """Everything wrong with the chart's rendering of a value set. `known` manifests have passed their schemas."""
    findings = list(schemas([manifest for manifest in manifests if manifest not in known]))
    if findings:
        # The other checks rely on valid manifests.
        return findings
    return [Finding(name, message) for name, check in _checks(values).items() for message in check(manifests)]


def _checks(values: Path) -> Mapping[str, ManifestCheck]:
    return {
        "ports": references.ports,
        "selectors": references.selectors,
        "entrances": references.entrances,
        "autoscalers": references.autoscalers,
        "secrets": partial(references.secrets, existing=_existing_secrets(values)),
        "mounts": references.mounts,
        "monitors": references.monitors,
        "hooks": references.hooks,
        "restricted": hardening.restricted,
        "resources": hardening.resources,
        "rollouts": hardening.rollouts,
        "schedules": hardening.schedules,
        "names": hardening.names,
        "environment": environment,
        "network": partial(network, value_set=values.name.removesuffix("-values.yaml")),
    }


def _existing_secrets(values: Path) -> dict[str, set[str]]:
    """The Secrets that a value set names, with their keys by the chart's schema."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    keys = set(schema["properties"]["secrets"]["properties"]["values"]["propertyNames"]["enum"])
    given: dict[str, Any] = yaml.safe_load(values.read_text()).get("secrets", {})
    known = {}
    if name := given.get("existing"):
        known[name] = keys - {"owner-url"} if given.get("existingOwner") else keys
    if name := given.get("existingOwner"):
        known[name] = {"owner-url"}
    return known
