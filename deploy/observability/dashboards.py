"""Grafana's dashboards: `python -m deploy.observability.dashboards` writes them into the chart, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from deploy.observability.panels import MEMORY, REQUESTS, Panel
from deploy.verify.tools import CHART

FOLDER = CHART / "files" / "dashboards"
_COLUMNS = 24
_HEIGHT = 8
_DATA = {"type": "prometheus", "uid": "${datasource}"}
_CHOSEN = 'namespace=~"$namespace", job=~"$job"'


DASHBOARDS = {
    "scrubjay-requests": ("Scrubjay: requests", REQUESTS),
    "scrubjay-memory": ("Scrubjay: memory", MEMORY),
}


def dashboard(uid: str) -> dict[str, Any]:
    title, panels = DASHBOARDS[uid]
    return {
        "uid": uid,
        "title": title,
        "tags": ["scrubjay"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "",
        "links": [
            {
                "type": "dashboards",
                "title": "Scrubjay",
                "tags": ["scrubjay"],
                "keepTime": True,
                "includeVars": True,
            }
        ],
        "templating": {"list": list(_variables())},
        "panels": list(_laid_out(panels)),
    }


def queries() -> Iterator[tuple[str, str]]:
    """Every query with its place, before Grafana fills in the variables."""
    for path in sorted(FOLDER.glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", ()):
                yield f"{path.stem}: {panel['title']}: {target['legendFormat']}", target["expr"]


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    wanted = "scrubjay_http_requests_in_flight"
    for name, selector in (("namespace", ""), ("job", '{namespace=~"$namespace"}')):
        query = f"label_values({wanted}{selector}, {name})"
        yield {
            "name": name,
            "label": "Service" if name == "job" else "Namespace",
            "type": "query",
            "datasource": _DATA,
            "query": {"query": query, "refId": name},
            "definition": query,
            "refresh": 2,
            "includeAll": True,
            "multi": True,
            "current": {"text": "All", "value": "$__all"},
        }


def _laid_out(panels: Sequence[Panel]) -> Iterator[dict[str, Any]]:
    number = y = 0
    for row, members in groupby(panels, key=lambda panel: panel.row):
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": row,
            "collapsed": False,
            "gridPos": {"x": 0, "y": y, "w": _COLUMNS, "h": 1},
            "panels": [],
        }
        y += 1
        x = 0
        for panel in members:
            if x + panel.width > _COLUMNS:
                x, y = 0, y + _HEIGHT
            number += 1
            yield _drawn(panel, number, {"x": x, "y": y, "w": panel.width, "h": _HEIGHT})
            x += panel.width
        y += _HEIGHT


def _drawn(panel: Panel, number: int, position: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.says,
        "datasource": _DATA,
        "gridPos": position,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0, "custom": {"lineWidth": 1, "fillOpacity": 5}},
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom"},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": chr(ord("A") + place),
                "datasource": _DATA,
                "expr": query.replace("$here", _CHOSEN),
                "legendFormat": legend,
            }
            for place, (legend, query) in enumerate(panel.queries.items())
        ],
    }


def written(uid: str) -> str:
    return json.dumps(dashboard(uid), indent=2) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for uid in DASHBOARDS:
        (FOLDER / f"{uid}.json").write_text(written(uid))


if __name__ == "__main__":
    main()
