"""Alert rules as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterator

from deploy.verify.findings import Finding
from deploy.verify.tools import CHART, ToolError, promtool, run


def alerts() -> Iterator[Finding]:
    for path in sorted((CHART / "files").glob("*.yaml")):
        try:
            run([promtool(), "check", "rules", "--lint-fatal", path])
        except ToolError as error:
            yield Finding("alerts", str(error))
