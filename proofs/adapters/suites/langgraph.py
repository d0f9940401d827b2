"""LangGraph's own conformance suite over the saver, and what the suite does not ask."""

from __future__ import annotations

import asyncio
import math
import operator
import traceback
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from proofs.adapters.suites.telling import Drops, async_client, client, tell
from scrubjay.adapters.langgraph import ScrubjaySaver
from scrubjay.adapters.trees import packed_of, tree_of


class Dropping(ScrubjaySaver):
    """The control: it drops every third write."""

    drops = Drops()

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        if not self.drops.next():
            return await super().aput(config, checkpoint, metadata, new_versions)
        dropped = {**config["configurable"], "checkpoint_id": checkpoint["id"]}
        return {"configurable": dropped}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        if not self.drops.next():
            await super().aput_writes(config, writes, task_id, task_path)


@checkpointer_test(name="ScrubjaySaver")
async def saver() -> AsyncIterator[ScrubjaySaver]:
    async with async_client() as one:
        yield Dropping(one, agent="conformance")


def new_thread() -> Any:
    return {"configurable": {"thread_id": uuid.uuid4().hex}}


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def graph(checkpointer: ScrubjaySaver) -> Any:
    """Asks a person, between two nodes that run at once and the last one."""

    def say(word: str) -> Any:
        return lambda _: {"said": [word]}

    def ask(_: State) -> State:
        return {"said": [interrupt("yes or no?")]}

    built = StateGraph(State)
    nodes: dict[str, Any] = {"left": say("left"), "right": say("right"), "ask": ask}
    for name, node in nodes.items():
        built.add_node(name, node)
    for begin in ("left", "right"):
        built.add_edge(START, begin)
        built.add_edge(begin, "ask")
    built.add_edge("ask", END)
    return built.compile(checkpointer=checkpointer)


async def a_run_goes_on_in_another_process() -> None:
    async with async_client() as first, async_client() as second:
        thread = new_thread()
        await graph(Dropping(first, agent="a")).ainvoke({"said": ["begin"]}, thread)
        done = await graph(Dropping(second, agent="a")).ainvoke(Command(resume="yes"), thread)
        assert done["said"] == ["begin", "left", "right", "yes"], done
        history = [one async for one in graph(Dropping(second, agent="a")).aget_state_history(thread)]
        assert [len(one.values["said"]) for one in history] == [4, 3, 1, 0], history


async def a_run_that_waits() -> None:
    def run() -> None:
        with client() as one:
            thread = new_thread()
            saver = ScrubjaySaver(one, agent="a")
            graph(saver).invoke({"said": ["begin"]}, thread)
            done = graph(saver).invoke(Command(resume="yes"), thread)
            assert done["said"] == ["begin", "left", "right", "yes"], done
            name, copy = thread["configurable"]["thread_id"], uuid.uuid4().hex
            saver.copy_thread(name, copy)
            assert len(list(saver.list({"configurable": {"thread_id": copy}}))) == 4
            saver.prune([copy])
            assert len(list(saver.list({"configurable": {"thread_id": copy}}))) == 1
            saver.delete_thread(name)
            assert saver.get_tuple(thread) is None
            assert graph(saver).get_state({"configurable": {"thread_id": copy}}).values == done

    await asyncio.to_thread(run)


async def others_do_not_reach_a_thread() -> None:
    async with async_client() as one:
        thread = new_thread()
        await graph(ScrubjaySaver(one, agent="a", user="alice")).ainvoke({"said": ["begin"]}, thread)
        for other in (ScrubjaySaver(one, agent="a"), ScrubjaySaver(one, agent="b", user="alice")):
            assert await other.aget_tuple(thread) is None
            await other.adelete_thread(thread["configurable"]["thread_id"])
        assert await ScrubjaySaver(one, agent="a", user="alice").aget_tuple(thread) is not None


def nested(levels: int) -> Any:
    value: Any = HumanMessage("deep")
    for _ in range(levels):
        value = {"in": [value]}
    return value


