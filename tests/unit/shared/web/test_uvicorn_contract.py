"""What shared/web/serving needs of uvicorn's internals. A failure names what another version of uvicorn changed."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import httptools
import pytest
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.lifespan.off import LifespanOff
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from shared.web.serving.http_protocol import _TURNED_AWAY, HttpProtocol
from shared.web.serving.listener import Listener
from shared.web.serving.server import Server

VERSION = "0.54.0"
PINS = Path(__file__).parents[4] / "requirements/run.txt"

# Methods that we override or call, with their parameters.
METHODS = {
    uvicorn.Server: {
        "__init__": ["config"],
        "startup": ["sockets"],
        "shutdown": ["sockets"],
        "handle_exit": ["sig", "frame"],
        "run": ["sockets"],
    },
    HttpToolsProtocol: {
        "__init__": ["config", "server_state", "app_state", "_loop"],
        "connection_made": ["transport"],
        "connection_lost": ["exc"],
        "data_received": ["data"],
        "on_message_begin": [],
        "on_headers_complete": [],
        "on_body": ["body"],
        "on_message_complete": [],
        "on_response_complete": [],
        "pause_writing": [],
        "resume_writing": [],
        "timeout_keep_alive_handler": [],
        "_unset_keepalive_if_required": [],
    },
}
# Attributes that we read or set.
SERVER_ATTRIBUTES = {"config", "server_state", "should_exit", "force_exit"}
PROTOCOL_ATTRIBUTES = {
    "cycle",
    "headers",
    "loop",
    "parser",
    "timeout_keep_alive",
    "timeout_keep_alive_task",
    "transport",
    "url",
}
# What uvicorn asks of a request cycle, which `_TURNED_AWAY` stands for. Once `response_complete` is true, it must ask
# for nothing else but to set the event.
CYCLE_ATTRIBUTES = {"body", "disconnected", "keep_alive", "message_event", "more_body", "response_complete"}


async def app(scope: object, receive: object, send: object) -> None: ...


@pytest.fixture
def config() -> uvicorn.Config:
    config = uvicorn.Config(app, lifespan="off", log_config=None)
    config.load()
    return config


def test_it_is_the_version_that_was_reviewed() -> None:
    pinned = re.search(r"^uvicorn==(\S+)", PINS.read_text(), re.MULTILINE)
    assert pinned is not None
    assert {uvicorn.__version__, pinned[1]} == {VERSION}, (
        f"shared/web/serving was reviewed against uvicorn {VERSION}; installed is {uvicorn.__version__}, pinned is "
        f"{pinned[1]}. Compare server.py and protocols/http/httptools_impl.py of both versions with the overrides in "
        "shared/web/serving, then change VERSION here."
    )


@pytest.mark.parametrize(
    ("owner", "name", "parameters"),
    [(owner, name, parameters) for owner, of in METHODS.items() for name, parameters in of.items()],
)
def test_a_method_is_there_with_its_parameters(owner: type, name: str, parameters: list[str]) -> None:
    # From the source, since other libraries patch the class.
    methods = {
        node.name: node
        for node in ast.walk(ast.parse(inspect.getsource(owner)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert name in methods, f"uvicorn's {owner.__name__} has no method {name} any more"
    found = [argument.arg for argument in methods[name].args.args][1:]
    assert found == parameters, f"uvicorn's {owner.__name__}.{name} takes {found} now, not {parameters}"


@pytest.mark.parametrize(("ours", "theirs"), [(Server, uvicorn.Server), (HttpProtocol, HttpToolsProtocol)])
def test_each_override_is_part_of_the_contract(ours: type, theirs: type) -> None:
    overridden = {name for name in vars(ours) if name in dir(theirs) and callable(getattr(ours, name))}
    unlisted = overridden - METHODS[theirs].keys()
    assert not unlisted, f"{ours.__name__} overrides {sorted(unlisted)} of uvicorn: list them in METHODS"


def test_the_server_has_the_attributes(config: uvicorn.Config) -> None:
    server = uvicorn.Server(config)
    missing = {name for name in SERVER_ATTRIBUTES if not hasattr(server, name)}
    assert not missing, f"uvicorn's Server has no attributes {sorted(missing)} any more"


async def test_a_protocol_has_the_attributes(config: uvicorn.Config) -> None:
    protocol = HttpToolsProtocol(config, ServerState(), {})
    protocol.on_message_begin()
    missing = {name for name in PROTOCOL_ATTRIBUTES if not hasattr(protocol, name)}
    assert not missing, f"uvicorn's HttpToolsProtocol has no attributes {sorted(missing)} any more"
    assert isinstance(protocol.parser, httptools.HttpRequestParser)
    for name in ("get_method", "should_keep_alive", "should_upgrade"):
        assert hasattr(protocol.parser, name), f"httptools' parser has no {name} any more"


def test_a_refusal_stands_for_a_request_cycle() -> None:
    tree = ast.parse(inspect.getsource(HttpToolsProtocol))
    asked = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_cycle(node.value)
    }
    assert asked == CYCLE_ATTRIBUTES, (
        f"uvicorn's protocol asks {sorted(asked)} of a request cycle now: see whether _TURNED_AWAY can answer it"
    )
    assert _TURNED_AWAY.response_complete
    _TURNED_AWAY.message_event.set()


def _is_cycle(node: ast.expr) -> bool:
    return ast.unparse(node) == "self.cycle"


async def test_a_start_without_sockets_opens_none(config: uvicorn.Config) -> None:
    """Our server lets uvicorn start without any, and listens by itself."""
    server: Any = uvicorn.Server(config)
    server.lifespan = LifespanOff(config)
    await server.startup(sockets=[])
    assert server.servers == [], "uvicorn's Server.startup(sockets=[]) opens sockets of its own now"
    assert server.started
    assert isinstance(server.lifespan.state, dict)


def test_a_listener_is_what_a_server_stops() -> None:
    """`shutdown` closes each of `servers`, and waits for it."""
    tree = ast.parse(inspect.getsource(uvicorn.Server))
    calls = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) == "server"
    }
    assert calls == {"close", "wait_closed"}, f"uvicorn's Server calls {sorted(calls)} of its servers now"
    assert all(hasattr(Listener, name) for name in calls)


def test_a_failed_start_has_an_exit_status() -> None:
    assert STARTUP_FAILURE != 0
