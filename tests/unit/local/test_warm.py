"""A copied service has its own settings, log and end."""

from __future__ import annotations

import json
import os
from pathlib import Path

from local.process import free_port, wait_for
from local.warm import Forked, WarmService


def test_a_service_begins_as_a_copy(tmp_path: Path) -> None:
    """It has no settings, says so in its log, and ends as it would by itself."""
    before = dict(os.environ)
    services = [WarmService("cache", tmp_path / f"{number}.log", free_port(), {}) for number in range(2)]
    for service in services:
        service.launch()
        assert _ended(service)
        assert service.returncode == 1
        assert isinstance(service.child, Forked)
        assert json.loads(service.log.read_text())["event"] == "the settings are wrong"
        service.kill()
    assert dict(os.environ) == before
    assert services[0].pid != services[1].pid


def test_what_preloads_a_library_starts_as_ever(tmp_path: Path) -> None:
    """The process that is copied has not loaded it."""
    service = WarmService("cache", tmp_path / "log", free_port(), {"LD_PRELOAD": ""})
    service.launch()
    assert not isinstance(service.child, Forked)
    service.kill()


def _ended(service: WarmService) -> bool:
    return wait_for(lambda: not service.running, 120)
