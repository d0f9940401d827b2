"""Reads files only from a tenant's folder under VAULT_ROOT.

openat2 resolves the whole path beneath that folder in one system call. Checking a resolved path and then opening it
would lose a race against someone who replaces a folder by a symbolic link in between.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import re
import stat
import struct
import sys
from datetime import UTC, datetime
from pathlib import Path

from services.agent_memory.vault.schemas import Refusal

MAX_BYTES = 1_000_000
_SYS_OPENAT2 = 437
# From linux/openat2.h.
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_MACHINES = ("x86_64", "aarch64", "riscv64")
# Opening must neither wait for the other end of a pipe nor acquire a terminal.
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# The kernel asks for a retry when a rename happens during the path's resolution.
_TRIES = 8
_TENANT = re.compile(r"^(?!\.{1,2}$)[\w.@-]{1,200}$")


class LinkRefused(Exception):
    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason: Refusal = reason


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def openat2(folder: int, path: str, flags: int, resolve: int) -> int:
    """Takes and returns a file descriptor. Raises OSError: EXDEV or ELOOP for a path that leads outside."""
    how = struct.pack("QQQ", flags, 0, resolve)
    descriptor: int = _libc().syscall(_SYS_OPENAT2, folder, os.fsencode(path), how, len(how))
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return descriptor


@functools.cache
def supported() -> bool:
    """Whether this kernel has openat2 (Linux 5.6) and lets this process call it."""
    if not sys.platform.startswith("linux") or platform.machine() not in _MACHINES:
        return False
    try:
        here = os.open("/", _FOLDER)
    except OSError:
        return False
    try:
        os.close(openat2(here, ".", _FOLDER, _RESOLVE_BENEATH))
    except OSError:
        return False
    finally:
        os.close(here)
    return True


def is_tenant(name: str) -> bool:
    """Whether a tenant of this name may have a folder."""
    return _TENANT.match(name) is not None


def open_tenant(root: Path | None, tenant: str) -> int:
    """The descriptor of the tenant's folder. Raises LinkRefused."""
    if root is None or not is_tenant(tenant):
        raise LinkRefused("no vault")
    if not supported():
        raise LinkRefused("no openat2")
    try:
        folder = os.open(root, _FOLDER)
    except OSError as error:
        raise LinkRefused("no vault") from error
    try:
        return openat2(folder, tenant, _FOLDER, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS)
    except OSError as error:
        raise LinkRefused("no vault") from error
    finally:
        os.close(folder)


def open_folder(tenant: int, name: str) -> int:
    """The descriptor of a folder in the tenant's, which no path leads out of. Raises LinkRefused."""
    try:
        return openat2(tenant, name, _FOLDER, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS)
    except (OSError, UnicodeEncodeError, ValueError) as error:
        raise LinkRefused("refused") from error


def read_beneath(folder: int, path: str, characters: int) -> tuple[str, datetime]:
    """The beginning of a regular file's text, and when the file changed. Raises LinkRefused."""
    descriptor = open_beneath(folder, path)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise LinkRefused("not a file")
        if status.st_size > MAX_BYTES:
            raise LinkRefused("too large")
        content = _read_all(descriptor)
    except OSError as error:
        raise LinkRefused("refused") from error
    finally:
        os.close(descriptor)
    if b"\x00" in content:
        raise LinkRefused("not text")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise LinkRefused("not text") from error
    return text[:characters], datetime.fromtimestamp(status.st_mtime, UTC)


def open_listing(tenant: int, folder: str) -> int:
    """The descriptor of a folder, to list it. Raises LinkRefused."""
    return _opened(tenant, folder, _LIST, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS)


def open_beneath(folder: int, path: str, *, links: bool = True) -> int:
    """The descriptor of what lies beneath the folder. Raises LinkRefused."""
    no_links = _RESOLVE_NO_MAGICLINKS if links else _RESOLVE_NO_SYMLINKS
    return _opened(folder, path, _READ, _RESOLVE_BENEATH | no_links)


def _opened(folder: int, path: str, flags: int, resolve: int) -> int:
    for _ in range(_TRIES):
        try:
            return openat2(folder, path, flags, resolve)
        except (UnicodeEncodeError, ValueError) as error:
            raise LinkRefused("refused") from error
        except OSError as error:
            if error.errno == errno.EAGAIN:
                continue
            missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
            raise LinkRefused("not found" if missing else "refused") from error
    raise LinkRefused("refused")


def _read_all(descriptor: int) -> bytes:
    """Reads at most MAX_BYTES, even if the file is growing."""
    pieces = []
    left = MAX_BYTES
    while left and (piece := os.read(descriptor, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
