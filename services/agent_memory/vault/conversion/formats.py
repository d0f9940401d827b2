"""The format of a file, by its name. Pure."""

from __future__ import annotations

TEXT, MARKDOWN, HTML = "text", "markdown", "html"
_BY_SUFFIX = {"md": MARKDOWN, "markdown": MARKDOWN, "html": HTML, "htm": HTML, "xhtml": HTML}


def format_of(path: str) -> str:
    return _BY_SUFFIX.get(path.rpartition(".")[2].lower(), TEXT)
