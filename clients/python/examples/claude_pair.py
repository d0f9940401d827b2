"""Two agents of the Claude Agent SDK that share a mission: what the first one finds, the second one knows.

    python claude_pair.py lantern "Find the code word." "What is the code word?"

It needs SCRUBJAY_URL and SCRUBJAY_TOKEN, and ANTHROPIC_API_KEY. `pip install scrubjay[claude-agent-sdk]`
"""

from __future__ import annotations

import asyncio
import sys

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, TextBlock, query

from scrubjay import AsyncClient
from scrubjay.adapters.claude_agent_sdk import ScrubjaySessionStore
from scrubjay.models import Intel


async def ask(jay: AsyncClient, name: str, mission: str, task: str) -> str:
    """Its transcript is in the store: any process can resume it."""
    agent = jay.agent(name, mission=mission)
    known = (await agent.assemble(task)).context_block
    options = ClaudeAgentOptions(
        system_prompt=f"Answer in a sentence. What the mission knows:\n{known}",
        session_store=ScrubjaySessionStore(jay, agent=name, mission=mission),
        setting_sources=[],
        allowed_tools=[],
    )
    answer = ""
    async for message in query(prompt=task, options=options):
        if isinstance(message, AssistantMessage):
            answer += "".join(block.text for block in message.content if isinstance(block, TextBlock))
    await agent.cache.write(Intel(content=answer, intel_source=name))
    return answer


async def main(mission: str, tasks: list[str]) -> None:
    async with AsyncClient() as jay:
        for name, task in zip(("scout", "scribe"), tasks, strict=True):
            print(f"{name}: {await ask(jay, name, mission, task)}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