HOSTILE: tuple[Any, ...] = (
    {"~map": 1, "a": {1: "b", (1, 2): None, "\x00": "\x00"}},
    {"b": b"\x00\xff", "s": "ä😀\n", "~": [{"~bytes": "x"}], "": ""},
    [0.1, 1e300, -0.0, 1.0, 1e16, math.inf, 2**63, -(2**63), True, None],
    {"date": datetime(2026, 1, 1, tzinfo=UTC), "id": uuid.UUID(int=1), "set": {1, 2}, "tuple": (1, (2,))},
    HumanMessage("hello", additional_kwargs={"deep": {"er": [b"x", 1e99]}}),
    nested(90),
)


async def every_value_comes_back() -> None:
    serde = JsonPlusSerializer()
    async with async_client() as one:
        saver, thread = Dropping(one, agent="values"), new_thread()
        for value in HOSTILE:
            kind, packed = serde.dumps_typed(value)
            assert (kind, packed_of(tree_of(packed))) == ("msgpack", packed), value
            checkpoint: Any = {
                **empty_checkpoint(),
                "channel_values": {"x": value},
                "channel_versions": {"x": 1},
            }
            config: Any = await saver.aput(thread, checkpoint, {"source": "loop", "step": 1}, {"x": 1})
            found = await saver.aget_tuple(config)
            assert found is not None
            assert repr(found.checkpoint["channel_values"]["x"]) == repr(serde.loads_typed((kind, packed)))


async def secrets_are_masked_and_the_rest_can_be_read() -> None:
    secret = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
    async with async_client() as one:
        saver, thread = ScrubjaySaver(one, agent="s"), new_thread()
        said = {"messages": [HumanMessage(f"the key is {secret}, use it")]}
        checkpoint: Any = {**empty_checkpoint(), "channel_values": said, "channel_versions": {"messages": 1}}
        config: Any = await saver.aput(thread, checkpoint, {"source": "loop", "step": 1}, {"messages": 1})
        found = await saver.aget_tuple(config)
        assert found is not None
        (message,) = found.checkpoint["channel_values"]["messages"]
        assert message.content == "the key is [secret: github token], use it", message.content


async def snapshots_of_delta_channels_are_kept() -> None:
    """A prune keeps what the newest value is made of."""
    async with async_client() as one:
        saver, config = Dropping(one, agent="d", keep_last=1), new_thread()
        thread = config["configurable"]["thread_id"]
        for step in range(6):
            metadata: Any = {"source": "loop", "step": step}
            values: dict[str, Any] = {"x": ["snapshot"]} if step == 2 else {}
            since = step - 2
            if since > 0:
                metadata["counters_since_delta_snapshot"] = {"x": (since, since)}
            checkpoint: Any = {
                **empty_checkpoint(),
                "channel_values": values,
                "channel_versions": {"x": step},
            }
            config = await saver.aput(config, checkpoint, metadata, {"x": step})
            await saver.aput_writes(config, [("x", f"write {step}")], f"task-{step}")
        await saver.aprune([thread])
        history = await saver.aget_delta_channel_history(config=config, channels=["x"])
        assert history["x"]["seed"] == ["snapshot"], history
        assert [value for _, _, value in history["x"]["writes"]] == ["write 2", "write 3", "write 4"], history


OWN: tuple[Callable[[], Awaitable[None]], ...] = (
    a_run_goes_on_in_another_process,
    a_run_that_waits,
    others_do_not_reach_a_thread,
    every_value_comes_back,
    secrets_are_masked_and_the_rest_can_be_read,
    snapshots_of_delta_channels_are_kept,
)


async def main() -> None:
    report = await validate(saver)
    results = report.results.values()
    failed = [failure for result in results for failure in result.failures]
    left_out = [name for name, result in report.results.items() if not result.detected]
    passed = sum(result.tests_passed for result in results)
    tell("saver", "langgraph-checkpoint-conformance", passed, [*failed, *left_out])
    broken = []
    for case in OWN:
        try:
            await case()
        except Exception:
            broken.append(f"{case.__name__}: {traceback.format_exc(limit=3)}")
    tell("saver in graphs", "langgraph", len(OWN) - len(broken), broken)


if __name__ == "__main__":
    asyncio.run(main())
