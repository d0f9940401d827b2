"""What a model reads of an assembly's block: its items, whether facts or others, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from services.context.mcp.search import best
from services.context.mcp.texts import of_answer, of_recall
from shared.render import GRAPH_MARK, Fence, parse_block, render_item

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
FENCE = Fence(NOW, "k3f")


def assembly(facts: Iterable[int] = (), sources: Iterable[str] = ()) -> dict[str, Any]:
    """Facts by their ids, and other items by their handles."""
    facts, sources = list(facts), list(sources)
    graph = (
        f"{GRAPH_MARK}{render_item(f'kg:{number}', NOW, [], 'Ana — has — x', FENCE)}" for number in facts
    )
    others = (render_item(handle, NOW, ["intel"], f"Note {handle}", FENCE) for handle in sources)
    return {
        "assembly_id": 7,
        "context_block": "\n".join([*graph, *others]),
        "nonce": FENCE.nonce,
        "sources": [{"handle": handle} for handle in sources],
        "graph": [{"id": number} for number in facts],
    }


def test_a_block_of_facts_alone_is_recalled() -> None:
    answer = assembly(facts=[12])
    note, block, question = of_recall("Who is Ana?", answer)
    assert "1 items; each header ends in k3f]" in note
    assert block == answer["context_block"]
    assert "such as [kg:12]" in question


def test_a_note_counts_facts_and_other_items() -> None:
    note, _ = of_answer(assembly(facts=[12, 13], sources=["cache:1"]))
    assert note == "assembly_id 7; 3 items; each header ends in k3f]"
    (note,) = of_answer(assembly())
    assert note == "assembly_id 7; 0 items"


def test_a_block_of_corrections_alone_names_its_nonce() -> None:
    told = {
        **assembly(),
        "context_block": "[update own:12 no longer held k3f] It is no longer known to hold.",
    }
    note, _ = of_answer(told)
    assert note.endswith("each header ends in k3f]")


def test_a_search_holds_what_its_sources_name() -> None:
    found = best(assembly(facts=[12, 13, 14], sources=["own:1", "cache:2", "own:3"]), 2)
    assert [handle for handle, _ in parse_block(found["context_block"])] == [
        "kg:12",
        "kg:13",
        "kg:14",
        *(source["handle"] for source in found["sources"]),
    ]
    assert len(found["sources"]) == 2
