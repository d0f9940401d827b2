"""A plain loop: what Scrubjay knows goes into the request, and what the model says is remembered.

    python plain_loop.py lantern "What is the code word?"

It needs SCRUBJAY_URL and SCRUBJAY_TOKEN, and ANTHROPIC_API_KEY. `pip install scrubjay anthropic`
"""

from __future__ import annotations

import sys

from anthropic import Anthropic

from scrubjay import Client


def main(name: str, questions: list[str]) -> None:
    model = Anthropic()
    with Client() as jay:
        agent = jay.agent(name, mission=name)
        for question in questions:
            known = agent.assemble(question).context_block
            message = model.messages.create(
                model="claude-sonnet-4-5",
                max_tokens=500,
                system=f"Answer in a sentence. What you may know:\n{known}",
                messages=[{"role": "user", "content": question}],
            )
            answer = "".join(block.text for block in message.content if block.type == "text")
            print(answer)
            agent.remember(f"I learned, when asked {question!r}: {answer}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
