"""Serves the console, the web page of operators, whose files `make console` builds beside this one.

The page calls the public API with the key that a person enters, and nothing else. Its policy keeps the browser from
loading or sending anything elsewhere, and from running what is not a file of the page.
"""

from __future__ import annotations

import asyncio
import gzip
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from litestar import Request, Response, Router, get
from litestar.params import FromPath

from shared.errors import NotFound
from shared.web.operations import PUBLIC

_FOLDER = Path(__file__).with_name("built")
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_SAFE = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "vary": "accept-encoding",
}
# The name of an asset holds a digest of its bytes.
_FOREVER = {"cache-control": "public, max-age=31536000, immutable"}
_ASK_EACH_TIME = {"cache-control": "no-cache"}


class BuiltFile(NamedTuple):
    media_type: str
    plain: bytes
    compressed: bytes


@cache
def built() -> dict[str, BuiltFile]:
    """The files of the page by their path."""
    return {
        path.relative_to(_FOLDER).as_posix(): _read(path) for path in _FOLDER.rglob("*") if path.is_file()
    }


def _read(path: Path) -> BuiltFile:
    content = path.read_bytes()
    return BuiltFile(_TYPES[path.suffix], content, gzip.compress(content, mtime=0))


async def _answer(request: Request[Any, Any, Any], name: str, caching: dict[str, str]) -> Response[bytes]:
    found = (await asyncio.to_thread(built)).get(name)
    if found is None:
        raise NotFound("no such file")
    headers = {**_SAFE, **caching}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(
            found.compressed, media_type=found.media_type, headers={**headers, "content-encoding": "gzip"}
        )
    return Response(found.plain, media_type=found.media_type, headers=headers)


@get("/", opt=PUBLIC)
async def page(request: Request[Any, Any, Any]) -> Response[bytes]:
    return await _answer(request, "index.html", _ASK_EACH_TIME)


@get("/{path:path}", opt=PUBLIC)
async def screen(request: Request[Any, Any, Any], path: FromPath[PurePosixPath]) -> Response[bytes]:
    """A file of the page, or the page itself: which screen a path shows, the page decides."""
    name = str(path).lstrip("/")
    if name.partition("/")[0] == "assets":
        return await _answer(request, name, _FOREVER)
    return await _answer(request, "index.html", _ASK_EACH_TIME)


CONSOLE = Router(
    "/console", route_handlers=[page, screen], include_in_schema=False, dto=None, return_dto=None
)
