"""A folder of files that nobody should index: links out, devices, bombs, names with line breaks."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tests.support.vault.documents import BOMB, DEEP_HTML, NO_ARCHIVE, NO_PDF, docx, pdf

OUTSIDE = "the treasure outside"
Cases: TypeAlias = Mapping[str, tuple[Callable[[Path], Any], str]]
"""How to make a file, and words of the reason why a run refuses it."""
HOSTILE: Cases = {
    "link out": (lambda p: p.symlink_to("../../outside.md"), "is a link"),
    "absolute link": (lambda p: p.symlink_to(p.parents[2] / "outside.md"), "is a link"),
    "link to a folder": (lambda p: p.symlink_to("/etc"), "is a link"),
    "link to itself": (lambda p: p.symlink_to(p), "is a link"),
    "link within": (lambda p: p.symlink_to("good.md"), "is a link"),
    "link to nothing": (lambda p: p.symlink_to("nothing"), "is a link"),
    "link to memory": (lambda p: p.symlink_to("/proc/self/mem"), "is a link"),
    "link to environment": (lambda p: p.symlink_to("/proc/self/environ"), "is a link"),
    "link to a descriptor": (lambda p: p.symlink_to("/proc/self/fd/0"), "is a link"),
    "link to zeros": (lambda p: p.symlink_to("/dev/zero"), "is a link"),
    "link up": (lambda p: p.symlink_to(".."), "is a link"),
    "pipe": (lambda p: os.mkfifo(p), "is not a regular file"),
    "sparse": (lambda p: _sized(p, 1 << 30), "is larger than"),
    "large": (lambda p: _sized(p, 4_000_001), "is larger than"),
    "huge sparse": (lambda p: _sized(p, 1 << 36), "is larger than"),
    "zeros.md": (lambda p: _sized(p, 10_000), "is not text"),
    "binary.md": (lambda p: p.write_bytes(bytes(range(256)) * 40), "is not text"),
    "latin.txt": (lambda p: p.write_bytes("caf\xe9".encode("latin-1")), "is not text"),
    "surrogate.txt": (lambda p: p.write_bytes(b"a \xed\xa0\x80 b"), "is not text"),
    "utf16.txt": (lambda p: p.write_text("a treasure", encoding="utf-16"), "is not text"),
    "cut.txt": (lambda p: p.write_bytes("caf\xe9".encode()[:-1]), "is not text"),
    "empty.md": (lambda p: p.write_text(""), "has no text"),
    "blank.md": (lambda p: p.write_text(" \n\t\n"), "has no text"),
    "line\nbreak.md": (lambda p: p.write_text("text"), "its path"),
    "return\rname.md": (lambda p: p.write_text("text"), "its path"),
    "escape\x1b[2Jname.md": (lambda p: p.write_text("text"), "its path"),
    "bidi\u202ename.md": (lambda p: p.write_text("text"), "its path"),
    "separator\u2028name.md": (lambda p: p.write_text("text"), "its path"),
    "tab\tname.md": (lambda p: p.write_text("text"), "its path"),
    "lines.md#L3-L4": (lambda p: p.write_text("text"), "its path"),
    "no utf8 \udcff.md": (lambda p: p.write_text("text"), "its path"),
    "folder\nof lines": (lambda p: p.mkdir(), "its path"),
    "socket": (lambda p: _bind(p), "is not a regular file"),
    "device": (lambda p: _device(p), "is not a regular file"),
}
CONVERTED: Cases = {
    "bomb.docx": (lambda p: p.write_bytes(docx("x", BOMB)), ""),
    "bomb.pdf": (lambda p: p.write_bytes(pdf("x", BOMB)), ""),
    "deep.html": (lambda p: p.write_bytes(DEEP_HTML), ""),
    "no.pdf": (lambda p: p.write_bytes(NO_PDF), "convert"),
    "no archive.xlsx": (lambda p: p.write_bytes(NO_ARCHIVE), "convert"),
}
"""Those that start a converter. Which of its bounds a bomb meets first is left open."""


def _sized(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def _bind(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def _device(path: Path) -> None:
    """Endless zeros. Where only an administrator makes devices, a pipe stands for it."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        os.mkfifo(path)


def make_hostile(folder: Path, cases: Cases) -> None:
    for name, (make, _) in cases.items():
        make(folder / name)


def misnamed(named: Mapping[str, str], cases: Cases) -> list[str]:
    """The files that a run did not name, or for another reason."""
    return [
        name
        for name, (_, reason) in cases.items()
        if _shown(name) not in named or reason not in named[_shown(name)]
    ]


def _shown(name: str) -> str:
    """As a run names it."""
    return name if name.isprintable() else ascii(name)[1:-1]
