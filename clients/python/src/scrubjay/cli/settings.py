"""Where the service is, and who asks: from the environment, or else from the user's file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

_PRIVATE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Settings(NamedTuple):
    url: str | None = None
    token: str | None = None
    agent: str | None = None
    mission: str | None = None


NAMES = Settings._fields


def path() -> Path:
    """The file of settings, where the XDG base directories say."""
    return _base("XDG_CONFIG_HOME", ".config") / "scrubjay" / "config.toml"


def state_folder() -> Path:
    """The folder of what one command keeps for the next."""
    folder = _base("XDG_STATE_HOME", ".local/state") / "scrubjay"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _base(name: str, usual: str) -> Path:
    """The XDG base directory; a relative one does not count."""
    given = Path(os.environ.get(name) or ".")
    return given if given.is_absolute() else Path.home() / usual


def read() -> Settings:
    """The environment counts before the file. Raises ValueError for a file that cannot be used."""
    given = {name: os.environ.get(f"SCRUBJAY_{name.upper()}") for name in NAMES}
    found = stored()
    return found._replace(**{name: value for name, value in given.items() if value})


def stored() -> Settings:
    """What the file says. Raises ValueError if others can read it, or it holds something else."""
    file = path()
    if not file.exists():
        return Settings()
    if problem := exposed(file):
        raise ValueError(problem)
    # Loaded for a file alone: hooks have little time, and most of them find their settings in the environment.
    import tomllib

    try:
        return _settings(tomllib.loads(file.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} cannot be read: {error}; `scrubjay login` writes it anew") from None


def exposed(file: Path) -> str | None:
    """What is wrong with who may read the file. On Windows, the mode says nothing."""
    if os.name != "posix" or not file.stat().st_mode & _OTHERS:
        return None
    return f"others can read {file}, which holds a key: run `chmod 600 {file}`"


def _settings(given: Mapping[str, object]) -> Settings:
    known = {name: str(given[name]) for name in NAMES if given.get(name)}
    return Settings(**known)


def write(settings: Settings) -> Path:
    """Replaces the file in one step. Nobody else can read it at any moment."""
    file = path()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [
        # A JSON string without characters beyond ASCII is a TOML string, too.
        f"{name} = {json.dumps(value)}"
        for name in NAMES
        if (value := getattr(settings, name)) is not None
    ]
    with private(file) as out:
        out.write("\n".join(["# `scrubjay login` wrote this.", *lines, ""]))
    return file


@contextmanager
def private(file: Path) -> Iterator[TextIO]:
    """A file that its owner alone can read. It takes the place of `file` once all is written.

    Raises OSError before the block where nothing can be written there.
    """
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    out = os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w")
    try:
        with out:
            yield out
    except BaseException:
        new.unlink()
        raise
    # Where this fails, the new file stays, and the error names it.
    new.replace(file)


def hidden(token: str) -> str:
    """Enough of a key to tell it from others."""
    return f"{token[:5]}…{token[-4:]}" if len(token) > 20 else "…"
