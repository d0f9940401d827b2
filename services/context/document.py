"""Serves the API's document, which `make openapi` writes beside this file, and its page.

The page is Swagger UI, from a wheel. Its policy keeps the browser from loading anything from elsewhere.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from litestar import Request, Response, Router, get
from litestar.params import FromPath
from litestar.response import Redirect

from shared.errors import NotFound
from shared.web.operations import PUBLIC

_FILE = Path(__file__).with_name("openapi.json")
_ASSETS = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "favicon-32x32.png": "image/png",
}
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
SAFE = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_PAGE = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Scrubjay API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="page"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
"""
_START = b"""SwaggerUIBundle({
  url: "/schema/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "list",
  showExtensions: true,
  validatorUrl: null,
});
"""
_DAY = "max-age=86400"


@cache
def as_json() -> bytes:
    return _FILE.read_bytes()


@cache
def as_yaml() -> bytes:
    return msgspec.yaml.encode(msgspec.json.decode(as_json()))


@cache
def asset(name: str) -> tuple[bytes, bytes]:
    """A file of the page, uncompressed and compressed."""
    spec = importlib.util.find_spec("drf_spectacular_sidecar")
    if spec is None or not spec.submodule_search_locations:
        raise NotFound("the page's files are not installed")
    folder = Path(spec.submodule_search_locations[0]) / "static/drf_spectacular_sidecar/swagger-ui-dist"
    content = (folder / name).read_bytes()
    return content, gzip.compress(content)


@get("/schema/openapi.json", opt=PUBLIC)
async def openapi_json() -> Response[bytes]:
    return Response(as_json(), media_type="application/json")


@get("/schema/openapi.yaml", opt=PUBLIC)
async def openapi_yaml() -> Response[bytes]:
    return Response(await asyncio.to_thread(as_yaml), media_type="application/yaml")


@get("/", opt=PUBLIC, sync_to_thread=False, status_code=307)
def root() -> Redirect:
    return Redirect("/docs", status_code=307)


@get("/docs", opt=PUBLIC)
async def page() -> Response[bytes]:
    return Response(_PAGE, media_type="text/html", headers=SAFE)


@get("/docs/start.js", opt=PUBLIC)
async def start() -> Response[bytes]:
    return Response(_START, media_type="text/javascript", headers=SAFE)


@get("/docs/{name:str}", opt=PUBLIC)
async def page_asset(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
    if name not in _ASSETS:
        raise NotFound("no such file")
    plain, small = await asyncio.to_thread(asset, name)
    headers = {**SAFE, "cache-control": _DAY, "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(small, media_type=_ASSETS[name], headers={**headers, "content-encoding": "gzip"})
    return Response(plain, media_type=_ASSETS[name], headers=headers)


DOCUMENT = Router(
    "/",
    route_handlers=[root, openapi_json, openapi_yaml, page, start, page_asset],
    include_in_schema=False,
    dto=None,
    return_dto=None,
)
