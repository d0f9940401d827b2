"""The console's files are what its source builds, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from local.database import ROOT

_COMMITTED = ROOT / "services/context/console/built"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="scrubjay-console-") as name:
        settings = {**os.environ, "CONSOLE_OUT": name}
        own = str(Path(sys.executable).parent)
        settings["PATH"] = f"{own}:{settings['PATH']}"
        subprocess.run(["npm", "run", "--silent", "build"], cwd=ROOT / "console", env=settings, check=True)
        built, committed = _contents(Path(name)), _contents(_COMMITTED)
    differing = sorted(
        path for path in built.keys() | committed.keys() if built.get(path) != committed.get(path)
    )
    for path in differing:
        print(f"{path} is not what the source builds: run make console")
    return 1 if differing else 0


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


if __name__ == "__main__":
    sys.exit(main())
