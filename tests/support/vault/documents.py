"""Files of formats that are converted. A bomb adds so many characters that compress to almost nothing."""

from __future__ import annotations

import io
import zipfile
import zlib

_TYPES = "http://schemas.openxmlformats.org"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
BOMB = 400_000_000
NO_PDF = b"%PDF-1.7\n" + bytes(range(256)) * 1_000
NO_ARCHIVE = b"PK\x03\x04" + b"\xff" * 10_000
DEEP_HTML = b"<div>" * 200_000


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
