"""HTTP of the context service."""

from __future__ import annotations

from litestar import Router
from litestar.types import ControllerRouterHandler

from services.context.assembly.routes import assemble
from services.context.audit.routes import audit
from services.context.backlog.routes import backlog
from services.context.console.routes import CONSOLE
from services.context.consolidation.routes import consolidate
from services.context.costs.routes import COSTS
from services.context.delta.routes import changes
from services.context.document import DOCUMENT
from services.context.forwarding import forward
from services.context.keys.routes import KEYS, me
from services.context.languages.routes import LANGUAGE
from services.context.learning import routes as learning
from services.context.log import routes as log
from services.context.mcp import endpoint
from services.context.problems import PROBLEM_PAGES
from services.context.profiles.routes import PROFILES
from services.context.prompts.routes import prompt
from services.context.purge.routes import purge
from services.context.remember.routes import remember
from services.context.review.routes import REVIEW
from services.context.scrubbing.routes import SECRETS
from services.context.timeline.routes import monitor, timeline
from services.context.webhooks.routes import WEBHOOKS

_HANDLERS: dict[str, list[ControllerRouterHandler]] = {
    "assemble and remember": [assemble, changes, prompt, remember, log.feedback],
    "why": log.HANDLERS,
    "learning": learning.HANDLERS,
    "profiles": [PROFILES],
    "costs": [COSTS],
    "keys": [me, KEYS],
    "secrets": [SECRETS],
    "languages": [LANGUAGE],
    "review": [REVIEW],
    "erasure": [purge],
    "audit": [audit],
    "backlog": [backlog],
}
"""By what they are for."""

ROUTES: list[ControllerRouterHandler] = [
    *(Router("/api/context", route_handlers=handlers, tags=[tag]) for tag, handlers in _HANDLERS.items()),
    timeline,
    monitor,
    consolidate,
    WEBHOOKS,
    DOCUMENT,
    CONSOLE,
    PROBLEM_PAGES,
    *endpoint.ROUTES,
    *forward.ROUTES,
]
