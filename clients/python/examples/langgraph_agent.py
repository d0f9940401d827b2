"""A LangGraph agent: its thread goes on in any process, and its notes are found from any thread.

    python langgraph_agent.py lantern "What is the code word?"

It needs SCRUBJAY_URL and SCRUBJAY_TOKEN, and ANTHROPIC_API_KEY. `pip install scrubjay[langgraph] anthropic`
"""

from __future__ import annotations

import operator
import sys
import uuid
from typing import Annotated, TypedDict

from anthropic import Anthropic
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from scrubjay import Client
from scrubjay.adapters.langgraph import ScrubjaySaver
from scrubjay.adapters.langgraph_store import ScrubjayStore

NOTES = ("notes",)


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def answer(state: State, *, store: BaseStore) -> State:
    question = state["said"][-1]
    notes = "\n".join(item.value["text"] for item in store.search(NOTES, query=question, limit=5))
    message = Anthropic().messages.create(
        model="claude-sonnet-4-5",
        max_tokens=500,
        system=f"Answer in a sentence. Your notes:\n{notes}",
        messages=[{"role": "user", "content": question}],
    )
    text = "".join(block.text for block in message.content if block.type == "text")
    store.put(NOTES, uuid.uuid4().hex, {"text": text})
    return {"said": [text]}


def main(name: str, questions: list[str]) -> None:
    with Client() as jay:
        builder = StateGraph(State)
        builder.add_node("answer", answer)
        builder.add_edge(START, "answer")
        builder.add_edge("answer", END)
        saver, store = ScrubjaySaver(jay, agent=name), ScrubjayStore(jay, agent=name)
        graph = builder.compile(checkpointer=saver, store=store)
        thread: RunnableConfig = {"configurable": {"thread_id": name}}
        for question in questions:
            done = graph.invoke({"said": [question]}, thread)
            print(f"{len(done['said']) // 2}. {done['said'][-1]}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
