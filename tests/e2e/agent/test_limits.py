"""What Scrubjay's limits leave out or refuse ends neither a conversation nor the agent."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from scrubjay.client import AsyncClient
from scrubjay_agent.journal.entries import Placed
from scrubjay_agent.journal.journal import Journal
from tests.support.agent.process import TOKENS, AgentProcess, settings_text
from tests.support.agent.provider import FakeProvider
from tests.support.agent.scrubjay import received
from tests.support.cluster import Cluster

_LONG = "one more word " * 14_000


async def test_a_start_reads_a_journal_that_one_answer_cannot_hold(cluster: Cluster) -> None:
    async with AsyncClient(cluster.url(), cluster.tokens.write) as jay:
        journal = Journal(jay, "jay-long")
        await journal.open()
        for number in range(12):
            await journal.append(received(f"k{number}", _LONG))
        # By now a compaction is due, and its summary would be too long.
        for number in range(20):
            await journal.append(Placed("gone", str(number)))
        assert (await jay.sessions.session_conversation(journal.session)).truncated
        again = Journal(jay, "jay-long")
        await again.open()
        assert again.state.inbox == journal.state.inbox
        assert len(again.state.inbox) == 12


async def test_a_completed_session_takes_no_answer_and_gives_one(cluster: Cluster, tmp_path: Path) -> None:
    agent = AgentProcess(tmp_path, cluster.url(), cluster.tokens.write)
    async with FakeProvider() as provider, AsyncClient(cluster.url(), cluster.tokens.write) as jay:
        agent.configure(settings_text("jay-limits", provider, agent.port, kind="openai", bot=None))
        try:
            await agent.start()
            assert await _asked(agent, "q1 say") == "a1."
            await jay.sessions.session_complete("jay-limits.http.ada.main")
            refused = await _asked(agent, "q2 say")
            assert refused.startswith("Something went wrong")
            assert await _asked(agent, "q2 say") == refused
            assert await _asked(agent, "q3 say", conversation="c") == "a3."
        finally:
            await agent.stop()


async def _asked(agent: AgentProcess, text: str, conversation: str = "main") -> str:
    headers = {"authorization": f"Bearer {TOKENS['ada']}", "idempotency-key": text.replace(" ", "-")}
    body = {"message": text, "conversation": conversation}
    async with (
        aiohttp.ClientSession(agent.http, headers=headers) as session,
        session.post("/api/v1/chat", json=body) as answer,
    ):
        return str((await answer.json())["reply"])
