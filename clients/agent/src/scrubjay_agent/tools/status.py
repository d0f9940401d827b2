"""What this session has cost, and how long the agent has run."""

from __future__ import annotations

from scrubjay.client import AsyncClient
from scrubjay_agent.tools.registry import Arguments, Calling, Tool
from scrubjay_agent.turns.monitor import Monitor


class Nothing(Arguments, kw_only=True):
    pass


class Status:
    def __init__(self, jay: AsyncClient, agent: str, monitor: Monitor) -> None:
        self._jay, self._agent, self._monitor = jay, agent, monitor

    async def session(self, _: Nothing, calling: Calling) -> str:
        costs = await self._jay.costs(agent=self._agent, session=calling.session).page()
        stands = await self._jay.sessions.session_conversation(calling.session)
        return (
            f"up {self._monitor.uptime:.0f} s; conversation of {stands.tokens} tokens; this session today: "
            f"{costs.today.calls} calls, {costs.today.input_tokens} tokens in, "
            f"{costs.today.output_tokens} out, {costs.today.cost_usd} USD; in all {costs.all.cost_usd} USD"
        )


def tools(status: Status) -> list[Tool]:
    return [Tool("session_status", "Costs and size of this conversation.", Nothing, status.session)]
