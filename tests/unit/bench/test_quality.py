import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client, problem_text, seconds
from bench.quality.__main__ import _print
from bench.quality.asking import _ask, _result
from bench.quality.dataset import BEAM, Query, load, main_categories
from bench.quality.summary import GAIN, PLAIN, summary


def candidate(number: int, score: float, text: float, cosine: float | None) -> dict[str, Any]:
    return {
        "store": "psychic_cache",
        "id": number,
        "score": score,
        "text": text,
        "cosine": cosine,
        "tokens": 900,
    }


def answer(*sources: int, candidates: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "candidates": candidates,
        "sources": [
            *({"store": "psychic_cache", "id": number} for number in sources),
            {"store": "agent_memory_peer", "id": 99},
        ],
        "degraded": [],
        "retrieval_ms": 1.0,
    }


CANDIDATES = [
    candidate(1, 0.9, 0.1, 0.9),
    candidate(1, 0.8, 0.1, 0.8),
    candidate(2, 0.5, 0.9, None),
    candidate(3, 0.7, 0.0, 0.85),
]
ANSWERS = {
    200: answer(candidates=CANDIDATES),
    500: answer(1, candidates=CANDIDATES),
    1000: answer(1, candidates=CANDIDATES),
    2000: answer(1, 2, candidates=CANDIDATES),
}


def asked(gold: str, category: str = "temporal") -> Any:
    return _result(Query("q", "g", "?", [gold], category), "zabc".__getitem__, ANSWERS)


def test_arms_rank_items_by_their_own_score() -> None:
    assert {arm: one["mrr"] for arm, one in asked("b").arms.items()} == {
        "fused": pytest.approx(1 / 3),
        "text": 1.0,
        "vector": 0.0,
    }


def test_the_fused_budget_is_what_the_answer_took_and_the_arms_are_packed() -> None:
    result = asked("b")
    assert (result.arms["fused"]["b1000"], result.arms["fused"]["b2000"]) == (0, 1)
    assert (result.arms["text"]["b1000"], result.arms["vector"]["b2000"]) == (1, 0)


def test_the_main_categories_leave_out_what_has_no_answer() -> None:
    assert main_categories({"temporal", "single_hop", "adversarial"}) == {"temporal", "single_hop"}
    assert main_categories({*BEAM, "summarization", "event_ordering"}) == BEAM
    assert main_categories({"claim"}) == {"claim"}


def test_the_headline_is_over_the_main_categories_only() -> None:
    report = summary([asked("a"), asked("x", "adversarial")])
    assert report["questions"] == 1
    assert report["fused"]["r5"] == 1
    assert report["by_category"]["adversarial"]["fused"]["r5"] == 0
    assert report["empty_text_share"] == 0


def test_what_a_reranker_gains_is_the_difference_to_the_answers_without_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    without = {tokens: answer(candidates=CANDIDATES[2:]) for tokens in (200, 500, 1000)}
    without[2000] = answer(2, candidates=CANDIDATES[2:])
    report = summary([_result(Query("q", "g", "?", ["b"], "temporal"), "zabc".__getitem__, ANSWERS, without)])
    assert report["fused"]["mrr"] < report[PLAIN]["mrr"] == 0.5
    assert report[GAIN] == {
        "r5": 0,
        "r10": 0,
        "ndcg10": pytest.approx(1 / 2 - 0.6309, abs=1e-4),
        "b200": 0,
        "b500": 0,
        "b1000": 0,
        "b2000": 0,
    }
    assert report["by_category"]["temporal"][GAIN] == report[GAIN]
    _print(report)
    table, last = capsys.readouterr().out.rsplit("\n", 2)[:2]
    assert "-0.131" in next(line for line in table.splitlines() if f"  {GAIN} " in line)
    assert json.loads(last)[GAIN] == report[GAIN]


def test_without_a_reranker_there_is_no_gain() -> None:
    report = summary([asked("a")])
    assert GAIN not in report
    assert PLAIN not in report


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    turn = {"session": 2, "timestamp": "2023-05-08T13:56:00", "speaker": "Mel", "text": "Hi\u2028"}
    rows = [{"id": "a/1", "group": "a", "seq": 0, **turn}, {"id": "b/1", "group": "b", "seq": 0, **turn}]
    rows.append({**rows[1], "id": "b/2", "seq": 1, "session": 0, "timestamp": "", "speaker": ""})
    questions = [
        {"id": "q1", "group": "a", "text": "?", "gold": ["a/1"], "category": "temporal"},
        {"id": "q2", "group": "a", "text": "?", "gold": [], "category": "temporal"},
        {"id": "q3", "group": "b", "text": "?", "gold": ["b/2"], "category": "temporal"},
    ]
    for name, lines in (("corpus", rows), ("queries", questions)):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        )
    return tmp_path


def test_turns_have_a_place_and_documents_have_none(folder: Path) -> None:
    rows, _ = load(folder)
    assert rows[0].body == {
        "context_type": "intel",
        "content": "Hi\u2028",
        "intel_source": "Mel",
        "speaker": "Mel",
        "occurred_at": "2023-05-08T13:56:00",
        "session_id": "2",
        "seq": 0,
    }
    assert rows[2].body == {
        "context_type": "intel",
        "content": "Hi\u2028",
        "intel_source": "document",
        "source_kind": "document",
    }


def test_a_limit_keeps_the_first_groups_with_their_questions(folder: Path) -> None:
    rows, queries = load(folder, limit=1)
    assert [row.id for row in rows] == ["a/1"]
    assert [query.id for query in queries] == ["q1"]


@pytest.mark.parametrize(
    ("header", "expected"),
    [("2", 2), ("0.5", 0.5), (None, 1), ("soon", 1), ("-1", 1), ("inf", 1), ("900", 60)],
)
def test_retry_after_is_bounded(header: str | None, expected: float) -> None:
    assert seconds(header) == expected


def test_a_problem_is_told_with_its_fields() -> None:
    problem = {"title": "Invalid", "detail": "no", "errors": [{"field": "query", "message": "is required"}]}
    assert problem_text(json.dumps(problem).encode()) == "Invalid; no; query: is required"
    assert problem_text(b"<html>") == "<html>"
    assert problem_text(b"[1]") == "[1]"


class Busy(Client):
    """Answers whole only to a caller who asks alone, or never."""

    def __init__(self, *, ever: bool) -> None:
        super().__init__("http://nowhere", "t")
        self._under_way, self._ever = 0, ever

    async def post(self, path: str, body: Any, *, key: str | None = None) -> Any:
        self._under_way += 1
        await asyncio.sleep(0)
        alone = self._under_way == 1
        await asyncio.sleep(0)
        self._under_way -= 1
        if alone and self._ever:
            return ANSWERS[body["token_budget"]]
        trouble = {"source": "psychic_cache", "reason": "cache timeout"}
        return {**answer(candidates=[]), "degraded": [trouble]}


@pytest.mark.parametrize("ever", [True, False])
async def test_late_answers_are_asked_again_alone_and_told_where_they_stay_so(ever: bool) -> None:
    queries = [Query(f"q{n}", "g", "?", ["a"], "temporal") for n in range(6)]
    ids = {("g", 1): "a", ("g", 2): "b", ("g", 3): "c"}
    report = summary(await _ask(Busy(ever=ever), {"g": {"mission_namespace": "m"}}, ids, queries))
    assert report["valid"] is ever
    assert report["degraded_share"] == (0 if ever else 1)
    assert report["fused"]["r5"] == (1 if ever else 0)
