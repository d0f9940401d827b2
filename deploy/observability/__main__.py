"""`make verify-observability`: dashboards and alerts, on made-up series and on a live cluster."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

from deploy.observability import alerts, dashboards, live
from deploy.verify.findings import Finding


def as_written() -> Iterator[Finding]:
    """The chart's dashboards are what the code makes."""
    kept = {path.stem: path.read_text() for path in dashboards.FOLDER.glob("*.json")}
    for uid in sorted(kept.keys() | dashboards.DASHBOARDS.keys()):
        if uid not in dashboards.DASHBOARDS or kept.get(uid) != dashboards.written(uid):
            yield Finding("dashboards", f"{uid}: run `python -m deploy.observability.dashboards`")


def main() -> int:
    begun = time.monotonic()
    findings = [*as_written(), *alerts.fire_when_they_should(), *live.queries_return_data()]
    for finding in findings:
        print(f"   {finding}")
    figures = {
        "dashboards": len(dashboards.DASHBOARDS),
        "queries": len(list(dashboards.queries())),
        "alerts": len(alerts.names()),
        "findings": len(findings),
        "seconds": round(time.monotonic() - begun, 1),
    }
    print(json.dumps(figures))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
