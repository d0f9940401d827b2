"""OpenAI Agents: a clerk hands over to an expert, and the conversation goes on in any process.

    python openai_handoff.py lantern "What is the code word?"

It needs SCRUBJAY_URL and SCRUBJAY_TOKEN, and OPENAI_API_KEY. `pip install scrubjay[openai-agents]`
"""

from __future__ import annotations

import asyncio
import sys

from agents import Agent, Runner, set_tracing_disabled

from scrubjay import AsyncClient
from scrubjay.adapters.openai_agents import ScrubjaySession


async def main(name: str, questions: list[str]) -> None:
    set_tracing_disabled(True)
    expert = Agent(name="expert", instructions="Answer in a sentence, from what was said before.")
    clerk = Agent(name="clerk", instructions="Hand every question over to the expert.", handoffs=[expert])
    async with AsyncClient() as jay:
        session = ScrubjaySession(name, jay, agent="clerk")
        for question in questions:
            result = await Runner.run(clerk, question, session=session)
            print(f"{result.last_agent.name}: {result.final_output}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
