"""A data set as it is written and asked: rows, questions, categories."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.demo.transcript import json_lines

# Of a BEAM chat, what retrieval can answer: the other categories ask for summaries, order or manners.
BEAM = {
    "contradiction_resolution",
    "information_extraction",
    "knowledge_update",
    "multi_session_reasoning",
    "temporal_reasoning",
}
UNANSWERABLE = {"adversarial"}


class Row(NamedTuple):
    id: str
    group: str
    body: dict[str, Any]


class Query(NamedTuple):
    id: str
    group: str
    text: str
    gold: list[str]
    category: str
    answer: str = ""


def load(folder: Path, limit: int = 0) -> tuple[list[Row], list[Query]]:
    """The corpus as writes, in its order, and the questions that have an answer in it."""
    corpus = json_lines(folder / "corpus.jsonl")
    groups = list(dict.fromkeys(row["group"] for row in corpus))
    kept = set(groups[:limit] if limit else groups)
    rows = [Row(row["id"], row["group"], _body(row)) for row in corpus if row["group"] in kept]
    queries = [
        Query(one["id"], one["group"], one["text"], one["gold"], one["category"], str(one.get("answer", "")))
        for one in json_lines(folder / "queries.jsonl")
        if one["group"] in kept and one["gold"]
    ]
    return rows, queries


def _body(row: Mapping[str, Any]) -> dict[str, Any]:
    body = {
        "context_type": "intel",
        "content": row["text"],
        "intel_source": row["speaker"] or "document",
        "speaker": row["speaker"] or None,
        "occurred_at": row["timestamp"] or None,
    }
    # A document without speaker or time is no turn: its neighbours in the file say nothing about it.
    if row["speaker"] or row["timestamp"]:
        body |= {"session_id": str(row["session"]), "seq": row["seq"]}
    else:
        body["source_kind"] = "document"
    return {name: value for name, value in body.items() if value is not None}


def main_categories(categories: Collection[str]) -> set[str]:
    """Those that the headline figures are taken over; a data set is known by its categories."""
    return set(categories) & BEAM or set(categories) - UNANSWERABLE or set(categories)
