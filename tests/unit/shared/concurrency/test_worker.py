"""Work on long texts in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import pytest

from shared.concurrency import courtesy
from shared.concurrency.cpu import Endless, try_first
from shared.concurrency.threads import SHORT, attempt, beside, beside_each
from shared.concurrency.worker import Worker
from shared.errors import Invalid

_PATIENCE = 60.0
_SERVICE = """
import os
from shared.concurrency.worker import Worker
worker = Worker()
while (pid := worker.run(os.getpid)) == os.getpid():
    pass
print(pid, flush=True)
input()
"""


@pytest.fixture
def worker() -> Iterator[Worker]:
    """Its process has started."""
    worker = Worker()
    _process_of(worker)
    yield worker
    worker.stop()


def _process_of(worker: Worker) -> int:
    """Its id. Until it has started, this process does the work."""
    patience = time.monotonic() + _PATIENCE
    while (pid := worker.run(os.getpid)) == os.getpid():
        assert time.monotonic() < patience
        time.sleep(0.01)
    return pid


def _with_process(lengths: Sequence[int]) -> list[tuple[int, int]]:
    return [(length, os.getpid()) for length in lengths]


@pytest.mark.parametrize("lengths", [[1], [7_900], [10, 5_000, 5_000, 7_900, 3], [SHORT + 1], [9_000] * 8])
async def test_the_items_of_many_keep_their_order(lengths: list[int]) -> None:
    every, patience = sum(lengths), time.monotonic() + _PATIENCE
    while await beside(SHORT + 1, os.getpid) == os.getpid():
        assert time.monotonic() < patience
        await asyncio.sleep(0.01)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    going_on = asyncio.create_task(others())
    made = await beside_each(lengths, lambda length: length, _with_process)
    going_on.cancel()
    assert [length for length, _ in made] == lengths
    here = [length for length, pid in made if pid == os.getpid()]
    assert here == ([] if every > 40_000 else [length for length in lengths if length <= SHORT])
    assert turns > 0 or every <= SHORT


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
    patience = time.monotonic() + _PATIENCE
    while await beside(SHORT + 1, os.getpid) == os.getpid():
        assert time.monotonic() < patience
        await asyncio.sleep(0.01)
    assert await beside(SHORT, os.getpid) == os.getpid()


def test_nobody_waits_until_the_process_has_started() -> None:
    worker = Worker()
    assert worker.run(os.getpid) == os.getpid()
    worker.stop()


def test_the_process_stays(worker: Worker) -> None:
    assert _process_of(worker) == _process_of(worker)


def test_others_come_before_the_process(worker: Worker) -> None:
    pid = _process_of(worker)
    assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, os.getpid())


def test_an_error_of_the_work_is_raised(worker: Worker) -> None:
    with pytest.raises(Invalid) as raised:
        worker.run(_refuse, "is odd")
    assert raised.value.errors == [{"field": "content", "message": "is odd"}]


def test_work_that_cannot_be_pickled_is_done_here(worker: Worker) -> None:
    pid = _process_of(worker)
    assert worker.run(lambda: os.getpid()) == os.getpid()
    assert _process_of(worker) == pid


def test_a_killed_process_is_replaced(worker: Worker) -> None:
    first = _process_of(worker)
    os.kill(first, signal.SIGKILL)
    assert worker.run(len, "text") == 4
    patience = time.monotonic() + _PATIENCE
    while _process_of(worker) == first:
        assert time.monotonic() < patience
    assert _process_of(worker) != first


def _endless() -> None:
    while True:
        pass


def _trial(work: Callable[[], object]) -> int:
    try_first(0.2, work)
    return os.getpid()


@pytest.mark.parametrize("work", [_endless, partial(_refuse, "is odd"), sys.exit])
def test_what_does_not_end_is_only_tried(worker: Worker, work: Callable[[], object]) -> None:
    pid = _process_of(worker)
    with pytest.raises(Endless):
        worker.attempt(_PATIENCE, partial(_trial, work))
    assert _process_of(worker) == pid


def test_what_ends_in_time_may_be_done(worker: Worker) -> None:
    assert worker.attempt(_PATIENCE, partial(_trial, os.getpid)) == _process_of(worker)


@cache
def _loaded() -> int:
    return time.perf_counter_ns()


def test_an_attempt_finds_what_another_has_loaded(worker: Worker) -> None:
    assert worker.attempt(_PATIENCE, _loaded) == worker.attempt(_PATIENCE, _loaded)


def test_an_error_of_an_attempt_is_raised(worker: Worker) -> None:
    with pytest.raises(Invalid):
        worker.attempt(_PATIENCE, partial(_refuse, "is odd"))


def test_a_result_that_cannot_be_pickled_is_no_answer(worker: Worker) -> None:
    with pytest.raises(TimeoutError):
        worker.attempt(_PATIENCE, _unpicklable)
    assert worker.attempt(_PATIENCE, os.getpid) == _process_of(worker)


def _unpicklable() -> object:
    return lambda: None


def test_an_attempt_waits_for_a_process_that_starts() -> None:
    worker = Worker()
    assert worker.attempt(_PATIENCE, os.getpid) != os.getpid()
    worker.stop()


def test_an_attempt_waits_so_long_for_another_work(worker: Worker) -> None:
    with worker._lock, pytest.raises(TimeoutError):
        worker.attempt(0.05, os.getpid)


async def test_what_is_no_answer_is_told() -> None:
    with pytest.raises(TimeoutError):
        await attempt("a", _unpicklable)
    assert await attempt("a", os.getpid) != os.getpid()


def test_a_service_tries_nothing() -> None:
    try_first(0.01, _endless)


@pytest.fixture
def spare() -> Iterator[Worker]:
    worker = Worker(spare=True)
    yield worker
    worker.stop()


def _there(worker: Worker) -> int:
    """The id of its process, which has the work done even on a busy machine."""
    patience = time.monotonic() + _PATIENCE
    while (pid := worker.run(os.getpid)) == os.getpid():
        assert time.monotonic() < patience
        worker._not_before = 0.0
        time.sleep(0.01)
    return pid


@pytest.mark.skipif(sys.platform != "linux", reason="has no such priority")
def test_a_process_for_spare_time_comes_after_all_others(spare: Worker) -> None:
    pid = _there(spare)
    assert (os.sched_getscheduler(pid), os.getpriority(os.PRIO_PROCESS, pid)) == (os.SCHED_IDLE, 19)


def test_a_late_process_for_spare_time_is_left_alone(spare: Worker) -> None:
    pid = _there(spare)
    os.kill(pid, signal.SIGSTOP)
    assert spare.run(os.getpid) == os.getpid()
    os.kill(pid, signal.SIGCONT)
    with spare._lock:
        pass  # its late answer has been dropped
    assert spare.run(os.getpid) == os.getpid()
    assert _there(spare) == pid


def test_a_process_for_spare_time_ends_when_nobody_needs_it() -> None:
    worker = Worker(spare=True, unused=0.05)
    first = _there(worker)
    patience = time.monotonic() + _PATIENCE
    while not _gone(first):
        assert time.monotonic() < patience
        time.sleep(0.01)
    assert _there(worker) != first
    worker.stop()


def test_a_process_is_ready_when_it_has_answered(spare: Worker) -> None:
    patience = time.monotonic() + _PATIENCE
    assert not spare.ready()
    while not spare.ready():
        assert time.monotonic() < patience
        time.sleep(0.01)
    os.kill(spare.run(os.getpid), signal.SIGKILL)
    while spare.ready():
        assert time.monotonic() < patience
        time.sleep(0.01)


def test_a_late_process_is_not_ready(spare: Worker) -> None:
    os.kill(pid := _there(spare), signal.SIGSTOP)
    assert spare.run(os.getpid) == os.getpid()
    assert not spare.ready()
    os.kill(pid, signal.SIGCONT)


class _Heavy:
    """A request that steps back for others."""

    def __init__(self) -> None:
        self.rested = 0

    async def make_way(self) -> None:
        self.rested += 1

    def steps_back(self) -> bool:
        return True

    def skip(self) -> None:
        raise AssertionError


@pytest.mark.skipif(sys.platform != "linux", reason="has no such priority")
async def test_a_request_that_steps_back_gets_spare_time() -> None:
    heavy, patience = _Heavy(), time.monotonic() + _PATIENCE
    before = courtesy.REQUEST.set(heavy)
    try:
        while await beside(SHORT + 1, os.sched_getscheduler, 0) != os.SCHED_IDLE:
            assert time.monotonic() < patience
            await asyncio.sleep(0.01)
        heavy.rested = 0
        assert await attempt("a", partial(os.sched_getscheduler, 0)) == os.SCHED_IDLE
        assert heavy.rested == 1
        with courtesy.for_all():
            assert await beside(SHORT + 1, os.sched_getscheduler, 0) != os.SCHED_IDLE
        assert heavy.rested == 1
    finally:
        courtesy.REQUEST.reset(before)


def test_nobody_waits_for_another_work(worker: Worker) -> None:
    with worker._lock:
        assert worker.run(os.getpid) == os.getpid()


def test_nobody_waits_for_a_stopped_process(worker: Worker) -> None:
    pid = _process_of(worker)
    os.kill(pid, signal.SIGSTOP)
    assert worker.run(os.getpid) == os.getpid()
    os.kill(pid, signal.SIGCONT)
    assert _process_of(worker) == pid


def test_a_late_answer_may_never_come(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is stopped while a thread reads its answer, whose connection then has no descriptor."""
    pid, closed = _process_of(worker), worker._connection
    assert closed is not None

    def read() -> None:
        worker.stop()
        raise TypeError

    monkeypatch.setattr(closed, "recv", read)
    worker._lock.acquire()
    worker._drop_answer(closed)
    assert _process_of(worker) not in (pid, os.getpid())


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
