"""Runs a command that reaches the workspace and the system's programs, and no other file.

`python -m scrubjay_agent.workspace.confined FOLDER COMMAND` puts itself under Landlock, a part of the Linux kernel
since 5.13 that needs no privilege, and becomes the shell. It refuses where the kernel has none.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38
# From linux/landlock.h: execute 1, write 2, read file 4, read folder 8, and what makes, moves or removes entries.
_READ = 1 | 4 | 8
_DEVICE = 2 | 4
_SCOPED = 1 | 2
_ABI_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF}
# Programs and their libraries; of the settings below /etc only what loads them.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")


class ConfinementError(Exception):
    """This kernel cannot confine a process."""


def supported() -> bool:
    return _abi() > 0


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _abi() -> int:
    abi: int = _libc().syscall(_CREATE, None, ctypes.c_size_t(0), 1)
    return abi


def _rights() -> int:
    abi = _abi()
    if abi < 1:
        raise ConfinementError("the kernel has no Landlock: the shell stays off")
    # Version 5 adds control of devices, which files of the workspace do not need.
    return _ABI_RIGHTS[min(abi, 3)]


def confine(workspace: Path) -> None:
    """From here on this process and its children reach nothing else. Raises ConfinementError or OSError."""
    rights = _rights()
    libc = _libc()
    # Version 6 also keeps signals and abstract sockets inside.
    handled = struct.pack("QQQ", rights, 0, _SCOPED) if _abi() >= 6 else struct.pack("Q", rights)
    ruleset = libc.syscall(_CREATE, handled, ctypes.c_size_t(len(handled)), 0)
    _require(ruleset)
    _allow(ruleset, str(workspace), rights)
    for path in _SYSTEM:
        _allow(ruleset, path, _READ)
    for path in _DEVICES:
        _allow(ruleset, path, _DEVICE)
    _require(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _require(libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    folder = Path(path).is_dir()
    # A file has no entries: only rights of files apply to it.
    allowed = rights if folder else rights & 7
    rule = struct.pack("=Qi", allowed, target)
    _require(_libc().syscall(_ADD, ruleset, _PATH_BENEATH, rule, 0))
    os.close(target)


def _require(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def main() -> None:
    workspace, command = Path(sys.argv[1]), sys.argv[2]
    confine(workspace)
    os.chdir(workspace)
    os.execv("/bin/sh", ["/bin/sh", "-c", command])  # noqa: S606


if __name__ == "__main__":
    main()
