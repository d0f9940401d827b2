"""Files that an agent links explicitly, read from its tenant's folder under VAULT_ROOT and from nowhere else.

openat2 resolves the whole path beneath that folder in one step of the kernel. Checking a resolved path first and
opening it afterwards loses the race against whoever swaps a folder for a symbolic link in between.
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
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.text import Name

Refusal = Literal["no vault", "no openat2", "not found", "refused", "not a file", "too large", "not text"]
LinkPath = Annotated[str, Meta(min_length=1, max_length=1_000)]

MAX_BYTES = 1_000_000
_SYS_OPENAT2 = 437
# From linux/openat2.h.
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_MACHINES = ("x86_64", "aarch64", "riscv64")
# Never waits for a pipe's other end, never becomes a terminal's owner.
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# A rename somewhere below during the walk: the kernel asks to try again.
_TRIES = 8
_TENANT = re.compile(r"^(?!\.{1,2}$)[\w.@-]{1,200}$")


class LinksRequest(Body, kw_only=True):
    paths: Annotated[list[LinkPath], Meta(min_length=1, max_length=20)]
    agent: Name | None = None
    characters: Annotated[int, Meta(ge=1, le=1_000_000)] = 64_000
    """Of one file: its beginning is enough for a block."""


class LinkedFile(msgspec.Struct, omit_defaults=True):
    path: str
    text: str = ""
    modified_at: datetime | None = None
    refused: Refusal | None = None


class Links(msgspec.Struct):
    files: list[LinkedFile]


class LinkRefused(Exception):
    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason: Refusal = reason


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def openat2(folder: int, path: str, flags: int, resolve: int) -> int:
    """A file descriptor; `folder` is one, too. Raises OSError, EXDEV or ELOOP for a path that leads elsewhere."""
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


class Vault:
    """The folders of all tenants, `<root>/<tenant>`; without a root nothing is ever read."""

    def __init__(self, root: Path | None) -> None:
        self._root = root

    def read(self, tenant: str, request: LinksRequest) -> list[LinkedFile]:
        """One answer a path, in order; files are read by the way, so call it off the event loop."""
        try:
            folder = self._open_tenant(tenant)
        except LinkRefused as refused:
            return [LinkedFile(path, refused=refused.reason) for path in request.paths]
        try:
            return [_read_one(folder, path, request.characters) for path in request.paths]
        finally:
            os.close(folder)

    def _open_tenant(self, tenant: str) -> int:
        if self._root is None or not _TENANT.match(tenant):
            raise LinkRefused("no vault")
        if not supported():
            raise LinkRefused("no openat2")
        try:
            root = os.open(self._root, _FOLDER)
        except OSError as error:
            raise LinkRefused("no vault") from error
        try:
            return openat2(root, tenant, _FOLDER, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS)
        except OSError as error:
            raise LinkRefused("no vault") from error
        finally:
            os.close(root)


def _read_one(folder: int, path: str, characters: int) -> LinkedFile:
    try:
        text, modified_at = read_beneath(folder, path, characters)
    except LinkRefused as refused:
        return LinkedFile(path, refused=refused.reason)
    return LinkedFile(path, text, modified_at)


def read_beneath(folder: int, path: str, characters: int) -> tuple[str, datetime]:
    """The beginning of a regular file's text and when it changed. Raises LinkRefused."""
    descriptor = _open_beneath(folder, path)
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


def _open_beneath(folder: int, path: str) -> int:
    for _ in range(_TRIES):
        try:
            return openat2(folder, path, _READ, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
        except (UnicodeEncodeError, ValueError) as error:
            raise LinkRefused("refused") from error
        except OSError as error:
            if error.errno == errno.EAGAIN:
                continue
            missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
            raise LinkRefused("not found" if missing else "refused") from error
    raise LinkRefused("refused")


def _read_all(descriptor: int) -> bytes:
    """No more than MAX_BYTES, however the file grows meanwhile."""
    pieces = []
    left = MAX_BYTES
    while left and (piece := os.read(descriptor, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
