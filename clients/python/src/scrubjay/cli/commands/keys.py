"""Keys of the service: for those who administer it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from scrubjay.cli.screen import cell
from scrubjay.cli.session import Session, connected
from scrubjay.cli.settings import hidden, private
from scrubjay.models import MadeKey

_TO = click.option(
    "--to",
    "file",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file that takes the key. Only you can read it.",
)


@click.group()
def keys() -> None:
    """List, make, rotate and revoke keys. Needs a key that may administer."""


@keys.command("list")
@click.option("--all", "every", is_flag=True, help="Also those that have ended.")
@connected
def list_(jay: Session, every: bool) -> None:
    """List the keys, without their secrets."""
    found = (key for key in jay.client.list_keys() if every or key.status == "active")
    if jay.screen.as_json:
        return jay.screen.jsons(found)
    rows = (
        (
            key.id,
            key.access,
            key.status,
            key.agent,
            "all" if key.missions is None else ", ".join(key.missions),
            cell(key.expires_at) or "never",
            cell(key.last_used_at) or "never",
            key.requests_today,
            key.name,
        )
        for key in found
    )
    titles = ("id#", "access", "status", "agent", "missions", "ends", "last used", "today#", "name")
    return jay.screen.table(titles, rows, empty="there is no key")


@keys.command()
@click.argument("name")
@click.option("--access", type=click.Choice(["read", "write", "admin"]), default="write", show_default=True)
@click.option("--agent", metavar="NAME", help="The only agent that it may write and call as.")
@click.option(
    "--mission", "missions", multiple=True, metavar="NAME", help="A mission that it may touch; else all."
)
@click.option("--user", "users", multiple=True, metavar="ID", help="A user whom it may touch; else all.")
@_TO
@connected
def make(
    jay: Session,
    name: str,
    access: str,
    agent: str | None,
    missions: tuple[str, ...],
    users: tuple[str, ...],
    file: Path,
) -> None:
    """Make a key called NAME, and write it to a file."""

    def made() -> MadeKey:
        return jay.client.make_key(
            name=name,
            access=access,  # type: ignore[arg-type]  # click.Choice allows these alone
            agent=agent,
            missions=missions or None,
            users=users or None,
        )

    _keep(jay, made, file)


@keys.command()
@click.argument("key", type=int)
@click.option("--overlap", type=int, metavar="SECONDS", help="How long the old secret stays valid.")
@_TO
@connected
def rotate(jay: Session, key: int, overlap: int | None, file: Path) -> None:
    """Make a new secret for the key with the id KEY, and write it to a file."""
    _keep(jay, lambda: jay.client.rotate_key(key, overlap_seconds=overlap), file)


@keys.command()
@click.argument("key", type=int)
@click.confirmation_option("--yes", prompt="Revoke it, with every key that it made?")
@connected
def revoke(jay: Session, key: int) -> None:
    """Revoke the key with the id KEY, and every key that it made."""
    revoked = jay.client.revoke_key(key)
    if jay.screen.as_json:
        return jay.screen.json(revoked)
    return jay.screen.text(f"key {revoked.id} ({revoked.name}) is revoked")


def _keep(jay: Session, make: Callable[[], MadeKey], file: Path) -> None:
    """The secret goes to the file only: what a terminal shows stays in its history.

    It is made once the file can take it: one that is lost needs another rotation, which ends the one in use.
    """
    with private(file) as out:
        made = make()
        if made.token is None:
            raise ValueError(
                "the service did not say the secret again: rotate the key, which ends the secret in use now"
            )
        out.write(f"{made.token}\n")
    if jay.screen.as_json:
        return jay.screen.json({"key": made.key, "file": str(file)})
    return jay.screen.text(f"key {made.key.id} ({made.key.name}): {hidden(made.token)} is in {file}")


COMMANDS = (keys,)
