"""The page behind each problem's `type`: what it means and what to do about it."""

from __future__ import annotations

import html
import re

from litestar import Response, Router, get
from litestar.params import FromPath

from services.context.document import SAFE
from shared.errors import KINDS, PROBLEMS, AppError, NotFound
from shared.web.operations import PUBLIC

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{body}
<p><a href="/problems">All problems</a> · <a href="/docs">The API</a></p>
</html>
"""
_CODE = re.compile(r"`([^`]+)`")


@get("/problems", opt=PUBLIC, sync_to_thread=False)
def listed() -> Response[str]:
    items = [
        f'<li><a href="{PROBLEMS}{kind}">{kind}</a>: {error.status} {html.escape(error.title)}</li>'
        for kind, error in KINDS.items()
    ]
    return _page("Problems", "<h1>Problems</h1>\n<ul>\n" + "\n".join(items) + "\n</ul>")


@get("/problems/{kind:str}", opt=PUBLIC, sync_to_thread=False)
def explained(kind: FromPath[str]) -> Response[str]:
    if kind not in KINDS:
        raise NotFound("there is no such problem; /problems lists those that there are")
    return _page(KINDS[kind].title, _explanation(KINDS[kind]))


def _explanation(error: type[AppError]) -> str:
    texts = [f"<p>{_marked(text)}</p>" for text in (error.meaning, error.remedy)]
    return f"<h1>{error.status} {html.escape(error.title)}</h1>\n" + "\n".join(texts)


def _marked(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", html.escape(text, quote=False))


def _page(title: str, body: str) -> Response[str]:
    return Response(_PAGE.format(title=title, body=body), media_type="text/html", headers=SAFE)


PROBLEM_PAGES = Router(
    "/", route_handlers=[listed, explained], include_in_schema=False, dto=None, return_dto=None
)
