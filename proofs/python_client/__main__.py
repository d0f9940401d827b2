"""The Python client as its users have it: built, checked by twine, installed from its wheel, and typed.

pyright and mypy read a program over its calls, as strictly as they can. A program that misuses them is the control.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from local.database import ROOT

_SOURCE = ROOT / "clients/python"
_ENVIRONMENT = ROOT / ".adapters"
_PYRIGHT = ROOT / ".node/node_modules/pyright/index.js"
_PROGRAM = Path(__file__).with_name("strict.py")
# A call without its question, an answer's field that there is none of, and a number where a text belongs.
_WRONG = """from scrubjay import Client

with Client("http://localhost:8080", "token") as jay:
    found = jay.assemble(caller="scout")
    print(found.context)
    jay.source(handle=12)
"""
_WRONG_LINES = 3


def main() -> int:
    with tempfile.TemporaryDirectory(dir=ROOT / ".adapters", prefix="client-") as name:
        folder = Path(name)
        packages = _built(folder)
        checked = _run("-m", "twine", "check", "--strict", *map(str, packages))
        environment = _installed(folder, next(path for path in packages if path.suffix == ".whl"))
        shutil.copy(_PROGRAM, folder / "strict.py")
        (folder / "wrong.py").write_text(_WRONG)
        figures = {
            "packages": len(packages),
            "twine": checked.stdout.count("PASSED"),
            **{
                f"{tool} errors": len(found)
                for tool, found in _read(folder, environment, "strict.py").items()
            },
            **{
                f"{tool} control": len(found)
                for tool, found in _read(folder, environment, "wrong.py").items()
            },
        }
    print(json.dumps({"python": figures}))
    tools = ("pyright", "mypy")
    right = not any(figures[f"{tool} errors"] for tool in tools)
    seen = all(figures[f"{tool} control"] == _WRONG_LINES for tool in tools)
    return 0 if right and seen and figures["twine"] == len(packages) else 1


def _built(folder: Path) -> list[Path]:
    shutil.copytree(_SOURCE, folder / "source", ignore=shutil.ignore_patterns("dist", "__pycache__"))
    done = _run("-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(folder / "source"))
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return sorted((folder / "dist").iterdir())


def _installed(folder: Path, wheel: Path) -> Path:
    """An environment that has the wheel, and what it needs from the environment of the frameworks."""
    environment = folder / "venv"
    _run("-m", "venv", "--without-pip", str(environment))
    (packages,) = environment.glob("lib/python*/site-packages")
    (shared,) = _ENVIRONMENT.glob("lib/python*/site-packages")
    (packages / "shared.pth").write_text(f"{shared}\n")
    done = _run("-m", "pip", "-q", "install", "--no-deps", "--target", str(packages), str(wheel))
    if done.returncode:
        raise RuntimeError(done.stderr)
    return environment


def _read(folder: Path, environment: Path, program: str) -> dict[str, set[str]]:
    """The lines in which each tool finds fault."""
    settings = {
        "typeCheckingMode": "strict",
        "include": [program],
        "venvPath": str(folder),
        "venv": environment.name,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    node = str(Path(sys.executable).with_name("node"))
    outputs = {
        "pyright": subprocess.run([node, str(_PYRIGHT)], cwd=folder, capture_output=True, text=True).stdout,
        "mypy": _run(
            "-m",
            "mypy",
            "--strict",
            "--python-executable",
            str(environment / "bin/python"),
            program,
            folder=folder,
        ).stdout,
    }
    found = {}
    for tool, output in outputs.items():
        print(output.strip())
        found[tool] = set(re.findall(rf"{re.escape(program)}:(\d+)\S* -? ?error", output))
    return found


def _run(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The Python of the frameworks' environment."""
    command = [str(_ENVIRONMENT / "bin/python"), *arguments]
    settings = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main())
