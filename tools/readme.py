"""`make verify-readme`: follow README.md word by word on a cluster of its own.

The cluster starts by the recipe of `make run`, in a folder that shows this repository without its data. Every `sh` and
`python` block then runs as printed, with the tokens that the cluster prints. Comments that no reader sees mark the
blocks that differ:

    <!-- verify: skip, REASON -->       it is not run
    <!-- verify: answer -->             it shows the JSON that the block before answered: same fields, same types
    <!-- verify: answer.context_block --> it shows items of that field: the best one, and others of the same form
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from local.database import ROOT
from local.process import port_is_free
from local.services import PORTS

START_SECONDS, BLOCK_SECONDS, STOP_SECONDS = 600.0, 300.0, 120.0
_BLOCK = re.compile(
    r"(?:<!-- verify: (?P<mark>.*?) -->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
# The id, the time and the nonce of an item differ from cluster to cluster.
_HEAD = re.compile(
    r"^\[(own|peer|cache):\d+ \d{4}-\d\d-\d\d(?: \d\d:\d\d)? (\w+ [\w-]+.*?) \w+(\] .+)$", re.M
)
_START = "make run"
_RUN = {"sh": ["bash", "-euo", "pipefail", "-s"], "python": ["python", "-"]}


class ReadmeError(Exception):
    """What the README says and what happens differ."""


class Block(NamedTuple):
    line: int
    language: str
    text: str
    mark: str


def blocks(markdown: str) -> list[Block]:
    return [
        Block(
            line=markdown.count("\n", 0, found.start("language")) + 1,
            language=found["language"],
            text=found["text"],
            mark=found["mark"] or "",
        )
        for found in _BLOCK.finditer(markdown)
    ]


def follow(given: list[Block], environment: Mapping[str, str], folder: Path) -> int:
    """How many blocks ran. Raises ReadmeError."""
    output, ran = "", 0
    for block in given:
        if block.mark.startswith("answer"):
            _check(block, output)
        elif block.language in _RUN and not block.mark.startswith("skip") and not _starts(block):
            output, ran = _run(block, environment, folder), ran + 1
    return ran


def differences(shown: Any, answered: Any, path: str = "answer") -> Iterator[str]:
    """What an answer has beyond what is shown, lacks of it, or has of another type. Null is of any type."""
    if isinstance(shown, dict) and isinstance(answered, dict):
        yield from (f"{path}.{name} is shown and not answered" for name in shown.keys() - answered.keys())
        yield from (f"{path}.{name} is answered and not shown" for name in answered.keys() - shown.keys())
        for name in shown.keys() & answered.keys():
            yield from differences(shown[name], answered[name], f"{path}.{name}")
    elif isinstance(shown, list) and isinstance(answered, list):
        if len(shown) > len(answered):
            yield f"{path} has {len(answered)} items, not {len(shown)}"
        for place, (one, other) in enumerate(zip(shown, answered, strict=False)):
            yield from differences(one, other, f"{path}[{place}]")
    elif shown is not None and answered is not None and _kind(shown) != _kind(answered):
        yield f"{path} is {_kind(answered)}, not {_kind(shown)}"


def _kind(value: Any) -> str:
    return "number" if type(value) in (int, float) else type(value).__name__


def _starts(block: Block) -> bool:
    return block.language == "sh" and block.text.startswith(_START)


def _run(block: Block, environment: Mapping[str, str], folder: Path) -> str:
    done = subprocess.run(
        _RUN[block.language],
        input=block.text,
        env=dict(environment),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=BLOCK_SECONDS,
        check=False,
    )
    if done.returncode:
        raise ReadmeError(f"line {block.line}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"  line {block.line}: ran ({block.language})")
    return done.stdout


def _check(block: Block, output: str) -> None:
    try:
        answer = json.loads(output)
        for name in block.mark.split(".")[1:]:
            answer = answer[name]
    except (ValueError, KeyError, TypeError) as error:
        raise ReadmeError(f"line {block.line}: there is no such answer: {error!r}\n{output}") from error
    if block.language == "json":
        wrong = sorted(differences(json.loads(block.text), answer))
    else:
        wrong = list(_other_items(block.text, str(answer)))
    if wrong:
        raise ReadmeError(f"line {block.line}: " + "; ".join(wrong))
    print(f"  line {block.line}: shows what was answered")


def _other_items(shown: str, answered: str) -> Iterator[str]:
    """The best item is the one shown. Those after it depend on what is indexed already; their form does not."""
    items = _HEAD.findall(answered)
    if not items or _HEAD.findall(shown)[:1] != items[:1]:
        yield f"the answer begins otherwise:\n{answered}"
    formless = [line for line in shown.splitlines() if line.startswith("[") and not _HEAD.match(line)]
    yield from (f"no item is answered like this: {line}" for line in formless)


@contextmanager
def clone() -> Iterator[Path]:
    """A folder that shows this repository, without the data of a cluster that was run here."""
    with tempfile.TemporaryDirectory(prefix="scrubjay-readme-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        for entry in ROOT.iterdir():
            if entry.name != ".data":
                (folder / entry.name).symlink_to(entry)
        yield folder


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """What `make run` prints once it runs. Nothing that it started is left afterwards."""
    taken = [port for port in PORTS.values() if not port_is_free(port)]
    if taken:
        raise ReadmeError(f"the README's commands need the ports {taken}, which something else listens on")
    log = folder / "run.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*_recipe(), "--data", str(folder / ".data")],
            cwd=folder,
            env=_clean(),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _await(process, log)
        yield log.read_text()
    finally:
        _stop(process)


def _recipe() -> list[str]:
    """The last command of `make run`; those before it install."""
    printed = subprocess.run(
        ["make", "--no-print-directory", "-n", "run"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return printed.stdout.splitlines()[-1].split()


def _clean() -> dict[str, str]:
    """The environment of a reader who has set nothing yet."""
    own = ("SCRUBJAY_", "DATABASE_URL", "REDIS_URL", "TOKEN", "MAKE")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}


def _await(process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while "Ctrl-C stops" not in log.read_text():
        if process.poll() is not None or time.monotonic() > end:
            raise ReadmeError(f"`{_START}` did not start a cluster:\n{log.read_text()}")
        time.sleep(0.2)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise ReadmeError("the cluster did not stop") from None
    left = [port for port in PORTS.values() if not port_is_free(port)]
    if process.returncode or left:
        raise ReadmeError(f"the cluster ended with {process.returncode} and left the ports {left} taken")


def _environment(introduction: str, folder: Path) -> dict[str, str]:
    """What the reader takes from the introduction, the environment made by make, and the client installed."""
    token = _found(r"^TOKEN=(\S+)$", introduction)
    return {
        **_clean(),
        "PATH": f"{folder / '.venv/bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "clients/python/src"),
        "TOKEN": token,
        "SCRUBJAY_URL": _found(r"^ +context +(\S+)", introduction),
        "SCRUBJAY_TOKEN": _found(r"^ +write token +(\S+)$", introduction),
    }


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.M)
    if found is None:
        raise ReadmeError(f"`{_START}` does not print {pattern}:\n{text}")
    return found[1]


def main() -> int:
    given = blocks((ROOT / "README.md").read_text())
    try:
        if not any(map(_starts, given)):
            raise ReadmeError(f"no block begins with `{_START}`")
        with clone() as folder, cluster(folder) as introduction:
            ran = follow(given, _environment(introduction, folder), folder)
    except ReadmeError as error:
        print(f"README.md: {error}", file=sys.stderr)
        return 1
    print(f"README.md: {ran} blocks ran as printed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
