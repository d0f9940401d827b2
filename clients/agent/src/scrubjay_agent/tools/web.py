"""Pages and searches. A page comes from a public address, unless the settings allow others."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from html.parser import HTMLParser
from typing import Annotated
from urllib.parse import urljoin

import httpx
from msgspec import Meta

from scrubjay_agent.settings import Tools, secret
from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError

_SECONDS = 20.0
_MOST_BYTES = 2_000_000
_REDIRECTS = 5
_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "section"})


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
        address = given.url
        try:
            for _hop in range(_REDIRECTS + 1):
                status, kind, body, location = await self._get(address)
                if location is None:
                    text = body.decode("utf-8", "replace")
                    return f"[{status} {address}]\n" + (text_of(text) if "html" in kind else text)
                address = urljoin(address, location)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise ToolError(f"{address}: {error!r}") from error
        raise ToolError(f"{given.url} redirects too often")

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
            "GET", target, headers={"host": url.netloc.decode()}, extensions=extensions
        )
        response = await self._http.send(request, stream=True)
        try:
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _MOST_BYTES:
                    break
            location = response.headers.get("location") if response.is_redirect else None
            return response.status_code, response.headers.get("content-type", ""), body, location
        finally:
            await response.aclose()

    async def search(self, given: Query, _: Calling) -> str:
        key = secret(self._settings.search_key_env or "")
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


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def text_of(html: str) -> str:
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.pieces).splitlines())
    return "\n".join(line for line in lines if line)


def tools(web: Web, settings: Tools) -> list[Tool]:
    found = [Tool("web_fetch", "Read a web page as text.", Fetch, web.fetch)]
    if settings.search_key_env is not None:
        found.append(Tool("web_search", "Search the web.", Query, web.search))
    return found
