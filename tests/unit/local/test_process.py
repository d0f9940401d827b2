"""What the stack tells about its children, and how their ports are chosen."""

import socket
import threading
from pathlib import Path

import pytest

from local.process import free_ports, port_is_free, spawn, tail


def test_tail_gives_the_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert tail(log) == ""
    log.write_text("".join(f"line {number}\n" for number in range(10_000)))
    assert tail(log, lines=2) == "line 9998\nline 9999"


def test_free_ports_differ() -> None:
    assert len(set(free_ports(50))) == 50


def test_no_connection_takes_a_free_port_by_itself() -> None:
    with socket.create_server(("127.0.0.1", 0)) as given_by_the_system:
        assert max(free_ports(200)) < given_by_the_system.getsockname()[1]


def test_a_port_is_taken_while_somebody_listens_on_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not port_is_free(port)
    assert port_is_free(port)


def test_other_threads_cannot_start_children(tmp_path: Path) -> None:
    """Such a child would be killed when its thread ends, not when the process does."""
    refusals: list[BaseException] = []

    def attempt() -> None:
        with (tmp_path / "log").open("wb") as log, pytest.raises(RuntimeError, match="main") as refused:
            spawn(["true"], log=log)
        refusals.append(refused.value)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    assert refusals
