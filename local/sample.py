"""Sample data: a small fleet's incident and its agents' earlier lessons, written through the public API."""

import http.client
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from local.process import LocalError

CALLER = "kestrel"
MISSION = "inc-2214-card-declines"
QUESTION = (
    "Two hosts still decline cards after the database failover. "
    "How do I move pgbouncer off the old primary without losing payments?"
)

_REQUESTS = Path(__file__).with_suffix(".jsonl")
_PATIENCE_SECONDS = 120


def requests(begun: datetime) -> list[tuple[str, dict[str, Any]]]:
    """Routes and bodies, oldest first. The story ends at `begun`."""
    lines = map(json.loads, _REQUESTS.read_text().splitlines())
    return [
        (line["route"], {**line["body"], "occurred_at": _before(begun, line["minutes_ago"])})
        for line in lines
    ]


def _before(begun: datetime, minutes: float) -> str:
    return (begun - timedelta(minutes=minutes)).isoformat()


def is_loaded(state: Path) -> bool:
    return state.exists() and json.loads(state.read_text())["loaded"]


def load(url: str, token: str, state: Path) -> None:
    """Sends every request. After an interruption, it sends the same ones with the same keys and times."""
    if state.exists():
        begun = datetime.fromisoformat(json.loads(state.read_text())["begun"])
    else:
        begun = datetime.now(UTC).replace(microsecond=0)
        _note(state, begun, loaded=False)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    for number, (route, body) in enumerate(requests(begun)):
        _send(connection, route, body, token, f"sample-{begun:%Y%m%d%H%M%S}-{number}")
    connection.close()
    _note(state, begun, loaded=True)


def _send(connection: http.client.HTTPConnection, route: str, body: Any, token: str, key: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key}
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        connection.request("POST", route, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        if answer.status < 300:
            return
        if answer.status not in (429, 503) or time.monotonic() > end:
            raise LocalError(f"the sample data: POST {route} answered {answer.status}: {text}")
        time.sleep(0.5)


def _note(state: Path, begun: datetime, *, loaded: bool) -> None:
    state.write_text(json.dumps({"begun": begun.isoformat(), "loaded": loaded}))
