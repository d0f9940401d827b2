"""What a command is given: a client of the service, the user's settings, and a screen."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from scrubjay.cli import settings
from scrubjay.cli.screen import Screen
from scrubjay.cli.settings import Settings
from scrubjay.client import Client

Command = Callable[..., Any]


@dataclass(frozen=True)
class Session:
    client: Client
    settings: Settings
    screen: Screen

    def agent(self, given: str | None) -> str | None:
        return given or self.settings.agent

    def mission(self, given: str | None) -> str | None:
        return given or self.settings.mission


JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON: one object, or one on each line.")
URL = click.option("--url", metavar="URL", help="The address of the service.")
TOKEN = click.option(
    "--token",
    metavar="KEY",
    help="The key. Other users of this machine can see it; a file or SCRUBJAY_TOKEN hides it.",
)
AGENT = click.option("--agent", metavar="NAME", help="The agent that asks or writes.")
MISSION = click.option("--mission", metavar="NAME", help="The mission that it works in.")


def given_settings(url: str | None, token: str | None) -> Settings:
    """What the command line says counts most. Raises ValueError."""
    found = settings.read()
    return found._replace(url=url or found.url, token=token or found.token)


def access(command: Command) -> Command:
    """Adds --url and --token; hands on Settings."""

    @URL
    @TOKEN
    @functools.wraps(command)
    def with_access(*args: Any, url: str | None, token: str | None, **given: Any) -> Any:
        return command(given_settings(url, token), *args, **given)

    return with_access


def shown(command: Command) -> Command:
    """Adds --json; hands on a Screen after the settings."""

    @JSON
    @functools.wraps(command)
    def with_screen(found: Settings, *args: Any, as_json: bool, **given: Any) -> Any:
        return command(found, Screen(as_json), *args, **given)

    return with_screen


def connected(command: Command) -> Command:
    """Adds --url, --token and --json; hands on a Session."""

    @functools.wraps(command)
    def with_session(found: Settings, screen: Screen, *args: Any, **given: Any) -> Any:
        with connect(found) as client:
            return command(Session(client, found, screen), *args, **given)

    return access(shown(with_session))


def connect(found: Settings, **how: Any) -> Client:
    """Raises ValueError that says how to give what is missing."""
    missing = [name for name in ("url", "token") if not getattr(found, name)]
    if missing:
        words = " and ".join({"url": "address", "token": "key"}[name] for name in missing)
        raise ValueError(
            f"no {words} of a service: run `scrubjay login`, or set SCRUBJAY_URL and SCRUBJAY_TOKEN"
        )
    return Client(found.url, found.token, **how)
