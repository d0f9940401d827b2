"""Starts a service: reads its settings, then serves its app until a signal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol, TypeVar

import structlog

from shared.settings import SettingsError
from shared.telemetry import log, tracing
from shared.telemetry.tracing import TracingSettings
from shared.web.door.admission import Admission
from shared.web.serving.server import serve


class Served(Protocol):
    """What the settings of every service hold."""

    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def linger_seconds(self) -> float: ...
    @property
    def log_level(self) -> str: ...
    @property
    def tracing(self) -> TracingSettings: ...


S = TypeVar("S", bound=Served)


def start(service: str, from_env: Callable[[], S], create: Callable[[S], Admission]) -> None:
    """Exits with 1 when a setting is missing or wrong."""
    log.configure(service)
    try:
        settings = from_env()
        log.configure(service, settings.log_level)
        tracing.start(service, settings.tracing)
        app = create(settings)
    except SettingsError as error:
        structlog.get_logger().critical("the settings are wrong", problems=error.problems)
        sys.exit(1)
    serve(app, settings.host, settings.port, settings.linger_seconds)
