"""Whether hooks work in a folder."""

from __future__ import annotations

from pathlib import Path

NAME = ".scrubjay-off"


def off_file(folder: Path) -> Path | None:
    """The file that switches hooks off: in the folder, or above it up to the root of its repository."""
    folder = folder.absolute()
    for each in (folder, *folder.parents):
        if (each / NAME).exists():
            return each / NAME
        if (each / ".git").exists():
            return None
    return None
