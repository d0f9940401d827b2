"""Files beneath one folder, and nothing else.

openat2 resolves a whole path beneath the folder in one system call. Checking a path first and opening it then would
lose a race against someone who replaces a folder by a symbolic link in between.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import secrets
import stat
import struct
from pathlib import Path

MOST_BYTES = 1_000_000
_SYS_OPENAT2 = 437
# From linux/openat2.h.
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_RESOLVE = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS
# Opening must neither wait for the other end of a pipe nor acquire a terminal.
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
# The kernel asks for a retry when a rename happens during the path's resolution.
_TRIES = 8


class PathError(Exception):
    """Why a path cannot be used, for the model."""


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2(folder: int, path: str, flags: int) -> int:
    how = struct.pack("QQQ", flags, 0, _RESOLVE)
    descriptor: int = _libc().syscall(_SYS_OPENAT2, folder, os.fsencode(path), how, len(how))
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return descriptor


class Workspace:
    """A folder. Every path is relative to it; one that leads outside, also by a link, is refused."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self._folder = os.open(root, _FOLDER)

    def close(self) -> None:
        os.close(self._folder)

    def read(self, path: str) -> bytes:
        """A regular file of at most MOST_BYTES. Raises PathError."""
        descriptor = self._open(path, _READ)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise PathError(f"{path} is not a file; list_files shows folders")
            if status.st_size > MOST_BYTES:
                raise PathError(f"{path} has more than {MOST_BYTES} bytes")
            return _whole(descriptor)
        finally:
            os.close(descriptor)

    def write(self, path: str, content: bytes) -> None:
        """A whole file, made anew: readers see the old one or the new one. Raises PathError."""
        if len(content) > MOST_BYTES:
            raise PathError(f"at most {MOST_BYTES} bytes fit into a file")
        parent, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            raise PathError(f"{path} names no file")
        folder = self._made(parent)
        try:
            _replace(folder, name, content)
        except OSError as error:
            raise PathError(f"{path}: {error.strerror}") from error
        finally:
            os.close(folder)

    def names(self, path: str) -> list[str]:
        """What a folder holds; folders end with a slash. Raises PathError."""
        descriptor = self._open(path or ".", _FOLDER)
        try:
            with os.scandir(descriptor) as found:
                return sorted(one.name + ("/" if one.is_dir(follow_symlinks=False) else "") for one in found)
        finally:
            os.close(descriptor)

    def _made(self, path: str) -> int:
        """The descriptor of a folder, which is made where it is missing."""
        descriptor = self._open(".", _FOLDER)
        for name in (part for part in path.split("/") if part not in ("", ".")):
            try:
                if name == "..":
                    raise PathError(f"{path} leads upwards")
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
                inner = _openat2(descriptor, name, _FOLDER)
            except OSError as error:
                raise PathError(f"{path}: {error.strerror}") from error
            finally:
                os.close(descriptor)
            descriptor = inner
        return descriptor

    def _open(self, path: str, flags: int) -> int:
        for _ in range(_TRIES):
            try:
                return _openat2(self._folder, path, flags)
            except (UnicodeEncodeError, ValueError) as error:
                raise PathError("this is no path") from error
            except OSError as error:
                if error.errno == errno.EAGAIN:
                    continue
                raise PathError(_why(path, error)) from error
        raise PathError(f"{path} cannot be opened")


def _why(path: str, error: OSError) -> str:
    if error.errno in (errno.EXDEV, errno.ELOOP):
        return f"{path} leads outside the workspace"
    return f"{path}: {error.strerror}"


def _whole(descriptor: int) -> bytes:
    pieces, left = [], MOST_BYTES
    while left and (piece := os.read(descriptor, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _replace(folder: int, name: str, content: bytes) -> None:
    temporary = f".{secrets.token_hex(8)}.part"
    with os.fdopen(os.open(temporary, _NEW, 0o600, dir_fd=folder), "wb") as file:
        file.write(content)
    try:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(temporary, dir_fd=folder)
        raise
