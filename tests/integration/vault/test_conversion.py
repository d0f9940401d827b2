"""Files of other formats: their text is taken out of them in a process of its own, or they are refused."""

from __future__ import annotations

import asyncio
import base64
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from services.agent_memory.vault.conversion import converter
from services.agent_memory.vault.conversion.converter import Converter
from services.agent_memory.vault.conversion.formats import MIME, NoText, TooSlow
from services.agent_memory.vault.conversion.texts import text_of
from tests.support.cluster import Client
from tests.support.vault.documents import BOMB, DEEP_HTML, NO_ARCHIVE, NO_PDF, docx, html, pdf

_MOST_MEMORY = 300_000_000


@pytest.mark.parametrize(("suffix", "make"), [("html", html), ("docx", docx), ("pdf", pdf)])
async def test_an_uploaded_file_is_found_by_its_text(
    client: Client, suffix: str, make: Callable[[str], bytes]
) -> None:
    path = f"shared/plan.{suffix}"
    content = base64.b64encode(make("The carpenter lives in Lisbon")).decode()
    answer = await client.post("/api/vault/files", {"path": path, "content": content})
    assert answer.status == 201, answer
    found = await client.post("/api/vault/search", {"query": "Where does the carpenter live?"})
    (file,) = found.body["files"]
    assert file["path"] == path
    assert "The carpenter lives in Lisbon" in file["text"]
    assert "steal" not in file["text"]


@pytest.mark.parametrize("content", ["no base64!", base64.b64encode(b"%PDF-1.4 nothing").decode()])
async def test_a_file_without_text_is_refused(client: Client, content: str) -> None:
    answer = await client.post("/api/vault/files", {"path": "shared/a.pdf", "content": content})
    assert answer.status == 400, answer
    assert answer.body["errors"][0]["field"] == "content"


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a zip bomb": ("docx", lambda: docx("x", BOMB)),
    "a PDF bomb": ("pdf", lambda: pdf("x", BOMB)),
    "no PDF": ("pdf", lambda: NO_PDF),
    "no archive": ("xlsx", lambda: NO_ARCHIVE),
    "deep HTML": ("html", lambda: DEEP_HTML),
}


_MEASURED = """
import os, runpy, sys
# So that it notes its memory at the end.
os._exit = sys.exit
# A pipe: the process may write no file.
noted = os.open({noted!r}, os.O_WRONLY)
try:
    runpy.run_path({child!r}, run_name="__main__")
finally:
    status = open("/proc/self/status").read()
    os.write(noted, (status.partition("VmHWM:")[2].split()[0] + " KiB\\n").encode())
"""


async def test_bombs_are_refused_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that passes its bounds is killed. The others say how much memory they had at most."""
    measured, noted = tmp_path / "measured.py", tmp_path / "noted"
    measured.write_text(_MEASURED.format(child=str(converter.CHILD), noted=str(noted)))
    monkeypatch.setattr(converter, "CHILD", measured)
    os.mkfifo(noted)
    reading = os.open(noted, os.O_RDWR | os.O_NONBLOCK)
    converts = Converter()
    for name, (suffix, make) in BOMBS.items():
        with pytest.raises(NoText):
            await text_of(converts, "a", f"{name}.{suffix}", make(), seconds=60)
    peaks = [int(size) * 1_024 for size in re.findall(r"(\d+) KiB", os.read(reading, 10_000).decode())]
    os.close(reading)
    assert 0 < max(peaks) < _MOST_MEMORY


async def test_a_conversion_is_ended_at_its_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = tmp_path / "endless.py"
    endless.write_text(
        f"import os, pathlib, time\npathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "while True: time.sleep(1)\n"
    )
    monkeypatch.setattr(converter, "CHILD", endless)
    with pytest.raises(NoText, match="takes too long"):
        await Converter().text("a", b"x" * 10_000_000, MIME["pdf"], seconds=1)
    if (tmp_path / "pid").exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_the_converter_knows_nothing_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curious = tmp_path / "curious.py"
    curious.write_text(
        "import os, sys\nprint(sorted(os.environ), [p for p in sys.path if 'site' not in p])\n"
    )
    monkeypatch.setattr(converter, "CHILD", curious)
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    shown = await Converter().text("a", b"x", MIME["pdf"], seconds=60)
    assert "DATABASE_URL" not in shown
    assert str(Path.cwd()) not in shown.replace(str(Path.cwd() / ".venv"), "")


async def test_many_conversions_wait_for_each_other() -> None:
    converts = Converter()
    texts = await asyncio.gather(
        *(converts.text("a", html(str(number)), MIME["html"], 120) for number in range(5))
    )
    assert [text.split()[-1] for text in texts] == [str(number) for number in range(5)]


async def test_another_tenants_file_does_not_wait_for_all_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    echoes = tmp_path / "echoes.py"
    echoes.write_text("import sys\nsys.stdout.write(sys.stdin.read())\n")
    monkeypatch.setattr(converter, "CHILD", echoes)
    converts, done = Converter(), list[str]()

    async def convert(tenant: str) -> None:
        done.append(await converts.text(tenant, tenant.encode(), MIME["pdf"], 120))

    await asyncio.gather(*map(convert, [*["piles up"] * 10, "another"]))
    assert done.index("another") < 5


async def test_the_wait_for_a_turn_counts_as_time_of_the_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = tmp_path / "endless.py"
    endless.write_text("import time\nwhile True: time.sleep(1)\n")
    monkeypatch.setattr(converter, "CHILD", endless)
    converts = Converter()
    before = [asyncio.create_task(converts.text("a", b"x", MIME["pdf"], 60)) for _ in range(2)]
    async with asyncio.timeout(30):
        with pytest.raises(TooSlow):
            await converts.text("b", b"x", MIME["pdf"], 0.2)
    for task in before:
        assert not task.done()
        task.cancel()
    await asyncio.gather(*before, return_exceptions=True)
