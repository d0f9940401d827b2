"""Files of other formats: their text is taken out of them in a process of its own, or they are refused."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from services.agent_memory.vault.conversion import converter
from services.agent_memory.vault.conversion.converter import Converter
from services.agent_memory.vault.conversion.formats import MIME, NoText
from services.agent_memory.vault.conversion.texts import text_of
from tests.support.cluster import Client

_TYPES = "http://schemas.openxmlformats.org"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_BOMB = 400_000_000
_MOST_MEMORY = 300_000_000


def html(text: str) -> bytes:
    return (
        f"<html><head><script>steal()</script></head><body><h1>Plan</h1><p>{text}</p></body></html>".encode()
    )


def docx(text: str, bomb: int = 0) -> bytes:
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_MAIN}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_TYPES}/package/2006/relationships"><Relationship Id="r"'
        f' Type="{_TYPES}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
        "</Relationships>",
        "word/document.xml": f'<w:document xmlns:w="{_TYPES}/wordprocessingml/2006/main"><w:body><w:p><w:r>'
        f"<w:t>{text}{'a' * bomb}</w:t></w:r></w:p></w:body></w:document>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, '<?xml version="1.0"?>' + content)
    return file.getvalue()


def pdf(text: str, bomb: int = 0) -> bytes:
    squeeze = zlib.compressobj(9)
    page = squeeze.compress(f"BT /F1 24 Tf 100 700 Td ({text}) Tj ET".encode())
    for _ in range(bomb // 1_000_000):
        page += squeeze.compress(b" " * 1_000_000)
    page += squeeze.flush()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(page), page),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    file, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(b"%010d 00000 n \n" % len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"xref\n0 6\n0000000000 65535 f \n" + b"".join(places)
    return file + table + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(file)


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
    "a zip bomb": ("docx", lambda: docx("x", _BOMB)),
    "a PDF bomb": ("pdf", lambda: pdf("x", _BOMB)),
    "no PDF": ("pdf", lambda: b"%PDF-1.7\n" + bytes(range(256)) * 1_000),
    "no archive": ("xlsx", lambda: b"PK\x03\x04" + b"\xff" * 10_000),
    "deep HTML": ("html", lambda: b"<div>" * 200_000),
}


_MEASURED = """
import os, runpy
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
            await text_of(converts, f"{name}.{suffix}", make(), seconds=60)
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
        await Converter().text(b"x" * 10_000_000, MIME["pdf"], seconds=1)
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
    shown = await Converter().text(b"x", MIME["pdf"], seconds=60)
    assert "DATABASE_URL" not in shown
    assert str(Path.cwd()) not in shown.replace(str(Path.cwd() / ".venv"), "")


async def test_many_conversions_wait_for_each_other() -> None:
    converts = Converter()
    texts = await asyncio.gather(
        *(converts.text(html(str(number)), MIME["html"], 120) for number in range(5))
    )
    assert [text.split()[-1] for text in texts] == [str(number) for number in range(5)]
