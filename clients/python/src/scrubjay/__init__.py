"""Client of Scrubjay: memory and context for fleets of AI agents."""

from scrubjay._data import UNSET
from scrubjay._pages import AsyncPages, Pages
from scrubjay._version import __version__
from scrubjay.blocks import Item, parse_block
from scrubjay.client import Agent, AsyncAgent, AsyncClient, Client
from scrubjay.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    NotReachedError,
    Problem,
    ScrubjayError,
    TooLargeError,
    TooManyError,
    UnauthorizedError,
    UnavailableError,
    UnknownHostError,
    UnprocessableError,
)

__all__ = [
    "UNSET",
    "Agent",
    "ApiError",
    "AsyncAgent",
    "AsyncClient",
    "AsyncPages",
    "Client",
    "ConflictError",
    "ForbiddenError",
    "InvalidError",
    "Item",
    "NotFoundError",
    "NotReachedError",
    "Pages",
    "Problem",
    "ScrubjayError",
    "TooLargeError",
    "TooManyError",
    "UnauthorizedError",
    "UnavailableError",
    "UnknownHostError",
    "UnprocessableError",
    "__version__",
    "parse_block",
]
