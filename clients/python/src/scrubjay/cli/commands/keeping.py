"""What is stored, as JSON Lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from scrubjay.cli.session import AGENT, MISSION, Session, connected

STORES = ("agent-memory", "memories", "facts", "files", "entries", "log")


@click.command()
@click.argument("store", type=click.Choice(STORES))
@AGENT
@MISSION
@connected
def export(jay: Session, store: str, agent: str | None, mission: str | None) -> None:
    """Print all that STORE holds, one JSON object on each line.

    \b
    agent-memory  what agents learned; the API's import takes it as it is
    memories      long-term memories, with imported transcripts
    facts         the graph, with facts that hold no longer
    files         the files of the vault, without their text
    entries       a mission's working memory: needs --mission
    log           the assemblies
    """
    jay.screen.jsons(_held(jay, store, agent, jay.mission(mission)))


def _held(jay: Session, store: str, agent: str | None, mission: str | None) -> Iterator[Any]:
    client = jay.client
    if store == "agent-memory":
        return _learned(jay, agent)
    if store == "entries":
        if mission is None:
            raise click.UsageError("Say with --mission whose entries.")
        return iter(client.cache.entries(mission))
    lists: dict[str, Callable[[], Iterable[Any]]] = {
        "memories": lambda: client.memory.list(limit=100),
        "facts": lambda: client.kg.query(every_time=True, limit=100),
        "files": client.vault.list,
        "log": client.log,
    }
    return iter(lists[store]())


def _learned(jay: Session, agent: str | None) -> Iterator[Any]:
    after: int | None = None
    while page := jay.client.agent_memory.export(agent=agent, after=after):
        yield from page
        after = page[-1].id


COMMANDS = (export,)
