"""Work on long texts in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.concurrency.threads import SHORT, beside
from shared.concurrency.worker import Worker
from shared.errors import Invalid

_PATIENCE = 60.0
_SERVICE = """
import os
from shared.concurrency.worker import Worker
print(Worker().run(os.getpid), flush=True)
input()
"""


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def _refuse(text: str) -> None:
    raise Invalid.field("content", text)


def _gone(pid: int) -> bool:
    """Whether the process has ended, even if nobody has waited for it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


async def test_only_a_long_text_is_read_in_another_process() -> None:
    assert await beside(SHORT, os.getpid) == os.getpid()
    assert await beside(SHORT + 1, os.getpid) != os.getpid()


def test_the_process_stays(worker: Worker) -> None:
    assert worker.run(os.getpid) == worker.run(os.getpid)


def test_others_come_before_the_process(worker: Worker) -> None:
    assert worker.run(os.nice, 0) > os.nice(0)


def test_an_error_of_the_work_is_raised(worker: Worker) -> None:
    with pytest.raises(Invalid) as raised:
        worker.run(_refuse, "is odd")
    assert raised.value.errors == [{"field": "content", "message": "is odd"}]
    assert worker.run(os.getpid) != os.getpid()


def test_work_that_cannot_be_pickled_is_done_here(worker: Worker) -> None:
    assert worker.run(lambda: os.getpid()) == os.getpid()
    assert worker.run(os.getpid) != os.getpid()


def test_a_killed_process_is_replaced(worker: Worker) -> None:
    first = worker.run(os.getpid)
    os.kill(first, signal.SIGKILL)
    assert worker.run(os.getpid) in (first, os.getpid())
    assert worker.run(os.getpid) not in (first, os.getpid())


async def test_nobody_waits_for_another_work(worker: Worker, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    slow = asyncio.create_task(asyncio.to_thread(worker.run, pipe.read_text))
    # It opens when the process reads.
    with await asyncio.to_thread(pipe.open, "w") as end:
        assert await asyncio.to_thread(worker.run, os.getpid) == os.getpid()
        end.write("done")
    assert await slow == "done"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_process_ends_with_its_service() -> None:
    command = [sys.executable, "-c", _SERVICE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        pid = int(service.stdout.readline())
        assert not _gone(pid)
        service.kill()
    patience = time.monotonic() + _PATIENCE
    while not _gone(pid) and time.monotonic() < patience:
        time.sleep(0.05)
    assert _gone(pid)
