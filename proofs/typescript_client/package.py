"""The client's package as somebody gets it: compiled, packed by npm, and installed into a folder of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
NODE = ROOT / ".node"
SOURCE = ROOT / "clients/typescript"
_STRICT = {
    "strict": True,
    # The types of the AI SDK want those of Node.js.
    "skipLibCheck": True,
    "noEmit": True,
    "module": "nodenext",
    "target": "es2022",
    "lib": ["es2022", "dom"],
    "types": [],
}
_BLOCK = re.compile(r"```ts\n(.*?)```", re.S)


def packed(folder: Path) -> Path:
    """The tarball, after a check of what is in it. Raises ValueError where that is not what belongs there."""
    copy = folder / "source"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("dist", "node_modules"))
    node("typescript/bin/tsc", "-p", ".", folder=copy)
    done = _npm("pack", "--ignore-scripts", "--json", "--pack-destination", str(folder), folder=copy)
    (told,) = json.loads(done)
    names = {file["path"] for file in told["files"]}
    strange = {
        name for name in names if not re.fullmatch(r"dist/[\w/-]+(\.d\.ts|\.js)|\w+(\.md|\.json)?", name)
    }
    if strange or not {"LICENSE", "README.md", "dist/index.js", "dist/index.d.ts", "dist/ai-sdk.js"} <= names:
        raise ValueError(f"the package holds {sorted(names)}")
    return folder / str(told["filename"])


def installed(tarball: Path, folder: Path) -> Path:
    """A folder with the package among its modules, and the client's tests."""
    place = folder / "node_modules" / "scrubjay"
    place.parent.mkdir(parents=True)
    with tarfile.open(tarball) as held:
        held.extractall(folder, filter="data")
    (folder / "package").rename(place)
    for test in (SOURCE / "tests").iterdir():
        shutil.copy(test, folder)
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    return folder


def readme_blocks(folder: Path) -> list[Path]:
    """Each block of the README as a module. All of them have what the first one declares."""
    found = []
    for number, block in enumerate(_BLOCK.findall((SOURCE / "README.md").read_text())):
        path = folder / f"readme_{number}.ts"
        path.write_text(f"{block}\nexport {{}};\n")
        found.append(path)
    return found


def compiled(paths: list[Path], folder: Path) -> list[str]:
    """What a strict compiler has to say about them."""
    project = {"compilerOptions": _STRICT, "files": [path.name for path in paths]}
    (folder / "tsconfig.json").write_text(json.dumps(project))
    done = node("typescript/bin/tsc", "-p", ".", folder=folder, check=False)
    return [line for line in done.stdout.splitlines() if "error TS" in line]


def node(program: str, *arguments: str, folder: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs a program of the development tools."""
    command = [executable("node"), str(NODE / "node_modules" / program), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")
    return done


def executable(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def environment(**more: str) -> Mapping[str, str]:
    own = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{own}:{os.environ['PATH']}", **more}


def _npm(*arguments: str, folder: Path) -> str:
    command = [executable("npm"), "--loglevel=error", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout
