"""The API's document: written from the code by `make openapi`, committed beside this file, and served as it stands."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

import msgspec
from litestar import Response, Router, get

_PUBLIC = {"access": "public"}
_FILE = Path(__file__).with_name("openapi.json")


@cache
def as_json() -> bytes:
    return _FILE.read_bytes()


@cache
def as_yaml() -> bytes:
    return msgspec.yaml.encode(msgspec.json.decode(as_json()))


@get("/openapi.json", opt=_PUBLIC)
async def openapi_json() -> Response[bytes]:
    return Response(as_json(), media_type="application/vnd.oai.openapi+json")


@get("/openapi.yaml", opt=_PUBLIC)
async def openapi_yaml() -> Response[bytes]:
    return Response(await asyncio.to_thread(as_yaml), media_type="application/vnd.oai.openapi")


DOCUMENT = Router("/schema", route_handlers=[openapi_json, openapi_yaml], include_in_schema=False)
