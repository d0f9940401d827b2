"""A copied service has its own settings, log and end."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.database import ROOT
from local.process import alive, environment, free_port, wait_for
from local.warm import WARM, Copy, Original, WarmService

_LASTING = "tests.unit.local.lasting"


@pytest.fixture(scope="module", autouse=True)
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Original]:
    process = Original(tmp_path_factory.mktemp("warm"))
    with pytest.MonkeyPatch.context() as patched:
        process.start()
        patched.setenv(WARM, str(process.socket))
        yield process
        process.stop()


def test_a_service_begins_as_a_copy(tmp_path: Path) -> None:
    """It has no settings, says so in its log, and ends as it would by itself."""
    before = dict(os.environ)
    services = [WarmService("cache", tmp_path / f"{number}.log", free_port(), {}) for number in range(2)]
    for service in services:
        service.launch()
        assert _ended(service)
        assert service.returncode == 1
        assert isinstance(service.child, Copy)
        assert json.loads(service.log.read_text())["event"] == "the settings are wrong"
        service.kill()
    assert dict(os.environ) == before
    assert services[0].pid != services[1].pid


def test_what_preloads_a_library_is_no_copy_of_what_has_none(tmp_path: Path) -> None:
    service = WarmService("cache", tmp_path / "log", free_port(), {"LD_PRELOAD": ""})
    service.launch()
    assert not isinstance(service.child, Copy)
    service.kill()


def test_nobody_else_may_ask_for_a_copy(original: Original) -> None:
    """Whoever asks has his code run."""
    assert stat.S_IMODE(original.socket.stat().st_mode) & 0o077 == 0


def test_a_copy_takes_signals(tmp_path: Path) -> None:
    copy = Copy(os.environ[WARM], _LASTING, environment({}), tmp_path / "log")
    assert copy.poll() is None
    copy.send_signal(signal.SIGTERM)
    assert copy.wait() == -signal.SIGTERM
    copy.send_signal(signal.SIGTERM)


def test_a_copy_ends_with_who_started_it(tmp_path: Path) -> None:
    """Also when that had no time to end it."""
    program = f"""
import os
from pathlib import Path
from local.process import environment
from local.warm import Copy
print(Copy(os.environ[{WARM!r}], {_LASTING!r}, environment({{}}), Path({str(tmp_path / "log")!r})).pid, flush=True)
os.kill(os.getpid(), 9)
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert wait_for(lambda: not alive(int(ended.stdout)), 60)


def _ended(service: WarmService) -> bool:
    return wait_for(lambda: not service.running, 120)
