"""Routes for an orchestrator and Prometheus: liveness, readiness, metrics."""

from __future__ import annotations

from typing import Any

from litestar import Request, get
from litestar.enums import MediaType
from litestar.types import ControllerRouterHandler
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import NotReady, Unauthorized
from shared.telemetry.scraping import Scraping
from shared.web.drain import Drain
from shared.web.operations import PUBLIC

PATHS = ("/livez", "/readyz", "/metrics")
# A service is not ready before the schema exists.
_MIGRATED = "select version_num from public.alembic_version"


@get("/livez", opt=PUBLIC, media_type=MediaType.TEXT, sync_to_thread=False, include_in_schema=False)
def livez() -> str:
    return "ok"


def metrics_page(scraping: Scraping) -> ControllerRouterHandler:
    @get(
        "/metrics", opt=PUBLIC, media_type=CONTENT_TYPE_LATEST, sync_to_thread=False, include_in_schema=False
    )
    def read_metrics(request: Request[Any, Any, Any]) -> bytes:
        if not scraping.allows(request.headers.get("authorization", "")):
            raise Unauthorized("metrics are closed, or need another token (SCRUBJAY_METRICS)")
        return generate_latest()

    return read_metrics


def readiness(database: Database, drain: Drain) -> ControllerRouterHandler:
    @get("/readyz", opt=PUBLIC, media_type=MediaType.TEXT, include_in_schema=False)
    async def readyz() -> str:
        if drain.started.is_set():
            raise NotReady("draining")
        await database.call(lambda c: c.fetchval(_MIGRATED), Deadline(1.0))
        return "ok"

    return readyz
