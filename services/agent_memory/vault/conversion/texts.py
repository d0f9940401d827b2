"""The text of a file, with its secrets masked."""

from __future__ import annotations

from services.agent_memory.vault.conversion.converter import SECONDS, Converter
from services.agent_memory.vault.conversion.formats import MIME, NoText, format_of
from shared.concurrency.threads import beside
from shared.secrets.scanning import found_in, masked


async def text_of(converter: Converter, tenant: str, path: str, data: bytes, seconds: float = SECONDS) -> str:
    """Raises NoText."""
    if not data:
        raise NoText("has no text")
    mime = MIME.get(format_of(path))
    if mime is None:
        return await beside(len(data), plain, data)
    return await beside(len(data), scrubbed, await converter.text(tenant, data, mime, seconds))


def plain(data: bytes) -> str:
    if b"\x00" in data:
        raise NoText("is not text")
    try:
        return scrubbed(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NoText("is not text") from error


def scrubbed(text: str) -> str:
    text = text.replace("\x00", "")
    if not text.strip():
        raise NoText("has no text")
    return masked(text, found_in(text))
