"""What is known: a context block, a search, and why an assembly chose what it did. And what to remember."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import click

from scrubjay.blocks import parse_block
from scrubjay.cli.screen import ago, shortened
from scrubjay.cli.session import AGENT, MISSION, Session, connected
from scrubjay.models import Assembly, Explained, RememberResult

_SCOPE = click.option(
    "--scope",
    "scopes",
    multiple=True,
    metavar="SCOPE",
    help="Also search user:…, agent:…, project:… Repeat it for more.",
)
_USER = click.option("--user", metavar="ID", help="The user that it is for.")
_SESSION = click.option("--session", metavar="ID", help="The session that it belongs to.")
_OUTCOMES = {
    "taken": "in the block",
    "budget": "no room was left",
    "below_cut": "too far from the best",
    "floor": "too little evidence",
}
_MOST, _ROOM = 50, 8_000


def _text(given: str) -> str:
    """`-` stands for what is piped in."""
    text = sys.stdin.read() if given == "-" else given
    if not text.strip():
        raise ValueError("there is no text")
    return text


@click.command()
@click.argument("query")
@AGENT
@MISSION
@_SESSION
@_USER
@_SCOPE
@click.option("--budget", type=int, metavar="TOKENS", help="The most tokens of the block.")
@click.option("--sources", is_flag=True, help="Also list what the block is made of.")
@connected
def assemble(
    jay: Session,
    query: str,
    agent: str | None,
    mission: str | None,
    session: str | None,
    user: str | None,
    scopes: tuple[str, ...],
    budget: int | None,
    sources: bool,
) -> None:
    """Print the context that matters for QUERY (`-`: what is piped in).

    The block goes to standard output, and a line about it to standard error.
    """
    found = jay.client.assemble(
        _text(query),
        caller=jay.agent(agent),
        mission=jay.mission(mission),
        session_id=session,
        user_id=user,
        scopes=scopes or None,
        token_budget=budget,
    )
    if jay.screen.as_json:
        return jay.screen.json(found)
    jay.screen.text(found.context_block)
    if sources:
        _sources(jay, found)
    return jay.screen.note(_about(found))


def _sources(jay: Session, found: Assembly) -> None:
    rows = (
        (s.handle, s.score, s.tokens, ago(s.at), s.agent or s.speaker, s.source_kind) for s in found.sources
    )
    jay.screen.table(("handle", "score#", "tokens#", "when", "by", "source"), rows)


def _about(found: Assembly) -> str:
    said = [
        f"assembly {found.assembly_id}: {len(found.sources)} items, {found.total_tokens:,} tokens, "
        f"{found.retrieval_ms:.0f} ms"
    ]
    if found.low_relevance:
        said.append("little of it is relevant")
    said += [f"{each.source} answered in part: {each.reason}" for each in found.degraded]
    return "; ".join(said)


@click.command()
@click.argument("text")
@AGENT
@MISSION
@_SESSION
@_USER
@click.option(
    "--path", "paths", multiple=True, metavar="FILE", help="A file that it is about. Repeat it for more."
)
@connected
def remember(
    jay: Session,
    text: str,
    agent: str | None,
    mission: str | None,
    session: str | None,
    user: str | None,
    paths: tuple[str, ...],
) -> None:
    """Remember TEXT (`-`: what is piped in).

    Rules choose where it goes: into the mission, or to what the agent learned.
    """
    kept = jay.client.remember(
        _text(text),
        caller=jay.agent(agent),
        mission=jay.mission(mission),
        session_id=session,
        user_id=user,
        paths=paths or None,
    )
    if jay.screen.as_json:
        return jay.screen.json(kept)
    return _kept(jay, kept)


def _kept(jay: Session, kept: RememberResult) -> None:
    rows = ((item.status, item.handle, item.kind, item.why) for item in kept.items)
    jay.screen.table(("status", "handle", "kind", "why"), rows)
    if kept.masked:
        jay.screen.note(f"{len(kept.masked)} secrets were masked")


@click.command()
@click.argument("query")
@AGENT
@MISSION
@_USER
@_SCOPE
@click.option(
    "--file", "path", metavar="FILE", help="Only what is about this file. The end of its path will do."
)
@click.option("--command", metavar="NAME", help="Only runs of this program, such as pytest.")
@click.option("--error", is_flag=True, help="Only what failed.")
@click.option("--session", metavar="ID", help="Only what belongs to this session. Its beginning will do.")
@click.option(
    "--limit", type=click.IntRange(1, _MOST), default=10, show_default=True, help="At most so many."
)
@connected
def search(
    jay: Session,
    query: str,
    agent: str | None,
    mission: str | None,
    user: str | None,
    scopes: tuple[str, ...],
    limit: int,
    **sieve: Any,
) -> None:
    """Search all that is stored for QUERY.

    With --file, --command, --error or --session, only long-term memory is searched, which holds imported transcripts.
    What they name is then part of the question, and sifts the best 50 answers.
    """
    wanted = Sieve(**sieve)
    if wanted.sifts:
        found = _sifted(jay, wanted, query, agent=jay.agent(agent), user_id=user, scopes=scopes or None)
    else:
        found = _everywhere(
            jay,
            query,
            caller=jay.agent(agent),
            mission=jay.mission(mission),
            user_id=user,
            scopes=scopes or None,
        )
    if jay.screen.as_json:
        return jay.screen.jsons(found[:limit])
    rows = ((each.handle, each.score, ago(each.at), shortened(each.text)) for each in found[:limit])
    return jay.screen.table(("handle", "score#", "when", "what"), rows, empty="nothing was found")


@dataclass(frozen=True, slots=True)
class Hit:
    handle: str
    score: float
    at: datetime
    text: str
    session_id: str | None = None
    paths: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sieve:
    path: str | None
    command: str | None
    error: bool
    session: str | None

    @property
    def sifts(self) -> bool:
        return bool(self.path or self.command or self.error or self.session)

    def words(self) -> list[str]:
        named = [self.path, self.command, "error" if self.error else None, self.session]
        return [each for each in named if each]

    def passes(self, hit: Hit) -> bool:
        return (
            (self.path is None or any(f"/{each}".endswith(f"/{self.path.lstrip('/')}") for each in hit.paths))
            and (self.command is None or f"command: {self.command}" in hit.topics)
            and (not self.error or "error" in hit.topics)
            and (self.session is None or (hit.session_id or "").startswith(self.session))
        )


def _sifted(jay: Session, sieve: Sieve, query: str, **more: Any) -> list[Hit]:
    answer = jay.client.memory.search(" ".join([query, *sieve.words()]), limit=_MOST, **more)
    for each in answer.degraded:
        jay.screen.note(each)
    hits = (
        Hit(
            f"memory:{m.id}",
            m.score,
            m.occurred_at or m.created_at,
            m.content,
            m.session_id,
            m.paths,
            m.topics,
        )
        for m in answer.memories
    )
    return [hit for hit in hits if sieve.passes(hit)]


def _everywhere(jay: Session, query: str, **more: Any) -> list[Hit]:
    """One ranking over all stores: that of a block with room for much."""
    found = jay.client.assemble(query, fill=True, token_budget=_ROOM, log=False, **more)
    for each in found.degraded:
        jay.screen.note(f"{each.source} answered in part: {each.reason}")
    texts = {item.handle: item.text for item in parse_block(found.context_block, found.nonce)}
    return [Hit(each.handle, each.score, each.at, texts.get(each.handle, "")) for each in found.sources]


@click.command()
@click.argument("assembly", type=int)
@connected
def why(jay: Session, assembly: int) -> None:
    """Explain an ASSEMBLY: what it took, what it left, and why.

    The line that `scrubjay assemble` prints below a block names its number.
    """
    told = jay.client.explain(assembly)
    if jay.screen.as_json:
        return jay.screen.json(told)
    jay.screen.text(_asked(told))
    titles = ("handle", "outcome", "score#", "relevance#", "recency#", "weight#", "tokens#", "why")
    return jay.screen.table(titles, _candidates(told), empty="there was no candidate")


def _asked(told: Explained) -> str:
    where = f" in mission {told.mission_namespace}" if told.mission_namespace else ""
    used = (
        "no feedback yet"
        if told.used_source_ids is None
        else f"{len(told.used_source_ids)} items were useful"
    )
    return (
        f"assembly {told.id}: {told.caller} asked{where}, {ago(told.created_at)}; "
        f"{told.total_tokens:,} of {told.token_budget:,} tokens; {used}"
    )


def _candidates(told: Explained) -> Iterator[tuple[object, ...]]:
    for each in told.candidates:
        yield (
            each.handle,
            each.outcome,
            each.score,
            each.relevance,
            each.recency,
            each.weight,
            each.tokens,
            _reason(each.outcome, each.same_as, each.superseded_by),
        )


def _reason(outcome: str, same_as: str | None, superseded_by: str | None) -> str:
    if same_as:
        return f"says the same as {same_as}"
    if superseded_by:
        return f"{superseded_by} is newer"
    return _OUTCOMES.get(outcome, "")


COMMANDS = (assemble, remember, search, why)
