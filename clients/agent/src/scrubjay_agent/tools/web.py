"""Pages and searches. A page comes from a public address, unless the settings allow others."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated
from urllib.parse import urljoin

import httpx
from msgspec import Meta

from scrubjay_agent.settings import Tools, secret
from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError

_SECONDS = 20.0
# Of processor time: 2 MB of ordinary HTML take half a second.
_PARSING_SECONDS = 5
_MOST_BYTES = 2_000_000
_REDIRECTS = 5


class Fetch(Arguments, kw_only=True):
    url: Annotated[str, Meta(min_length=8, max_length=2_000)]


class Query(Arguments, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=400)]
    count: Annotated[int, Meta(ge=1, le=20)] = 5


class Web:
    def __init__(self, settings: Tools) -> None:
        self._settings = settings
        self._http = httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False, trust_env=False)

    async def close(self) -> None:
        await self._http.aclose()

    async def fetch(self, given: Fetch, _: Calling) -> str:
        async with _limited(given.url):
            return await self._page(given.url)

    async def _page(self, url: str) -> str:
        address = url
        try:
            for _hop in range(_REDIRECTS + 1):
                status, kind, body, location = await self._get(address)
                if location is None:
                    text = await _text(body) if "html" in kind else body.decode("utf-8", "replace")
                    return f"[{status} {address}]\n{text}"
                address = urljoin(address, location)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise ToolError(f"{address}: {error!r}") from error
        raise ToolError(f"{url} redirects too often")

    async def _get(self, address: str) -> tuple[int, str, bytes, str | None]:
        url = httpx.URL(address)
        if url.scheme not in ("http", "https") or not url.host:
            raise ToolError("only http and https addresses can be read")
        target, extensions = url, {}
        if not self._settings.web_private:
            # Connected to by its number, so that no second lookup can name another one.
            target = url.copy_with(host=await _public(url.host, url.port or 443))
            extensions = {"sni_hostname": url.host}
        request = self._http.build_request(
            "GET",
            target,
            headers={"host": url.netloc.decode(), "accept-encoding": "gzip"},
            extensions=extensions,
        )
        response = await self._http.send(request, stream=True)
        try:
            body = bytearray()
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > _MOST_BYTES:
                    break
                # A read may hold thousands of pieces: others take their turns between them.
                await asyncio.sleep(0)
            location = response.headers.get("location") if response.is_redirect else None
            kind = response.headers.get("content-type", "")
            encoding = response.headers.get("content-encoding", "identity")
            return response.status_code, kind, _unpacked(encoding, bytes(body)), location
        finally:
            await response.aclose()

    async def search(self, given: Query, _: Calling) -> str:
        key = secret(self._settings.search_key_env or "")
        async with _limited("the search"):
            response = await self._http.get(
                self._settings.search_url,
                params={"q": given.query, "count": given.count},
                headers={"X-Subscription-Token": key, "accept": "application/json"},
            )
        if response.status_code != 200:
            raise ToolError(f"the search answered {response.status_code}")
        found = response.json().get("web", {}).get("results", [])
        lines = [f"{one['title']}\n{one['url']}\n{one.get('description', '')}" for one in found]
        return "\n\n".join(lines) or "nothing was found"


async def _public(host: str, port: int) -> str:
    """An address of the host. Raises ToolError where one of them is not public."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ToolError(f"{host} is unknown") from error
    addresses = [str(one[4][0]) for one in found]
    if not addresses or not all(ipaddress.ip_address(one).is_global for one in addresses):
        raise ToolError(f"{host} is not a public address")
    return addresses[0]


def _unpacked(encoding: str, body: bytes) -> bytes:
    """httpx would unpack a small answer into one of any size. Raises ToolError."""
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise ToolError(f"the page is encoded as {encoding}")
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, _MOST_BYTES)
    except zlib.error as error:
        raise ToolError(f"the page is no gzip: {error}") from error


async def _text(html: bytes) -> str:
    """Read by a process that a hostile page cannot keep busy. Raises ToolError."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        # Without the current folder, in which a model may have written modules.
        "-P",
        "-m",
        "scrubjay_agent.tools.html_text",
        str(_PARSING_SECONDS),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    try:
        text, _ = await process.communicate(html)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    if process.returncode:
        raise ToolError("the page's HTML cannot be read, or takes too long")
    return text.decode("utf-8", "replace")


@asynccontextmanager
async def _limited(address: str) -> AsyncIterator[None]:
    """For all of it: httpx's limit is for each read. Raises ToolError."""
    try:
        async with asyncio.timeout(_SECONDS):
            yield
    except TimeoutError:
        raise ToolError(f"{address} takes more than {_SECONDS:g} s") from None


def tools(web: Web, settings: Tools) -> list[Tool]:
    found = [Tool("web_fetch", "Read a web page as text.", Fetch, web.fetch)]
    if settings.search_key_env is not None:
        found.append(Tool("web_search", "Search the web.", Query, web.search))
    return found
