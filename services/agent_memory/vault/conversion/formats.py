"""The formats of files, by their names. Pure."""

from __future__ import annotations

TEXT, MARKDOWN = "text", "markdown"
_PLAIN = {"md": MARKDOWN, "markdown": MARKDOWN}
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
# Those that are converted to Markdown.
MIME = {
    "html": "text/html",
    "pdf": "application/pdf",
    "docx": f"{_OFFICE}wordprocessingml.document",
    "pptx": f"{_OFFICE}presentationml.presentation",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "odt": f"{_OPEN}text",
    "ods": f"{_OPEN}spreadsheet",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
}
_SAME = {"htm": "html", "xhtml": "html"}
MOST_BYTES = 4_000_000
"""Of a file of text."""
MOST_CONVERTED_BYTES = 20_000_000
"""Of a file that is converted."""


class NoText(Exception):
    """A file has no text that could be indexed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooSlow(NoText):
    """The conversion did not end in time."""


def format_of(path: str) -> str:
    suffix = path.rpartition(".")[2].lower()
    suffix = _SAME.get(suffix, suffix)
    return suffix if suffix in MIME else _PLAIN.get(suffix, TEXT)


def most_bytes(path: str) -> int:
    return MOST_CONVERTED_BYTES if format_of(path) in MIME else MOST_BYTES
