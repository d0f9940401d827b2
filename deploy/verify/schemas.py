"""Every manifest against the schema of its kind; a kind without one is a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import kubernetes_validate

from deploy.verify.findings import Finding, Manifest, title
from deploy.verify.tools import models

# The oldest that the chart says it runs on, and the newest there is a schema for.
VERSIONS = ("1.29", kubernetes_validate.latest_version())
_MODELLED = ("monitoring.coreos.com/", "gateway.networking.k8s.io/")


def schemas(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    others = [manifest for manifest in manifests if manifest["apiVersion"].startswith(_MODELLED)]
    for manifest in manifests:
        if manifest not in others:
            yield from _core(manifest)
    if others:
        for manifest, complaint in zip(others, models(others), strict=True):
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
