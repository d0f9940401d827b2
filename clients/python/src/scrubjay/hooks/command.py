"""`scrubjay hook HOST`: what a host's hook runs, with the event as JSON on standard input.

It never fails the host, and never takes long: what it cannot tell in time is not told.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from scrubjay.cli import settings
from scrubjay.cli.settings import Settings
from scrubjay.hooks import state
from scrubjay.hooks.injecting import NOTHING, Event, New, checkpoint, output, project_of, question, told
from scrubjay.hooks.switch import off_file

HOSTS = ("claude-code", "codex")
# A hook may take 300 ms, of which the host's shell needs some.
_SECONDS, _LAST_SECONDS = 0.2, 0.23
_USUAL_START_SECONDS = 0.06
_WRITING = ("PostToolUse", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
# These come once: whether the service was away a moment ago, or a process writes for the session already.
_LASTING = ("PreCompact", "SessionEnd")
_MOST = 2**24


def main(arguments: Sequence[str]) -> int:
    """0, whatever happens."""
    begun = time.monotonic() - _age()
    _end_after(begun + _LAST_SECONDS - time.monotonic())
    try:
        _hook(arguments[0] if arguments else "", begun + _SECONDS)
    except Exception as error:
        if os.environ.get("SCRUBJAY_HOOK_DEBUG"):
            sys.stderr.write(f"scrubjay hook: {type(error).__name__}: {error}\n")
    return 0


def _age() -> float:
    """Seconds since the process began: on a busy machine, Python is slow to start."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(") ")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (AttributeError, IndexError, OSError, ValueError):
        # Only Linux says it.
        return _USUAL_START_SECONDS


def _end_after(seconds: float) -> None:
    """Nothing outlasts this, not even a name that the resolver does not find."""
    watch = threading.Timer(max(seconds, 0.0), os._exit, (0,))
    watch.daemon = True
    watch.start()


def _hook(host: str, deadline: float) -> None:
    event = Event.of(json.loads(sys.stdin.buffer.read(_MOST)))
    if host not in HOSTS or not event.session or off_file(event.folder) is not None:
        return
    found = settings.read()
    if not found.url or not found.token or (event.name not in _LASTING and state.is_down()):
        return
    if event.name in _WRITING:
        _write(host, event)
        return
    new = _new(found, host, event, project_of(event.folder), deadline)
    if new.text:
        # One write: a host that reads the beginning reads all of it.
        os.write(1, json.dumps(output(event, new.text)).encode())
    if new.position is not None:
        # Only now: what an answer told that was lost before it reached the host comes again.
        state.keep_position(event.session, new.position)


def _new(found: Settings, host: str, event: Event, project: str, deadline: float) -> New:
    anew = event.name == "SessionStart" and event.source != "resume"
    if anew:
        state.forget(event.session)
    mission = found.mission or project
    asked = question(event, found.agent or host, mission, state.position(event.session))
    if asked is None:
        return NOTHING
    # Loaded for this alone: most hooks only write.
    from scrubjay.hooks.asking import Asking

    asking = Asking(str(found.url), str(found.token), deadline)
    try:
        prose = asking.checkpoint(event.session, mission) if event.source == "compact" else ""
        answer = asking.assemble(asked)
    except TimeoutError:
        # It may be fast again at the next prompt.
        return NOTHING
    except (OSError, ValueError):
        state.note_down()
        return NOTHING
    new = told(answer, state.own(event.session)) if answer else NOTHING
    parts = [checkpoint(prose) if prose else "", new.text]
    return new._replace(text="\n".join(part for part in parts if part))


def _write(host: str, event: Event) -> None:
    """Leaves the writing to a process of its own: one for each session, which goes on while the session does."""
    if not event.transcript or (event.name not in _LASTING and state.is_followed(event.session)):
        return
    command = [
        sys.executable,
        "-m",
        "scrubjay.hooks.background",
        host,
        event.name,
        event.session,
        event.transcript,
    ]
    _start([*command, str(event.folder.absolute())])


def _start(command: list[str]) -> None:
    """A process that neither the host nor its terminal waits for."""
    if not hasattr(os, "posix_spawn"):
        import subprocess  # slower to load; for Windows

        quiet = subprocess.DEVNULL
        subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, close_fds=True)
        return
    quiet_files = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    os.posix_spawn(command[0], command, dict(os.environ), file_actions=quiet_files, setsid=True)
